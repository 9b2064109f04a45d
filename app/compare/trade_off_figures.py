"""Figures of two checkpoints by size, speed and score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from bertcore.analysis.compare.speed import MANY, Size, TextSpeed, are_told_apart
from bertcore.analysis.compare.trade_off import TradeOff

from ..plots import theme
from ..plots.before_after import AFTER, BEFORE
from ..plots.error_bars import error_bars, with_interval
from ..plots.figure import Figure
from ..plots.metric_names import METRIC_NAMES

Range = tuple[float, float]
"""From low to high."""
_ROW = 46
_GAP = 0.16
"""Of a row: how far the two marks of a metric are from its middle."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Size and speed of two checkpoints."""

    sizes: tuple[Size, Size]
    speeds: tuple[TextSpeed, TextSpeed]


def size_bars(measured: Measured, names: tuple[str, str]) -> Figure:
    """Draw size and speed as pairs of bars, each row relative to its longest bar.

    Thin lines go from the slowest to the fastest pass.

    Args:
        measured: Both.
        names: Of the checkpoints; any text.
    """
    rows = _rows(measured)
    places = list(range(len(rows)))
    fig = Figure()
    for number, (name, colour) in enumerate(zip(names, (BEFORE, AFTER), strict=True)):
        fig.add(
            "bar",
            x=[row.values[number] / row.longest for row in rows],
            y=places,
            orientation="h",
            name=theme.escape(name),
            offsetgroup=str(number),
            marker={"color": colour, "line_width": 0},
            customdata=[row.hovers[number] for row in rows],
            hovertemplate=f"{theme.escape(name)}: %{{customdata}}<extra></extra>",
        )
    fig.add(
        "scatter",
        x=[1.0] * len(rows),
        y=places,
        mode="text",
        text=[f"  {row.texts[0]} → <b>{row.texts[1]}</b>  {row.verdict}" for row in rows],
        textposition="middle right",
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )
    for number in range(2):
        _add_ranges(fig, rows, number)
    theme.plot_layout(fig, "", "", "", _ROW * len(rows) + 40)
    fig.update_layout(
        barmode="group",
        bargap=0.3,
        margin={"l": 0, "r": 0, "t": 32, "b": 4},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0},
    )
    fig.update_xaxes(visible=False, range=[0, 1.75])
    fig.update_yaxes(
        tickvals=places,
        ticktext=[row.title for row in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )
    return fig


def _add_ranges(fig: Figure, rows: Sequence[_Row], number: int) -> None:
    """Draw thin lines from the slowest to the fastest pass, on the bars of one checkpoint."""
    timed = [(place, row) for place, row in enumerate(rows) if row.ranges is not None]
    fig.add(
        "bar",
        x=[row.values[number] / row.longest for _, row in timed],
        y=[place for place, _ in timed],
        orientation="h",
        offsetgroup=str(number),
        marker={"color": "rgba(0, 0, 0, 0)", "line_width": 0},
        error_x=error_bars(
            [row.values[number] / row.longest for _, row in timed],
            [row.span(number)[0] / row.longest for _, row in timed],
            [row.span(number)[1] / row.longest for _, row in timed],
            theme.ACCENT,
            thickness=2,
            width=5,
        ),
        hoverinfo="skip",
        showlegend=False,
    )


def size_table(measured: Measured) -> pd.DataFrame:
    """Return size and speed as a table."""
    shapes = [
        ("layers", [size.num_layers for size in measured.sizes]),
        ("heads of a layer", [size.num_heads for size in measured.sizes]),
        ("width", [size.hidden_size for size in measured.sizes]),
        ("tokens of the text", [speed.num_tokens for speed in measured.speeds]),
    ]
    rows = [(row.title, *row.values) for row in _rows(measured)]
    for row in _rows(measured):
        if row.ranges is not None:
            for name, end in (("slowest pass", 0), ("fastest pass", 1)):
                rows.append((f"{row.title}, {name}", row.ranges[0][end], row.ranges[1][end]))
    return pd.DataFrame(
        [*rows, *((title, *values) for title, values in shapes)],
        columns=["quantity", "first", "second"],
    )


def score_dots(found: TradeOff, names: tuple[str, str]) -> Figure:
    """Draw each metric of both as a dot with its 95% interval.

    Args:
        found: Of one labelled file.
        names: Of the checkpoints; any text.
    """
    metrics = list(found.sides[0].metrics)
    fig = Figure()
    for side, name, colour, shift in zip(
        found.sides, names, (BEFORE, AFTER), (-_GAP, _GAP), strict=True
    ):
        values = [side.metrics[metric] for metric in metrics]
        spans = [
            side.intervals.get(metric, (value, value))
            for metric, value in zip(metrics, values, strict=True)
        ]
        fig.add(
            "scatter",
            x=values,
            y=[place + shift for place in range(len(metrics))],
            mode="markers",
            name=theme.escape(name),
            marker={"color": colour, "size": 11},
            error_x=error_bars(
                values,
                [low for low, _ in spans],
                [high for _, high in spans],
                colour,
                thickness=2,
                width=5,
            ),
            customdata=[
                with_interval(x, *span, ".3f") for x, span in zip(values, spans, strict=True)
            ],
            hovertemplate=f"{theme.escape(name)}: <b>%{{customdata}}</b><extra></extra>",
        )
    theme.plot_layout(fig, "", "", "", _ROW * len(metrics) + 72)
    fig.update_layout(
        margin={"l": 0, "r": 8, "t": 34, "b": 0},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0},
    )
    fig.update_yaxes(
        tickvals=list(range(len(metrics))),
        ticktext=[f"<b>{METRIC_NAMES.get(metric, metric)}</b>" for metric in metrics],
        range=[len(metrics) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    return fig


def score_table(found: TradeOff) -> pd.DataFrame:
    """Return the metrics with their intervals, and the speed on the file, as a table."""
    nothing = float("nan")
    rows: list[tuple[str, str, float, float, float]] = []
    for which, side in zip(("first", "second"), found.sides, strict=True):
        for metric, value in side.metrics.items():
            low, high = side.intervals.get(metric, (nothing, nothing))
            rows.append((which, metric, value, low, high))
        rows.append((which, "examples per second", side.examples_per_second, nothing, nothing))
    return pd.DataFrame(rows, columns=["checkpoint", "quantity", "value", "low", "high"])


@dataclass(frozen=True, slots=True)
class _Row:
    title: str
    values: tuple[float, float]
    texts: tuple[str, str]
    ranges: tuple[Range, Range] | None = None
    """Of a speed: from the slowest to the fastest pass."""

    @property
    def longest(self) -> float:
        """The largest number of the row."""
        return max([*self.values, *(end for ends in self.ranges or () for end in ends)])

    @property
    def verdict(self) -> str:
        """The second divided by the first; ≈ if they cannot be distinguished."""
        if self.ranges is None or are_told_apart(*self.ranges):
            return f"×{self.values[1] / self.values[0]:.2f}"
        return "≈"

    @property
    def hovers(self) -> list[str]:
        """The hover text of each bar."""
        if self.ranges is None:
            return list(self.texts)
        pairs = zip(self.texts, self.ranges, strict=True)
        return [f"{text} ({low:,.0f} to {high:,.0f})" for text, (low, high) in pairs]

    def span(self, number: int) -> Range:
        """Return the slowest and the fastest pass of a speed."""
        assert self.ranges is not None
        return self.ranges[number]


def _rows(measured: Measured) -> list[_Row]:
    sizes, speeds = measured.sizes, measured.speeds
    one, two = speeds
    alone, together = (one.alone_range, two.alone_range), (one.together_range, two.together_range)
    quantities: Sequence[tuple[str, list[float], str, tuple[Range, Range] | None]] = [
        ("Parameters, millions", [s.num_parameters / 1e6 for s in sizes], "{:,.1f}", None),
        ("Memory of the weights, MB", [s.num_bytes / 1e6 for s in sizes], "{:,.1f}", None),
        ("Texts a second, one at a time", [s.alone for s in speeds], "{:,.0f}", alone),
        (f"Texts a second, {MANY} at a time", [s.together for s in speeds], "{:,.0f}", together),
    ]
    return [
        _Row(title, (values[0], values[1]), (form.format(values[0]), form.format(values[1])), ends)
        for title, values, form, ends in quantities
    ]
