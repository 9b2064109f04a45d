"""Training: start a run, watch it learn, and play it again."""

from pathlib import Path

import streamlit as st

from app.plots.untrusted_text import plain
from app.shell import frame, state, texts_lookup
from app.training import PAGE
from app.training import form as training_form
from app.training import runs as training_runs
from app.training.replay import show_replay
from app.training.watch import watch

VIEWS = ["Watch", "Replay", "Start a run"]


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    training_form.show_started()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    default = str(training_runs.default_folder())
    typed = row.text_input(
        "Folder of the runs",
        key=state.keep("runs", default),
        help=texts_lookup.TEXTS["training.folder"],
    )
    folder = Path(typed.strip() or default).expanduser().absolute()
    with frame.guard(stop=True):
        runs = training_runs.list_runs(folder)
    names = [run.name for run in runs]
    view = row.segmented_control(
        "View",
        VIEWS,
        key=state.keep("training_view", VIEWS[0] if names else VIEWS[-1], options=VIEWS),
        label_visibility="collapsed",
    )
    if view == "Start a run":
        training_form.draw(folder)
        frame.end_page()
    if not names:
        st.info(texts_lookup.TEXTS["training.no_runs"].format(folder=plain(str(folder))))
        frame.end_page()
    chosen = st.selectbox(
        "Run", names, key=state.keep("run", "", options=names), label_visibility="collapsed"
    )
    if view == "Replay":
        st.fragment(show_replay)(folder / chosen)
    else:
        watch(folder / chosen, runs)
