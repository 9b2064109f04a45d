"""Text in the cells of a heat map, black or white, whichever has the higher contrast."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import theme
from .figure import Properties, scatter

Scale = str | Sequence[Sequence[object]]


def cell_text(
    values: NDArray[np.floating],
    text: Sequence[Sequence[str]],
    size: int,
    *,
    scale: Scale = theme.SEQUENTIAL,
    low: float = 0.0,
    high: float = 1.0,
) -> Properties:
    """Return text over the cells of a heat map, drawn whether it fits or not.

    Args:
        values: Values of the heat map, [R, C].
        text: [R, C], already escaped.
        size: Size of the letters, in pixels.
        scale, low, high: The colour scale, and the values at its ends.
    """
    num_rows, num_columns = values.shape
    return scatter(
        x=[column for _ in range(num_rows) for column in range(num_columns)],
        y=[row for row in range(num_rows) for _ in range(num_columns)],
        mode="text",
        text=[entry for row in text for entry in row],
        textfont={"size": size, "color": theme.inks(values, scale, low, high).ravel().tolist()},
        hoverinfo="skip",
        showlegend=False,
    )


def numbered(
    values: NDArray[np.floating],
    text: Sequence[Sequence[str]],
    size: int,
    *,
    scale: Scale = theme.SEQUENTIAL,
    low: float = 0.0,
    high: float = 1.0,
) -> Properties:
    """Return the properties of a heat map that write in its cells, if all of them fit.

    A heat map has one ink for all cells, or chooses between white and #444, so each text brings
    its own; the hover should show `customdata`, not the text.

    Args:
        values, text, size, scale, low, high: As for `cell_text`.
    """
    inks = theme.inks(values, scale, low, high).tolist()
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
