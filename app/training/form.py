"""The form that starts a pretraining run."""

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from bertcore.architecture.config import BertConfig, shape_of
from bertcore.checkpoints.files import open_folder
from bertcore.checkpoints.source import is_remote, resolve
from bertcore.configs import DataConfig
from bertcore.pretraining import check_objective
from bertcore.pretraining.data.corpus import NOVEL, split_held_out
from bertcore.pretraining.objectives import objective_named

from ..access import checkpoints, visits
from ..access.policy import policy
from ..access.room import check_room as check_disk
from ..plots import plain
from ..run_folders import process
from ..shell import frame
from . import choices
from .new_run import choose_name, new_run, show_recipe, start_or_wait

SUFFIXES = (".txt", ".xz", ".gz")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Text to learn from and text to be scored on."""

    train: tuple[Path, ...]
    valid: Path | None
    """None if a part of `train` is to be held out."""


def show_form(folder: Path) -> None:
    """Draw the form and its button; a started run is shown at once."""
    source = choices.choose_text()
    start, objective = choices.choose_kind()
    left, right = st.columns(2, gap="large")
    with left:
        name = choose_name(folder)
        length = choices.choose_length()
    with right:
        settings = {**length, **choices.choose_model(start, objective)}
    reason = why_not(settings)
    if reason is not None:
        st.warning(plain(reason), icon=":material/block:")
    is_asked = st.button(
        "Start training",
        type="primary",
        icon=":material/play_arrow:",
        disabled=reason is not None,
    )
    begin = partial(_start, folder, name, source, settings)
    start_or_wait("pretrain", folder, is_asked, begin)
    show_recipe(folder / name, "pretrain --corpus ... --valid ...", settings)


def _read_choice(source: str) -> Corpus:
    """Return the chosen text.

    Raises:
        ValueError: If nothing was chosen, or the file is not there.
    """
    if source == "novel":
        return Corpus((NOVEL.train,), NOVEL.valid)
    if source == "path" and not policy().is_closed:
        return corpus_of_path(
            st.session_state.get("corpus_path", ""), st.session_state.get("valid_path", "")
        )
    uploaded = choices.UPLOAD.value if source == "upload" else None
    if not uploaded:
        raise ValueError("no text was uploaded. Choose a text file above.")
    return Corpus(tuple(copy.path for copy in uploaded), None)


def corpus_of_path(typed: str, valid: str) -> Corpus:
    """Return the text files of a typed file or folder.

    Raises:
        ValueError: If nothing is typed, or no text file is there.
    """
    if not typed.strip():
        raise ValueError("no file or folder is given. Type its path above.")
    path = Path(typed.strip()).expanduser()
    held_out = Path(valid.strip()).expanduser() if valid.strip() else None
    for wanted in filter(None, (path, held_out)):
        if not wanted.exists():
            raise ValueError(f"{str(wanted)!r} is not on this machine. Check the path.")
    files = [path]
    if path.is_dir():
        files = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES and p.is_file())
        files = [p for p in files if held_out is None or p.resolve() != held_out.resolve()]
        if not files:
            raise ValueError(
                f"no .txt, .xz or .gz file is in {str(path)!r}. Choose another folder."
            )
    return Corpus(tuple(files), held_out)


def _start(folder: Path, name: str, source: str, settings: choices.Settings) -> Path:
    """Prepare the text and start the process; return the run's folder.

    Raises:
        ValueError: If the name or the text is not valid, or too many runs are active.
        OSError: If something cannot be written.
    """
    corpus = _read_choice(source)
    if "checkpoint" in settings:
        settings = {**settings, "checkpoint": checkpoints.place(settings["checkpoint"])}
    run = new_run(
        folder,
        name,
        minutes=settings.get("minutes"),
        num_bytes=written_bytes(settings),
        num_parameters=new_parameters(settings),
    )
    train, valid = corpus.train, corpus.valid
    if valid is None:
        check_disk(sum(path.stat().st_size for path in train))
        text_folder = run.with_name(f"{run.name}-text")
        text_folder.mkdir(parents=True, exist_ok=True)
        try:
            with st.spinner("Holding out a part of the text"):
                split_held_out(train, text_folder / "train.txt", text_folder / "valid.txt")
        except ValueError as error:
            shutil.rmtree(text_folder)
            if source == "upload":
                choices.UPLOAD.refuse(error)
            raise
        train, valid = (text_folder / "train.txt",), text_folder / "valid.txt"
    process.start(run, {"corpus": train, "valid": valid, **settings})
    return run


def why_not(given: choices.Settings) -> str | None:
    """Return the sentence with which the command would refuse the objective; None if it would not.

    Nothing is known about a checkpoint that is not on this machine before it is fetched.
    """
    config = DataConfig.for_length(
        given["max_seq_length"],
        objective=given["objective"],
        masked_lm_prob=given.get("masked_lm_prob"),
    )
    try:
        shape = _shape(given)
        if shape is not None:
            check_objective(shape, config, goes_on="checkpoint" in given)
    except (ValueError, RuntimeError, OSError) as reason:
        return frame.sentence_of(reason)
    return None


def _shape(given: choices.Settings) -> BertConfig | None:
    """Return the shape of the network that is asked for; None for a checkpoint to be fetched.

    Raises:
        ValueError: If the checkpoint is not offered, is none, or of another architecture.
        RuntimeError: If its files are damaged.
    """
    if "checkpoint" not in given:
        return shape_of(
            given.get("family", "bert"),
            vocab_size=given["vocab_size"],
            num_hidden_layers=given["layers"],
            hidden_size=given["hidden"],
        )
    source = checkpoints.place(given["checkpoint"])
    if is_remote(source):
        return None
    return BertConfig.from_hf_dict(open_folder(resolve(source), allow_pickle=True).config)


def new_parameters(given: choices.Settings) -> int:
    """Estimate the number of parameters of a model that a run begins; 0 if it goes on with one."""
    if "checkpoint" in given:
        return 0
    hidden, layers = int(given["hidden"]), int(given["layers"])
    vectors = int(given["vocab_size"]) + int(given["max_seq_length"])
    # A decoder's layer has a second attention: 16 matrices of D x D, and 12 of an encoder's.
    is_encoder = objective_named(given["objective"]).is_ours
    return hidden * (vectors + (12 if is_encoder else 28) * hidden * layers)


def written_bytes(given: choices.Settings) -> int:
    """Estimate what a run writes: its checkpoints, each with the optimizer's two moments."""
    if "checkpoint" in given:
        num_bytes = visits.bytes_below(resolve(given["checkpoint"]))
    else:
        num_bytes = 4 * new_parameters(given)
    # One more is there while the oldest is deleted.
    return 3 * num_bytes * (int(given["keep_checkpoints"]) + 1)
