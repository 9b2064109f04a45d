"""The next-sentence probability of every ordered pair of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..plots import theme
from ..plots.cells import cell_text
from ..plots.figure import Figure, heatmap
from ..plots.formats import percent, shorten


class PairMatrix(NamedTuple):
    """The next-sentence answer for every ordered pair of some sentences."""

    sentences: Sequence[str]
    """[N]"""
    probabilities: NDArray[np.float32]
    """Probability that the column's sentence follows the row's, [N, N]; NaN on the diagonal."""


def pair_matrix(pairs: PairMatrix) -> Figure:
    """Draw the probability that the column's sentence follows the row's; the diagonal is empty."""
    sentences, matrix = pairs
    count = len(sentences)
    places, numbers = list(range(count)), [str(n) for n in range(1, count + 1)]
    hover = [
        [
            f"<b>{percent(float(p))}</b><br>A: {theme.escape(shorten(a, 80))}<br>"
            f"B: {theme.escape(shorten(b, 80))}"
            for b, p in zip(sentences, row, strict=True)
        ]
        for a, row in zip(sentences, matrix, strict=True)
    ]
    text = [["" if np.isnan(p) else percent(float(p)) for p in row] for row in matrix]
    fig = Figure(
        heatmap(
            z=matrix,
            x=places,
            y=places,
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            hoverongaps=False,
            colorscale=theme.SEQUENTIAL,
            zmin=0,
            zmax=1,
            xgap=3,
            ygap=3,
            colorbar=theme.bar_above("B follows A", tickformat=".0%"),
        )
    )
    fig.add_trace(cell_text(matrix, text, 13 if count < 8 else 10))
    theme.plot_layout(fig, "", "sentence B (number)", "sentence A", 40 * count + 130)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 0})
    names = [f"{theme.escape(shorten(s, 16))}  <b>{n}</b>" for n, s in enumerate(sentences, 1)]
    fig.update_xaxes(range=[-0.5, count - 0.5], tickvals=places, ticktext=numbers, showgrid=False)
    fig.update_yaxes(range=[count - 0.5, -0.5], tickvals=places, ticktext=names, showgrid=False)
    return fig


def matrix_table(pairs: PairMatrix) -> pd.DataFrame:
    """Return a row for each ordered pair of different sentences."""
    return pd.DataFrame(
        [
            {"text_a": a, "text_b": b, "p_is_next": float(pairs.probabilities[i][j])}
            for i, a in enumerate(pairs.sentences)
            for j, b in enumerate(pairs.sentences)
            if i != j
        ]
    )
