"""BERT at a glance: the whole network on one text, from the characters to the predictions."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from bertcore.analysis.mixing.layer_parts import Passage, passage

from ...navigation import PAGES
from ...parts.walk import drawing
from ...parts.walk.drawing import OpenedPart
from ...parts.walk.steps import Step, walk
from ...parts.walk.summary import Glance, reduced
from ...shell import Field, cache, computed, frame, hidden, offer, open_page
from ...shell.guide import catalogue, guide
from ...shell.links import (
    ATTENTION_VIEW,
    HEADS,
    INSIDE_LAYER,
    INSIDE_LAYER_TOKEN,
    INSIDE_LAYER_VIEW,
    LAYER,
    LAYERS,
    MAP_LAYER,
    MASK,
    ONE_TOKEN,
    TOKEN,
    TOKENS_VIEW,
)
from ...shell.words import glossary, tr
from ...shell.words.language import language
from . import PAGE
from .views import GLANCE

PAGE_OF_PART = {
    "training": "training_example",
    "pieces": "tokens",
    "input": "tokens",
    "attention": "attention",
    "feed_forward": "inside_layer",
    "layers": "layer_map",
    "pair": "sentence_pairs",
    "words": "masked_words",
    "own": "inspect_checkpoint",
}
STEP = Field("step", 0)
_OPENED = "_glance_opened"


class Passed(NamedTuple):
    """Key of what becomes of a text, for `cache.computed`."""

    bert_key: cache.BertKey
    reading: cache.Texts

    @property
    def stands_for(self) -> Passage:
        """Its vectors, which the drawing and the downloads read."""
        return cache.computed(passage, *self)


def glance_of(page: frame.Page) -> Glance:
    """Return the numbers of the drawing."""
    return cache.computed(reduced, page.bert_key, Passed(page.bert_key, page.reading))


def message_of_file(page: frame.Page, steps: Sequence[Step], step: int) -> bytes:
    """Return what the drawing in an HTML file shows."""
    return drawing.message(page.bert, glance_of(page), steps, step)


@frame.fragment
def show(page: frame.Page, first_step: int) -> None:
    """Draw the network; runs alone when another step is chosen.

    Args:
        first_step: The step that was open when the page was drawn.
    """
    bert, glance = page.bert, glance_of(page)
    steps = walk(bert, glance, page.marks, tr)
    STEP.key(low=0, high=len(steps) - 1)
    first_step = max(0, min(first_step, len(steps) - 1))

    def opened(clicked: OpenedPart) -> None:
        if clicked["part"] == "hide":
            for word in glance.words:
                if clicked["position"] in (places := range(word.first, word.last + 1)):
                    hidden.toggle(*places)
            return
        _choose(clicked)
        st.session_state[_OPENED] = PAGE_OF_PART.get(clicked["part"], clicked["part"])

    titles = {part: tr(PAGES[folder].title) for part, folder in PAGE_OF_PART.items()}
    hide = {"hide": tr("hide this word, or show it")} if bert.tokenizer.mask_id >= 0 else {}
    titles |= {"lesson": tr("Take lesson 1"), **hide}
    # The browser knows which step it shows: with it in the message, everything would be sent again.
    data = drawing.message(bert, glance, steps, first_step, titles, glossary.parts)
    drawing.COMPONENT(data, key="glance", opened=opened, step=STEP.put)
    page_name = st.session_state.pop(_OPENED, None)
    if page_name == "lesson":
        guide.begin(next(iter(catalogue.lessons(language()).values())))
    if page_name is not None:
        open_page(page_name)

    drawn = {"message": partial(message_of_file, page, steps, STEP.value)}
    offer(GLANCE, page, computed(GLANCE, page), drawn=drawn, title="BERT at a glance")


def _choose(opened: OpenedPart) -> None:
    """Make the page that opens begin with the token, layer and head that were clicked."""
    part, position = opened["part"], opened["position"]
    layer, head = opened["layer"], opened["head"]
    if part in ("pieces", "input"):
        TOKENS_VIEW.put("Three embeddings")
        if position is not None:
            TOKEN.put(position)
    elif part == "attention":
        ATTENTION_VIEW.put("lines")
        LAYER.put(layer or 0)
        LAYERS.put([])
        HEADS.put([] if head is None else [head])
    elif part == "feed_forward":
        INSIDE_LAYER.put(layer or 0)
        INSIDE_LAYER_TOKEN.put(-1 if position is None else position)
        INSIDE_LAYER_VIEW.put(ONE_TOKEN)
    elif part == "layers":
        MAP_LAYER.put((layer or 0) + 1)
    elif part == "words" and position is not None:
        MASK.put(position)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE, asks_word=True)
    with frame.guard():
        if not page.masked:
            hidden.offer(page.bert_key, page.texts, page.encoding)
        show(page, STEP.value)
