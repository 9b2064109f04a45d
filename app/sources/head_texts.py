"""Where the sentences of the Heads page come from: ours, the visitor's list, a file."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.heads.texts import HeadTexts, bundled_sentences, bundled_trees, read_texts

from ..plots import plain
from ..shell import Field, UploadSource, one_of
from ..shell.uploads.on_disk import Copy
from . import my_sentences

SOURCES = {"own": "Our sentences", **my_sentences.OFFERED, "file": "Upload a file"}
SOURCE = Field("heads_source", "own", tuple(SOURCES))
NO_FILE = (
    "Upload a text or CSV file of at most 10,000 sentences above, or sentences with their trees in "
    "CoNLL-U, as Universal Dependencies provides them for 150 languages."
)
_IMPORTS = """
from pathlib import Path
from bertcore.analysis import HeadTexts, bundled_sentences, bundled_trees, read_texts
from bertcore.data import read_sentence_list

"""


@dataclass(frozen=True, slots=True)
class HeadTextSource:
    """Sentences to measure heads on, and a key that identifies them."""

    texts: HeadTexts = field(compare=False)
    trees: HeadTexts = field(compare=False)
    """Of the relations: those of the file if it has any, else our own."""
    key: str
    """Equal for equal texts, and short."""
    code: str = field(compare=False)
    """Python that makes `texts` and `trees`."""

    @property
    def setup(self) -> str:
        """Python that makes `texts` and `trees`, from the imports on."""
        return f"{_IMPORTS}{self.code}"

    @property
    def has_own_trees(self) -> bool:
        """Whether the relations are measured on trees of our own."""
        return self.trees is not self.texts


def choose(where: DeltaGenerator | None = None) -> HeadTextSource | None:
    """Draw the choice of a source and its input; return None while there are no sentences.

    Args:
        where: Container of the choice; its input is drawn in the page.

    ValueError if what was uploaded contains no sentence or cannot be read.
    """
    source = one_of("Sentences", SOURCES, SOURCE, where=where, with_label=where is not None)
    if source == my_sentences.MINE:
        mine = my_sentences.choose()
        if mine is None:
            return None
        code = f"{mine.code}texts, trees = HeadTexts(mine.sentences, ()), bundled_trees()\n"
        return HeadTextSource(HeadTexts(mine.found.sentences, ()), bundled_trees(), mine.key, code)
    if source == "own":
        code = "texts, trees = bundled_sentences(), bundled_trees()\n"
        return HeadTextSource(bundled_sentences(), bundled_trees(), "own", code)
    chosen = _FILE.choose()
    if chosen is None:
        st.info(NO_FILE)
        return None
    for note in dict.fromkeys((*chosen.texts.notes, *chosen.trees.notes)):
        st.caption(plain(note))
    return chosen


def _read(copies: Sequence[Copy]) -> HeadTextSource:
    (copy,) = copies
    name = copy.name
    texts = copy.apart(read_texts, copy.inner)
    code = (
        f"texts = read_texts(Path({name!r}).read_bytes(), {name!r})\n"
        f"trees = {'texts' if texts.trees else 'bundled_trees()'}\n"
    )
    return HeadTextSource(texts, texts if texts.trees else bundled_trees(), copy.digest, code)


_FILE = UploadSource(
    key="heads_upload",
    label="A text with a sentence per line, a table (CSV, JSON, Parquet, ...), or trees (.conllu)",
    read=_read,
    about=lambda chosen: f"{len(chosen.texts.sentences):,} sentences",
)
