"""Heat maps with a text in each cell: of heads, which can be clicked, and of CKA between layers."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.compare.cka import LayerSimilarity

from . import theme
from .cell_table import cell_table
from .figure import Figure, Properties, Shades, heatmap, scatter


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
    return scatter(
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


MAX_NUMBERED = 16  # most columns for which each cell shows its number


def similarity_table(
    similarity: LayerSimilarity, layers: Sequence[int] | None = None
) -> pd.DataFrame:
    """Return a row for each pair of layers.

    Args:
        layers: Their numbers, if not all from 0 on are compared.
    """
    first, second = similarity.plain.shape
    return cell_table(
        {"layer_first": range(first) if layers is None else layers},
        {"layer_second": range(second) if layers is None else layers},
        cka=similarity.plain,
        cka_debiased=similarity.debiased,
        cka_chance=similarity.plain_chance,
        cka_debiased_chance=similarity.debiased_chance,
    )


def heat_from_zero(
    values: NDArray[np.floating],
    numbers: NDArray[np.floating],
    columns: int,
    unit: str,
    digits: str = "{:.0f}",
) -> Properties:
    """Return a heat map from 0 up, with a number in each cell if there is room; NaN is empty."""
    finite = values[np.isfinite(values)]
    top = float(finite.max(initial=0.0))
    highest = max(top, 1e-6)
    written = {}
    if columns <= MAX_NUMBERED:
        text = [[digits.format(n) if math.isfinite(n) else "" for n in row] for row in numbers]
        written = numbered(values, text, 12, theme.from_zero(highest))
    return heatmap(
        z=np.where(np.isfinite(values), values, np.nan),
        zmin=0,
        zmax=highest,
        colorscale=theme.SEQUENTIAL,
        xgap=2,
        ygap=2,
        hoverinfo="skip",
        colorbar=theme.bar_beside(unit),
        **written,
    )


def lay_out_cells(fig: Figure, rows: int, columns: int) -> None:
    """Number rows and columns from 0, the first row on top; of many every fourth."""
    fig.update_xaxes(range=[-0.5, columns - 0.5], dtick=1 if columns <= 24 else 4, showgrid=False)
    fig.update_yaxes(range=[rows - 0.5, -0.5], dtick=1 if rows <= 24 else 4, showgrid=False)


def clickable_heads(
    heat: Properties,
    shape: tuple[int, ...],
    *,
    size: float,
    words: Sequence[str],
    hover: str,
    opened: tuple[int, int] | None,
) -> Figure:
    """Return a heat map of heads that can be clicked; a click gives "layer.head".

    Args:
        heat: The heat map: rows are layers, columns heads.
        shape: [L, H].
        size, words, hover, opened: As for `add_clicks`.
    """
    fig = Figure(heat)
    names = [f"{layer}.{head}" for layer in range(shape[0]) for head in range(shape[1])]
    add_clicks(fig, shape, names, size=size, words=words, hover=hover, opened=opened)
    lay_out_cells(fig, *shape)
    return fig


def add_clicks(
    fig: Figure,
    shape: tuple[int, ...],
    clicked: Sequence[str],
    *,
    size: float,
    words: Sequence[str],
    hover: str = "%{text}<extra></extra>",
    opened: tuple[int, int] | None,
) -> None:
    """Make the cells of a heat map clickable, and frame the open one.

    A heat map's own cells cannot be clicked in Streamlit; transparent points over them can.

    Args:
        shape: [R, C].
        clicked: What a click on each cell gives, row by row, as `customdata`.
        size: Of a point, in pixels.
        words: Text of each cell, row by row, for `hover`.
        hover: Plotly's template of what is shown at a point.
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
        hovertemplate=hover,
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
