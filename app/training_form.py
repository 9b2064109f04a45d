"""The form that starts a small run: what text, what shape, how long."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from app import frame, state, texts, training_process, training_runs
from bertcore.pretraining.bundled import NOVEL
from bertcore.pretraining.hold_out import split_held_out

SOURCES = {
    "novel": "A novel",
    "upload": "Upload",
    "path": "File or folder",
}
HIDDEN_SIZES = (64, 128, 192, 256, 384, 512)
PIECE_COUNTS = (1000, 2000, 4000, 8000, 16000, 30000)
ROW_LENGTHS = (32, 64, 128, 256, 512)
BATCH_SIZES = (8, 16, 32, 64, 128)
KEPT_MOMENTS = 20
SUFFIXES = (".txt", ".xz", ".gz")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Text to learn from and text to be scored on."""

    train: tuple[Path, ...]
    valid: Path | None
    """None: a part of `train` is to be held out."""


def draw(folder: Path) -> None:
    """Draw the form and its button; a started run is shown at once."""
    source = _choose_text()
    left, right = st.columns(2, gap="large")
    with left:
        name = st.text_input(
            "Name of the run",
            key="run_name",
            placeholder=_free_name(folder),
            help="Becomes its folder's name.",
        ).strip() or _free_name(folder)
        length = _choose_length()
    with right:
        options = _choose_shape()
    options = [*length, *options]
    if st.button("Start training", type="primary", icon=":material/play_arrow:"):
        with frame.guard(stop=True):
            _start(folder, name, _read_choice(source), options)
        st.session_state[_STARTED] = name
        st.rerun()
    st.caption("The same in a terminal:")
    st.code(
        shlex.join(["bertscope", "pretrain", "--out", str(folder / name), *options])
        + " --corpus ... --valid ...",
        language="shell",
        wrap_lines=True,
    )


_STARTED = "_run_started"


def show_started() -> None:
    """Choose the run that was just started; called before the widgets that hold the choice."""
    name = st.session_state.pop(_STARTED, None)
    if name is not None:
        state.put("run", name)
        state.put("training_view", "Watch")


def _choose_text() -> str:
    source = st.segmented_control(
        "Text to learn from",
        list(SOURCES),
        key=state.keep("corpus", "novel", options=list(SOURCES)),
        format_func=SOURCES.__getitem__,
    )
    source = source or "novel"
    if source == "novel":
        st.caption(texts.TEXTS["training.novel"].format(title=NOVEL.title))
    elif source == "upload":
        st.file_uploader(
            "Text files",
            type=["txt", "xz", "gz"],
            accept_multiple_files=True,
            key="corpus_upload",
            label_visibility="collapsed",
        )
        st.caption(texts.TEXTS["training.form_of_text"])
    else:
        st.text_input(
            "File or folder",
            key="corpus_path",
            placeholder="/home/me/books",
            label_visibility="collapsed",
        )
        st.text_input(
            "Held-out file (optional)",
            key="valid_path",
            placeholder="left empty, every 20th document is held out",
        )
        st.caption(texts.TEXTS["training.form_of_text"])
    return source


def _choose_length() -> list[str]:
    row = st.container(horizontal=True, vertical_alignment="bottom")
    unit = row.segmented_control(
        "How long",
        ["minutes", "steps"],
        key=state.keep("length_unit", "minutes", options=["minutes", "steps"]),
    )
    if unit == "steps":
        steps = row.number_input("Steps", 10, 1_000_000, 500, 100, key="length_steps", width=150)
        return ["--steps", str(steps)]
    minutes = row.number_input("Minutes", 0.5, 1440.0, 3.0, 0.5, key="length_minutes", width=150)
    return ["--minutes", f"{minutes:g}"]


def _choose_shape() -> list[str]:
    left, right = st.columns(2)
    layers = left.number_input("Layers", 1, 12, 2, key="shape_layers")
    hidden = right.selectbox("Width", HIDDEN_SIZES, index=1, key="shape_hidden")
    pieces = left.selectbox(
        "Word pieces",
        PIECE_COUNTS,
        index=2,
        key="shape_pieces",
        format_func=lambda n: f"{n:,}",
        help="Size of the vocabulary that is learned from the text first.",
    )
    row = right.selectbox(
        "Tokens of a row", ROW_LENGTHS, index=1, key="shape_row", help="A sentence pair's most."
    )
    with st.expander("More: batch, optimiser, rhythm"):
        left, right = st.columns(2)
        batch = left.selectbox("Rows of a step", BATCH_SIZES, index=2, key="shape_batch")
        optimizer = right.selectbox("Optimiser", ["muon", "adamw"], key="shape_optimizer")
        rate = left.number_input(
            "Peak learning rate", 1e-5, 0.1, 2e-3, format="%.5f", step=5e-4, key="shape_rate"
        )
        start = right.selectbox(
            "Starting vectors",
            ["warm", "noise"],
            key="shape_start",
            help="warm: from counts of the text; noise: as BERT's own.",
        )
        every = left.number_input(
            "Score every ... steps",
            5,
            100_000,
            50,
            key="shape_every",
            help="On held-out text; the probes for the replay are taken then too.",
        )
        save = right.number_input(
            "Save every ... steps",
            5,
            100_000,
            100,
            key="shape_save",
            help=f"The newest {KEPT_MOMENTS} moments are kept.",
        )
    found = {
        "--layers": layers,
        "--hidden": hidden,
        "--vocab-size": pieces,
        "--max-seq-length": row,
        "--batch-size": batch,
        "--optimizer": optimizer,
        "--learning-rate": f"{rate:g}",
        **({"--muon-learning-rate": f"{rate:g}"} if optimizer == "muon" else {}),
        "--start": start,
        "--evaluate-every": every,
        "--save-every": save,
        "--keep-checkpoints": KEPT_MOMENTS,
    }
    return [str(part) for option in found.items() for part in option]


def _free_name(folder: Path) -> str:
    """Return the first name run-1, run-2, ... that nothing in the folder has."""
    taken = {path.name.removesuffix(".log") for path in folder.iterdir()} if folder.is_dir() else ()
    return next(f"run-{n}" for n in range(1, 10**6) if f"run-{n}" not in taken)


def _read_choice(source: str) -> Corpus:
    """Return the chosen text.

    Raises:
        ValueError: If nothing was chosen, or it is not there.
    """
    if source == "novel":
        return Corpus((NOVEL.train,), NOVEL.valid)
    if source == "path":
        return corpus_of_path(
            st.session_state.get("corpus_path", ""), st.session_state.get("valid_path", "")
        )
    if not st.session_state.get("corpus_upload"):
        raise ValueError("no text was uploaded. Choose a text file above.")
    return Corpus((), None)  # written beside the run, once its name is settled


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
    found = [path]
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES and p.is_file())
        found = [p for p in found if held_out is None or p.resolve() != held_out.resolve()]
        if not found:
            raise ValueError(
                f"no .txt, .xz or .gz file is in {str(path)!r}. Choose another folder."
            )
    return Corpus(tuple(found), held_out)


def _start(folder: Path, name: str, corpus: Corpus, options: Sequence[str]) -> None:
    """Prepare the text and start the process.

    Raises:
        ValueError: If the name or the text is not good, or too many runs are at work.
        OSError: If something cannot be written.
    """
    training_process.check_name(name)
    run = folder / name
    known = training_runs.list_runs(folder)
    if name in [other.name for other in known if other.is_active] or run.exists():
        raise ValueError(f"there is a run {run.name!r} already. Choose another name.")
    training_runs.check_room(known)
    train, valid = corpus.train, corpus.valid
    if not train:
        train = _write_upload(run)
    if valid is None:
        own = run.with_name(f"{run.name}-text")
        own.mkdir(parents=True, exist_ok=True)
        with st.spinner("Holding out a part of the text"):
            split_held_out(train, own / "train.txt", own / "valid.txt")
        train, valid = (own / "train.txt",), own / "valid.txt"
    files = [part for path in train for part in ("--corpus", str(path))]
    training_process.start(run, [*files, "--valid", str(valid), *options])


def _write_upload(run: Path) -> tuple[Path, ...]:
    """Write the uploaded files beside the run, under names of our own."""
    own = run.with_name(f"{run.name}-text")
    own.mkdir(parents=True, exist_ok=True)
    written = []
    for number, upload in enumerate(st.session_state["corpus_upload"]):
        suffix = Path(upload.name).suffix.lower()
        path = own / f"upload-{number}{suffix if suffix in SUFFIXES else '.txt'}"
        path.write_bytes(upload.getvalue())
        written.append(path)
    return tuple(written)
