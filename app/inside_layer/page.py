"""Inside a layer: what becomes of a token's vector, step by step, and which part wrote the word."""

from dataclasses import replace
from inspect import getsourcelines
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore import lowlevel
from bertcore.analysis.shared.inputs import usual_position
from bertcore.analysis.words.surprise import example_mask

from ..plots import plain
from ..plots.vector_strips import MAX_ROWS
from ..shell import (
    Field,
    capabilities,
    caption,
    computed,
    frame,
    is_available,
    offer,
    one_of,
    show,
)
from ..shell.links import INSIDE_LAYER as LAYER_FIELD
from ..shell.links import INSIDE_LAYER_TOKEN as TOKEN
from ..shell.links import INSIDE_LAYER_VIEW as VIEW
from ..shell.links import MASKED, ONE_TOKEN
from ..token_strip.token_strip import token_strip
from . import PAGE
from .drawing import COMPONENT, layer_sheet, pooler_sheet, stages_message, word_sheet
from .views import (
    ALL_TOKENS,
    BY_PART,
    LAYER,
    MOST_LENGTH,
    POOLER,
    SOURCES,
    STAIRCASE,
    TOY_HEAD,
    WORD_HEAD,
    what_it_does,
)

ALL = "all"
VIEWS = {ONE_TOKEN: "One token", ALL: "All tokens"}
STEPS = {
    "embed": "Input",
    "layer": "Layer",
    "attend": "Attention",
    "split_heads": "Heads",
    "feed_forward": "Neurons",
    "normalize": "LayerNorm",
    "masked_word_logits": "Masked word",
    "pool": "Pooler",
    "next_sentence_logits": "Next sentence",
}
"""Function of `bertcore.lowlevel` -> the step of this page that it computes."""
STEP = Field("code_step", "attend", tuple(STEPS))
NO_WORD = ""
WORD = Field("layer_word", NO_WORD)  # empty for the most probable
AGAINST = Field("layer_against", NO_WORD)  # empty for no other word
BY_PART_OPEN = Field("who_by_part", False)
SOURCES_OPEN = Field("who_from_tokens", False)
WORD_HEAD_OPEN = Field("word_head", False)
POOLER_OPEN = Field("pooler", False)
TOY_OPEN = Field("toy", False)
ANGLE = Field("toy_angle", 30)
LENGTH = Field("toy_length", 2.0)


@frame.fragment
def show_layer(page: frame.Page) -> None:
    """Draw all about the text; runs alone when a choice changes."""
    page, position = choose_token(page)
    layers = list(range(page.bert.config.num_hidden_layers))
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    upper = 2 * len(layers) // 3
    layer = one_of("Layer", layers, LAYER_FIELD, default=upper, where=row, with_label=True)
    view = one_of("Show", VIEWS, VIEW, where=row, with_label=True)
    offer_hiding(page, position, row)
    if view == ALL:
        show_all(page, layer, position)
        return
    word, against = choose_word(page, position, row)
    asked = (position, word, against)
    token = computed(LAYER, page, layer, *asked)
    COMPONENT(layer_sheet(token).message(), key="layer_drawing")
    offer(LAYER, page, token, layer, *asked, title=f"Layer {layer}")
    show_code(page)
    if word is not None:
        other = "" if against is None else f", not “{plain(against)}”"
        st.header(f"Which parts wrote “{plain(word)}”{other}?", anchor=False)
        show(STAIRCASE, page, *asked)
        show_by_part(page, *asked)
        show_sources(page, *asked)
        show_word_head(page, position)
    else:
        capabilities.note(page, "mlm")
    if "pooler" in page.bert.capabilities:
        show_pooler(page)
    else:
        capabilities.note(page, "pooler")


def choose_token(page: frame.Page) -> tuple[frame.Page, int]:
    """Draw the strip; return the page with its hidden tokens, and the chosen token."""
    bert, trace = page.bert, page.trace
    can_hide = {"mlm", "mask"} <= bert.capabilities
    allowed = [place for place, text in enumerate(trace.text_ids) if text >= 0]
    masked = sorted(place for place in MASKED.value if place in allowed) if can_hide else []
    is_asked = bool(masked) or bert.tokenizer.mask_id in trace.input_ids
    if can_hide and allowed and not is_asked:
        masked = [page.compute(example_mask, *page.texts)]
    page = replace(page, masked=tuple(masked))
    TOKEN.key(low=-1, high=trace.num_tokens - 1)
    position = TOKEN.value if TOKEN.value >= 0 else usual_position(bert, page.trace)
    token_strip(trace, key="layer_strip", selected=position, on_pick=TOKEN.put, marked=masked)
    return page, position


def offer_hiding(page: frame.Page, position: int, where: DeltaGenerator) -> None:
    """Draw a button that hides the chosen token, or shows it if others are hidden too."""
    bert, is_hidden = page.bert, position in page.masked
    if not {"mlm", "mask"} <= bert.capabilities or page.trace.text_ids[position] < 0:
        return
    is_mask = page.trace.input_ids[position] == bert.tokenizer.mask_id
    if is_mask and (not is_hidden or len(page.masked) == 1):
        return
    where.button(
        "Show it" if is_hidden else "Hide it",
        icon=":material/visibility:" if is_hidden else ":material/ink_eraser:",
        on_click=lambda: MASKED.put(sorted({*page.masked} ^ {position})),
        help="A hidden token is replaced by the mask token, on every page.",
    )


def choose_word(
    page: frame.Page, position: int, where: DeltaGenerator
) -> tuple[str | None, str | None]:
    """Draw the choice among the most probable words; return the word, and the one to compare.

    Without a masked-word head there is no word.
    """
    if "mlm" not in page.bert.capabilities:
        return None, None
    words = [best.word for best in computed(WORD_HEAD, page, position).best]
    word = where.selectbox(
        "Word",
        words,
        key=WORD.key(default=words[0], options=words),
        width=150,
        help="The word whose logit is split into shares. The first is BERT's prediction.",
    )
    others = [NO_WORD, *(other for other in words if other != word)]
    against = where.selectbox(
        "Compared with",
        others,
        format_func=lambda name: name or "no other word",
        key=AGAINST.key(options=others),
        width=170,
        help="The shares are then of the difference between the two logits. What raises all words "
        "equally cancels out.",
    )
    return word, against or None


def show_all(page: frame.Page, layer: int, position: int) -> None:
    """Draw all tokens in a layer."""

    def follow(token: int) -> None:
        TOKEN.put(token)
        VIEW.put(ONE_TOKEN)

    stages = computed(ALL_TOKENS, page, layer)
    COMPONENT(stages_message(stages, position), key="layer_all", picked=follow)
    if len(stages.tokens) > MAX_ROWS:
        st.caption(f"{MAX_ROWS} of {len(stages.tokens)} tokens are drawn.")
    drawn, title = {"selected": position}, f"All tokens in layer {layer}"
    offer(ALL_TOKENS, page, stages, layer, drawn=drawn, title=title)


@frame.closed(BY_PART.question, BY_PART_OPEN)
def show_by_part(page: frame.Page, *asked: Any) -> None:
    """Draw the share of each head and block."""
    show(BY_PART, page, *asked, drawn={"is_dark": page.is_dark})


@frame.closed(SOURCES.question, SOURCES_OPEN)
def show_sources(page: frame.Page, *asked: Any) -> None:
    """Draw what the heads took from each token."""
    show(SOURCES, page, *asked, drawn={"is_dark": page.is_dark})


@frame.closed(WORD_HEAD.question, WORD_HEAD_OPEN)
def show_word_head(page: frame.Page, position: int) -> None:
    """Draw the masked-word head at the token."""
    steps = computed(WORD_HEAD, page, position)
    COMPONENT(word_sheet(steps).message(), key="word_drawing")
    offer(WORD_HEAD, page, steps, position)


@frame.closed(POOLER.question, POOLER_OPEN)
def show_pooler(page: frame.Page) -> None:
    """Draw the pooler and the head that reads it."""
    steps = computed(POOLER, page)
    COMPONENT(pooler_sheet(steps).message(), key="pooler_drawing")
    offer(POOLER, page, steps)


def show_code(page: frame.Page) -> None:
    """Draw the lines that compute a step, if the checkpoint is what they read."""
    if page.bert.config.model_type != "bert" or page.bert.config.is_decoder:
        return
    with st.expander("The code of a step", icon=":material/code:"):
        step = one_of("Step", STEPS, STEP)
        lines, first = getsourcelines(getattr(lowlevel, step))
        st.code("".join(lines), language="python", wrap_lines=True)
        st.caption(
            f"Lines {first} to {first + len(lines) - 1} of `bertcore/lowlevel.py`, BERT in plain "
            "tensors, which computes what this page shows. `docs/read-the-code.md` reads it beside "
            "the code of `transformers`; `notebooks/bert_in_plain_tensors.ipynb` runs it."
        )


@frame.closed(TOY_HEAD.question, TOY_OPEN, ANGLE, LENGTH)
def show_toy_head() -> None:
    """Draw the toy head and its two sliders."""
    picture, row = st.container(), st.container(horizontal=True, key="toy_head")
    row.slider("Direction of the query, in degrees", 0, 359, key=ANGLE.key(low=0, high=359))
    length = LENGTH.key(low=0, high=MOST_LENGTH)
    row.slider("Length of the query", 0.0, MOST_LENGTH, step=0.5, key=length)
    with picture:
        head = computed(TOY_HEAD, None, ANGLE.value, LENGTH.value)
        st.markdown(what_it_does(head))
        show(TOY_HEAD, None, ANGLE.value, LENGTH.value, with_caption=False)
    caption(TOY_HEAD, head)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    if is_available(LAYER, page):
        show_layer(page)
        show_toy_head()
