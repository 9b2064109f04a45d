"""Training: pretrain or fine-tune, watch it learn, and replay it."""

from pathlib import Path

import streamlit as st

from bertcore.pretraining.data.corpus import NOVEL, RECORDED_RUN, RECORDED_RUNS

from ..access.policy import policy
from ..plots import theme
from ..run_folders import process
from ..run_folders.folder_choice import choose_folder
from ..run_folders.run import Run
from ..run_folders.runs import all_runs, default_folder, is_any_run, read_run
from ..shell import frame, one_of
from ..shell.links import RUN
from . import PAGE, finetune_form, form
from .fields import KIND, KINDS, OF_FORM, REPLAY, START, VIEW, VIEWS, WATCH
from .new_run import show_started
from .replay import show_replay
from .watch import watch

HELP_FOLDER = (
    "Each run is a folder in it. `bertscope pretrain --out` and `bertscope finetune --out` write "
    "such folders too: give the folder that contains them, or a run's own."
)
NO_FOLDER = (
    "This server shows no runs and does not let visitors start any. Its operator can allow runs "
    "with `--training-minutes`, and show those of a folder with `--checkpoints`."
)
FORBIDDEN = (
    "This server starts no runs from the browser. They can be watched here; `bertscope pretrain` "
    "and `bertscope finetune` start them in a terminal."
)


_RECORDED = {
    "from-noise": ("random weights", "Wikipedia and news: its heads formed by training alone"),
    "novel": ("word counts", f"one book ({NOVEL.title})"),
}
"""What a recorded run began with, and what it read."""


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    show_started()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    own = ""
    runs: list[Run] = []
    with frame.guard(stop=True):
        folder = choose_folder(row, default_folder(), HELP_FOLDER)
        if folder is not None:
            if not policy().is_closed and is_any_run(folder):
                folder, own = folder.parent, folder.name
            runs = all_runs(folder)
    if not runs and not any(field.is_chosen for field in (VIEW, KIND, *OF_FORM)):
        VIEW.put(REPLAY)
    view = one_of("View", VIEWS, VIEW, default=WATCH if runs else START, where=row)
    if view == START:
        _start(folder)
        frame.end_page()
    paths = {run.name: run.path for run in runs if view == WATCH or run.kind == "pretrain"}
    recorded = {path.name: path for path in RECORDED_RUNS}
    is_recorded = not paths or (RUN.value in recorded and RUN.value not in paths)
    if is_recorded:
        paths, own = {**recorded, **paths}, RECORDED_RUN.name
    key = RUN.key(default=own if own in paths else None, options=list(paths))
    if is_recorded and paths[RUN.value] in RECORDED_RUNS:
        _introduce(read_run(paths[RUN.value]))
    path = paths[st.selectbox("Run", list(paths), key=key, label_visibility="collapsed")]
    if view == REPLAY:
        frame.fragment(show_replay)(path)
    else:
        watch(path, [read_run(path)] if path in RECORDED_RUNS else runs)


def _introduce(run: Run) -> None:
    """State what the recorded run is, and offer to start one."""
    shape = run.config["model"]
    start, text = _RECORDED[run.name]
    row = frame.example_row(
        f"a recorded run. A BERT of {shape['num_hidden_layers']} layers, {shape['hidden_size']} "
        f"wide, began with {start} and read {theme.count(run.num_tokens)} tokens of {text}."
    )
    row.button("Start your own", icon=":material/play_arrow:", on_click=VIEW.put, args=(START,))


def _start(folder: Path | None) -> None:
    """Draw the choice of the kind of a new run, and its form."""
    if folder is None or not process.may_start():
        st.info(NO_FOLDER if folder is None else FORBIDDEN)
        return
    row = st.container(horizontal=True)
    kind = one_of("Kind of run", KINDS, KIND, where=row)
    if kind == "pretrain":
        form.show_form(folder)
    else:
        finetune_form.show_form(folder, row, is_series=kind == "label-curve")
