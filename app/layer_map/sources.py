"""Where the layer map's sentences come from: the sentence box, the list, a file, a demo."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from bertcore.analysis.space.sense_sets import SETS
from bertcore.data.texts_file import Sentence, Texts, read_upload

from ..plots import plain
from ..shell import Field, UploadSource
from ..shell.uploads import Copy
from ..sources import my_sentences
from .controls import COLOUR, UNIT, WORD
from .view import UNITS, Chosen

SOURCES = {
    "sentence": "This sentence",
    "senses": "Senses",
    **my_sentences.OFFERED,
    "file": "Upload",
}
SOURCE = Field("map_source", "sentence", tuple(SOURCES))
SENSES_OF = Field("map_set", next(iter(SETS)), tuple(SETS))
NO_FILE = "Upload a text or CSV file above. The first 2,000 sentences and 2,000 tokens are drawn."
LONGEST_LABEL = 200
"""Characters of a label that are shown."""


def sentences_of(source: str, text_a: str, text_b: str | None) -> Chosen | None:
    """Draw the input of a source and return its sentences; None while there are none.

    Raises:
        ValueError: If the list or the uploaded file contains no sentence or cannot be read.
    """
    if source == "sentence":
        return Chosen((Sentence(text_a, text_b),))
    if source == "senses":
        return Chosen(SETS[_word()])
    if source == my_sentences.MINE:
        return _mine()
    texts = _uploaded()
    if texts is None:
        st.info(NO_FILE)
        return None
    for note in texts.notes:
        st.caption(plain(note))
    return Chosen(_with_short_labels(texts.sentences))


def _mine() -> Chosen | None:
    mine = my_sentences.choose()
    if mine is None:
        return None
    marks = mine.found.marks
    if marks:
        words = "1 word is" if len(marks) == 1 else f"{len(marks)} words are"
        st.caption(
            f"{words} marked. To draw them alone, choose *{UNITS['word']}* as the points, and type "
            "no word."
        )
    return Chosen(_with_short_labels(mine.found.sentences), marks, is_list=True)


def _with_short_labels(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    return tuple(sentence._replace(label=sentence.label[:LONGEST_LABEL]) for sentence in sentences)


def suit_to_source() -> None:
    """Choose points and colours that suit the source just picked."""
    if SOURCE.value == "senses":
        UNIT.put("word")
        COLOUR.put("label")
        WORD.put(SENSES_OF.value)
    elif UNIT.value == "word" and COLOUR.value == "label":
        UNIT.put("tokens")
        COLOUR.put("word")
        WORD.put("")


def _word() -> str:
    st.pills(
        "Word",
        list(SETS),
        key=SENSES_OF.key(),
        on_change=suit_to_source,
        required=True,
        label_visibility="collapsed",
    )
    return SENSES_OF.value


@dataclass(frozen=True, slots=True)
class _Uploaded:
    """A file, and its sentences by the columns that are usual, and by those that were chosen."""

    copy: Copy
    usual: Texts
    chosen: Texts


def _read(copy: Copy, **columns: Any) -> Texts:
    return copy.apart(read_upload, copy.inner, **columns)


def _first(copies: Sequence[Copy]) -> _Uploaded:
    (copy,) = copies
    texts = _read(copy)
    return _Uploaded(copy, texts, texts)


_FILE = UploadSource(
    key="map_upload",
    label="A text with one sentence per line, or a table (CSV, JSON, Parquet, ...)",
    read=_first,
    about=lambda uploaded: f"{len(uploaded.chosen.sentences):,} sentences",
)


def _uploaded() -> Texts | None:
    """Return the uploaded sentences; they survive a change of page, until the next upload."""
    uploaded = _FILE.choose()
    if uploaded is None:
        return None
    if not uploaded.usual.columns:
        return uploaded.usual
    row = st.container(horizontal=True)
    usual, absent = uploaded.usual, ""
    columns = list(usual.columns)

    def choose(label: str, value: str, options: list[str]) -> str:
        chosen: str = row.selectbox(
            label,
            options,
            index=options.index(value),
            format_func=lambda column: column or "none",
            key=f"map_column_{label}_{uploaded.copy.digest}",
            width=200,
        )
        return chosen

    wanted = {
        "text_column": choose("Column of the sentences", usual.text_column, columns),
        "pair_column": choose("Column of sentence B", usual.pair_column, [absent, *columns]),
        "label_column": choose("Column of the labels", usual.label_column, [absent, *columns]),
    }
    texts = uploaded.chosen
    if wanted != {name: getattr(texts, name) for name in wanted}:
        texts = _read(uploaded.copy, **wanted)
        _FILE.replace(replace(uploaded, chosen=texts))
    return texts
