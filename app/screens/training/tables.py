"""The table to fine-tune on, shipped, uploaded or on this machine, and what it contains."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

import streamlit as st

from bertcore.configs import Columns
from bertcore.data.guess import Guess, guess
from bertcore.data.tables import TABLE_FILES
from bertcore.model.checkpoints.source import FINE_TUNED, labelled_file
from bertcore.training.tasks.read import Survey, survey

from ...plots import plain
from ...shell import Progress, UploadSource, cache, frame
from ...shell.uploads import on_disk
from ...shell.uploads.on_disk import Copy
from ...sources.labelled_file import MAX_MEGABYTES
from .fields import UPLOAD

HOW_FILES = (
    f"{TABLE_FILES}: with a text and a label in each row. For tags also CoNLL columns or CoNLL-U, "
    "for questions SQuAD's JSON."
)


@dataclass(frozen=True, slots=True)
class TableFile:
    """A labelled file, and what it is called."""

    path: Path
    name: str
    is_upload: bool

    def naming(self) -> AbstractContextManager[None]:
        """Return a context in whose errors an upload has the visitor's name."""
        return on_disk.naming(self.path, self.name) if self.is_upload else nullcontext()


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is read; the rows that result are cached under it."""

    file: TableFile
    stamp: tuple[int, int]
    """Size and time of the file."""
    task: str
    columns: Columns
    labels: tuple[str, ...] = ()
    """Those that are known; () takes those of the file."""


def shipped_tables() -> dict[str, Path]:
    """Return the shipped labelled files, by the name of the checkpoint that they come with."""
    return {name: labelled_file(name) for name in FINE_TUNED}


def choose_file(source: str, slot: str) -> TableFile | None:
    """Draw the box for a file; return None while there is none.

    An upload is kept for the session, so that it is still there on the way back to the page.

    Args:
        source: UPLOAD or a name of `shipped_tables`.
        slot: "table" or "dev": what the file is for.

    ValueError if this server is closed and has no room for an upload.
    """
    if source != UPLOAD:
        path = shipped_tables()[source]
        return TableFile(path, path.name, False)
    table = _box(slot).choose()
    return None if table is None else TableFile(table.path, table.name, True)


def _box(slot: str) -> UploadSource[Copy]:
    return UploadSource(
        key=f"{slot}_upload",
        label="Table to learn from" if slot == "table" else "Table to score on",
        megabytes=MAX_MEGABYTES,
        most=MAX_MEGABYTES * 10**6,
        instead="Upload a part of it.",
        read=itemgetter(0),
        about=lambda table: table.name,
        shows_label=slot != "table",
    )


def look(file: TableFile, slot: str) -> Guess | None:
    """Return what a file seems to contain; draw one sentence, and return None, if it has none."""
    with frame.guard():
        try:
            with file.naming():
                guessed: Guess = cache.of_file(on_disk.read_apart, file.path, guess)
        except ValueError as error:
            if file.is_upload:
                _box(slot).refuse(error)
            raise
        if guessed.dialect and file.path not in shipped_tables().values():
            st.caption(plain(f"{file.name} is read as {guessed.dialect}."))
        return guessed
    return None


def reading_of(
    file: TableFile, task: str, columns: Columns, labels: tuple[str, ...] = ()
) -> Reading:
    """Return how a file is read; OSError if the file is no longer there."""
    stat = file.path.stat()
    return Reading(file, (stat.st_size, stat.st_mtime_ns), task, columns, labels)


def survey_table(reading: Reading, *, progress: Progress) -> Survey:
    """Return what a table contains."""
    file = reading.file

    def on_rows(number: int) -> None:
        progress(0.0, f"Counting the rows: {number:,} so far")

    with file.naming():
        found = on_disk.read_apart(
            file.path,
            survey,
            reading.task,
            columns=reading.columns,
            labels=reading.labels or None,
            on_rows=on_rows,
        )
    if not file.is_upload:
        return found

    def named(sentence: str) -> str:
        return on_disk.named(sentence, file.path, file.name)

    return replace(found, first_bad=named(found.first_bad), notes=tuple(map(named, found.notes)))
