"""The choice of a labelled file: an upload, or the dev data of a shipped checkpoint."""

import dataclasses
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import streamlit as st

from bertcore.analysis.attribution import FileRun, run_file
from bertcore.checkpoints.source import FINE_TUNED, labelled_file
from bertcore.configs import Columns
from bertcore.data.columnar import is_columnar
from bertcore.data.files import open_bytes
from bertcore.data.guess import guess
from bertcore.tasks.model import TaskModel
from bertcore.tasks.read import read_parts, send_parts
from bertcore.tasks.task import Task

from ..plots import plain, shorten_middle
from ..shell import Field, Progress, UploadSource, cache
from ..shell.uploads import Copy, named, naming, process_of, read_apart
from .choices import COLUMNS, JOINT_COLUMNS, LABEL_MAP, SKIP_BAD_ROWS, USUAL_COLUMN
from .task_views import TaskView, view_of

MAX_MEGABYTES = 300
"""Of a file, also when it is unpacked."""
_BLOCK = 1 << 20
_ROW_BYTES = 100
"""About those of a row of texts in Parquet."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A file to run and how to read it."""

    path: Path
    name: str
    """What the visitor calls it."""
    columns: Columns
    skip_bad_rows: bool


@dataclass(slots=True, eq=False)
class Stop:
    """A visitor's request to stop a run and keep the results so far."""

    wanted: threading.Event = dataclasses.field(default_factory=threading.Event)


def answer_file(
    model: TaskModel, chosen: Labelled, stop: Stop, number: int, *, progress: Progress
) -> FileRun:
    """Return the answers to a file.

    Args:
        model: The fine-tuned model.
        chosen: The file.
        stop: Set to stop it and keep the results so far.
        number: A new number runs it again.
    """
    progress(0.0, "Reading the file")
    total = rough_number(chosen.path, view_of(model.task).marks)

    def on_rows(done: int) -> None:
        progress(min(1.0, done / max(1, total)), f"{done:,} of about {total:,} examples")

    with naming(chosen.path, chosen.name):
        done = run_file(
            model,
            chosen.path,
            columns=chosen.columns,
            skip_bad_rows=chosen.skip_bad_rows,
            read=_read_parts,
            on_rows=on_rows,
            should_stop=stop.wanted.is_set,
        )
    return replace(done, notes=tuple(named(n, chosen.path, chosen.name) for n in done.notes))


def rough_number(path: Path, marks: Sequence[bytes]) -> int:
    """Return about how many examples a file has, for the progress.

    Args:
        marks: What it has about once for each example.
    """
    with open_bytes(path) as file:
        start = file.read(_BLOCK)
        if is_columnar(start):
            return max(1, path.stat().st_size // _ROW_BYTES)
        blocks = chain([start], iter(partial(file.read, _BLOCK), b""))
        return max(1, sum(block.count(mark) for block in blocks for mark in marks))


def _read_parts(path: Path, task: Task, **options: Any) -> Iterator[Any]:
    """Read a file as `read_parts` does, a large upload in a process that waits for the network."""
    apart = process_of(path)
    if apart is None:
        return read_parts(path, task, **options)
    limits = replace(apart.limits, seconds=None)
    parts: Iterator[Any] = replace(apart, limits=limits).parts(
        send_parts, path, task.name, **options
    )
    return parts


def choose_file(view: TaskView, source: str, labels: tuple[str, ...]) -> Labelled | None:
    """Draw the upload of a file and how to read it; a shipped checkpoint brings its own file.

    The last upload stays chosen, on every page that asks for a labelled file.

    Args:
        view: View of the task.
        source: Source of the checkpoint.
        labels: Labels of the model.

    Raises:
        ValueError, OSError, RuntimeError: If the file cannot be read.
    """
    box = UploadSource(
        key="inspect_upload",
        label=view.upload,
        megabytes=MAX_MEGABYTES,
        most=MAX_MEGABYTES * 10**6,
        instead="Upload a part of it.",
        read=itemgetter(0),
        about=lambda copy: shorten_middle(copy.name, 60),
    )
    upload: Copy | None = box.choose()
    if upload is None:
        st.caption(
            f"{view.files}. The file stays on this server and is read a few thousand rows at a "
            "time. In a terminal, `bertscope evaluate` does the same."
        )
        if source not in FINE_TUNED:
            return None
        st.markdown(
            f"**Example:** the dev data of `{source}`, on which its best checkpoint was chosen."
        )
    path = labelled_file(source) if upload is None else upload.path
    name = path.name if upload is None else upload.name
    try:
        with naming(path, name):
            dialect = cache.of_file(read_apart, path, guess).dialect
            names = view.column_names(path)
    except ValueError as error:
        if upload is not None:
            box.refuse(error)
        raise
    if upload is not None and dialect:
        st.caption(plain(f"{shorten_middle(name, 60)} is read with {dialect}."))
    columns = _columns(view, names, view.joint_columns(names, labels))
    if labels:
        columns = replace(columns, label_map=choose_label_map(LABEL_MAP))
    skip = st.toggle("Leave out rows that cannot be read", key=SKIP_BAD_ROWS.key())
    return Labelled(path, name, columns, skip)


def show_notes(notes: Sequence[str]) -> None:
    """Write how a file was read, but for its dialect, which is told where the file is chosen."""
    for note in notes:
        if " is read with " not in note:
            st.caption(plain(note))


def choose_label_map(field: Field[str]) -> str | None:
    """Draw the box for what a file's labels stand for, where they are to be named."""
    typed = st.text_input(
        "Labels of the file",
        key=field.key(),
        placeholder="by their names: or 0=negative, 1=positive",
        help=(
            "What labels of the file stand for, if they are not found by their names or numbers, "
            "or wrongly: 0=negative, 1=positive. With nothing after the = the rows are left out. "
            "In a terminal: --label-map."
        ),
        width=380,
    )
    return typed.strip() or None


def _columns(view: TaskView, names: tuple[str, ...], joint: str | None) -> Columns:
    """Draw the choice of columns; nothing if the file has none.

    Args:
        view: View of the task.
        names: Names of the columns.
        joint: The columns that are the label together, if any; they are the default.
    """
    if not names:
        return Columns()
    row = st.container(horizontal=True)
    picked: dict[str, str | None] = {}
    for field, title in view.columns.items():
        is_joint = field == "label" and joint is not None
        options = [joint] * is_joint + [USUAL_COLUMN, *names]
        column = row.selectbox(
            title,
            options,
            format_func=lambda name: JOINT_COLUMNS if name == joint else shorten_middle(name),
            key=COLUMNS[field].key(default=options[0], options=options),
            width=220,
        )
        picked[field] = None if column == USUAL_COLUMN else column
    return Columns(**picked)
