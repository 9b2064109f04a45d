"""Tokens & embeddings: the input of BERT, taken apart."""

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.space import embeddings
from bertcore.analysis.space.embeddings import token_columns
from bertcore.analysis.space.position_table import Rotations, rotations

from ..plots import Figure, plain, shorten_middle, subplots, theme
from ..shell import Field, Picture, capabilities, frame, one_of
from ..shell.links import TOKEN
from ..shell.links import TOKENS_VIEW as VIEW
from ..token_strip.token_strip import token_strip
from ..token_strip.word_steps import word_steps
from . import PAGE
from .embedding_sum import show_leave_one_out, show_norm, show_sum
from .growth import show_growth

NUM_POSITIONS = Field("positions", 64)


BAR = {"title": {"text": "cosine"}, "thickness": 12}


def position_table(cosines: NDArray[np.float32], *, position: int | None = None) -> Figure:
    """Draw the cosines between the rows of the position table, [P, P].

    Args:
        cosines: As `position_similarity` returns them.
        position: A row to mark, such as that of the selected token.
    """
    hover, fig = "positions %{y} and %{x}<br>cosine %{z:.3f}", Figure()
    fig.heat(cosines, theme.around_zero(1), hover, colorbar=BAR)
    theme.plot_layout(fig, "", "position", "position", 520)
    # The square keeps to the right, beside its colour bar.
    fig.update_xaxes(showgrid=False, constrain="domain", constraintoward="right")
    fig.update_yaxes(showgrid=False, autorange="reversed", scaleanchor="x", constrain="domain")
    if position is not None and position < len(cosines):
        fig.add_hline(y=position, line={"color": theme.ACCENT, "width": 1.5})
    return fig


def position_row(cosines: NDArray[np.float32], *, position: int) -> Figure:
    """Draw the similarity of each position to one as a curve, from [P]."""
    fig = Figure()
    fig.add(
        "scatter",
        x=np.arange(len(cosines)),
        y=cosines,
        mode="lines",
        line={"color": theme.SEGMENT_A, "width": 1.5},
        hovertemplate="position %{x}: cosine %{y:.3f}<extra></extra>",
    )
    theme.plot_layout(fig, "", "position", f"cosine to position {position}", 260)
    fig.add_vline(x=position, line={"color": theme.ACCENT, "width": 1.5})
    return fig


def _rotation_maps(kinds: Sequence[Rotations]) -> Figure:
    """Draw the cosine of each pair's turn by distance, a map for each kind of layer."""
    fig = subplots(
        cols=len(kinds),
        shared_yaxes=True,
        horizontal_spacing=0.06,
        subplot_titles=[_title(kind) for kind in kinds],
    )
    for col, kind in enumerate(kinds, start=1):
        hover = "pair %{x}, %{y} tokens apart<br>cosine %{z:.3f}"
        bar = BAR if col == 1 else None
        fig.heat(kind.cosines, theme.around_zero(1), hover, colorbar=bar, row=1, col=col)
        if kind.reach is not None and _has_line(kind):
            line = {"color": theme.ACCENT, "width": 2}
            fig.add_hline(y=kind.reach + 0.5, row=1, col=col, line=line)
    theme.plot_layout(fig, "", "pair of numbers in a head", "", 460)
    fig.update_xaxes(title={"text": "pair of numbers in a head"}, showgrid=False)
    fig.update_yaxes(showgrid=False, autorange="reversed")
    fig.update_yaxes(title={"text": "distance in tokens"}, row=1, col=1)
    fig.update_layout(margin={"t": 56})
    return fig


def _has_line(kind: Rotations) -> bool:
    """Return whether the window of the layers ends within the distances that are drawn."""
    return kind.reach is not None and kind.reach + 1 < len(kind.cosines)


def _title(kind: Rotations) -> str:
    layers = ", ".join(map(str, kind.layers[:4])) + (" ..." if len(kind.layers) > 4 else "")
    name = "full attention" if kind.reach is None else f"window of {kind.reach} to each side"
    return f"Layers {layers}: {name}, base {kind.theta:,.0f}"


def _rotation_arrays(kinds: Sequence[Rotations]) -> dict[str, NDArray[np.float32]]:
    """Return the cosines of each kind of layer, [P, K / 2]."""
    names = ("full" if kind.reach is None else "window" for kind in kinds)
    return {name: kind.cosines for name, kind in zip(names, kinds, strict=True)}


_POSITIONS_CODE = """
from bertcore.analysis import position_similarity

cosines = position_similarity(bert, {size})     # [P, P]
"""
_POSITIONS_HOW = (
    "{origin} Similar neighbours form a dark blue diagonal; far from it, positions are distinct. "
    "{marked}"
)
ORIGINS = {
    "learned": "BERT has no formula for positions: each is a row of a trained table.",
    "sinusoidal": "Positions here are sines and cosines of fixed frequencies, not trained.",
}
"""By `BertConfig.position_embedding`."""
POSITIONS = Picture(
    name="positions",
    figure=position_table,
    table=lambda cosines: {"cosines": cosines},
    needs=frozenset({"positions"}),
    how=_POSITIONS_HOW,
    code=_POSITIONS_CODE,
)
POSITION_ROW = Picture(
    name="position-row",
    figure=position_row,
    table=lambda cosines: pd.DataFrame({"position": range(len(cosines)), "cosine": cosines}),
    needs=frozenset({"positions"}),
    how=_POSITIONS_HOW,
    code=_POSITIONS_CODE + "cosines[{row}]\n",
)
ROTATIONS = Picture(
    name="rotations",
    figure=_rotation_maps,
    table=_rotation_arrays,
    how=(
        "No vector is added for the position: each head rotates its queries and keys, one pair of "
        "numbers at a time, by an angle that grows with the position. Only the distance between "
        "two tokens is left in their product. Each column is a pair, each row a distance; colour "
        "is the cosine of the rotation between them: blue means that the pair counts as at "
        "distance 0, orange with the opposite sign. Pairs on the left rotate fast and distinguish "
        "neighbours; those on the right hardly rotate and carry content over any distance.{outside}"
    ),
    code="""
from bertcore.analysis import rotations

for kind in rotations(bert, {size}):
    kind.layers, kind.theta, kind.reach, kind.cosines  # [P, K / 2]
""",
)
OUTSIDE = " Tokens below the line are outside the window of these layers: none is attended to."


def show_positions(page: frame.Page, index: int) -> None:
    """Draw the position table, and the row of the chosen token."""
    most = page.bert.config.max_position_embeddings
    if page.bert.config.position_embedding == "rotary":
        capabilities.note(page, "positions")
        size = one_of("Distances up to", [64, 128, 256, 512], NUM_POSITIONS, with_label=True)
        kinds = page.compute(rotations, size)
        outside = OUTSIDE if any(_has_line(kind) for kind in kinds) else ""
        ROTATIONS.show(page, kinds, size=size, outside=outside)
        return
    if not POSITIONS.is_available(page):
        return
    sizes = [size for size in (64, 128, 256) if size < most] + [most]
    size = one_of("First positions", sizes, NUM_POSITIONS, default=sizes[0], with_label=True)
    cosines = page.compute(embeddings.position_similarity, size)
    row = page.trace.position_ids[index]
    origin = ORIGINS[page.bert.config.position_embedding]
    said: dict[str, Any] = {"origin": origin, "marked": _marked(row, size)}
    drawn = {"position": row}
    POSITIONS.show(page, cosines, drawn=drawn, with_caption=False, size=size, **said)
    if row < size:
        shown = {"drawn": drawn, "with_caption": False, **said}
        POSITION_ROW.show(page, cosines[row], size=size, row=row, **shown)
    POSITIONS.caption(**said)


def _marked(row: int, size: int) -> str:
    """Return where the chosen token's position is among the first `size`."""
    if row < size:
        return "The marked line is the position of the chosen token, drawn below as a curve."
    return f"The chosen token's position, {row}, is beyond the first {size}."


PIECE_MARKS = {
    "WordPiece": "## continues a word.",
    "byte-level BPE": "Ġ stands for the space before a word; letters beyond English are cut into "
    "bytes, each shown as a letter.",
    "Unigram": "▁ stands for the space before a word.",
}
"""How each kind of tokenizer marks where words begin or continue."""


def show_steps(page: frame.Page, index: int) -> None:
    """Draw how the chosen token's word was cut."""
    text_id = page.trace.text_ids[index]
    if text_id < 0:
        st.caption(
            f"{plain(page.trace.tokens[index])} is not part of the text: the tokenizer adds it, as "
            "in training. In BERT, answers about the whole text are read from [CLS], and [SEP] "
            "ends each text. Choose a word to see how it is cut."
        )
        return
    kind = page.bert.tokenizer.kind
    if kind != "WordPiece":
        st.caption(
            f"This checkpoint's tokenizer is {kind}, not WordPiece: its pieces are shown, but the "
            "steps that lead to them are not."
        )
        return
    text = embeddings.kept_text(page.trace, text_id, page.texts[text_id] or "")
    words = page.compute(embeddings.explain_words, text)
    steps = embeddings.word_at(words, page.trace.offsets[index])
    with st.container(border=True):
        st.markdown(f"**How “{plain(shorten_middle(steps.word))}” is cut**")
        word_steps(steps, key="steps")
        if any(piece.tried for piece in steps.pieces):
            st.caption(
                "WordPiece takes the longest beginning of the word that is in the vocabulary, then "
                "continues with the rest. Candidates that are not in it are crossed out."
            )


def nearest_words(neighbours: Sequence[tuple[str, float]], *, word: str) -> Figure:
    """Draw the pieces of the token table nearest to `word` as bars, the nearest on top."""
    rows, cosines = list(range(len(neighbours))), [cosine for _, cosine in neighbours]
    names = [theme.escape(name) for name, _ in neighbours]
    fig = Figure()
    fig.add(
        "bar",
        x=cosines,
        y=rows,
        orientation="h",
        marker={"color": theme.SEGMENT_A},
        text=[f"{cosine:.2f}" for cosine in cosines],
        textposition="auto",
        customdata=names,
        hovertemplate="%{customdata}: cosine %{x:.4f}<extra></extra>",
    )
    title = f"cosine to {theme.escape(word)} in the token table"
    theme.plot_layout(fig, "", title, "", 60 + 27 * len(rows))
    fig.update_yaxes(tickvals=rows, ticktext=names, autorange="reversed", showgrid=False)
    fig.update_xaxes(rangemode="tozero")
    return fig


NEAREST = Picture(
    name="nearest-words",
    figure=nearest_words,
    table=lambda neighbours: pd.DataFrame(neighbours, columns=["piece", "cosine"]),
    how=(
        "The pieces whose rows in the token table point most in the direction of the chosen "
        "token's row: what the model treats as similar before it has read any context."
    ),
    code="""
from bertcore.analysis import nearest_words

nearest_words(bert, trace.input_ids[{index}], top_k=12)
""",
)


def show_nearest(page: frame.Page, index: int) -> None:
    """Draw the nearest rows of the token table."""
    nearest = page.compute(embeddings.nearest_words, page.trace.input_ids[index])
    NEAREST.show(page, nearest, drawn={"word": page.trace.tokens[index]}, index=index)


VIEWS = {
    "Three embeddings": show_sum,
    "LayerNorm": show_norm,
    "Leave one out": show_leave_one_out,
    "Position table": show_positions,
    "Nearest words": show_nearest,
    "A vocabulary grows": show_growth,
}


STRIP = Picture(
    name="tokens",
    table=lambda trace: pd.DataFrame(token_columns(trace)),
    how=(
        "Choose a token with the mouse, or with the arrow keys and Enter: the pictures below "
        "follow it. {marks}"
    ),
    code="""
import pandas as pd
from bertcore.analysis import token_columns

pd.DataFrame(token_columns(trace))
""",
)


def runs_right_to_left(text: str) -> bool:
    """Return whether a text's base direction is right to left, as its first letter decides.

    Source: the Unicode bidirectional algorithm (UAX #9), rules P2 and P3.
    """
    directions = map(unicodedata.bidirectional, text)
    return next((one != "L" for one in directions if one in ("L", "R", "AL")), False)


@frame.fragment
def show(page: frame.Page) -> None:
    """Draw everything that follows the chosen token; runs alone when another is chosen."""
    trace = page.trace
    TOKEN.key(low=0, high=trace.num_tokens - 1)
    index = TOKEN.value
    with frame.guard():
        token_strip(trace, key="strip", selected=index, on_pick=TOKEN.put)
        with st.container(horizontal=True, vertical_alignment="center", key="strip_row"):
            marks = PIECE_MARKS.get(page.bert.tokenizer.kind, "")
            st.caption(STRIP.reading(marks=marks))
            STRIP.offer(page, trace, width="content", with_caption=False, marks=marks)
        if any(map(runs_right_to_left, filter(None, page.texts))):
            st.caption(
                "The text runs from right to left; its tokens stand from left to right, in the "
                "order in which the model reads them."
            )
        show_steps(page, index)
    view = one_of("Picture", list(VIEWS), VIEW)
    with frame.guard():
        VIEWS[view](page, index)


def draw() -> None:
    """Draw the page."""
    show(frame.begin(PAGE))
