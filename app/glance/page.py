"""BERT at a glance: the whole network on one text, from the characters to the predictions."""

import numpy as np
import streamlit as st

from ..html_file.chart import Data
from ..html_file.document import ScriptedPicture
from ..navigation import PAGES
from ..shell import Field, Picture, frame, open_page
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
from ..walk.steps import signs, walk
from ..walk.summary import MISSING, Glance, summarize
from . import PAGE

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


def _arrays(glance: Glance) -> Data:
    vectors = np.where(glance.bands == MISSING, np.nan, glance.bands.astype(np.float32))
    scales = np.array([column.scale for column in glance.columns], np.float32)
    return {
        "tokens": np.array(glance.trace.tokens),
        "rows": np.array(glance.rows),
        "vectors": vectors / 127 * scales[:, None, None],
        "columns": np.array([f"{column.kind} {column.layer}" for column in glance.columns]),
    }


GLANCE = Picture(
    name="glance",
    table=_arrays,
    how=(
        "From left to right: the text, its word pieces, three embeddings and their sum, then "
        "layer after layer. Each row is a token. The cells of a vector are means of neighbouring "
        "dimensions: blue above zero, orange below, strongest where the column is largest. A "
        "line runs from a token that is read to the token that reads it; its weight is the mean "
        "over the layer's heads. Each token reads along at most three lines, from 8% on; the "
        "framed token along at most eight, in pink, from 3% on; none is below 1.5 divided by the "
        "number of tokens. The small squares above are the heads, one each: row reads column. "
        "{signs}Attention shows where information is taken from, not why BERT answers as it does."
    ),
    code="""
from bertcore.analysis import masked_encoding

drawn = bert.trace(trace.text_a, trace.text_b, encoding={encoding})
drawn.embeddings.token, drawn.embeddings.segment, drawn.embeddings.position  # [T, E] each
drawn.hidden_states       # [L+1, T, D]: the input of layer 0, then each layer's output
drawn.attentions.mean(1)  # [L, T, T]: row reads column, mean of the heads
""",
)


@frame.fragment
def show(page: frame.Page, first_step: int) -> None:
    """Draw the network; runs alone when another step is chosen.

    Args:
        first_step: The step that was open when the page was drawn.
    """
    bert = page.bert
    is_hidden = "mask" in bert.capabilities
    allowed = [place for place, text in enumerate(page.encoding.text_ids) if text >= 0]
    masked = tuple(place for place in MASKED.value if place in allowed) if is_hidden else ()
    glance: Glance = page.compute(summarize, *page.texts, masked)
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

    def part() -> ScriptedPicture:
        return drawing.COMPONENT.part(drawing.message(bert, glance, steps, STEP.value))

    texts = "trace.text_a, trace.text_b"
    masks = tuple(
        prediction.position for prediction in glance.predictions if prediction.original is not None
    )
    encoding = f"masked_encoding(bert, {texts}, {masks})" if masks else f"bert.tokenize({texts})"
    GLANCE.offer(
        page, glance, title="BERT at a glance", part=part, encoding=encoding, signs=signs(bert)
    )


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
