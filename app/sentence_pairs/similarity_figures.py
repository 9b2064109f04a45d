"""The cosines of several sentences, and the words of two that a cosine comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.words.sentence_similarity import SharedWords

from ..html_file.chart import Data
from ..plots import theme, token_flow
from ..plots.cells import cell_text
from ..plots.figure import Figure, heatmap
from ..plots.formats import exactly, shorten
from ..plots.token_axis import MAX_LABELS
from ..plots.word_boxes import coloured_boxes

DIGITS = 3
"""Decimals of what a word adds to a cosine."""


class Similar(NamedTuple):
    """The cosines of some sentences."""

    sentences: Sequence[str]
    """[N]"""
    cosines: NDArray[np.float32]
    """[N, N]"""


def similarity_map(
    similar: Similar, *, order: Sequence[int], chosen: tuple[int, int] | None
) -> Figure:
    """Draw the cosine of each pair of sentences, with its value; a click gives "row.column".

    Args:
        similar: In the order of the texts.
        order: Places in it, in the order in which they are drawn.
        chosen: The framed pair, by its places in `similar`.
    """
    count = len(order)
    drawn = np.clip(similar.cosines[np.ix_(order, order)], -1, 1)
    others = drawn[~np.eye(count, dtype=bool)]
    low, high = float(np.min(others)), float(np.max(others))
    places, names = list(range(count)), [f"{place + 1}" for place in order]
    fig = Figure(
        heatmap(
            z=np.where(np.eye(count, dtype=bool), np.nan, drawn),
            x=places,
            y=places,
            hoverinfo="skip",
            hoverongaps=False,
            colorscale=theme.SEQUENTIAL,
            zmin=low,
            zmax=max(high, low + 1e-3),
            xgap=3,
            ygap=3,
            colorbar=theme.bar_above("cosine", tickformat=".2f"),
        )
    )
    text = [
        ["" if row == column else f"{drawn[row, column]:.2f}" for column in places]
        for row in places
    ]
    shade = (drawn - low) / max(high - low, 1e-3)
    fig.add_trace(cell_text(shade, text, 13 if count < 8 else 10))
    pairs = [(row, column) for row in order for column in order]
    fig.add(
        "scatter",  # a heat map's own cells cannot be clicked in Streamlit
        x=places * count,
        y=[row for row in places for _ in places],
        mode="markers",
        marker={"symbol": "square", "size": 30, "opacity": 0.0},
        customdata=[f"{row}.{column}" for row, column in pairs],
        text=[
            f"<b>{similar.cosines[row, column]:.4f}</b><br>"
            f"{theme.escape(shorten(similar.sentences[row], 80))}<br>"
            f"{theme.escape(shorten(similar.sentences[column], 80))}"
            for row, column in pairs
        ],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    if chosen is not None:
        column, row = order.index(chosen[1]), order.index(chosen[0])
        fig.add_shape(
            type="rect",
            x0=column - 0.5,
            x1=column + 0.5,
            y0=row - 0.5,
            y1=row + 0.5,
            line={"color": theme.ACCENT, "width": 3},
        )
    theme.plot_layout(fig, "", "sentence (number)", "", 40 * count + 130)
    fig.update_layout(
        margin={"l": 0, "r": 0, "t": 54, "b": 0}, dragmode=False, clickmode="event+select"
    )
    labels = [
        f"{theme.escape(shorten(similar.sentences[place], 30))}  <b>{name}</b>"
        for place, name in zip(order, names, strict=True)
    ]
    fig.update_xaxes(range=[-0.5, count - 0.5], tickvals=places, ticktext=names, showgrid=False)
    fig.update_yaxes(range=[count - 0.5, -0.5], tickvals=places, ticktext=labels, showgrid=False)
    return fig


def similarity_table(similar: Similar) -> pd.DataFrame:
    """Return a row for each pair of different sentences."""
    return pd.DataFrame(
        [
            {"text_a": a, "text_b": b, "cosine": float(similar.cosines[i, j])}
            for i, a in enumerate(similar.sentences)
            for j, b in enumerate(similar.sentences)
            if i < j
        ]
    )


def coloured_sentences(shared: SharedWords, *, is_dark: bool) -> Figure:
    """Draw the words of both sentences, each in the colour of what it adds to the cosine.

    The second sentence begins a line below the first.
    """
    values = np.concatenate([shared.of_a, shared.of_b])
    numbers = [exactly(float(value), DIGITS) for value in values]
    first = token_flow.place(shared.words_a, numbers[: len(shared.words_a)])
    second = token_flow.place(shared.words_b, numbers[len(shared.words_a) :])
    below = 2 + max(box.line for box in first)
    boxes = [*first, *(replace(box, line=box.line + below) for box in second)]
    fig = Figure(
        coloured_boxes(
            [*shared.words_a, *shared.words_b],
            values,
            numbers,
            boxes,
            is_dark=is_dark,
            scale_title="part of the cosine",
        )
    )
    return token_flow.draw(fig, boxes, legend_height=60)


def shared_table(shared: SharedWords) -> pd.DataFrame:
    """Return a row for each word of both sentences."""
    parts = (("A", shared.words_a, shared.of_a), ("B", shared.words_b, shared.of_b))
    return pd.DataFrame(
        [
            {"sentence": name, "word": word, "part_of_cosine": float(value)}
            for name, words, values in parts
            for word, value in zip(words, values, strict=True)
        ]
    )


def word_pair_map(shared: SharedWords, *, is_dark: bool) -> Figure:
    """Draw what each pair of words adds to the cosine: rows the first sentence."""
    largest = max(float(np.abs(shared.pairs).max(initial=0.0)), 1e-9)
    rows, columns = (
        [theme.escape(shorten(word, 14)) for word in words]
        for words in (shared.words_a, shared.words_b)
    )
    hover = [
        [
            f"{a} and {b}: {exactly(float(value), DIGITS + 1)}"
            for b, value in zip(columns, row, strict=True)
        ]
        for a, row in zip(rows, shared.pairs, strict=True)
    ]
    fig = Figure(
        heatmap(
            z=shared.pairs,
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            colorscale=theme.DIVERGING_DARK if is_dark else theme.DIVERGING,
            zmin=-largest,
            zmax=largest,
            xgap=1 if len(columns) <= MAX_LABELS else 0,
            ygap=1 if len(rows) <= MAX_LABELS else 0,
            colorbar=theme.bar_above("part of the cosine"),
        )
    )
    theme.plot_layout(fig, "", "second sentence", "first sentence", min(26 * len(rows), 900) + 160)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 0})
    tilt = -60 if len(columns) > 12 else 0
    for update, names, angle in ((fig.update_xaxes, columns, tilt), (fig.update_yaxes, rows, 0)):
        step = -(-len(names) // MAX_LABELS)
        shown = list(range(0, len(names), step))
        update(tickvals=shown, ticktext=[names[i] for i in shown], tickangle=angle, showgrid=False)
    fig.update_yaxes(autorange="reversed")
    return fig


def pair_arrays(shared: SharedWords) -> Data:
    """Return the words and what their pairs add."""
    return {
        "parts": shared.pairs,
        "words_a": np.array(shared.words_a),
        "words_b": np.array(shared.words_b),
    }
