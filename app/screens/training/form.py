"""The form that starts a pretraining run: text, length, objective and shape."""

import shutil
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from bertcore.data.files import lines_of, open_text
from bertcore.model.architecture.objectives import OBJECTIVES
from bertcore.model.checkpoints.source import resolve
from bertcore.model.objectives.table import objective_of
from bertcore.training.pretraining.data.corpus import NOVEL, split_held_out
from bertcore.training.pretraining.objectives import objective_named

from ...plots import plain, shorten_middle
from ...server import checkpoints, training, visits
from ...server.policy import default_source
from ...server.room import check_room as check_disk
from ...shell import UploadSource, frame, one_of, pick, sidebar
from ...shell.uploads.on_disk import Copy
from ...sources.run_folders import process
from .fields import LENGTH_UNIT, LENGTH_UNITS, OBJECTIVE, SOURCE, SOURCES, START_FROM, STARTS
from .new_run import choose_name, new_run, show_recipe, start_or_wait

Settings = dict[str, Any]
"""Of a recipe of `bertscope pretrain`, by name."""
HIDDEN_SIZES = (64, 128, 192, 256, 384, 512)
PIECE_COUNTS = (1000, 2000, 4000, 8000, 16000, 30000)
RHYTHM = {"evaluate_every": 50, "save_every": 100}
"""Steps: a run on a page is watched, and its replay has the moments that are scored."""
KEPT_CHECKPOINTS = 20
KEPT_OF_VISITOR = 3  # on a closed server, where a visitor has limited room

HOW_NOVEL = (
    "{title}: 121,000 words. Enough to watch a model learn, far too little for it to know English."
)
HOW_TEXT = (
    "UTF-8 text (.txt, or packed as .xz or .gz): one paragraph per line and a blank line between "
    "documents, of which every 20th is held out. Sentence pairs need several documents."
)
HELP_START = (
    "Word counts: token vectors begin with which words occur next to each other in the text, which "
    "shortens the slow first part. Noise: random weights, as in BERT's own start."
)
HOW_ON = (
    "It goes on with **{name}**, the checkpoint of the sidebar, which brings its own layers, width "
    "and word pieces. A copy is kept in the run."
)
FROM_NOISE = " It has an encoder and a decoder of equal depth, and begins from noise."


def _checked(copies: Sequence[Copy]) -> tuple[Copy, ...]:
    """Return the files of a text, each of which is UTF-8."""
    for copy in copies:
        with copy.read() as path, open_text(path) as file:
            deque(lines_of(file, path), maxlen=0)
    return tuple(copies)


UPLOAD = UploadSource(
    key="corpus_upload",
    label="Text files",
    types=("txt", "xz", "gz"),
    read=_checked,
    about=lambda copies: ", ".join(shorten_middle(copy.name, 60) for copy in copies),
    accepts_several=True,
    most=300_000_000,
    shows_label=False,
)


def show_form(folder: Path) -> None:
    """Draw the form and its button; a started run is shown at once."""
    source = one_of("Text to learn from", SOURCES, SOURCE, with_label=True)
    if source == "upload":
        with frame.guard():
            UPLOAD.choose()
    st.caption(HOW_NOVEL.format(title=NOVEL.title) if source == "novel" else HOW_TEXT)
    length = _choose_length()
    with frame.more():
        name = choose_name(folder)
        settings = {**length, **_choose_model(), **RHYTHM}
        has_limits = training.limits() is not None
        settings["keep_checkpoints"] = KEPT_OF_VISITOR if has_limits else KEPT_CHECKPOINTS
    is_asked = st.button("Start training", type="primary", icon=":material/play_arrow:")
    begin = partial(_start, folder, name, source, settings)
    start_or_wait("pretrain", folder, is_asked, begin)
    show_recipe(folder / name, "pretrain --corpus ... --valid ...", settings)


def _choose_length() -> Settings:
    """Draw the choice of length; return it as a setting."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    limits = training.limits()
    most = 1440.0 if limits is None else limits.minutes
    unit = LENGTH_UNITS[0]
    if limits is None:
        unit = one_of("How long", LENGTH_UNITS, LENGTH_UNIT, where=row, with_label=True)
    if unit == "steps":
        steps = row.number_input("Steps", 10, 1_000_000, 500, 100, key="length_steps", width=150)
        return {"steps": int(steps)}
    minutes = row.number_input(
        "Minutes", min(0.5, most), most, min(3.0, most), 0.5, key="length_minutes", width=150
    )
    return {"minutes": float(minutes)}


def _choose_model() -> Settings:
    """Draw the choice of start, objective and shape; return all settings of the model."""
    start = one_of("Start from", STARTS, START_FROM, with_label=True, help=HELP_START)
    titles = {name: _title_of(name) for name in OBJECTIVES}
    help_text = "The page Objectives shows each on your own text."
    objective = objective_named(pick("Objective", titles, OBJECTIVE, help=help_text))
    ideas = " ".join(objective_of(part).idea for part in objective.parts)
    st.caption(ideas + ("" if objective.is_ours else FROM_NOISE))
    settings: Settings = {"objective": objective.name}
    if start == "checkpoint":
        settings["checkpoint"] = source = sidebar.CHECKPOINT.value or default_source()
        st.caption(HOW_ON.format(name=plain(sidebar.brief_name(source))))
    else:
        left, right = st.columns(2)
        if objective.family != "bert":
            settings["family"] = objective.family
        settings["start"] = start if objective.is_ours else "noise"
        settings["layers"] = left.number_input("Layers", 1, 12, 2, key="shape_layers")
        settings["hidden"] = right.selectbox("Width", HIDDEN_SIZES, index=1, key="shape_hidden")
        settings["vocab_size"] = left.selectbox(
            "Word pieces",
            PIECE_COUNTS,
            index=2,
            key="shape_pieces",
            format_func=lambda n: f"{n:,}",
            help="Size of the vocabulary that is learned from the text first.",
        )
    settings |= {"max_seq_length": 64, "batch_size": 32}
    settings["learning_rate"] = settings["muon_learning_rate"] = 2e-3
    return settings


def _title_of(name: str) -> str:
    """Return an objective by its parts and the model that was trained with it."""
    parts = [objective_of(part) for part in objective_named(name).parts]
    first, *others = (part.title for part in parts)
    titles = " + ".join([first, *(title[0].lower() + title[1:] for title in others)])
    return f"{titles} ({parts[-1].model})"


def _start(folder: Path, name: str, source: str, settings: Settings) -> Path:
    """Prepare the text and start the process; return the run's folder.

    ValueError if the name or the text is not valid, or too many runs are active. OSError if
    something cannot be written.
    """
    corpus: list[Path] = [NOVEL.train]
    valid: Path | None = NOVEL.valid
    if source == "upload":
        corpus, valid = [copy.path for copy in UPLOAD.value or ()], None
        if not corpus:
            raise ValueError("no text was uploaded. Choose a text file above.")
    if "checkpoint" in settings:
        settings = {**settings, "checkpoint": checkpoints.place(settings["checkpoint"])}
    run = new_run(
        folder,
        name,
        minutes=settings.get("minutes"),
        num_bytes=written_bytes(settings),
        num_parameters=new_parameters(settings),
    )
    if valid is None:
        check_disk(sum(path.stat().st_size for path in corpus))
        text_folder = run.with_name(f"{run.name}-text")
        text_folder.mkdir(parents=True, exist_ok=True)
        train, valid = text_folder / "train.txt", text_folder / "valid.txt"
        try:
            with st.spinner("Holding out a part of the text"):
                split_held_out(corpus, train, valid)
        except ValueError as error:
            shutil.rmtree(text_folder)
            if source == "upload":
                UPLOAD.refuse(error)
            raise
        corpus = [train]
    process.start(run, {"corpus": corpus, "valid": valid, **settings})
    return run


def new_parameters(given: Settings) -> int:
    """Estimate the number of parameters of a model that a run begins; 0 if it goes on with one."""
    if "checkpoint" in given:
        return 0
    hidden, layers = int(given["hidden"]), int(given["layers"])
    vectors = int(given["vocab_size"]) + int(given["max_seq_length"])
    # A decoder's layer has a second attention: 16 matrices of D x D, and 12 of an encoder's.
    is_encoder = objective_named(given["objective"]).is_ours
    return hidden * (vectors + (12 if is_encoder else 28) * hidden * layers)


def written_bytes(given: Settings) -> int:
    """Estimate what a run writes: its checkpoints, each with the optimizer's two moments."""
    if "checkpoint" in given:
        num_bytes = visits.bytes_below(resolve(given["checkpoint"]))
    else:
        num_bytes = 4 * new_parameters(given)
    # One more is there while the oldest is deleted.
    return 3 * num_bytes * (int(given["keep_checkpoints"]) + 1)
