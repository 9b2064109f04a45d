"""Error bars: the ends of an interval as distances from the value, as Plotly expects them."""

import math
from collections.abc import Iterable
from typing import Any


def error_bars(
    values: Iterable[float],
    lows: Iterable[float],
    highs: Iterable[float],
    color: str,
    *,
    thickness: float = 1.2,
    width: float = 0,
) -> dict[str, Any]:
    """Return `error_x` or `error_y` of a trace.

    Args:
        lows: The lower end of each interval, in the same unit; NaN has no bar.
        highs: The upper end.
        color: Colour of the bars.
        thickness: Thickness of the bars, in pixels.
        width: Width of the strokes across their ends, in pixels.
    """
    values = [*values]
    return {
        "type": "data",
        "symmetric": False,
        "array": [_length(value, high) for value, high in zip(values, highs, strict=True)],
        "arrayminus": [_length(low, value) for value, low in zip(values, lows, strict=True)],
        "color": color,
        "thickness": thickness,
        "width": width,
    }


def with_interval(value: float, low: float, high: float, form: str) -> str:
    """Return a value with its interval as text, alone if the interval is NaN.

    >>> with_interval(0.5, 0.4, 0.6, ".0%"), with_interval(0.5, math.nan, math.nan, ".0%")
    ('50% (40% to 60%)', '50%')
    """
    return (
        f"{value:{form}}" if math.isnan(low) else f"{value:{form}} ({low:{form}} to {high:{form}})"
    )


def _length(low: float, high: float) -> float:
    length = float(high - low)
    return 0.0 if math.isnan(length) else length
