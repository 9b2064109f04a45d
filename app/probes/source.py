"""The sentences that probes learn from: the shipped treebank, or an uploaded file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.data.files import BadRows, kind_of
from bertcore.data.tables import JSON_LINES
from bertcore.data.texts_file import shown_name
from bertcore.probes import STRUCTURAL, ProbeData, Task, bundled_data, read_probe_data

from ..shell import Field, UploadSource, one_of, uploads

OWN = "own"
"""Key of the shipped treebank."""
SOURCES = {"own": "Our treebank", "file": "Your file"}
SOURCE = Field("probe_source", "own", tuple(SOURCES))
TASKS: dict[str, str] = {
    "pos": "Part of speech",
    "dep": "Relation",
    "ner": "Entities",
    "distance": "Tree",
    "depth": "Depth",
}
TASK = Field("probe_task", "pos", tuple(TASKS))
EVERY = 0
"""Stands for all sentences."""
COUNTS = (100, 200, 300, 500, 1000, 2000, EVERY)
COUNT = Field("probe_sentences", 300, COUNTS)
TREE_COUNT = Field("probe_trees", EVERY, COUNTS)
"""Structural probes need more: a few hundred sentences give them too few steps."""

MOST_SENTENCES = 10_000
"""Most sentences whose vectors the page reads; `bertscope probe` takes all."""
ABOUT = (
    "A treebank in CoNLL-U, such as one of [Universal "
    "Dependencies](https://universaldependencies.org), or a CoNLL file: a word and its tag per "
    "line, an empty line after each sentence; or a table with lists of words and tags. It may be "
    "packed (.gz, .bz2, .xz, .zip)."
)
_CONLLU_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class TaskSentences:
    """Sentences for a task, not read yet."""

    task: Task
    key: str
    """Equal for the same file; of a visitor's, its path, with which it is forgotten."""
    read: Callable[[], ProbeData] = field(compare=False)
    """Reads them; raises ValueError if there is nothing to probe."""
    max_sentences: int | None
    code: str = field(compare=False)
    """Python that reads them: `data`."""


def choose(row: DeltaGenerator) -> TaskSentences | None:
    """Draw the choice of file, task and number of sentences; return None without a file."""
    source = one_of("Sentences", SOURCES, SOURCE, where=row, with_label=True)
    offered = {name: title for name, title in TASKS.items() if source == "file" or name != "ner"}
    task = cast(Task, one_of("Task", offered, TASK, where=row, with_label=True))
    field = TREE_COUNT if task in STRUCTURAL else COUNT
    count = row.selectbox(
        "How many",
        COUNTS,
        key=field.key(options=COUNTS),
        format_func=lambda number: f"{number:,}" if number else "all",
        width=110,
    )
    if source == "own":
        code = f"from bertcore.probes import bundled_data\n\ndata = bundled_data({task!r})"
        return TaskSentences(task, OWN, lambda: bundled_data(task), count or None, code)
    copy = FILE.choose()
    if copy is None:
        st.info(ABOUT)
        return None
    code = (
        "from pathlib import Path\n\nfrom bertcore.probes import read_probe_data\n\n"
        f"data = read_probe_data(Path({copy.name!r}), {task!r})"
    )
    # A key of results must not hold the copy, and must differ for each: work reads it from the
    # disk, and of two equal files, one after the other, only the last is still there.
    read = partial(read_file, copy.path, copy.name, task)
    most = min(count or MOST_SENTENCES, MOST_SENTENCES)
    return TaskSentences(task, str(copy.path), read, most, code)


class Unreadable(ValueError):  # noqa: N818 - the error is a sentence, as any ValueError of a reader
    """An uploaded file has nothing for a task."""


def read_file(path: Path, name: str, task: Task) -> ProbeData:
    """Return the sentences of an uploaded file; unusable ones are left out, noted.

    Args:
        path: Where its copy is.
        name: As the visitor calls it.
        task: What is asked of the words.

    Raises:
        Unreadable: If it cannot be read, or has nothing to probe.
        OSError: If it is no longer there.
    """
    path.stat()
    bad_rows = BadRows(skip=True)
    try:
        data = uploads.read_apart(path, read_probe_data, task, bad_rows=bad_rows)
    except ValueError as error:
        why = f" {bad_rows.sentence()}" if bad_rows.num else ""
        raise Unreadable(uploads.named(f"{error}{why}", path, name)) from error
    notes = (uploads.named(note, path, name) for note in data.notes)
    return ProbeData(data.task, data.sentences, tuple(notes))


@contextmanager
def dropping_unreadable(task: Task) -> Iterator[None]:
    """Keep nothing of an upload that turns out to be unreadable in the block.

    One that is merely not for this task is kept: trees have no entities, tags no trees.
    """
    try:
        yield
    except Unreadable as error:
        copy = FILE.value
        is_treebank = copy is not None and copy.path.suffix == ".conllu"
        if task == "pos" or is_treebank == (task != "ner"):
            FILE.refuse(error)
        raise


def _kind(name: str, path: Path) -> str:
    """Return the ending for the file's format, judged by its name or by its first word."""
    kind = kind_of(Path(name))
    if kind in (".conllu", ".csv", *JSON_LINES):
        return kind
    with path.open("rb") as file:
        start = file.read(100_000)
    for line in start.splitlines():
        if line.strip() and not line.startswith(b"#"):
            cells = line.split(b"\t")
            is_conllu = len(cells) == _CONLLU_COLUMNS and cells[0].partition(b"-")[0].isdigit()
            return ".conllu" if is_conllu else ".conll"
    return ".conll"


FILE = UploadSource(
    key="probe_upload",
    label="A treebank (CoNLL-U) or a file of tags (CoNLL)",
    read=itemgetter(0),
    about=lambda copy: shown_name(copy.name),
    most=50_000_000,
    instead="Probe it with `bertscope probe --data`.",
    kind=_kind,
)
