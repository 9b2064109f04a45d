"""BERT at a glance: the whole network on one text, from the characters to the predictions."""

from dataclasses import replace

import streamlit as st

from ..navigation import PAGES
from ..shell import Field, cache, computed, frame, offer, open_page
from ..shell.links import (
    ATTENTION_VIEW,
    HEADS,
    INSIDE_LAYER,
    INSIDE_LAYER_TOKEN,
    INSIDE_LAYER_VIEW,
    LAYER,
    LAYERS,
    MAP_LAYER,
    MASK,
    MASKED,
    ONE_TOKEN,
    TOKEN,
    TOKENS_VIEW,
)
from ..walk import drawing
from ..walk.drawing import OpenedPart
from ..walk.steps import walk
from ..walk.summary import Glance, masks_of, reduced
from . import PAGE
from .views import GLANCE

PAGE_OF_PART = {
    "text": "tokens",
    "token": "tokens",
    "input": "tokens",
    "attention": "attention",
    "norm": "inside_layer",
    "feed_forward": "inside_layer",
    "layer": "layer_map",
    "pair": "sentence_pairs",
    "words": "masked_words",
}
STEP = Field("step", 0)
_OPENED = "_glance_opened"


@frame.fragment
def show(page: frame.Page, first_step: int) -> None:
    """Draw the network; runs alone when another step is chosen.

    Args:
        first_step: The step that was open when the page was drawn.
    """
    bert = page.bert
    allowed = [place for place, text in enumerate(page.encoding.text_ids) if text >= 0]
    masked = tuple(place for place in MASKED.value if place in allowed)
    page = replace(page, masked=page.compute(masks_of, *page.texts, masked))
    glance = cache.computed(reduced, page.bert_key, page.reading, masked)
    steps = walk(bert, glance, page.marks)
    STEP.key(low=0, high=len(steps) - 1)
    first_step = max(0, min(first_step, len(steps) - 1))

    def opened(clicked: OpenedPart) -> None:
        _choose(clicked, glance)
        st.session_state[_OPENED] = PAGE_OF_PART[clicked["part"]]

    # The browser knows which step it shows: with it in the message, everything would be sent again.
    titles = {part: PAGES[folder].title for part, folder in PAGE_OF_PART.items()}
    data = drawing.message(bert, glance, steps, first_step, titles)
    drawing.COMPONENT(data, key="glance", opened=opened, step=STEP.put)
    page_name = st.session_state.pop(_OPENED, None)
    if page_name is not None:
        open_page(page_name)

    drawn = {"message": drawing.message(bert, glance, steps, STEP.value)}
    offer(GLANCE, page, computed(GLANCE, page), drawn=drawn, title="BERT at a glance")


def _choose(opened: OpenedPart, glance: Glance) -> None:
    """Make the page that opens begin with the token, layer and head that were clicked."""
    part, position, layer, head = (
        opened["part"],
        opened["position"],
        opened["layer"],
        opened["head"],
    )
    if part in ("text", "token", "input"):
        TOKENS_VIEW.put("Three embeddings")
        if position is not None:
            TOKEN.put(position)
    elif part == "attention":
        ATTENTION_VIEW.put("lines")
        LAYER.put(layer or 0)
        LAYERS.put([])
        HEADS.put([] if head is None else [head])
    elif part in ("norm", "feed_forward"):
        INSIDE_LAYER.put(layer or 0)
        INSIDE_LAYER_TOKEN.put(-1 if position is None else position)
        INSIDE_LAYER_VIEW.put(ONE_TOKEN)
    elif part == "layer":
        MAP_LAYER.put((layer or 0) + 1)
    elif part == "words" and glance.hidden:
        MASKED.put(sorted({*MASKED.value, *glance.hidden}))
    if part == "words" and position is not None:
        MASK.put(position)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE, runs_text=False)
    with frame.guard():
        show(page, STEP.value)
