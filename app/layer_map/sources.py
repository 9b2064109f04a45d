"""Where the sentences of the layer map come from: the sentence box, a paste, a file, a demo."""

from __future__ import annotations

import streamlit as st

from app.layer_map import word_senses
from app.plots.untrusted_text import plain
from app.shell import state
from app.shell.pasted import pasted
from bertcore.analysis.shared.collect import Sentence
from bertcore.analysis.shared.texts_file import Texts, read_pasted, read_upload

SOURCES = {
    "sentence": "This sentence",
    "senses": "A word's senses",
    "pasted": "Paste sentences",
    "file": "Upload a file",
}
_UPLOADED = "_map_uploaded"


def choose_source() -> str:
    """Draw the choice between the sources and return the chosen one."""
    st.segmented_control(
        "Sentences",
        list(SOURCES),
        format_func=SOURCES.__getitem__,
        key=state.keep("map_source", "sentence", options=list(SOURCES)),
        on_change=_suit_to_source,
        required=True,
        label_visibility="collapsed",
    )
    chosen: str = st.session_state["map_source"]
    return chosen


def chosen_source() -> str:
    """Return the chosen source before its widget is drawn."""
    source: str = state.value("map_source", "sentence")
    return source if source in SOURCES else "sentence"


def sentences_of(source: str, text_a: str, text_b: str | None) -> tuple[Sentence, ...]:
    """Draw what the source needs and return its sentences; () while there are none yet.

    Raises:
        ValueError: If what was pasted or uploaded holds no sentence or cannot be read.
    """
    if source == "sentence":
        return (Sentence(text_a, text_b),)
    if source == "senses":
        return word_senses.SETS[_word()]
    found = _pasted() if source == "pasted" else _uploaded()
    if found is None:
        return ()
    for note in found.notes:
        st.caption(plain(note))
    return found.sentences


def _suit_to_source() -> None:
    """Choose points and colours that suit the source just picked."""
    if st.session_state["map_source"] == "senses":
        state.put("map_unit", "word")
        state.put("map_colour", "label")
        state.put("map_word", state.value("map_set", next(iter(word_senses.SETS))))
    elif state.value("map_unit") == "word" and state.value("map_colour") == "label":
        state.put("map_unit", "tokens")
        state.put("map_colour", "word")
        state.put("map_word", "")


def _word() -> str:
    words = list(word_senses.SETS)
    st.pills(
        "Word",
        words,
        key=state.keep("map_set", words[0], options=words),
        on_change=_suit_to_source,
        required=True,
        label_visibility="collapsed",
    )
    chosen: str = st.session_state["map_set"]
    return chosen


def _pasted() -> Texts | None:
    text = pasted(
        "map_pasted",
        "One sentence a line; after a tab its label, if you have one",
        "The bat hung in the cave.\tanimal\nHe swung the bat.\tsport",
    )
    return read_pasted(text) if text.strip() else None


def _uploaded() -> Texts | None:
    """Return what was uploaded; it stays when the visitor changes pages, until the next file."""
    upload = st.file_uploader(
        "A text file with one sentence a line, or a CSV or TSV table with a column of sentences",
        key="map_upload",
    )
    if upload is not None:
        data = upload.getvalue()
        found = read_upload(data, upload.name)
        if found.columns:
            found = _with_columns(found, data, upload.name)
        st.session_state[_UPLOADED] = found
        return found
    kept: Texts | None = st.session_state.get(_UPLOADED)
    if kept is not None:
        st.caption(f"Still shown: the {len(kept.sentences):,} sentences of your last file.")
    return kept


def _with_columns(found: Texts, data: bytes, name: str) -> Texts:
    row = st.container(horizontal=True)
    columns, absent = list(found.columns), ""

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

    text = choose("Column of the sentences", found.text_column, columns)
    pair = choose("Column of sentence B", found.pair_column, [absent, *columns])
    label = choose("Column of the labels", found.label_column, [absent, *columns])
    return read_upload(data, name, text_column=text, pair_column=pair, label_column=label)
