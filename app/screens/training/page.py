"""Training: pretrain or fine-tune, watch it learn, and replay it."""

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis import formed_head
from bertcore.analysis.runs import replay
from bertcore.training.engine.probes import Probe, probe_files
from bertcore.training.pretraining.data.corpus import NOVEL, RECORDED_RUN, RECORDED_RUNS

from ...parts.layer_watch.layer_watch import layer_watch
from ...plots import theme
from ...server import training
from ...server.policy import policy
from ...shell import cache, caption, computed, frame, one_of, pick, show
from ...shell.links import RUN, RUNS_FOLDER
from ...sources.run_folders import process
from ...sources.run_folders.runs import Run, all_runs, default_folder, kind_of, read_run
from . import PAGE, finetune_form, form
from .fields import (
    HEAD,
    KIND,
    KINDS,
    LAYER,
    MOMENT,
    OF_FORM,
    REPLAY,
    SENTENCE,
    START,
    VIEW,
    VIEWS,
    WATCH,
)
from .new_run import show_started
from .replay_figure import spread_moments
from .views import REPLAY as RECORDED
from .watch import folder_of, watch

HELP_FOLDER = (
    "Each run is a folder in it. `bertscope pretrain --out` and `bertscope finetune --out` write "
    "such folders too: give the folder that contains them, or a run's own."
)
FOLDER_NAMES = {training.OWN: "My runs", training.SHARED: "Runs of this server"}
NO_FOLDER = (
    "This server shows no runs and does not let visitors start any. Its operator can allow runs "
    "with `--training-minutes`, and show those of a folder with `--checkpoints`."
)
FORBIDDEN = (
    "This server starts no runs from the browser. They can be watched here; `bertscope pretrain` "
    "and `bertscope finetune` start them in a terminal."
)


NO_PROBES = (
    "This run has no probes yet. They are recorded at its start and with each held-out score; runs "
    "of older versions have none."
)
MEAN = -1  # stands for the mean of a layer's heads
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
    views, chosen, own = row.container(width="content"), row.container(width="content"), ""
    menu = row if policy().is_closed else frame.more(row)
    runs: list[Run] = []
    with frame.guard(stop=True):
        folder = choose_folder(menu, default_folder())
        if folder is not None:
            if not policy().is_closed and kind_of(folder):
                folder, own = folder.parent, folder.name
            runs = all_runs(folder)
    if not runs and not any(field.is_chosen for field in (VIEW, KIND, *OF_FORM)):
        VIEW.put(REPLAY)
    view = one_of("View", VIEWS, VIEW, default=WATCH if runs else START, where=views)
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
        recorded_run = read_run(paths[RUN.value])
        shape, (start, text) = recorded_run.config["model"], _RECORDED[recorded_run.name]
        frame.example_row(
            f"a recorded run. A BERT of {shape['num_hidden_layers']} layers, "
            f"{shape['hidden_size']} wide, began with {start} and read "
            f"{theme.count(recorded_run.num_tokens)} tokens of {text}."
        )
    run = chosen.selectbox("Run", list(paths), key=key, label_visibility="collapsed", width=240)
    path = paths[run]
    if view == REPLAY:
        show_replay(path)
    else:
        watch(path, [read_run(path)] if path in RECORDED_RUNS else runs)


def choose_folder(where: DeltaGenerator, default: Path) -> Path | None:
    """Draw the choice of the folder of the runs: a path, or a name on a closed server.

    Returns:
        The folder; None if this server shows visitors no runs.

    ValueError if this server is closed and does not offer the chosen folder.
    """
    if not policy().is_closed:
        key = RUNS_FOLDER.key(default=str(default))
        typed = where.text_input("Folder of the runs", key=key, help=HELP_FOLDER)
        return training.runs_folder(typed.strip() or str(default))
    folders = training.runs_folders()
    if not folders:
        return None
    names = [name for name, folder in folders.items() if folder == default]
    usual = next(iter([*names, *folders]))
    asked = RUNS_FOLDER.value or usual
    if asked not in folders:
        RUNS_FOLDER.put(usual)  # the boxes stay usable; the page says what it refused
    offered = {name: FOLDER_NAMES[name] for name in folders}
    chosen = pick("Folder of the runs", offered, RUNS_FOLDER, default=usual, where=where)
    return training.runs_folder(chosen if asked in folders else asked)


def _start(folder: Path | None) -> None:
    """Draw the choice of the kind of a new run, and its form."""
    if folder is None or not process.may_start():
        st.info(NO_FOLDER if folder is None else FORBIDDEN)
        return
    kind = one_of("Kind of run", KINDS, KIND)
    if kind == "pretrain":
        form.show_form(folder)
    else:
        finetune_form.show_form(folder, is_series=kind == "label-curve")


@frame.fragment
def show_replay(path: Path) -> None:
    """Draw the replay of a run, or a note that it has no probes."""
    if not probe_files(path):
        st.info(NO_PROBES)
        return
    recorded = computed(RECORDED, None, path, compute=_once_a_probe)
    sentence, layer, head = _choose_head(path, recorded[-1])
    drawn = {"sentence": sentence, "layer": layer, "head": None if head == MEAN else head}
    num_moments = len(spread_moments(len(recorded)))
    _keep_moment(num_moments)
    show(
        RECORDED,
        None,
        path,
        compute=_once_a_probe,
        drawn={**drawn, "moment": MOMENT.value},
        spelled=folder_of(path),
        with_caption=False,
    )
    if num_moments < len(recorded):
        st.caption(f"The slider has {num_moments} of {len(recorded)} steps.")
    caption(RECORDED, recorded)


@frame.fragment
def _keep_moment(count: int) -> None:
    """Keep the position of the slider; the figure itself does not run again."""
    label = "Training by step: the arrow keys change the step"
    moment = layer_watch(".st-key-figure_replay", key="replay_watch", label=label)
    if moment is not None:
        st.session_state[MOMENT.name] = min(moment, count - 1)
    MOMENT.key(default=count - 1, low=0, high=count - 1)


def _once_a_probe(of: object, path: Path) -> tuple[Probe, ...]:
    """Return the replay of a run, read again when a probe is added."""
    return cache.of_file(_replay, path / "probes")


def _replay(probes: Path) -> tuple[Probe, ...]:
    return replay(probes.parent)


def _choose_head(path: Path, probe: Probe) -> tuple[int, int, int]:
    """Draw the choice of sentence, layer and head; return them, the head MEAN for the mean."""
    num_layers, num_heads = probe.sentences[0].codes.shape[:2]
    usual = formed_head(probe) if path in RECORDED_RUNS else (num_layers - 1, 0)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    texts = [sentence.text for sentence in probe.sentences]
    names = [text.text_a + (f" | {text.text_b}" if text.text_b else "") for text in texts]
    sentence = pick("Sentence", dict(enumerate(names)), SENTENCE, where=row, width=420)
    menu = frame.more(row)
    layer = pick("Layer", range(num_layers), LAYER, default=usual[0], where=menu)
    heads = {MEAN: "mean", **{number: str(number) for number in range(num_heads)}}
    return sentence, layer, pick("Head", heads, HEAD, default=usual[1], where=menu)
