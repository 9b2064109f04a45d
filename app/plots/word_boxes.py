"""Words as boxes in lines, each in the colour of its number, above or below zero."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import theme, token_flow
from .figure import Properties, bar
from .formats import shorten
from .token_flow import Box


def coloured_boxes(
    words: Sequence[str],
    values: NDArray[np.floating],
    numbers: Sequence[str],
    boxes: Sequence[Box],
    *,
    is_dark: bool,
    scale_title: str,
) -> Properties:
    """Return the boxes: blue above zero, orange below, on one scale.

    Args:
        words: [W]
        values: [W]; NaN where a word has no number.
        numbers: The values as written in the boxes, [W].
        boxes: Place of each, [W].
        is_dark: Whether the page is dark: words near zero recede there too.
        scale_title: Title of the colour bar.
    """
    filled = np.nan_to_num(np.asarray(values, dtype=np.float64))
    largest = max(float(np.abs(filled).max(initial=0.0)), 1e-9)
    scale = theme.diverging(is_dark)
    hover = [
        f"<b>{theme.escape(shorten(word, 40))}</b>: {number or '—'}"
        for word, number in zip(words, numbers, strict=True)
    ]
    return bar(
        base=[box.left for box in boxes],
        x=[box.width for box in boxes],
        y=[box.line for box in boxes],
        orientation="h",
        text=[token_flow.two_lines(w, s) for w, s in zip(words, numbers, strict=True)],
        textposition="inside",
        insidetextanchor="middle",
        constraintext="none",
        textangle=0,
        insidetextfont={
            "size": 13,
            "color": theme.inks(filled, scale, -largest, largest).tolist(),
        },
        marker={
            "color": filled,
            "colorscale": scale,
            "cmin": -largest,
            "cmax": largest,
            "line": {"width": 1, "color": theme.GRID},
            "cornerradius": 5,
            "colorbar": theme.bar_above(scale_title),
        },
        customdata=hover,
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )
