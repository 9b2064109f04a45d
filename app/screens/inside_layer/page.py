"""Inside a layer: what becomes of a token's vector, step by step, and which part wrote the word."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.shared.inputs import usual_position

from ...parts.token_strip.token_strip import token_strip
from ...plots.vector_strips import MAX_ROWS
from ...shell import Field, caption, computed, frame, is_available, offer, one_of, show
from ...shell.links import INSIDE_LAYER as LAYER_FIELD
from ...shell.links import INSIDE_LAYER_TOKEN as TOKEN
from ...shell.links import INSIDE_LAYER_VIEW as VIEW
from ...shell.links import ONE_TOKEN
from ...shell.pictures import capabilities
from . import PAGE, views
from .drawing import COMPONENT, layer_sheet, pooler_sheet, stages_message, word_sheet

ALL = "all"
VIEWS = {ONE_TOKEN: "One token", ALL: "All tokens"}
NO_WORD = ""
WORD = Field("layer_word", NO_WORD)  # empty for the most probable
AGAINST = Field("layer_against", NO_WORD)  # empty for no other word
PARTS_OPEN = Field("who_wrote", False)
LAST_OPEN = Field("last_vectors", False)
ROWS_OPEN = Field("head_rows", False)
ROWS_HEAD = Field("rows_head", 0)
TOY_OPEN = Field("toy", False)
ANGLE = Field("toy_angle", 30)
LENGTH = Field("toy_length", 2.0)


@frame.fragment
def show_layer(page: frame.Page) -> None:
    """Draw all about the text; runs alone when a choice changes."""
    position = choose_token(page)
    last = page.bert.config.num_hidden_layers - 1
    row = st.container(horizontal=True, vertical_alignment="bottom")
    key = LAYER_FIELD.key(default=2 * (last + 1) // 3, low=0, high=last)
    if last:
        row.slider("Layer", 0, last, key=key, width=260)
    layer = LAYER_FIELD.value
    more = frame.more(row)
    view = one_of("Show", VIEWS, VIEW, where=more, with_label=True)
    if view == ALL:
        show_all(page, layer, position)
        return
    word, against = choose_word(page, position, more)
    asked = (position, word, against)
    token = computed(views.LAYER, page, layer, *asked)
    COMPONENT(layer_sheet(token).message(), key="layer_drawing")
    offer(views.LAYER, page, token, layer, *asked, title=f"Layer {layer}")
    if word is not None:
        show_parts(page, *asked)
    else:
        capabilities.note(page, "mlm")
    show_last(page, position)
    show_head_rows(page, layer)


def choose_token(page: frame.Page) -> int:
    """Draw the strip; return the chosen token."""
    trace = page.trace
    TOKEN.key(low=-1, high=trace.num_tokens - 1)
    position = TOKEN.value if TOKEN.value >= 0 else usual_position(page.bert, trace)
    token_strip(
        trace,
        key="layer_strip",
        typed=page.encoding,
        selected=position,
        on_pick=TOKEN.put,
        marked=page.masked,
    )
    return position


def choose_word(
    page: frame.Page, position: int, where: DeltaGenerator
) -> tuple[str | None, str | None]:
    """Draw the choice among the most probable words; return the word, and the one to compare.

    Without a masked-word head there is no word.
    """
    if "mlm" not in page.bert.capabilities:
        return None, None
    # Also where a link hides the view.
    words = [each.word for each in page.compute(views.WORD_HEAD.of, page.reading, position).best]
    word = where.selectbox(
        "Word",
        words,
        key=WORD.key(default=words[0], options=words),
        help="The word whose logit is split into shares. The first is BERT's prediction.",
    )
    others = [NO_WORD, *(other for other in words if other != word)]
    against = where.selectbox(
        "Compared with",
        others,
        format_func=lambda name: name or "no other word",
        key=AGAINST.key(options=others),
        help="The shares are then of the difference between the two logits. What raises all words "
        "equally cancels out.",
    )
    return word, against or None


def show_all(page: frame.Page, layer: int, position: int) -> None:
    """Draw all tokens in a layer."""

    def follow(token: int) -> None:
        TOKEN.put(token)
        VIEW.put(ONE_TOKEN)

    stages = computed(views.ALL_TOKENS, page, layer)
    COMPONENT(stages_message(stages, position), key="layer_all", picked=follow)
    if len(stages.tokens) > MAX_ROWS:
        st.caption(f"{MAX_ROWS} of {len(stages.tokens)} tokens are drawn.")
    drawn, title = {"selected": position}, f"All tokens in layer {layer}"
    offer(views.ALL_TOKENS, page, stages, layer, drawn=drawn, title=title)


@frame.closed(views.STAIRCASE.question, PARTS_OPEN, WORD, AGAINST)
def show_parts(page: frame.Page, *asked: Any) -> None:
    """Draw the shares of the word's logit: by part, by head, and by the tokens that heads read."""
    show(views.STAIRCASE, page, *asked)
    for view in (views.BY_PART, views.SOURCES):
        st.subheader(view.question, anchor=False)
        show(view, page, *asked, drawn={"is_dark": page.is_dark})


@frame.closed("What is read from the last vectors?", LAST_OPEN)
def show_last(page: frame.Page, position: int) -> None:
    """Draw the masked-word head at the token, and the pooler with the head that reads it."""
    if is_available(views.WORD_HEAD, page):
        steps = computed(views.WORD_HEAD, page, position)
        st.subheader(views.WORD_HEAD.question, anchor=False)
        COMPONENT(word_sheet(steps).message(), key="word_drawing")
        offer(views.WORD_HEAD, page, steps, position)
    if is_available(views.POOLER, page):
        pooled = computed(views.POOLER, page)
        st.subheader(views.POOLER.question, anchor=False)
        COMPONENT(pooler_sheet(pooled).message(), key="pooler_drawing")
        offer(views.POOLER, page, pooled)


@frame.closed(views.HEAD_ROWS.question, ROWS_OPEN, ROWS_HEAD)
def show_head_rows(page: frame.Page, layer: int) -> None:
    """Draw the matrix with a head's rows, and the Python that reads them."""
    last = page.bert.config.num_attention_heads - 1
    key = ROWS_HEAD.key(low=0, high=last)
    if last:
        st.slider("Head", 0, last, key=key, width=260)
    head = show(views.HEAD_ROWS, page, layer, ROWS_HEAD.value)
    if head is not None:
        st.code(head.python, language="python")


@frame.closed(views.TOY_HEAD.question, TOY_OPEN, ANGLE, LENGTH)
def show_toy_head() -> None:
    """Draw the toy head and its two sliders."""
    picture, row = st.container(), st.container(horizontal=True, key="toy_head")
    row.slider("Direction of the query, in degrees", 0, 359, key=ANGLE.key(low=0, high=359))
    length = LENGTH.key(low=0, high=views.MOST_LENGTH)
    row.slider("Length of the query", 0.0, views.MOST_LENGTH, step=0.5, key=length)
    with picture:
        head = computed(views.TOY_HEAD, None, ANGLE.value, LENGTH.value)
        st.markdown(views.what_it_does(head))
        show(views.TOY_HEAD, None, ANGLE.value, LENGTH.value, with_caption=False)
    caption(views.TOY_HEAD, head)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE, asks_word=True)
    if is_available(views.LAYER, page):
        show_layer(page)
        show_toy_head()
