"""The table to fine-tune on, shipped, uploaded or on this machine, and what it contains."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from bertcore.checkpoints.source import FINE_TUNED, labelled_file
from bertcore.configs import Columns, FinetuneConfig
from bertcore.data.files import NotUTF8Error, kind_of, recode
from bertcore.data.guess import Guess, guess
from bertcore.data.labels import order_labels
from bertcore.finetuning.speed import Speed, measure_speed
from bertcore.tasks.survey import Survey, survey

from ..access.policy import policy
from ..access.room import check_room
from ..plots.untrusted_text import plain
from ..shell import cache, frame
from ..shell.jobs.background import Progress, Work
from ..shell.source import UploadSource
from ..shell.state import Field
from ..shell.uploads import Copy
from ..task_model import labelled_files
from .fields import OWN_FILE, UPLOAD

TYPES = ("csv", "tsv", "txt", "jsonl", "json", "conll", "conllu", "iob", "bio", "gz", "xz")
ENCODINGS = {
    "cp1252": "Western Europe (Windows-1252)",
    "cp1251": "Cyrillic (Windows-1251)",
    "koi8-r": "Cyrillic (KOI8-R)",
    "cp1250": "Central Europe (Windows-1250)",
    "gb18030": "Chinese (GB 18030)",
    "big5": "Chinese (Big5)",
    "shift_jis": "Japanese (Shift JIS)",
    "euc_kr": "Korean (EUC-KR)",
    "utf-16": "UTF-16",
}
"""Encodings that an uploaded file can be read in, by Python's name."""
HOW_FILES = (
    "CSV, TSV or JSON lines with a text and a label in each row; for tags CoNLL columns or "
    "CoNLL-U, for questions SQuAD's JSON. Also packed as .gz or .xz."
)


@dataclass(frozen=True, slots=True)
class TableFile:
    """A labelled file, and what it is called."""

    path: Path
    name: str
    is_upload: bool


@dataclass(frozen=True, slots=True)
class _Table:
    """An upload, and where it is read."""

    copy: Copy
    path: Path

    @property
    def name(self) -> str:
        """As the visitor calls it."""
        return self.copy.name


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is read; the rows that result are cached under it."""

    path: Path
    stamp: tuple[int, int]
    """Size and time of the file."""
    task: str
    columns: Columns
    labels: tuple[str, ...] = ()
    """Those that are known; () takes those of the file."""


def shipped_tables() -> dict[str, Path]:
    """Return the shipped labelled files, by the name of the checkpoint that they come with."""
    return {name: labelled_file(name) for name in FINE_TUNED}


def choose_file(source: str, slot: str, typed: Field[str]) -> TableFile | None:
    """Draw the box for a file; return None while there is none.

    An upload is kept for the session, so that it is still there on the way back to the page.

    Args:
        source: UPLOAD, OWN_FILE or a name of `shipped_tables`.
        slot: "table" or "dev": what the file is for.
        typed: Holds the path of OWN_FILE.

    Raises:
        ValueError: If this server is closed and has no room for an upload, or reads no such file.
    """
    if source == OWN_FILE:
        if policy().is_closed:
            raise ValueError("this server does not read its own files for visitors. Upload yours.")
        text = st.text_input(
            f"Path of the {slot} file" if slot != "table" else "Path of the table",
            key=typed.key(),
            placeholder="/home/me/reviews.csv",
        )
        path = Path(text.strip()).expanduser()
        return TableFile(path, path.name, False) if text.strip() else None
    if source != UPLOAD:
        path = shipped_tables()[source]
        return TableFile(path, path.name, False)
    table = _box(slot).choose()
    return None if table is None else TableFile(table.path, table.name, True)


def _box(slot: str) -> UploadSource[_Table]:
    return UploadSource(
        key=f"{slot}_upload",
        label="Table to learn from" if slot == "table" else "Table to score on",
        types=TYPES,
        megabytes=labelled_files.MAX_MEGABYTES,
        most=labelled_files.MAX_MEGABYTES * 10**6,
        instead="Upload a part of it.",
        read=lambda copies: _Table(copies[0], copies[0].path),
        about=lambda table: table.name,
        shows_label=slot != "table",
    )


def look(file: TableFile, slot: str) -> Guess | None:
    """Return what a file seems to contain; draw one sentence and return None if it cannot be read.

    For an upload in another encoding the choice of one is drawn.
    """
    with frame.guard():
        try:
            return cache.of_file(guess, file.path)
        except ValueError as error:
            if file.is_upload and isinstance(error, NotUTF8Error):
                _choose_encoding(file, slot)
            elif file.is_upload:
                _box(slot).refuse(error)
            raise
    return None


def _choose_encoding(file: TableFile, slot: str) -> None:
    row = st.container(horizontal=True, vertical_alignment="bottom")
    encoding = row.selectbox(
        "Encoding of the file",
        ENCODINGS,
        format_func=ENCODINGS.__getitem__,
        key=f"{slot}_encoding",
        width=300,
    )
    row.button(
        "Read with this encoding",
        key=f"{slot}_recode",
        on_click=_recode,
        args=(file, slot, encoding),
    )
    if problem := st.session_state.pop(f"_{slot}_recode_failed", None):
        st.warning(plain(problem))


def _recode(file: TableFile, slot: str, encoding: str) -> None:
    """Put the file as UTF-8 in the upload's place."""
    target = file.path.with_name(f"recoded-{encoding}{kind_of(file.path)}")
    try:
        check_room(2 * file.path.stat().st_size)
        recode(file.path, target, encoding)
    except (ValueError, OSError) as error:
        st.session_state[f"_{slot}_recode_failed"] = frame.sentence_of(error)
        return
    box = _box(slot)
    if box.value is not None:
        file.path.unlink()
        box.replace(_Table(box.value.copy, target))


def reading_of(path: Path, task: str, columns: Columns, labels: tuple[str, ...] = ()) -> Reading:
    """Return how a file is read.

    Raises:
        OSError: If the file is no longer there.
    """
    stat = path.stat()
    return Reading(path, (stat.st_size, stat.st_mtime_ns), task, columns, labels)


def survey_table(reading: Reading, *, progress: Progress) -> Survey:
    """Return what a table contains."""

    def on_rows(number: int) -> None:
        progress(0.0, f"Counting the rows: {number:,} so far")

    return survey(
        reading.path,
        reading.task,
        columns=reading.columns,
        labels=reading.labels or None,
        on_rows=on_rows,
    )


def measuring(key: cache.BertKey, reading: Reading, found: Survey, config: FinetuneConfig) -> Work:
    """Return the work that measures how fast a checkpoint learns from a table; gives a Speed."""

    def work(progress: Progress) -> Speed:
        progress(0.0, "Measuring a few training steps")
        return measure_speed(
            key.place,
            reading.task,
            found.sample,
            order_labels(found.labels),
            config,
            on_step=lambda fraction: progress(fraction, "Measuring a few training steps"),
        )

    return Work(("finetune-speed", key, reading, config.max_seq_length), work)
