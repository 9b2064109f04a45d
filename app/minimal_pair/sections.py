"""What differs between two versions of a text: tokens, answers, attention, vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.minimal_pair import figures
from app.minimal_pair import versions as minimal_pair
from app.plots import before_after as shared_figures
from app.plots import before_after_tables as tables
from app.shell import capabilities, frame, state, texts_lookup
from bertcore import Trace
from bertcore.analysis.compare.minimal_pair import MinimalPair, aligned_attention

RUNS = ("first", "second")
MOST_DRAWN = 44
"""Most tokens of a map that can be read; of longer texts those that change most are drawn."""
MOST_CHANGED = 5
"""Heads that are offered, the most changed first."""


def show_tokens(first: Trace, second: Trace, found: MinimalPair) -> bool:
    """Draw the aligned tokens; return whether any differ."""
    st.html(figures.token_rows(first, second, found))
    differ = any(found.changed)
    if not differ:
        st.info(texts_lookup.TEXTS["minimal-pair.same"])
    frame.how_to_read("minimal-pair.tokens")
    return differ


def show_answers(page: frame.Page, found: MinimalPair, code: str) -> None:
    """Draw the words at each common [MASK], and the next-sentence answers."""
    if found.shifts:
        unknown = [None] * len(found.shifts)
        fig = shared_figures.word_bars(found.shifts, unknown, RUNS, page.marks.mask)
        table = tables.word_table(found.shifts)
        table = table.rename(columns={"p_before": "p_first", "p_after": "p_second"})
        table["difference_points"] = 100 * (table["p_second"] - table["p_first"])
        how = frame.reading("minimal-pair.words")
        frame.figure(fig, "minimal-pair-words", table, code, how=how)
        frame.how_to_read("minimal-pair.words")
    if found.next_first is not None and found.next_second is not None:
        is_next = (found.next_first.is_next, found.next_second.is_next)
        table = tables.answer_table(is_next).assign(run=RUNS)
        fig = shared_figures.answer_bars(is_next, RUNS)
        frame.figure(fig, "minimal-pair-next-sentence", table, code)
    if not found.shifts and capabilities.tells(page, "mlm"):
        return
    if not found.shifts and page.bert.module.mlm is None:
        st.warning(texts_lookup.TEXTS["minimal-pair.no_head"])
    elif not found.shifts and found.next_first is None:
        st.info(frame.reading("minimal-pair.no_answer"))


def show_attention(page: frame.Page, second: Trace, found: MinimalPair, code: str) -> None:
    """Draw the signed difference of a head or a layer's mean, and how much each head differs."""
    st.subheader("What each token looks at", anchor=False)
    first = page.trace
    num_layers, num_heads = found.attention_change.shape
    state.keep("pair_layer", num_layers - 1, options=list(range(num_layers)))
    state.keep("pair_head", -1, options=[-1, *range(num_heads)])
    layer, head = state.value("pair_layer"), state.value("pair_head")
    chosen = None if head < 0 else head
    one, two = (m.numpy() for m in aligned_attention(first, second, found.columns, layer, chosen))
    names = figures.column_names(first, second, found.columns)
    moved = np.abs(np.nan_to_num(two - one))
    drawn = _drawn(moved.sum(0) + moved.sum(1), found)
    names, changed = _named(names, found, drawn)
    some = np.ix_(drawn, drawn)
    fig = figures.difference_map(one[some], two[some], names, changed, is_dark=page.is_dark)
    data = {
        "difference": two - one,
        "first": one,
        "second": two,
        "columns": np.array([[-1 if at is None else at for at in c] for c in found.columns]),
        "tokens_first": np.array(first.tokens),
        "tokens_second": np.array(second.tokens),
    }
    more = texts_lookup.CODE["minimal-pair.attention"].format(layer=layer, head=chosen)
    how = frame.reading("minimal-pair.attention")
    frame.figure(fig, "minimal-pair-attention", data, code + more, how=how)
    _choose(num_layers, num_heads, len(found.columns))
    _say_what_is_left_out(drawn, found)
    frame.how_to_read("minimal-pair.attention")
    st.markdown("**Which heads differ most**")
    table = tables.head_table({"divergence_bits": found.attention_change})
    fig = shared_figures.attention_grid(found.attention_change)
    frame.figure(fig, "minimal-pair-heads", table, code, how=frame.reading("minimal-pair.heads"))
    _offer(found)
    frame.how_to_read("minimal-pair.heads")


def _drawn(scores: NDArray[np.float32], found: MinimalPair) -> list[int]:
    """Return the columns to draw, in their order: all, or those with the highest scores.

    Args:
        scores: How much each column changes, [N].
    """
    count = len(found.columns)
    if count <= MOST_DRAWN or state.value(state.keep("pair_all", False)):
        return list(range(count))
    # What differs comes first: the picture is about it. What one version lacks has nothing to draw.
    lacks = np.array([None in column for column in found.columns])
    order = np.lexsort((-scores, ~np.array(found.changed), lacks))
    return sorted(order[:MOST_DRAWN].tolist())


def _named(
    names: Sequence[str], found: MinimalPair, drawn: Sequence[int]
) -> tuple[list[str], list[bool]]:
    """Return names and changes of what is drawn; with positions where their neighbours lack."""
    is_part = len(drawn) < len(names)
    shown = []
    for n in drawn:
        first, second = found.columns[n]
        place = second if first is None else first
        shown.append(f"{names[n]} · {place}" if is_part else names[n])
    return shown, [found.changed[n] for n in drawn]


def _say_what_is_left_out(drawn: Sequence[int], found: MinimalPair) -> None:
    if len(drawn) < len(found.columns):
        note = texts_lookup.TEXTS["minimal-pair.part"]
        st.caption(note.format(drawn=len(drawn), total=len(found.columns)))


def _choose(num_layers: int, num_heads: int, num_columns: int) -> None:
    """Draw the choice of a layer and of a head, or the mean of its heads, and of all tokens."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.selectbox("Layer", range(num_layers), key="pair_layer", width=110)
    row.selectbox(
        "Head",
        [-1, *range(num_heads)],
        format_func=lambda head: "mean of the layer" if head < 0 else str(head),
        key="pair_head",
        width=180,
    )
    if num_columns > MOST_DRAWN:
        row.toggle("All tokens", key=state.keep("pair_all", False))


def _offer(found: MinimalPair) -> None:
    """Draw the heads that differ most as buttons that open them."""
    change = found.attention_change
    order = np.argsort(-change, axis=None, kind="stable")[:MOST_CHANGED]
    places = [divmod(int(place), change.shape[1]) for place in order]
    row = st.container(horizontal=True, gap="small")
    for layer, head in places:
        if change[layer, head] > 0:
            label = f"{layer}.{head}: {change[layer, head]:.2g} bits"
            row.button(label, key=f"pair_{layer}_{head}", on_click=_open, args=(layer, head))


def _open(layer: int, head: int) -> None:
    state.put("pair_layer", layer)
    state.put("pair_head", head)


def show_vectors(first: Trace, second: Trace, found: MinimalPair, code: str) -> None:
    """Draw how much the vector of each token differs after each layer."""
    st.subheader("What each token's vector becomes", anchor=False)
    names = figures.column_names(first, second, found.columns)
    drawn = _drawn(np.nan_to_num(found.hidden_change).max(0), found)
    names, changed = _named(names, found, drawn)
    fig = figures.vector_strips(found.hidden_change[:, drawn], names, changed)
    table = figures.strip_table(found, first, second)
    how = frame.reading("minimal-pair.vectors")
    frame.figure(fig, "minimal-pair-vectors", table, code, how=how)
    _say_what_is_left_out(drawn, found)
    frame.how_to_read("minimal-pair.vectors")


def run_code(page: frame.Page, second: minimal_pair.Versions) -> str:
    """Return Python that runs both versions and compares them."""
    written = [repr(text) for text in second if text is not None]
    return page.setup_code + texts_lookup.CODE["minimal-pair.compare"].format(
        texts=", ".join(written)
    )
