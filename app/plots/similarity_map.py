"""Heat maps from 0 up with a number in each cell; the map of CKA between layers."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.compare.cka import LayerSimilarity

from . import theme
from .cell_table import cell_table
from .cells import numbered
from .figure import Figure, Properties, heatmap

MAX_NUMBERED = 16  # most columns for which each cell shows its number


def similarity_map(values: NDArray[np.float64], names: tuple[str, str]) -> Figure:
    """Draw the CKA of every layer of the first (rows) with every layer of the second (columns)."""
    rows, columns = values.shape
    heat = heat_from_zero(values, 100 * values, columns, "CKA")
    hover = "layer %{y} and layer %{x}: CKA %{z:.3f}<extra></extra>"
    heat |= {"zmax": 1.0, "hoverinfo": None, "hovertemplate": hover}
    fig = Figure(heat)
    first, second = (theme.escape(name) for name in names)
    height = map_height(rows)
    theme.plot_layout(fig, "", f"layer of {second}", f"layer of {first}", height)
    lay_out_cells(fig, rows, columns)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 10, "b": 0})
    return fig


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


def map_height(rows: int) -> int:
    """Return the height in pixels of the map of CKA, and of the curve beside it."""
    return max(300, min(38 * rows, 520) + 80)


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
        written = numbered(values, text, 12, high=highest)
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
