"""The embedding tables: similarity of the positions, and the nearest pieces of a piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..plots import theme
from ..plots.figure import Figure

Matrix = NDArray[np.float32]


class PositionRow(NamedTuple):
    """One row of the similarities between positions."""

    position: int
    cosines: NDArray[np.float32]
    """[P]"""


def position_table(cosines: Matrix, *, position: int | None = None) -> Figure:
    """Draw the cosines between the rows of the position table, [P, P].

    Args:
        cosines: As `position_similarity` returns them.
        position: A row to mark, such as that of the selected token.
    """
    fig = Figure()
    fig.add(
        "heatmap",
        z=cosines,
        colorscale=theme.DIVERGING,
        zmin=-1,
        zmax=1,
        colorbar={"title": {"text": "cosine"}, "thickness": 12},
        hovertemplate="positions %{y} and %{x}<br>cosine %{z:.3f}<extra></extra>",
    )
    theme.plot_layout(fig, "", "position", "position", 520)
    # The square keeps to the right, beside its colour bar.
    fig.update_xaxes(showgrid=False, constrain="domain", constraintoward="right")
    fig.update_yaxes(showgrid=False, autorange="reversed", scaleanchor="x", constrain="domain")
    if position is not None and position < len(cosines):
        fig.add_hline(y=position, line={"color": theme.ACCENT, "width": 1.5})
    return fig


def position_arrays(cosines: Matrix) -> dict[str, Matrix]:
    """Return the cosines, [P, P]."""
    return {"cosines": cosines}


def position_row(row: PositionRow) -> Figure:
    """Draw the similarity of each position to one as a curve."""
    fig = Figure()
    fig.add(
        "scatter",
        x=np.arange(len(row.cosines)),
        y=row.cosines,
        mode="lines",
        line={"color": theme.SEGMENT_A, "width": 1.5},
        hovertemplate="position %{x}: cosine %{y:.3f}<extra></extra>",
    )
    theme.plot_layout(fig, "", "position", f"cosine to position {row.position}", 260)
    fig.add_vline(x=row.position, line={"color": theme.ACCENT, "width": 1.5})
    return fig


def position_row_table(row: PositionRow) -> pd.DataFrame:
    """Return a row for each position."""
    return pd.DataFrame({"position": range(len(row.cosines)), "cosine": row.cosines})


def nearest_words(neighbours: Sequence[tuple[str, float]], *, word: str) -> Figure:
    """Draw the pieces of the token table nearest to `word` as bars, the nearest on top."""
    words = [name for name, _ in neighbours]
    cosines = [cosine for _, cosine in neighbours]
    fig = Figure()
    fig.add(
        "bar",
        x=cosines,
        y=list(range(len(words))),
        orientation="h",
        marker={"color": theme.SEGMENT_A},
        text=[f"{cosine:.2f}" for cosine in cosines],
        textposition="auto",
        customdata=[theme.escape(name) for name in words],
        hovertemplate="%{customdata}: cosine %{x:.4f}<extra></extra>",
    )
    title = f"cosine to {theme.escape(word)} in the token table"
    theme.plot_layout(fig, "", title, "", 60 + 27 * len(words))
    fig.update_yaxes(
        tickvals=list(range(len(words))),
        ticktext=[theme.escape(name) for name in words],
        autorange="reversed",
        showgrid=False,
    )
    fig.update_xaxes(rangemode="tozero")
    return fig


def nearest_table(neighbours: Sequence[tuple[str, float]]) -> pd.DataFrame:
    """Return a row for each piece, the nearest first."""
    return pd.DataFrame(neighbours, columns=["piece", "cosine"])
