"""Tokens laid out like text, as boxes in lines that wrap, and as an axis with a place for each."""

from collections.abc import Sequence
from dataclasses import dataclass

from . import theme
from .figure import Figure
from .formats import display_width, shorten

LINE_UNITS = 68  # width of a line in letters: legible in a column 500 pixels wide
LINE_HEIGHT = 46  # pixels of a line of boxes


@dataclass(frozen=True, slots=True)
class Box:
    """The place of a token's box."""

    left: float
    width: float
    line: int


def place(tokens: Sequence[str], below: Sequence[str]) -> list[Box]:
    """Return a box for each token and what is below it, in lines of LINE_UNITS.

    Pieces that continue a word ("##s") touch the piece before.
    """
    boxes: list[Box] = []
    cursor, line = 0.0, 0
    for token, small in zip(tokens, below, strict=True):
        letters = max(display_width(shorten(token)), 0.85 * display_width(shorten(small)))
        width = max(letters, 1.5) + 1.5
        gap = 0.0 if not boxes or token.startswith("##") else 0.5
        if cursor > 0 and cursor + gap + width > LINE_UNITS:
            cursor, line, gap = 0.0, line + 1, 0.0
        boxes.append(Box(cursor + gap, width, line))
        cursor += gap + width
    return boxes


def draw(fig: Figure, boxes: Sequence[Box], *, legend_height: int) -> Figure:
    """Give a figure of boxes its size and bare axes.

    Args:
        legend_height: Pixels to leave free above the lines.
    """
    lines = 1 + max((box.line for box in boxes), default=0)
    theme.plot_layout(fig, "", "", "", lines * LINE_HEIGHT + legend_height)
    margin = {"l": 0, "r": 0, "t": legend_height, "b": 0}
    fig.update_layout(barmode="overlay", bargap=0.14, margin=margin)
    fig.update_xaxes(visible=False, range=[0, LINE_UNITS], fixedrange=True)
    fig.update_yaxes(visible=False, range=[lines - 0.5, -0.5], fixedrange=True)
    return fig


def two_lines(first: str, second: str = "") -> str:
    """Return the text of a box: the token and, smaller, the line below it."""
    text = theme.escape(shorten(first))
    small = '<span style="font-size:10.5px">'
    return f"{text}<br>{small}{theme.escape(shorten(second))}</span>" if second else text


def write(fig: Figure, boxes: Sequence[Box], texts: Sequence[str]) -> None:
    """Write in boxes in the page's colour of text, which bars cannot have."""
    middles = [box.left + box.width / 2 for box in boxes]
    fig.write(middles, [box.line for box in boxes], texts, textfont_size=13)


MAX_LABELS = 72  # above this many tokens the axis shows positions instead of words


def axis_name(letter: str, row: int) -> str:
    """Return Plotly's name of an axis: y, y2, y3, ..."""
    return letter if row == 0 else f"{letter}{row + 1}"


def token_frame(selected: int) -> dict[str, object]:
    """Return the shape that frames the token at a position, over the whole height."""
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": selected - 0.5,
        "x1": selected + 0.5,
        "y0": 0,
        "y1": 1,
        "line": {"color": theme.ACCENT, "width": 1.5},
    }


def label_height(tokens: Sequence[str]) -> int:
    """Return the pixels that the labels of `token_axis` take, 150 at most."""
    longest = max(map(len, tokens), default=0)
    if len(tokens) > MAX_LABELS or not _is_tilted(tokens):
        return 48
    return min(150, 24 + 6 * longest)


def _is_tilted(tokens: Sequence[str]) -> bool:
    return len(tokens) > 12


def token_axis(tokens: Sequence[str]) -> dict[str, object]:
    """Return the settings of an axis that has one place for each token."""
    if len(tokens) > MAX_LABELS:
        return {"title_text": "position of the token", "range": [-0.5, len(tokens) - 0.5]}
    return {
        "tickvals": list(range(len(tokens))),
        "ticktext": [theme.escape(token) for token in tokens],
        "tickangle": -60 if _is_tilted(tokens) else 0,
        "range": [-0.5, len(tokens) - 0.5],
    }
