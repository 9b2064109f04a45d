"""Heat maps with a text in each cell: of heads, which can be clicked, and of CKA between layers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bertcore.base.states import state_names

from . import theme
from .figure import Figure, Properties, Shades, trace
from .tables import Frames, cells


def cell_text(
    values: NDArray[np.floating],
    text: Sequence[Sequence[str]],
    size: int,
    shades: Shades = theme.FRACTIONS,
) -> Properties:
    """Return text over the cells of a heat map, drawn whether it fits or not.

    Args:
        values: Values of the heat map, [R, C].
        text: [R, C], already escaped.
        size: Size of the letters, in pixels.
        shades: The colours of the cells.
    """
    num_rows, num_columns = values.shape
    return trace(
        "scatter",
        x=[column for _ in range(num_rows) for column in range(num_columns)],
        y=[row for row in range(num_rows) for _ in range(num_columns)],
        mode="text",
        text=[entry for row in text for entry in row],
        textfont={"size": size, "color": theme.inks(values, shades).ravel().tolist()},
        hoverinfo="skip",
        showlegend=False,
    )


def numbered(
    values: NDArray[np.floating],
    text: Sequence[Sequence[str]],
    size: int,
    shades: Shades = theme.FRACTIONS,
) -> Properties:
    """Return the properties of a heat map that write in its cells, if all of them fit.

    A heat map has one ink for all cells, or chooses between white and #444, so each text brings
    its own; the hover should show `customdata`, not the text.

    Args:
        values, text, size, shades: As for `cell_text`.
    """
    inks = theme.inks(values, shades).tolist()
    return {
        "text": [
            [f'<span style="color:{ink}">{entry}</span>' if entry else "" for entry, ink in pairs]
            for pairs in (
                zip(row, row_inks, strict=True) for row, row_inks in zip(text, inks, strict=True)
            )
        ],
        "texttemplate": "%{text}",
        "textfont": {"size": size},
    }


def similarity_table(place: str = "", *, same: bool = False) -> Frames:
    """Return what makes a table of a row for each pair of hidden states at a place of a result.

    Args:
        same: Whether of a state with itself alone.
    """
    first, second = {"state_first": state_names}, {"state_second": state_names}
    before = f"{place}." if place else ""
    every = cells(first, second, cka=f"{before}cka", chance=f"{before}chance")
    return (lambda result: every(result).query("state_first == state_second")) if same else every


def add_clicks(
    fig: Figure,
    shape: tuple[int, ...],
    clicked: Sequence[str],
    *,
    size: float,
    words: Sequence[str],
    opened: tuple[int, int] | None,
) -> None:
    """Make the cells of a heat map clickable, and frame the open one.

    A heat map's own cells cannot be clicked in Streamlit; transparent points over them can.

    Args:
        shape: [R, C].
        clicked: What a click on each cell gives, row by row, as `customdata`.
        size: Of a point, in pixels.
        words: What is shown at each cell, row by row, in Plotly's HTML.
        opened: Row and column of the framed cell, or None.
    """
    rows, columns = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    fig.add(
        "scatter",
        x=columns,
        y=rows,
        mode="markers",
        marker={"symbol": "square", "size": size, "opacity": 0.0},
        customdata=list(clicked),
        text=list(words),
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    if opened is not None:
        row, column = opened
        ends: Properties = {
            "x0": column - 0.5,
            "x1": column + 0.5,
            "y0": row - 0.5,
            "y1": row + 0.5,
        }
        fig.add_shape(type="rect", **ends, line={"color": theme.ACCENT, "width": 3})
    fig.update_layout(dragmode=False, clickmode="event+select")


def most_changed(change: NDArray[np.floating], count: int) -> Sequence[tuple[int, int]]:
    """Return (layer, head) of the heads that attend most differently, without 0 and NaN."""
    order = np.argsort(-np.nan_to_num(change), axis=None, kind="stable")[:count]
    places = [divmod(int(place), change.shape[1]) for place in order]
    return [(layer, head) for layer, head in places if change[layer, head] > 0]
