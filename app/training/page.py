"""Training: pretrain or fine-tune, watch it learn, and replay it."""

from pathlib import Path

import streamlit as st

from ..access import places
from ..access.policy import policy
from ..plots.untrusted_text import plain
from ..shell import frame
from ..shell.one_of import one_of
from . import PAGE, finetune_form, form, process
from .fields import KIND, KINDS, REPLAY, RUN, START, VIEW, VIEWS, WATCH
from .folder_choice import choose_folder
from .new_run import show_started
from .replay import show_replay
from .runs import all_runs, default_folder, is_any_run
from .watch import watch

HELP_FOLDER = (
    "Each run is a folder in it. `bertscope pretrain --out` and `bertscope finetune --out` write "
    "such folders too: give the one that they are in, or a run's own."
)
NO_FOLDER = (
    "This server shows no runs, and lets visitors start none. Whoever runs it can allow them with "
    "`--allow-training`, and show those of a folder with `--checkpoints`."
)
FORBIDDEN = (
    "This server starts no runs from the browser. They can be watched here; `bertscope pretrain` "
    "and `bertscope finetune` start them in a terminal."
)


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    show_started()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    own = ""
    with frame.guard(stop=True):
        folder = choose_folder(row, default_folder(), HELP_FOLDER)
        if folder is None:
            st.info(NO_FOLDER)
            frame.end_page()
        if not policy().is_closed and is_any_run(folder):
            folder, own = folder.parent, folder.name
        runs = all_runs(folder)
    names = [run.name for run in runs]
    view = one_of("View", VIEWS, VIEW, default=WATCH if names else START, where=row)
    if view == START:
        _start(folder)
        frame.end_page()
    if not names:
        st.info(
            f"There is no run in {plain(places.hide(str(folder)))} yet. Choose *Start a run*, or "
            "the folder of your own runs above."
        )
        frame.end_page()
    if view == REPLAY:
        names = [run.name for run in runs if run.kind == "pretrain"]
        if not names:
            st.info("No run here has a replay: fine-tunings take no probes, pretraining runs do.")
            frame.end_page()
    default_run = own if own in names else None
    key = RUN.key(default=default_run, options=names)
    chosen = st.selectbox("Run", names, key=key, label_visibility="collapsed")
    if view == REPLAY:
        st.fragment(show_replay)(folder / chosen)
    else:
        watch(folder / chosen, runs)


def _start(folder: Path) -> None:
    """Draw the choice of the kind of a new run, and its form."""
    if not process.may_start():
        st.info(FORBIDDEN)
        return
    row = st.container(horizontal=True, gap="large")
    kind = one_of("Kind of run", KINDS, KIND, where=row)
    if kind == "finetune":
        finetune_form.show_form(folder, row)
    else:
        form.show_form(folder)
