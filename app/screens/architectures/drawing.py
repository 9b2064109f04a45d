"""The component that draws networks side by side."""

import base64
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.words.leakage import PathsBack
from bertcore.analysis.words.readings import ApartReading, Reading

from ...parts.component import Component

COMPONENT = Component("bertscope_architectures", __file__)
MOST_ROWS = 24  # most tokens that are drawn of a longer text, around the place
NOTHING = 1e-3  # value-zeroing shares below this are drawn as zero
UNIT = 1e-4  # of the weights that are sent

Side = Literal["both", "left", "right"]


class PickedToken(NamedTuple):
    """A token that the visitor clicked."""

    panel: int
    token: int
    """Its number in the panel's own text."""


class Heading(NamedTuple):
    """What stands above a panel."""

    name: str
    """Such as "BERT"."""
    rule: str
    """Who sees whom."""
    note: str
    """What the network is."""


def window(place: int, num_tokens: int) -> range:
    """Return the tokens that are drawn: all of a short text, those around the place of a long one.

    >>> window(50, 100), window(2, 9)
    (range(38, 62), range(0, 9))
    """
    first = max(0, min(place - MOST_ROWS // 2, num_tokens - MOST_ROWS))
    return range(first, min(num_tokens, first + MOST_ROWS))


def reading_panel(
    heading: Heading, reading: Reading, side: Side, *, knows_token: bool = True
) -> dict[str, Any]:
    """Return a panel of one network, whose tokens attend to a side.

    Args:
        knows_token: False if a [MASK] was typed at the place.
    """
    rows = window(reading.position, len(reading.tokens))
    # With attention to the left only, what comes after the reader is never read.
    unread = max(reading.reader + 1, reading.position) if side == "left" else len(reading.tokens)
    return {
        **_frame(heading, reading.tokens, rows, reading.position, unread),
        "nets": [_net(reading.weights, reading.reader, rows, side)],
        "best": reading.best,
        "token": reading.token if knows_token else None,
        "probability": reading.probability if knows_token else None,
        "rank": reading.rank if knows_token else None,
    }


def apart_panel(heading: Heading, reading: ApartReading) -> dict[str, Any]:
    """Return a panel of two directions that are joined at the end."""
    left, right = reading.left, reading.right
    rows = window(left.position, len(left.tokens))
    return {
        **_frame(heading, left.tokens, rows, left.position, len(left.tokens)),
        "nets": [
            _net(left.weights, left.reader, rows, "left"),
            _net(right.weights, right.reader, rows, "right"),
        ],
        "best": reading.best,
        "token": left.token,
        "probability": reading.probability,
        "rank": reading.rank,
    }


def paths_panel(
    heading: Heading, tokens: Sequence[str], paths: PathsBack, place: int, reader: int, result: str
) -> dict[str, Any]:
    """Return a panel of the paths from a token to the vector that would guess it, over two layers.

    Args:
        place: The token that would be guessed.
        reader: Whose vector guesses it.
        result: What comes back, in words.
    """
    rows = window(place, len(tokens))
    out, back = np.zeros_like(paths.out), np.zeros_like(paths.back)
    out[:, place] = paths.out[:, place]
    back[reader] = paths.back[reader]
    for part in (out, back):  # rounding residue, and shares too small to draw
        part[part < NOTHING] = 0
    side: Side = "both" if reader == place else "left"
    return {
        **_frame(heading, tokens, rows, place, len(tokens)),
        "nets": [_net(np.stack([out, back]), reader, rows, side)],
        "result": result,
    }


def message(panels: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the drawing's message; the largest weight of all panels is the darkest."""
    weights = [net["weights"] for panel in panels for net in panel["nets"]]
    most = max((int(net.max()) for net in weights if net.size), default=0)
    coded = [
        {**panel, "nets": [{**net, "weights": _coded(net["weights"])} for net in panel["nets"]]}
        for panel in panels
    ]
    return {"panels": coded, "most": most * UNIT or 1.0}


def _coded(weights: NDArray[np.uint16]) -> str:
    return base64.b64encode(weights.astype("<u2").tobytes()).decode()


def draw(
    panels: Sequence[dict[str, Any]], *, key: str, on_pick: Callable[[PickedToken], None]
) -> None:
    """Draw panels; `on_pick` is called with the token that the visitor clicks."""

    def picked(reported: dict[str, Any]) -> None:
        number, row = int(reported["panel"]), int(reported["row"])
        if 0 <= number < len(panels) and 0 <= row < len(panels[number]["tokens"]):
            on_pick(PickedToken(number, panels[number]["before"] + row))

    COMPONENT(key=key, data=message(panels), picked=picked)


def _frame(
    heading: Heading, tokens: Sequence[str], rows: range, place: int, unread: int
) -> dict[str, Any]:
    """Return what all panels have; rows count from the first that is drawn."""
    return {
        **heading._asdict(),
        "tokens": [tokens[row] for row in rows],
        "before": rows.start,
        "after": len(tokens) - rows.stop,
        "place": place - rows.start,
        "unread": unread - rows.start,
        "best": (),
        "token": None,
        "probability": None,
        "rank": None,
        "result": "",
    }


def _net(weights: NDArray[np.float32], reader: int, rows: range, side: Side) -> dict[str, Any]:
    shown = weights[:, rows.start : rows.stop, rows.start : rows.stop]
    # Four digits; a weight above 0 stays above 0, since it shows which tokens may be seen.
    rounded = np.where(shown > 0, np.maximum((shown / UNIT).round(), 1), 0).astype(np.uint16)
    return {
        "side": side,
        "layers": len(rounded),
        "weights": rounded,
        "reader": reader - rows.start,
    }
