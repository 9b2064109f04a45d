"""The sentences that probes learn from: the shipped treebank, or an uploaded file."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.data.files import BadRows, kind_of
from bertcore.data.tables import JSON_LINES
from bertcore.data.texts_file import shown_name
from bertcore.probes import STRUCTURAL, ProbeData, Task, bundled_data, read_probe_data

from ..access.room import max_megabytes
from ..plots.untrusted_text import plain
from ..shell import uploads
from ..shell.one_of import one_of
from ..shell.state import Field

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

MOST_BYTES = 50_000_000
"""Most bytes of a file's unpacked text."""
MOST_SENTENCES = 10_000
"""Most sentences whose vectors the page reads; `bertscope probe` takes all."""
ABOUT = (
    "A treebank in CoNLL-U, such as one of [Universal "
    "Dependencies](https://universaldependencies.org), or a CoNLL file: a word and its tag per "
    "line, an empty line after each sentence. It may be packed (.gz, .xz)."
)
_CONLLU_COLUMNS = 10
_UPLOADED = "_probe_upload"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Sentences for a task, not read yet."""

    task: Task
    key: str
    """Equal for equal files, and short."""
    read: Callable[[], ProbeData] = field(compare=False)
    """Reads them; raises ValueError if there is nothing to probe."""
    max_sentences: int | None
    code: str = field(compare=False)
    """Python that reads them: `data`."""


def choose(row: DeltaGenerator) -> Chosen | None:
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
        return Chosen(task, OWN, lambda: bundled_data(task), count or None, code)
    uploaded = _uploaded()
    if uploaded is None:
        st.info(ABOUT)
        return None
    name, content = uploaded
    digest = hashlib.sha256(name.encode() + b"\0" + content).hexdigest()
    code = (
        "from pathlib import Path\n\nfrom bertcore.probes import read_probe_data\n\n"
        f"data = read_probe_data(Path({name!r}), {task!r})"
    )
    return Chosen(
        task,
        digest,
        lambda: read_file(name, content, task),
        min(count or MOST_SENTENCES, MOST_SENTENCES),
        code,
    )


def read_file(name: str, content: bytes, task: Task) -> ProbeData:
    """Return the sentences of an uploaded file; unusable ones are left out, noted.

    Args:
        name: Name of the visitor's file; it is never used as a path.
        content: Its bytes.
        task: What is asked of the words.

    Raises:
        ValueError: If it cannot be read, or has nothing to probe.
    """
    text = uploads.unpacked_text(
        name, content, most=MOST_BYTES, instead="Probe it with `bertscope probe --data`."
    )
    with tempfile.TemporaryDirectory() as folder:
        # A name of our own: the visitor's could lead elsewhere.
        path = Path(folder) / f"file{_kind(name, text)}"
        path.write_bytes(text)
        bad_rows = BadRows(skip=True)

        def named(sentence: str) -> str:
            shown = shown_name(name)
            for written in (repr(str(path)), str(path), repr(path.name), path.name):
                sentence = sentence.replace(written, shown)
            return sentence

        try:
            data = read_probe_data(path, task, bad_rows=bad_rows)
        except ValueError as error:
            why = f" {bad_rows.sentence()}" if bad_rows.num else ""
            raise ValueError(named(f"{error}{why}")) from error
    return ProbeData(data.task, data.sentences, tuple(map(named, data.notes)))


def _kind(name: str, text: bytes) -> str:
    """Return the ending for the file's format, judged by its name or by its first word."""
    kind = kind_of(Path(name))
    if kind in (".conllu", *JSON_LINES):
        return kind
    for line in text[:100_000].splitlines():
        if line.strip() and not line.startswith(b"#"):
            cells = line.split(b"\t")
            is_conllu = len(cells) == _CONLLU_COLUMNS and cells[0].partition(b"-")[0].isdigit()
            return ".conllu" if is_conllu else ".conll"
    return ".conll"


def _uploaded() -> tuple[str, bytes] | None:
    """Return name and content of the uploaded file; it is kept across pages, until the next."""
    upload = st.file_uploader(
        "A treebank (CoNLL-U) or a file of tags (CoNLL)",
        key="probe_upload",
        max_upload_size=max_megabytes(uploads.TEXTS_MEGABYTES),
    )
    kept: tuple[str, bytes] | None = st.session_state.get(_UPLOADED)
    if upload is None:
        if kept is not None:
            st.caption(f"Still used: your last file, {plain(shown_name(kept[0]))}.")
        return kept
    kept = upload.name, upload.getvalue()
    st.session_state[_UPLOADED] = kept
    return kept
