"""Stations of a recorded run: objectives that one network was trained on in turn."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..plots import Figure, theme

_WORDS = {
    "causal": "next tokens",
    "mlm": "masked words",
    "mlm+nsp": "masked words and next sentence",
}


class Station(NamedTuple):
    """A part of a run with an objective of its own."""

    letter: str
    """A, B ..."""
    after: int
    """Steps of the run before it."""
    objective: str
    """Its name for `--objective`."""


def stations_of(config: Mapping[str, Any]) -> tuple[Station, ...]:
    """Return the stations in a run's settings; none for a run of one objective."""
    listed = config.get("stations", ())
    return tuple(
        Station(chr(ord("A") + place), int(one["after"]), str(one["objective"]))
        for place, one in enumerate(listed)
    )


def named(stations: Sequence[Station]) -> str:
    """Return their letters and objectives in words: "A next tokens, B masked words"."""
    return ", ".join(f"{one.letter} {_WORDS.get(one.objective, one.objective)}" for one in stations)


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


def draw_borders(
    fig: Figure, places: Mapping[str, float], row: int | None = None, col: int | None = None
) -> None:
    """Draw a line where each station begins, but for the first, with its letter.

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
            line={"color": theme.SPECIAL, "width": 1 if number else 0, "dash": "dot"},
            annotation={"text": letter, "font": {"size": 11, "color": theme.SPECIAL}},
        )
