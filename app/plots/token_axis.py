"""An axis that has one place for each token, and a frame around one of them."""

from collections.abc import Sequence

from . import theme

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
