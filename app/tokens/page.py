"""Tokens & embeddings: the input of BERT, taken apart."""

import pandas as pd
import streamlit as st

from app.plots.untrusted_text import plain
from app.shell import cache, capabilities, frame, state, texts_lookup
from app.token_strip.token_strip import token_strip
from app.tokens import PAGE, word_cut
from app.tokens import effect_figures as effects
from app.tokens import lookup_figures as tables
from app.tokens.figures import num_drawn, sum_strips
from bertcore.analysis.space import embeddings as numbers


def show_sum(page: frame.Page, index: int) -> None:
    """Draw token + segment + position = sum."""
    found = {name: getattr(page.trace.embeddings, name) for name in PARTS}
    parts = {name: part.float().numpy() for name, part in found.items() if part is not None}
    num_tokens, num_dims = parts["sum"].shape
    fig = sum_strips(
        page.trace.tokens, parts, numbers.sum_numbers(page.trace.embeddings), selected=index
    )
    how = frame.reading("tokens.sum", num_dims=num_dims)
    frame.figure(
        fig, "embedding-sum", parts, page.setup_code + texts_lookup.CODE["tokens.sum"], how=how
    )
    frame.how_to_read("tokens.sum", num_dims=num_dims)
    capabilities.note(page, "segments")
    capabilities.note(page, "positions")
    drawn = num_drawn(num_tokens, num_dims)
    if drawn < num_dims:
        st.caption(texts_lookup.TEXTS["tokens.sum_cut"].format(drawn=drawn, num_dims=num_dims))


def show_norm(page: frame.Page, index: int) -> None:
    """Draw what LayerNorm does."""
    embeddings = page.trace.embeddings
    found = numbers.norm_numbers(embeddings)
    before, after = (x[index].float().numpy() for x in (embeddings.sum, embeddings.output))
    fig = effects.layer_norm(page.trace.tokens, found, before, after, selected=index)
    table = pd.DataFrame({"token": page.trace.tokens, **numbers.as_columns(found)})
    frame.figure(fig, "layer-norm", table, page.setup_code + texts_lookup.CODE["tokens.norm"])
    at = {name: float(column[index]) for name, column in numbers.as_columns(found).items()}
    frame.how_to_read("tokens.norm", token=plain(page.trace.tokens[index]), **at)


def show_leave_one_out(page: frame.Page, index: int) -> None:
    """Draw what is lost without segments and without positions."""
    result = cache.call(numbers.leave_one_out, page.bert_key, page.text_a, page.text_b)
    fig = effects.leave_one_out(page.trace.tokens, result, selected=index)
    code = page.setup_code + texts_lookup.CODE["tokens.leave_one_out"]
    how = frame.reading("tokens.leave_one_out")
    frame.figure(fig, "leave-one-out", result.cosines, code, how=how)
    frame.how_to_read("tokens.leave_one_out")
    capabilities.note(page, "segments")


def show_positions(page: frame.Page, index: int) -> None:
    """Draw the position table."""
    most = page.bert.config.max_position_embeddings
    sizes = [size for size in (64, 128, 256) if size < most] + [most]
    key = state.keep("positions", sizes[0], options=sizes)
    size = st.segmented_control("First positions", sizes, key=key) or sizes[0]
    cosines = cache.call(numbers.position_similarity, page.bert_key, size)
    code = page.setup_code + texts_lookup.CODE["tokens.positions"].format(size=size)
    row = page.trace.position_ids[index]
    frame.figure(
        tables.position_table(cosines, position=row), "positions", {"cosines": cosines}, code
    )
    if row < size:
        table = pd.DataFrame({"position": range(size), "cosine": cosines[row]})
        how = frame.reading("tokens.positions")
        frame.figure(
            tables.position_row(cosines, position=row), "position-row", table, code, how=how
        )
    frame.how_to_read("tokens.positions")


def show_nearest(page: frame.Page, index: int) -> None:
    """Draw the nearest rows of the token table."""
    found = cache.call(numbers.nearest_words, page.bert_key, page.trace.input_ids[index])
    table = pd.DataFrame(found, columns=["piece", "cosine"])
    code = page.setup_code + texts_lookup.CODE["tokens.nearest"].format(index=index)
    fig = tables.nearest_words(page.trace.tokens[index], found)
    how = frame.reading("tokens.nearest")
    frame.figure(fig, "nearest-words", table, code, how=how)
    frame.how_to_read("tokens.nearest")


PARTS = ("token", "segment", "position", "sum")
NEEDS = {"LayerNorm": "norm", "Leave one out": "parts", "Position table": "positions"}
"""What a view cannot do without."""
VIEWS = {
    "Three embeddings": show_sum,
    "LayerNorm": show_norm,
    "Leave one out": show_leave_one_out,
    "Position table": show_positions,
    "Nearest words": show_nearest,
}


@st.fragment
def show(page: frame.Page) -> None:
    """Draw everything that follows the chosen token; runs alone when another is chosen."""
    trace = page.trace
    state.keep("token", 1, low=0, high=trace.num_tokens - 1)
    index = state.value("token")
    with frame.guard():
        token_strip(trace, key="strip", selected=index, on_pick=lambda i: state.put("token", i))
        with st.container(horizontal=True, vertical_alignment="center", key="strip_row"):
            st.caption(
                texts_lookup.TEXTS["tokens.strip"].format(
                    mark=texts_lookup.mark_of(page.bert.tokenizer)
                )
            )
            code = page.setup_code + texts_lookup.CODE["tokens.strip"]
            table = pd.DataFrame(numbers.token_columns(trace))
            frame.downloads("tokens", table, code, width="content")
        word_cut.show_steps(page, index)
    view = st.segmented_control(
        "Picture",
        list(VIEWS),
        key=state.keep("view", next(iter(VIEWS)), options=list(VIEWS)),
        label_visibility="collapsed",
    )
    with frame.guard():
        if not capabilities.tells(page, NEEDS.get(view or "", "")):
            VIEWS[view or next(iter(VIEWS))](page, index)


def draw() -> None:
    """Draw the page."""
    show(frame.begin(PAGE))
