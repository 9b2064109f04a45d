"""Colours and number formats of every picture, safe for colour-blind readers, light and dark."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import plotly.colors
from numpy.typing import ArrayLike, NDArray

from .figure import Figure, Properties, Shades

SEGMENT_A = "#3457D5"
"""Text A: blue."""
SEGMENT_B = "#D98200"
"""Text B: orange; far from the blue for every kind of colour vision."""
SPECIAL = "#7A8194"
"""[CLS], [SEP] and other added tokens: grey."""
ACCENT = "#C2417C"
"""The one thing that is selected."""

SEQUENTIAL = "Cividis"
"""From nothing to much; even in lightness and the same for red-green blind readers."""

DIVERGING: list[list[object]] = [
    [0.0, "#B35806"],
    [0.25, "#F1A340"],
    [0.5, "#F4F4F2"],
    [0.75, "#7FA7D8"],
    [1.0, "#1F4E9E"],
]
"""Below and above zero: orange and blue around near-white."""
DIVERGING_DARK: list[list[object]] = [
    [0.0, "#F6B35C"],
    [0.25, "#A85A14"],
    [0.5, "#1E2534"],
    [0.75, "#3563B0"],
    [1.0, "#9CC0F0"],
]
"""The same for large surfaces on a dark ground: what is near zero recedes there too."""

CATEGORICAL = (
    "#3457D5",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#B8A800",
    "#6B7280",
    "#7B3FA0",
    "#8C564B",
    "#17A398",
    "#E4607A",
)
"""Twelve kinds; the first eight are Okabe and Ito's."""

INK = {False: "#1B2233", True: "#E6E9F2"}
"""Text colour by whether the background is dark, for text that does not follow the page's theme."""

FRACTIONS = Shades(SEQUENTIAL)
"""Colours of values from 0 to 1."""
BLACK, WHITE = "#000000", "#FFFFFF"
_EQUAL_CONTRAST = 0.179  # luminance over which black and white have the same contrast, 4.58

GRID = "rgba(127, 134, 152, 0.25)"  # grid lines that are visible on light and on dark


def sampled(scale: str | Sequence[Sequence[object]], count: int) -> NDArray[np.uint8]:
    """Return a colour scale at `count` even steps as red, green and blue, uint8 [count, 3]."""
    levels = np.linspace(0, 1, count).tolist()
    colours = plotly.colors.sample_colorscale(scale, levels, colortype="tuple")
    return np.round(np.array(colours) * 255).astype(np.uint8)


def inks(values: ArrayLike, shades: Shades) -> NDArray[np.str_]:
    """Return black or white for text on each value's colour, whichever has the higher contrast.

    It is at least 4.58 then, over any colour. Plotly's own choice, white or #444, goes down to 3.1.

    Args:
        values: Any shape; NaN counts as the lowest.

    Source: WCAG 2.2, relative luminance and contrast ratio.
    """
    scale, low, high = shades
    numbers = np.asarray(values, dtype=np.float64)
    at = (np.where(np.isnan(numbers), low, numbers) - low) / ((high - low) or 1.0)
    steps = np.round(255 * np.clip(at, 0, 1)).astype(np.int64)
    return np.where(_luminances(sampled(scale, 256))[steps] > _EQUAL_CONTRAST, BLACK, WHITE)


def _luminances(colours: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the relative luminance of colours [N, 3], [N]."""
    levels = colours / 255
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
    luminances: NDArray[np.float64] = linear @ np.array([0.2126, 0.7152, 0.0722])
    return luminances


def from_zero(largest: float) -> Shades:
    """Return the sequential colours of values from 0 to `largest`."""
    return Shades(SEQUENTIAL, 0.0, largest)


def around_zero(largest: float, is_dark: bool = False) -> Shades:
    """Return the diverging colours of values from -`largest` to `largest`."""
    return Shades(diverging(is_dark), -largest, largest)


def diverging(is_dark: bool) -> list[list[object]]:
    """Return the scale of large surfaces for a light or a dark background."""
    return DIVERGING_DARK if is_dark else DIVERGING


@lru_cache(maxsize=1)
def diverging_bytes() -> NDArray[np.uint8]:
    """Return the diverging scales for light and dark backgrounds as RGB, uint8 [2, 255, 3]."""
    return np.stack([sampled(scale, 255) for scale in (DIVERGING, DIVERGING_DARK)])


def plot_layout(fig: Figure, title: str, x: str, y: str, height: int) -> Figure:
    """Give a figure our title, axis names and margins; colours of text follow the page's theme.

    Args:
        fig: Changed in place, and returned.
        title: A sentence a student understands; empty for none.
        x, y: Axis names with units; empty for none.
        height: In pixels.
    """
    fig.update_layout(
        title={"text": title, "font": {"size": 15}, "x": 0, "xanchor": "left", "pad": {"l": 4}},
        height=height,
        margin={"l": 8, "r": 8, "t": 44 if title else 12, "b": 8},
        hoverlabel={"align": "left"},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
    )
    fig.update_xaxes(title_text=x, gridcolor=GRID, zeroline=False, automargin=True)
    fig.update_yaxes(title_text=y, gridcolor=GRID, zeroline=False, automargin=True)
    return fig


def named_rows(names: Sequence[str], space: float = 0.5) -> Properties:
    """Return the settings of an axis with a name for each row from 0, the first on top.

    Args:
        names: With a little of Plotly's HTML.
        space: Rows between the last one's middle and the lower edge, 1 minus those on top.
    """
    return {
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "range": [len(names) - space, space - 1],
        "showgrid": False,
    }


def bar_above(title: str, **settings: object) -> dict[str, object]:
    """Return a colour bar above the right end of a picture; it takes none of its width.

    Args:
        title: Title left of the bar.
        settings: Further settings of Plotly's `colorbar`, or replacements of ours.
    """
    return {
        "title": {"text": f"{title}\u2002\u200b"},  # a bare space at the end is cut off
        "orientation": "h",
        "thickness": 10,
        # In pixels, title included: a fraction of a narrow picture has no room for the numbers.
        "lenmode": "pixels",
        "len": 180 + 7 * max(map(len, title.split("<br>"))),
        "x": 0.98,  # the last number needs room too
        "xanchor": "right",
        "y": 1,
        "yanchor": "bottom",
        "nticks": 5,
        "tickangle": 0,
        **settings,
    }


def escape(text: str) -> str:
    """Return text escaped so that Plotly shows it as it is: its labels read a little HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def megabytes(num_bytes: int) -> str:
    """Return a size with its unit, MB (10^6 bytes)."""
    size = num_bytes / 1e6
    return f"{size:.1f} MB" if size < 10 else f"{size:,.0f} MB"


def count(number: int) -> str:
    """Return a large count in short form: 11.2 million, 16,000."""
    return f"{number / 1e6:.1f} million" if number >= 1e6 else f"{number:,}"
