"""The door: a text with a gap, what BERT puts into it, and three ways into the app."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from bertcore.analysis.words.predictions import predict_masks
from bertcore.model.checkpoints.source import DEFAULT, LANGUAGES
from bertcore.model.tokenizer.encoding import words_of
from bertcore.model.tokenizer.truncation import MOST_CHARACTERS

from ...parts.door.door import COMPONENT
from ...server.policy import default_source
from ...shell import TEXT_A, TEXT_B, Field, frame, hidden, open_page, sidebar, texts
from ...shell.guide import catalogue, guide
from ...shell.links import short_address
from ...shell.sentence_box import DEFAULT as OTHER_PAGES
from ...shell.sentence_box import WHY_NO_CAT, is_mat
from ...shell.words import tr
from ...shell.words.language import language
from . import PAGE, told

HERE = Field("at_door", False, url="door")
"""In an address with choices: links of before, without it, lead to what was there."""
_WAY = "_door_way"


def draw() -> None:
    """Draw the page."""
    place = st.empty()
    with place.container():  # stays if the checkpoint does not open
        page = frame.begin(PAGE)
    place.empty()
    show(page)


@frame.fragment
def show(page: frame.Page) -> None:
    """Draw the door; runs alone when its text changes."""
    notes = []
    if not {"mlm", "mask"} <= page.bert.capabilities:
        notes.append(tr(told.UNABLE, name=sidebar.brief_name(page.bert_key.source)))
        page = replace(page, bert_key=sidebar.key_of(DEFAULT))
    is_first = texts() == (OTHER_PAGES.text_a, OTHER_PAGES.text_b)  # nobody has written one
    text, gap = told.FIRST_TEXTS.get(page.bert_key.source, told.FIRST_TEXT)
    text_a, text_b = (text, None) if is_first else texts()
    page = replace(page, text_a=text_a, text_b=text_b, has_text=True)
    encoding, mask_id = page.encoding, page.bert.tokenizer.mask_id
    words = {  # by their first tokens; a mask that was typed is none
        word.start: word
        for word in words_of(encoding, *page.texts)
        if word.text_id >= 0 and encoding.input_ids[word.start] != mask_id
    }
    if is_first:
        found = [start for start, word in words.items() if word.text == gap]
        masked = told.places(words, found[:1])
    else:
        masked = [*hidden.of_text(page.bert, page.texts, encoding)]
    page = replace(page, masked=tuple(masked))
    if encoding.truncation is not None:
        notes.append(frame.cut_sentence(encoding.truncation))
    unread, reader = frame.unread(page, encoding) or ("", None)
    if unread:
        notes.append(tr("It cannot read this text: {reads}.", reads=unread))
    if is_mat(text_a, text_b, page.bert_key.source):
        notes.append(tr(WHY_NO_CAT).replace("*", ""))
    gaps: Sequence[dict[str, Any]] = ()
    if not words:
        notes.append(tr(told.NO_TEXT))
    elif not masked and mask_id not in encoding.input_ids:
        notes.append(tr(told.NOTHING_HIDDEN))
    else:
        with frame.guard():
            predictions = page.compute(predict_masks, *page.texts, page.masked, told.NUM_GUESSES)
            gaps = told.gaps_of(predictions, words, page.bert.tokenizer.unk_token)
    starts = told.hidden_words(words, masked)
    if len(starts) == len(words) > 1:
        notes.append(tr(told.ALL_HIDDEN))

    def did(deed: dict[str, Any]) -> None:
        text = str(deed["text"])[:MOST_CHARACTERS]
        chosen = starts if deed["hidden"] is None else [s for s in deed["hidden"] if s in words]
        kept = masked if chosen == starts else told.places(words, chosen)
        hidden.put(kept, page.texts, page.encoding)
        TEXT_A.put(text, has_widget=False)
        TEXT_B.put(text_b or "", has_widget=False)
        st.session_state[_WAY] = str(deed["to"])

    parts = told.parts_of(page.texts, encoding, words, starts)
    by = told.maker(page.bert_key.source, sidebar.brief_name(page.bert_key.source), page.bert)
    ways = addresses(page, reader)
    COMPONENT(told.message(page.texts, parts, starts, gaps, notes, by, ways), key="door", did=did)
    follow(st.session_state.pop(_WAY, ""))
    HERE.put(not is_first or sidebar.CHECKPOINT.value not in ("", default_source()))
    HERE.key()


def addresses(page: frame.Page, reader: str | None) -> dict[str, str]:
    """Return where each way leads.

    Args:
        reader: A checkpoint that ships for the language of the text, if this one does not read it.
    """
    inside = short_address("glance", page.bert_key, *page.texts)
    masked = urlencode({"masked": page.masked}, doseq=True)
    lesson = catalogue.link(next(iter(catalogue.lessons())))
    ways = {"glance": f"{inside}&{masked}" if inside else "glance", "lessons": lesson}
    known = {} if reader is None else {reader: f"?door=1&checkpoint={reader}"}
    return {**known, **ways, "inspect_checkpoint": "inspect"}


def follow(way: str) -> None:
    """Open what the visitor has chosen; nothing if that is none of the ways."""
    if way == "lessons":
        first, *_ = catalogue.lessons(language()).values()
        guide.begin(first)
    elif way in ("glance", "inspect_checkpoint"):
        open_page(way)
    elif way in LANGUAGES:
        sidebar.choose(way)
        st.rerun()
