"""Where the sentences of the layer map come from: the sentence box, a paste, a file, a demo."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.space.sense_sets import SETS
from bertcore.data.texts_file import Sentence, Texts, read_pasted, read_upload

from ..plots.untrusted_text import plain
from ..shell import uploads
from ..shell.one_of import one_of
from ..shell.sentence_box.pasted import pasted
from .fields import COLOUR, SENSES_OF, SOURCE, SOURCES, UNIT, WORD

NO_SENTENCES = {
    "pasted": "Paste some sentences above, one per line. Ten to a few hundred make a good map.",
    "file": (
        "Upload a text or CSV file above. The first 2,000 sentences and 2,000 tokens are drawn."
    ),
}
"""Shown while a source has no sentences yet."""
_UPLOADED = "_map_uploaded"


def choose_source() -> str:
    """Draw the choice between the sources and return the chosen one."""
    return one_of("Sentences", SOURCES, SOURCE, on_change=_suit_to_source)


def chosen_source() -> str:
    """Return the chosen source before its widget is drawn."""
    return SOURCE.value if SOURCE.value in SOURCES else SOURCE.default


def sentences_of(source: str, text_a: str, text_b: str | None) -> tuple[Sentence, ...]:
    """Draw the input of a source and return its sentences; () while there are none.

    Raises:
        ValueError: If the pasted text or the uploaded file contains no sentence or cannot be read.
    """
    if source == "sentence":
        return (Sentence(text_a, text_b),)
    if source == "senses":
        return SETS[_word()]
    texts = _pasted() if source == "pasted" else _uploaded()
    if texts is None:
        return ()
    for note in texts.notes:
        st.caption(plain(note))
    return texts.sentences


def _suit_to_source() -> None:
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
        on_change=_suit_to_source,
        required=True,
        label_visibility="collapsed",
    )
    return SENSES_OF.value


def _pasted() -> Texts | None:
    text = pasted(
        "map_pasted",
        "One sentence per line; after a tab its label, if you have one",
        "The bat hung in the cave.\tanimal\nHe swung the bat.\tsport",
    )
    return read_pasted(text) if text.strip() else None


def _uploaded() -> Texts | None:
    """Return the uploaded sentences; they survive a change of page, until the next upload."""
    upload = st.file_uploader(
        "A text file with one sentence per line, or a CSV or TSV table with a column of sentences",
        key="map_upload",
        max_upload_size=uploads.TEXTS_MEGABYTES,
    )
    uploads.check_refused("map_upload")
    if upload is not None:
        data = upload.getvalue()
        with uploads.reading("map_upload"):
            texts = read_upload(data, upload.name)
        if texts.columns:
            texts = _with_columns(texts, data, upload.name)
        st.session_state[_UPLOADED] = texts
        return texts
    kept: Texts | None = st.session_state.get(_UPLOADED)
    if kept is not None:
        st.caption(f"Still shown: the {len(kept.sentences):,} sentences of your last file.")
    return kept


def _with_columns(texts: Texts, data: bytes, name: str) -> Texts:
    row = st.container(horizontal=True)
    columns, absent = list(texts.columns), ""

    def choose(label: str, value: str, options: list[str]) -> str:
        chosen: str = row.selectbox(
            label,
            options,
            index=options.index(value),
            format_func=lambda column: column or "none",
            key=f"map_column_{label}_{len(data)}",
            width=200,
        )
        return chosen

    text = choose("Column of the sentences", texts.text_column, columns)
    pair = choose("Column of sentence B", texts.pair_column, [absent, *columns])
    label = choose("Column of the labels", texts.label_column, [absent, *columns])
    return read_upload(data, name, text_column=text, pair_column=pair, label_column=label)
