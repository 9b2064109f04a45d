"""Where the sentences of the Heads page come from: our own, a paste, a file."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import streamlit as st

from bertcore.analysis.heads.texts import (
    HeadTexts,
    bundled_sentences,
    bundled_trees,
    read_pasted_texts,
    read_texts,
)

from ..plots.untrusted_text import plain
from ..shell import uploads
from ..shell.one_of import one_of
from ..shell.sentence_box.pasted import pasted
from ..shell.state import Field

SOURCES = {"own": "Our sentences", "pasted": "Paste sentences", "file": "Upload a file"}
SOURCE = Field("heads_source", "own", tuple(SOURCES))
NOTHING_YET = {
    "pasted": "Paste some sentences above, one per line. A few dozen make the intervals narrow.",
    "file": (
        "Upload a text or CSV file of at most 10,000 sentences above, or sentences with their "
        "trees in CoNLL-U, as Universal Dependencies provides them for 150 languages."
    ),
}
_UPLOADED = "_heads_uploaded"


class Chosen(NamedTuple):
    """Sentences to measure heads on, and a key that identifies them."""

    texts: HeadTexts
    trees: HeadTexts
    """Of the relations: those of the file if it has any, else our own."""
    key: str
    """Equal for equal texts, and short."""
    code: str
    """Python that makes `texts` and `trees`."""

    @property
    def has_own_trees(self) -> bool:
        """Whether the relations are measured on trees of our own."""
        return self.trees is not self.texts


def choose() -> Chosen | None:
    """Draw the choice of a source and its input; return None while there are no sentences.

    Raises:
        ValueError: If what was pasted or uploaded contains no sentence or cannot be read.
    """
    source = one_of("Sentences", SOURCES, SOURCE)
    chosen = _own() if source == "own" else _pasted() if source == "pasted" else _uploaded()
    if chosen is None:
        st.info(NOTHING_YET[source])
        return None
    for note in dict.fromkeys((*chosen.texts.notes, *chosen.trees.notes)):
        st.caption(plain(note))
    return chosen


def _own() -> Chosen:
    code = "texts, trees = bundled_sentences(), bundled_trees()\n"
    return Chosen(bundled_sentences(), bundled_trees(), "own", code)


def _pasted() -> Chosen | None:
    text = pasted(
        "heads_pasted",
        "One sentence per line, or a pair with ||| between its texts",
        "The river rose during the night.\nHe was late. ||| The train had left.",
    )
    if not text.strip():
        return None
    code = f"texts, trees = read_pasted_texts({text!r}), bundled_trees()\n"
    return Chosen(read_pasted_texts(text), bundled_trees(), _digest(text.encode()), code)


def _uploaded() -> Chosen | None:
    """Return the uploaded sentences; they are kept across pages, until the next file."""
    upload = st.file_uploader(
        "A text file with one sentence per line, a CSV or TSV table, or trees (.conllu)",
        key="heads_upload",
        max_upload_size=uploads.TEXTS_MEGABYTES,
    )
    kept: tuple[str, Chosen] | None = st.session_state.get(_UPLOADED)
    if upload is None:
        if kept is not None:
            count = len(kept[1].texts.sentences)
            st.caption(f"Still shown: the {count:,} sentences of your last file.")
        return kept[1] if kept else None
    # A treebank takes seconds to read: once for each upload, not once for each click.
    if kept is None or kept[0] != upload.file_id:
        data = upload.getvalue()
        texts = read_texts(data, upload.name)
        trees = "texts" if texts.trees else "bundled_trees()"
        code = (
            f"texts = read_texts(Path({upload.name!r}).read_bytes(), {upload.name!r})\n"
            f"trees = {trees}\n"
        )
        key = _digest(upload.name.encode() + b"\0" + data)
        kept = (
            upload.file_id,
            Chosen(texts, texts if texts.trees else bundled_trees(), key, code),
        )
        st.session_state[_UPLOADED] = kept
    return kept[1]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
