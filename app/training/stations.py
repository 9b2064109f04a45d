"""Stations of a recorded run: objectives that one network was trained on in turn."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bertcore.configs.data import OBJECTIVES

from ..plots import Figure, plain, theme

_WORDS = {
    "causal": "next tokens",
    "mlm": "masked words",
    "mlm+nsp": "masked words and next sentence",
}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST_STEPS = 2**53  # the browser's numbers are exact up to it


class Station(NamedTuple):
    """A part of a run with an objective of its own."""

    letter: str
    """A, B ..."""
    after: int
    """Steps of the run before it."""
    objective: str
    """Its name for `--objective`."""


def stations_of(config: Mapping[str, Any]) -> tuple[Station, ...]:
    """Return the stations in a run's settings; none for a run of one objective.

    A run's folder may be from anybody: of what is not a list of known objectives, each after more
    steps than the one before and the first after none, there are no stations.
    """
    listed = config.get("stations")
    if not isinstance(listed, list) or len(listed) > len(_LETTERS):
        return ()
    stations: list[Station] = []
    for letter, one in zip(_LETTERS, listed, strict=False):
        after, objective = (
            (one.get("after"), one.get("objective")) if isinstance(one, dict) else 2 * (None,)
        )
        if type(after) is not int or not isinstance(objective, str) or objective not in OBJECTIVES:
            return ()
        if not (stations[-1].after < after < _MOST_STEPS if stations else after == 0):
            return ()
        stations.append(Station(letter, after, objective))
    return tuple(stations)


def named(stations: Sequence[Station]) -> str:
    """Return their letters and objectives as Markdown: "A next tokens, B masked words"."""
    words = (_WORDS.get(one.objective, plain(one.objective)) for one in stations)
    return ", ".join(f"{one.letter} {name}" for one, name in zip(stations, words, strict=True))


def letter_at(stations: Sequence[Station], step: int) -> str:
    """Return the letter of the station that a step ends; "" without stations."""
    return "".join(one.letter for one in stations if one.after < max(1, step))[-1:]


def parted(
    stations: Sequence[Station], steps: Sequence[int], values: Sequence[float | None]
) -> tuple[list[int], list[float | None]]:
    """Return a curve with a gap where another station begins.

    >>> parted(stations_of({"stations": [{"after": 0, "objective": "causal"},
    ...     {"after": 20, "objective": "mlm"}]}), [10, 20, 30], [3.0, 2.0, 5.0])
    ([10, 20, 20, 30], [3.0, 2.0, None, 5.0])
    """
    x, y = list(steps), list(values)
    for station in stations[1:]:
        place = bisect_right(x, station.after)
        if 0 < place < len(x):
            x.insert(place, station.after)
            y.insert(place, None)
    return x, y


def line_mode(values: Sequence[float | None]) -> str:
    """Return Plotly's mode of a curve with gaps: a value between two gaps has no line to be on.

    >>> line_mode([3.0, 2.0, None, 5.0]), line_mode([3.0, 2.0]), line_mode([3.0])
    ('lines+markers', 'lines', 'markers')
    """
    padded = [None, *values, None]
    is_alone = [
        before is None and after is None
        for before, value, after in zip(padded, padded[1:], padded[2:], strict=False)
        if value is not None
    ]
    return "markers" if all(is_alone) else "lines+markers" if any(is_alone) else "lines"


def draw_borders(
    fig: Figure, places: Mapping[str, float], row: int | None = None, col: int | None = None
) -> None:
    """Draw the letter of each station where it begins, and a line there but for the first.

    Args:
        fig: The figure.
        places: Place on the x axis where each letter's station begins.
        row, col: The picture in the figure; None for all.
    """
    for number, (letter, x) in enumerate(places.items()):
        fig.add_vline(
            x,
            row=row,
            col=col,
            is_drawn=number > 0,
            line={"color": theme.SPECIAL, "width": 1, "dash": "dot"},
            annotation={"text": letter, "font": {"size": 11, "color": theme.SPECIAL}},
        )
