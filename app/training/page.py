"""Training: start a run, watch it learn, and replay it."""

import streamlit as st

from ..access import places
from ..plots.untrusted_text import plain
from ..shell import frame
from ..shell.one_of import one_of
from . import PAGE
from .fields import REPLAY, RUN, START, VIEW, VIEWS, WATCH
from .folder_choice import choose_folder
from .form import show_form, show_started
from .replay import show_replay
from .runs import default_folder, list_runs
from .watch import watch

HELP_FOLDER = (
    "Each run is a folder in it. `bertscope pretrain --out` writes such folders too: give the one "
    "that they are in."
)
NO_FOLDER = (
    "This server shows no runs, and lets visitors start none. Whoever runs it can allow them with "
    "`--allow-training`, and show those of a folder with `--checkpoints`."
)


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    show_started()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with frame.guard(stop=True):
        folder = choose_folder(row, default_folder(), HELP_FOLDER)
        if folder is None:
            st.info(NO_FOLDER)
            frame.end_page()
        runs = list_runs(folder)
    names = [run.name for run in runs]
    view = one_of("View", VIEWS, VIEW, default=WATCH if names else START, where=row)
    if view == START:
        show_form(folder)
        frame.end_page()
    if not names:
        st.info(
            f"There is no run in {plain(places.hide(str(folder)))} yet. Choose *Start a run*, or "
            "the folder of your own runs above."
        )
        frame.end_page()
    chosen = st.selectbox("Run", names, key=RUN.key(options=names), label_visibility="collapsed")
    if view == REPLAY:
        st.fragment(show_replay)(folder / chosen)
    else:
        watch(folder / chosen, runs)
