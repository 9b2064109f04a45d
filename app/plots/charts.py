"""The kinds of charts: one tidy frame in, a figure out, its looks and its hover decided here."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from . import theme, token_flow
from .figure import Figure, Properties, bar, error_bars, scatter, subplots, with_interval
from .formats import percent, shorten

Column: TypeAlias = str | Callable[[pd.DataFrame], Iterable[Any]]
"""The name of a column, or what computes one from the frame."""


@dataclass(frozen=True, kw_only=True)
class Chart(ABC):
    """A tidy frame and how it is drawn. The frame is also what visitors download.

    Names and texts in it are untrusted: a kind escapes them, also those that a `Column` computes.
    Only `hover` texts and titles contain Plotly's HTML, and escape on their own.
    """

    table: Callable[..., pd.DataFrame]
    """Results -> a row for each thing that is drawn."""

    def figure(self, *results: Any, **changes: Any) -> Figure:
        """Return the figure of results.

        Args:
            results: What `table` takes.
            changes: Fields of this chart that differ this time.
        """
        return self.draw(self.table(*results), **changes)

    def draw(self, frame: pd.DataFrame, **changes: Any) -> Figure:
        """Return the figure of a frame; see `figure`."""
        chart = replace(self, **changes) if changes else self
        return chart._draw(frame)

    @abstractmethod
    def _draw(self, frame: pd.DataFrame) -> Figure: ...


def column(frame: pd.DataFrame, of: Column) -> list[Any]:
    """Return a column as a list."""
    return list(frame[of]) if isinstance(of, str) else list(of(frame))


ABREAST = 3  # plots side by side


@dataclass(frozen=True, kw_only=True)
class Bars(Chart):
    """Probabilities as bars, a plot for each group of rows, all on one scale."""

    value: str
    name: str
    by: str
    """Column whose values are the plots."""
    accent: Column
    """Whether each bar stands out."""
    titles: Sequence[str] = ()
    """Title of each plot, in Plotly's HTML."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        frame = frame.assign(accent=column(frame, self.accent))
        groups = [rows for _, rows in frame.groupby(self.by, sort=False)]
        columns, longest = min(ABREAST, len(groups)), max(map(len, groups))
        rows = -(-len(groups) // columns)
        height = rows * (24 * longest + 58)
        fig = subplots(
            rows,
            columns,
            subplot_titles=self.titles,
            horizontal_spacing=0.04,
            vertical_spacing=58 / height,
        )
        for index, group in enumerate(groups):
            names = [theme.escape(name) for name in group[self.name]]
            values = group[self.value].to_numpy()
            labels = [f"<b>{n}</b>  {percent(v)}" for n, v in zip(names, values, strict=True)]
            colours = [theme.ACCENT if out else theme.SEGMENT_A for out in group["accent"]]
            fig.add(
                "bar",
                x=values,
                y=list(range(len(names))),
                orientation="h",
                text=labels,
                textposition="outside",
                cliponaxis=False,
                marker={"color": colours, "line_width": 0},
                customdata=names,
                hovertemplate="%{customdata}: %{x:.4%}<extra></extra>",
                showlegend=False,
                row=index // columns + 1,
                col=index % columns + 1,
            )
        theme.plot_layout(fig, "", "", "", height)
        fig.update_layout(bargap=0.25, margin={"l": 0, "r": 0, "t": 42, "b": 4})
        # Room for the label at the end of the longest bar, in a column 470 pixels wide.
        room = (1.5, 2.1, 2.9)[columns - 1]
        fig.update_xaxes(visible=False, range=[0, float(frame[self.value].max()) * room])
        fig.update_yaxes(visible=False, autorange="reversed")
        fig.update_annotations(font_size=13, xanchor="left", align="left")
        for index, annotation in enumerate(fig.settings.get("annotations", ())):
            (left, _), _ = fig.domain(index // columns + 1, index % columns + 1)
            annotation["x"] = left
        return fig


@dataclass(frozen=True, kw_only=True)
class Boxes(Chart):
    """Tokens coloured by a number on a sequential scale."""

    text: Column = "token"
    """First line of each box."""
    below: Column
    """Second, smaller line."""
    value: Column
    hover: Column
    """Hover text, in Plotly's HTML."""
    scale_title: str
    high: float = 1.0
    """Numbers from here on have the last colour; the scale begins at 0."""
    ticks: Mapping[str, Any] = field(default_factory=dict)
    """Properties of the colour bar that name its ticks."""
    space_above: int = 52
    """Pixels for the colour bar."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        text, below = column(frame, self.text), column(frame, self.below)
        boxes = token_flow.place(text, below)
        capped = np.minimum(np.array(column(frame, self.value)), self.high)
        inks = theme.inks(capped, theme.from_zero(self.high)).tolist()
        marker = {
            "color": capped,
            "colorscale": theme.SEQUENTIAL,
            "cmin": 0,
            "cmax": self.high,
            "line_width": 0,
            "cornerradius": 5,
            "colorbar": theme.bar_above(self.scale_title, **self.ticks),
        }
        lines = [token_flow.two_lines(*both) for both in zip(text, below, strict=True)]
        fig = Figure(
            box_bars(
                boxes,
                text=lines,
                textposition="inside",
                insidetextfont={"size": 13, "color": inks},
                marker=marker,
                customdata=column(frame, self.hover),
                showlegend=False,
            )
        )
        return token_flow.draw(fig, boxes, legend_height=self.space_above)


def box_bars(boxes: list[token_flow.Box], **properties: Any) -> Properties:
    """Return a trace of boxes; one without boxes still has its place in the legend."""
    nothing: list[float | None] = [None]
    return bar(
        base=[box.left for box in boxes] or nothing,
        x=[box.width for box in boxes] or nothing,
        y=[box.line for box in boxes] or nothing,
        orientation="h",
        insidetextanchor="middle",
        constraintext="none",
        textangle=0,
        hovertemplate="%{customdata}<extra></extra>",
        **properties,
    )


ROW_PIXELS = 32
LONGEST_NAME = 30
_APART = 0.18  # distance of two dots in a row, in rows


@dataclass(frozen=True, kw_only=True)
class Intervals(Chart):
    """A row for each name, with a dot and its interval, or with several of different colours.

    The ends of the intervals are the columns `low` and `high`, NaN where there is none.
    """

    name: str
    """Column of the rows' names."""
    number: str
    """Column of the cases in each row, which stand in brackets behind its name."""
    value: str
    by: str = ""
    """Column of the dots' names, if a row has several; the cases are then the most that one has."""
    only: Mapping[str, Any] = field(default_factory=dict)
    """Column -> the value of the rows that are drawn, or None for missing; the download has all."""
    line: float | None = None
    """Where a dotted line goes from top to bottom."""
    is_fraction: bool = True
    """Whether values are between 0 and 1, and written as percentages."""
    includes_zero: bool = False
    """Whether an axis of other values begins at 0."""
    x_title: str = ""
    """In Plotly's HTML."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        for of, value in self.only.items():
            frame = frame[frame[of].isna() if value is None else frame[of] == value]
        numbers = dict(zip(frame[self.name], frame[self.number], strict=True))
        rows = {name: row for row, name in enumerate(numbers)}
        groups = [*frame.groupby(self.by, sort=False)] if self.by else [("", frame)]
        fig = Figure()
        for place, (dots_name, dots) in enumerate(groups):
            offset = _APART * (place - (len(groups) - 1) / 2)
            dots = dots[dots[self.value].notna()]
            heights = [rows[name] + offset for name in dots[self.name]]
            colour = theme.CATEGORICAL[place % len(theme.CATEGORICAL)]
            fig.add_trace(self._dots(dots, str(dots_name), heights, colour, len(groups) > 1))
        if self.line is not None:
            fig.add_vline(x=self.line, line={"dash": "dot", "color": theme.SPECIAL})
        legend = 24 if len(groups) > 1 else 0
        theme.plot_layout(fig, "", self.x_title, "", ROW_PIXELS * len(rows) + 80 + legend)
        names = [
            f"{theme.escape(shorten(str(name), LONGEST_NAME))} ({number:,})"
            for name, number in numbers.items()
        ]
        fig.update_yaxes(**theme.named_rows(names, 0.4))
        if self.is_fraction:
            fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%")
        elif self.includes_zero:
            fig.update_xaxes(rangemode="tozero")
        fig.update_layout(margin_r=24, dragmode=False)  # room for "100%"
        return fig

    def _dots(
        self,
        dots: pd.DataFrame,
        name: str,
        heights: Sequence[float],
        colour: str,
        is_in_legend: bool,
    ) -> Properties:
        form = ".1%" if self.is_fraction else ".3f"
        values, low, high = dots[self.value], dots["low"], dots["high"]
        numbers = zip(dots[self.name], values, low, high, dots[self.number], strict=True)
        return scatter(
            x=values.tolist(),
            y=heights,
            mode="markers",
            name=theme.escape(name) or None,
            marker={"color": colour, "size": 9 if self.by else 11},
            error_x=error_bars(values, low, high, colour, thickness=1.6),
            customdata=[
                [theme.escape(str(row)), with_interval(value, below, above, form), number]
                for row, value, below, above, number in numbers
            ],
            hovertemplate="<b>%{customdata[0]}</b>: %{customdata[1]}"
            + ("" if self.by else ", of %{customdata[2]:,}")
            + f"<extra>{theme.escape(name)}</extra>",
            showlegend=is_in_legend,
        )


HEIGHT = 316


class Curve(NamedTuple):
    """A column of the frame, drawn over the layers; NaN leaves a gap.

    Columns of its name and "_low" and "_high" are the intervals of one that is not grey.
    """

    y: str
    name: str
    """{k} is the chart's."""
    place: int | None
    """Of its colour among the categorical ones; None for grey."""
    dash: str = "solid"
    is_optional: bool = False
    """Whether it is left out if it has no number at all."""


@dataclass(frozen=True, kw_only=True)
class LayerCurves(Chart):
    """Curves over the layers, each a column of the frame."""

    curves: Sequence[Curve]
    title: str
    unit: str
    is_fraction: bool = True
    """Whether 0 to 1 is in sight; else the axis begins at 0."""
    x: str = "layer"
    """Column of the layers."""
    height: int = HEIGHT
    """Pixels."""
    k: int = 0
    """Neighbours that were counted."""
    chance: float | None = None
    """Where a dashed line goes."""
    chance_name: str = ""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        fig = Figure()
        x = frame[self.x].tolist()
        curves = [
            curve for curve in self.curves if not curve.is_optional or frame[curve.y].notna().any()
        ]
        for curve in curves:
            name, place = curve.name.format(k=self.k), curve.place
            colour, errors = theme.SPECIAL if place is None else theme.CATEGORICAL[place], None
            if f"{curve.y}_low" in frame and place is not None:
                ends = frame[f"{curve.y}_low"], frame[f"{curve.y}_high"]
                errors = error_bars(frame[curve.y], *ends, colour)
            fig.add(
                "scatter",
                x=x,
                y=[None if value != value else value for value in frame[curve.y].tolist()],
                error_y=errors,
                mode="lines+markers",
                name=name,
                line={"color": colour, "width": 2, "dash": curve.dash},
                marker={"size": 6},
                hovertemplate=f"layer %{{x}}: %{{y:.3f}}<extra>{name}</extra>",
            )
        if self.chance is not None:
            fig.add_hline(
                y=self.chance,
                line={"color": theme.SPECIAL, "width": 1, "dash": "dash"},
                annotation={
                    "text": self.chance_name,
                    "font": {"size": 11, "color": theme.SPECIAL},
                    "yanchor": "top",
                },
            )
        theme.plot_layout(fig, self.title, "Layer (0: embeddings)", self.unit, self.height)
        ticks = sorted(set(x))
        fig.update_xaxes(tickmode="array", tickvals=ticks if len(ticks) <= 13 else ticks[::2])
        legend = {"y": -0.36, "yanchor": "top", "font": {"size": 11}}
        fig.update_layout(legend=legend, margin={"b": 8})
        if not self.is_fraction:
            fig.update_yaxes(rangemode="tozero")
        else:
            drawn = frame[[curve.y for curve in curves]].to_numpy()
            low, high = np.nanmin(drawn, initial=0.0), np.nanmax(drawn, initial=1.0)
            fig.update_yaxes(range=[float(low) - 0.03, float(high) + 0.05])
        fig.update_layout(showlegend=len(self.curves) > 1)
        return fig


def layer_names(num_states: int) -> list[str]:
    """Return the name of each hidden state, [L+1].

    >>> layer_names(3)
    ['embeddings', 'layer 1', 'layer 2']
    """
    return ["embeddings", *(f"layer {i}" for i in range(1, num_states))]


def label_table(scores: Iterable[tuple[str, int, float]]) -> pd.DataFrame:
    """Return a row for each line and number of labels: the median, the least and the most.

    Args:
        scores: What learned, from how many labels, and its score, one for each seed.
    """
    table = pd.DataFrame(scores, columns=["learned", "labels", "score"])
    by = table.groupby(["learned", "labels"], sort=False)["score"]
    found = by.agg(score="median", score_low="min", score_high="max", seeds="count")
    return found.reset_index().sort_values("labels", kind="stable", ignore_index=True)


def label_curve(
    scores: Iterable[tuple[str, int, float]], *, y_title: str = "score on the dev data"
) -> Figure:
    """Draw scores by number of labels, a line for what learned, with the ends over the seeds."""
    table = label_table(scores)
    hover = "{name}, %{x:,} labels: %{y:.3f}<br>median of %{customdata} seeds"
    fig = lines(table, x="labels", y="score", by="learned", detail="seeds", hover=hover)
    theme.plot_layout(fig, "", "labels to learn from", y_title, 330)
    numbers = sorted(set(table["labels"]))
    fig.update_xaxes(type="log", tickvals=numbers, ticktext=[f"{number:,}" for number in numbers])
    return fig


LIKE_ACCENT = ("#CC79A7", "#E4607A")
"""Colours of the categorical scale that could be mistaken for the accent."""


def lines(
    frame: pd.DataFrame, *, x: str, y: str, by: str, detail: str, hover: str, accent: str = ""
) -> Figure:
    """Draw a line for each name, from a row for each point of each line.

    Args:
        frame: With columns `y`_low and `y`_high, the points have intervals.
        x, y, by, detail: Columns of the places, the numbers, the lines' names, and the hover's
            %{customdata}.
        hover: Plotly's hover text; {name} is the line's name.
        accent: Name of the line that stands out.
    """
    fig, has_ends = Figure(), f"{y}_low" in frame
    colours = [colour for colour in theme.CATEGORICAL if colour not in LIKE_ACCENT]
    for index, (of, rows) in enumerate(frame.groupby(by, sort=False)):
        name, errors = theme.escape(shorten(str(of))), None
        colour = theme.ACCENT if of == accent else colours[index % len(colours)]
        if has_ends:
            low, high = rows[f"{y}_low"], rows[f"{y}_high"]
            errors = error_bars(rows[y], low, high, colour, thickness=1.5, width=4)
        fig.add(
            "scatter",
            x=list(rows[x]),
            y=rows[y].to_numpy(),
            error_y=errors,
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 4 if of == accent else 2.5},
            marker_size=7,
            customdata=rows[detail].to_numpy(),
            hovertemplate=hover.replace("{name}", name) + "<extra></extra>",
        )
    return fig
