"""The kinds of charts: one tidy frame in, a figure out, its looks and its hover decided here."""

from __future__ import annotations

import math
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..on_demand import pd
from . import theme, token_flow
from .cells import add_clicks, cell_text, numbered
from .figure import Figure, Properties, Shades, error_bars, subplots, trace, with_interval
from .formats import exactly, in_form, percent, shorten

Column: TypeAlias = "str | Callable[[pd.DataFrame], Iterable[Any]]"
"""The name of a column, or what computes one from the frame."""


@dataclass(frozen=True, kw_only=True)
class Chart(ABC):
    """A tidy frame and how it is drawn. The frame is also what visitors download.

    Names and texts in it are untrusted: a kind escapes them, also those that a `Column` computes.
    Only `hover` texts and titles contain Plotly's HTML, and escape on their own.
    """

    only: Mapping[str, Any] = field(default_factory=dict)
    """Column -> the value of the rows that are drawn, or several, or None for missing; the download
    has all."""

    def draw(self, frame: pd.DataFrame, **changes: Any) -> Figure:
        """Return the figure of a frame.

        Args:
            changes: Fields of this chart that differ this time.
        """
        chart = replace(self, **changes) if changes else self
        for of, value in chart.only.items():
            wanted = value if isinstance(value, tuple) else (value,)
            frame = frame[frame[of].isna() if value is None else frame[of].isin(wanted)]
        return chart._draw(frame)

    @abstractmethod
    def _draw(self, frame: pd.DataFrame) -> Figure: ...


def column(frame: pd.DataFrame, of: Column) -> list[Any]:
    """Return a column as a list."""
    return list(frame[of]) if isinstance(of, str) else list(of(frame))


ABREAST = 3  # plots side by side


@dataclass(frozen=True, kw_only=True)
class Bars(Chart):
    """Fractions of 1 as bars, a plot for each group of rows, all on the scale from 0 to 1."""

    value: str
    name: str
    by: str = ""
    """Column whose values are the plots; one plot if not given."""
    accent: Column = ""
    """Whether each bar stands out; none does if not given."""
    pale: Column = ""
    """Whether each bar recedes."""
    title: Callable[[pd.DataFrame], str] = lambda rows: ""
    """Rows of a plot -> its title, in Plotly's HTML."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        frame = frame.assign(
            accent=column(frame, self.accent) if self.accent else False,
            pale=column(frame, self.pale) if self.pale else False,
        )
        groups = [rows for _, rows in frame.groupby(self.by, sort=False)] if self.by else [frame]
        columns, longest = min(ABREAST, len(groups)), max(map(len, groups))
        rows = -(-len(groups) // columns)
        titles = [self.title(group) for group in groups]
        above = 58 if any(titles) else 24
        height = rows * (24 * longest + above)
        fig = subplots(
            rows,
            columns,
            subplot_titles=titles,
            horizontal_spacing=0.04,
            vertical_spacing=above / height,
        )
        for index, group in enumerate(groups):
            names = [theme.escape(name) for name in group[self.name]]
            values = group[self.value].to_numpy()
            labels = [f"<b>{n}</b>  {percent(v)}" for n, v in zip(names, values, strict=True)]
            colours = [
                theme.ACCENT if out else theme.SPECIAL if recedes else theme.SEGMENT_A
                for out, recedes in zip(group["accent"], group["pale"], strict=True)
            ]
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
        fig.update_layout(bargap=0.25, margin={"l": 0, "r": 0, "t": above - 16, "b": 4})
        # Room for the label at the end of the longest bar, in a column 470 pixels wide.
        fig.update_xaxes(visible=False, range=[0, (1.5, 2.1, 2.9)[columns - 1]])
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
    return trace(
        "bar",
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


def kind_boxes(
    texts: Sequence[str],
    below: Sequence[str],
    kinds: Sequence[str],
    hover: Sequence[str],
    legend: Mapping[str, tuple[str, str]],
    *,
    none: str = "",
    framed: int | None = None,
) -> Figure:
    """Draw tokens as boxes in the colour of their kind; a click gives the token's place.

    Args:
        texts: [T]
        below: The second line of each box, [T].
        kinds: Keys of `legend`, or "" for pale boxes, [T].
        hover: In Plotly's HTML, [T].
        legend: Name and colour of each kind; colours are dark enough for white letters.
        none: What pale boxes are called in the legend; "" if they are not in it.
        framed: The place of a box with a frame.
    """
    boxes = token_flow.place(texts, below)
    lines = [token_flow.two_lines(*both) for both in zip(texts, below, strict=True)]
    fig = Figure()
    for kind, (name, colour) in {**legend, "": (none, PALE)}.items():
        members = [place for place, of in enumerate(kinds) if of == kind]
        if members or kind:
            drawn = box_bars(
                [boxes[i] for i in members],
                name=theme.escape(shorten(name, 40)),
                showlegend=bool(name),
                text=[lines[i] for i in members],
                textposition="inside" if kind else "none",
                insidetextfont={"size": 13, "color": theme.WHITE},
                marker={"color": colour, "line_width": 0, "cornerradius": 5},
                customdata=[[i, hover[i]] for i in members],
            )
            fig.add_trace({**drawn, "hovertemplate": "%{customdata[1]}<extra></extra>"})
    pale = [place for place, kind in enumerate(kinds) if not kind]
    token_flow.write(fig, [boxes[i] for i in pale], [lines[i] for i in pale])
    if framed is not None:
        line = {"width": 4, "color": theme.ACCENT}
        marker = {"color": "rgba(0, 0, 0, 0)", "line": line, "cornerradius": 5}
        outline = box_bars([boxes[framed]], marker=marker, showlegend=False, hoverinfo="skip")
        fig.add_trace({**outline, "hovertemplate": None})
    token_flow.draw(fig, boxes, legend_height=34)
    fig.update_layout(legend={"itemclick": False, "itemdoubleclick": False})
    return fig


PALE = "rgba(127, 134, 152, 0.16)"


@dataclass(frozen=True, kw_only=True)
class Words(Chart):
    """Words coloured by a signed number: blue above zero, orange below."""

    text: str = "word"
    value: str
    line: str = ""
    """Column whose values are lines of their own, one below the other."""
    heading: Column = ""
    """What stands above each of these lines."""
    digits: int = 3
    """Decimals of the number under each word."""
    scale_title: str
    is_dark: bool = False

    def _draw(self, frame: pd.DataFrame) -> Figure:
        frame = frame.reset_index(drop=True)
        values, words = frame[self.value].to_numpy(np.float64), frame[self.text].tolist()
        numbers = ["" if np.isnan(value) else exactly(value, self.digits) for value in values]
        groups = frame.groupby(self.line, sort=False).groups if self.line else {"": frame.index}
        boxes: list[token_flow.Box] = []
        headings, above = {}, column(frame, self.heading) if self.heading else []
        for places in groups.values():
            below = 2 + max(box.line for box in boxes) if boxes else bool(self.heading)
            if self.heading:
                headings[below - 0.75] = above[places[0]]
            placed = token_flow.place([words[i] for i in places], [numbers[i] for i in places])
            boxes += [replace(box, line=box.line + below) for box in placed]
        filled = np.nan_to_num(values)
        shades = theme.around_zero(np.abs(filled).max(initial=10.0**-self.digits), self.is_dark)
        marker = {
            "color": filled,
            "colorscale": shades.scale,
            "cmin": shades.low,
            "cmax": shades.high,
            "line": {"width": 1, "color": theme.GRID},
            "cornerradius": 5,
            "colorbar": theme.bar_above(self.scale_title),
        }
        drawn = box_bars(
            boxes,
            text=[
                token_flow.two_lines(w, number) for w, number in zip(words, numbers, strict=True)
            ],
            textposition="inside",
            insidetextfont={"size": 13, "color": theme.inks(filled, shades).tolist()},
            marker=marker,
            customdata=[
                f"<b>{theme.escape(shorten(word, 40))}</b>: {number or '—'}"
                for word, number in zip(words, numbers, strict=True)
            ],
            showlegend=False,
        )
        fig = Figure(drawn)
        for y, heading in headings.items():
            text = theme.escape(heading)
            fig.add_annotation(x=0, y=y, text=text, xanchor="left", showarrow=False)
        return token_flow.draw(fig, boxes, legend_height=60)


MOST_NAMES = 40  # names along an axis of a grid; of more, every second, third ...
MOST_WRITTEN = 64  # letters of the numbers in a row of a grid, up to which they are written


@dataclass(frozen=True, kw_only=True)
class Grid(Chart):
    """A cell for each pair of a row and a column, coloured by the number of its first row in the
    frame; a missing one is empty.

    Rows run from top to bottom and columns from left to right, as they first occur in the frame.
    """

    row: Column
    column: str
    names: tuple[Column, Column] = ("", "")
    """What rows and columns are called, which may repeat; `row` and `column` if not given."""
    value: str
    text: Column = ""
    """What is written in the cells; the number if not given."""
    form: str = ".1%"
    """Of the number, in its cell and on hover."""
    is_written: bool = True
    """Whether cells show their numbers, where there are not too many."""
    title: str
    """What the colours are."""
    titles: tuple[str, str] = ("", "")
    """Of the rows and of the columns, in Plotly's HTML."""
    by: str = ""
    """Column whose values are grids side by side."""
    is_signed: bool = False
    """Whether blue is above zero and orange below."""
    is_dark: bool = False
    bounds: tuple[float, float] | None = None
    """Ends of the colour scale; those of the numbers if not given."""
    most: int = 0
    """Most columns that are drawn, and rows of the same keys: those with the largest numbers; 0 for
    all."""
    opened: tuple[object, object] | None = None
    """Row and column of the framed cell, which makes the cells clickable: a click gives
    "row.column"."""
    hover: str = ""
    """Column of what clickable cells show on hover, in Plotly's HTML; names and number if not
    given."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        if callable(self.row):
            return replace(self, row="_row")._draw(frame.assign(_row=column(frame, self.row)))
        if callable(self.text):
            return replace(self, text="_text")._draw(frame.assign(_text=column(frame, self.text)))
        sizes = frame[self.value].abs().groupby(frame[self.column]).max()
        if self.most and len(sizes) > self.most:
            return self._of_largest(frame, sizes)
        groups = [*frame.groupby(self.by, sort=False)] if self.by else [("", frame)]
        values = frame[self.value].to_numpy(np.float64)
        low, high = self.bounds or (np.nanmin(values, initial=1e9), np.nanmax(values, initial=-1e9))
        shades = (
            theme.around_zero(max(-low, high, 1e-9), self.is_dark)
            if self.is_signed
            else Shades(theme.SEQUENTIAL, low, max(high, low + 1e-9))
        )
        fig = subplots(1, len(groups), horizontal_spacing=0.06) if self.by else Figure()
        rows = len(frame[self.row].unique())
        theme.plot_layout(fig, "", "", "", (36 if rows < 13 else 26) * rows + 130)
        fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 0})
        for place, (name, part) in enumerate(groups, start=1):
            self._add(fig, part, str(name), shades, place)
        fig.update_yaxes(title_text=self.titles[0], col=1)
        return fig

    def _of_largest(self, frame: pd.DataFrame, sizes: pd.Series) -> Figure:
        """Draw the columns with the largest numbers, and say so below them."""
        largest = {*sizes.nlargest(self.most).index}
        part = frame[frame[self.column].isin(largest)]
        if {*frame[self.row]} == {*frame[self.column]}:
            part = part[part[self.row].isin(largest)]
        below = f"{self.titles[1]}, " if self.titles[1] else ""
        below += f"{self.most} of {len(sizes)}: those that differ most"
        return replace(self, most=0, titles=(self.titles[0], below))._draw(part)

    def _add(self, fig: Figure, part: pd.DataFrame, name: str, shades: Shades, place: int) -> None:
        at = {"row": 1, "col": place} if self.by else {}
        keys = [list(part[of].unique()) for of in (self.row, self.column)]
        cells = part.drop_duplicates([self.row, self.column]).set_index([self.row, self.column])
        every = pd.MultiIndex.from_product(keys)
        shape = (len(keys[0]), len(keys[1]))
        values = cells[self.value].reindex(every).to_numpy(np.float64)
        text = [
            "" if pd.isna(value) else theme.escape(shorten(str(word)))
            if self.text else in_form(value, self.form)
            for value, word in zip(
                values, cells[self.text or self.value].reindex(every), strict=True
            )
        ]  # fmt: skip
        labels = [
            dict(zip(part[of], column(part, called or of), strict=True))
            for of, called in zip((self.row, self.column), self.names, strict=True)
        ]
        names = [
            [theme.escape(shorten(str(called[key]), LONGEST_NAME)) for key in axis]
            for axis, called in zip(keys, labels, strict=True)
        ]
        numbers = ["—" if np.isnan(value) else in_form(value, self.form) for value in values]
        hover = [
            f"{down}, {across}: " + (f"{word} <b>{number}</b>" if self.text else f"<b>{number}</b>")
            for (down, across), word, number in zip(
                ((down, across) for down in names[0] for across in names[1]),
                text,
                numbers,
                strict=True,
            )
        ]
        matrix, num_columns = values.reshape(shape), shape[1]
        by_row, told_by_row = (
            [each[row * num_columns :][:num_columns] for row in range(shape[0])]
            for each in (text, hover)
        )
        # "~" leaves out zeros at the end: 50% and not 50.0%.
        bar = theme.bar_above(self.title, tickformat=f"{self.form[:-1]}~{self.form[-1]}")
        letters = num_columns * max(map(len, text), default=0)
        size = 13 if num_columns < 8 else 10 if letters <= 48 or self.text else 9
        is_few = self.is_written and letters <= MOST_WRITTEN
        is_written = (bool(self.text) or is_few) and not self.by
        fig.heat(
            matrix,
            shades,
            "%{customdata}",
            gap=2 if num_columns <= MOST_NAMES else 0,
            colorbar=bar if place == 1 else None,
            customdata=told_by_row,
            **(numbered(matrix, by_row, size, shades) if is_written and not self.text else {}),
            **at,
        )
        if is_written and self.text:
            fig.add_trace(cell_text(matrix, by_row, size, shades))
        if self.opened is not None:
            clicked = [f"{down}.{across}" for down in keys[0] for across in keys[1]]
            opened = (keys[0].index(self.opened[0]), keys[1].index(self.opened[1]))
            told = [*cells[self.hover].reindex(every)] if self.hover else hover
            add_clicks(fig, shape, clicked, size=30, words=told, opened=opened)
        shown = [
            short_states(axis) if title.startswith(AFTER_LAYER) else axis
            for axis, title in zip(names, self.titles, strict=True)
        ]
        for update, called in ((fig.update_yaxes, shown[0]), (fig.update_xaxes, shown[1])):
            ticks = range(0, len(called), -(-len(called) // MOST_NAMES) or 1)
            update(tickvals=list(ticks), ticktext=[called[i] for i in ticks], showgrid=False, **at)
        is_turned = max(map(len, shown[1]), default=0) * num_columns > 90
        title = f"{theme.escape(name)}{self.titles[1]}"
        fig.update_xaxes(
            title_text=title if is_turned or self.by else "",
            range=[-0.5, num_columns - 0.5],
            # Plotly turns names that overlap in a narrow window.
            tickangle=-60 if is_turned else 0 if title else None,
            **at,
        )
        if title and not is_turned and not self.by:
            # When a window changes its width, Plotly sets an axis title among the numbers.
            below: Properties = {"x": 0.5, "y": 0, "xref": "paper", "yref": "paper", "yshift": -36}
            fig.add_annotation(text=title, showarrow=False, yanchor="top", **below)
            fig.update_layout(margin_b=60)
        fig.update_yaxes(range=[shape[0] - 0.5, -0.5], showticklabels=place == 1, **at)


def heads_grid(value: str, **fields: Any) -> Grid:
    """Return the grid of a number of each head; `fields` are those of `Grid`."""
    return Grid(
        **{"row": "layer", "column": "head", "titles": ("layer", "head")} | fields, value=value
    )


ROW_PIXELS = 32
LONGEST_NAME = 30
_APART = 0.18  # distance of two dots in a row, in rows


@dataclass(frozen=True, kw_only=True)
class Intervals(Chart):
    """A row for each name, with a dot and its interval, or with several of different colours.

    The ends of the intervals are the columns `low` and `high`, NaN where there is none.
    """

    name: Column
    """The rows' names."""
    number: Column = ""
    """The cases in each row, which stand in brackets behind its name; its values if not given."""
    value: str
    by: str = ""
    """Column of the dots' names, if a row has several; the cases are then the most that one has."""
    accent: Column = ""
    """Whether each dot stands out; none does if not given."""
    line: float | None = None
    """Where a dotted line goes from top to bottom."""
    is_fraction: bool = True
    """Whether values are between 0 and 1, and written as percentages."""
    includes_zero: bool = False
    """Whether an axis of other values begins at 0."""
    x_title: str = ""
    """In Plotly's HTML."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        frame = frame.assign(_name=column(frame, self.name))
        frame = frame.assign(_number=self._numbers(frame))
        if self.accent:
            frame = frame.assign(_accent=column(frame, self.accent))
        numbers = dict(zip(frame["_name"], frame["_number"], strict=True))
        rows = {name: row for row, name in enumerate(numbers)}
        groups = [*frame.groupby(self.by, sort=False)] if self.by else [("", frame)]
        fig = Figure()
        for place, (dots_name, dots) in enumerate(groups):
            offset = _APART * (place - (len(groups) - 1) / 2)
            dots = dots[dots[self.value].notna()]
            heights = [rows[name] + offset for name in dots["_name"]]
            colour = theme.CATEGORICAL[place % len(theme.CATEGORICAL)]
            colours = [theme.ACCENT if out else colour for out in dots.get("_accent", ())] or colour
            name, values = theme.escape(str(dots_name)), dots[self.value]
            nothing = pd.Series(np.nan, index=dots.index)
            low, high = (dots.get(end, nothing) for end in ("low", "high"))
            rows_of_dots = zip(dots["_name"], values, low, high, dots["_number"], strict=True)
            fig.add(
                "scatter",
                x=values.tolist(),
                y=heights,
                mode="markers",
                cliponaxis=False,  # a dot at 100% is whole
                name=name or None,
                marker={"color": colours, "size": 9 if self.by else 11},
                error_x=error_bars(values, low, high, colour, thickness=1.6),
                customdata=[
                    [
                        theme.escape(str(row)),
                        with_interval(value, below, above, self._form),
                        _counted(number),
                    ]
                    for row, value, below, above, number in rows_of_dots
                ],
                hovertemplate="<b>%{customdata[0]}</b>: %{customdata[1]}"
                + ("" if self.by or not self.number else " (%{customdata[2]})")
                + f"<extra>{name}</extra>",
                showlegend=len(groups) > 1,
            )
        if self.line is not None:
            fig.add_vline(x=self.line, line={"dash": "dot", "color": theme.SPECIAL})
        legend = 24 if len(groups) > 1 else 0
        names = [
            f"{_in_two_lines(str(name))} ({_counted(number)})" for name, number in numbers.items()
        ]
        pixels = ROW_PIXELS + (8 if any("<br>" in name for name in names) else 0)
        theme.plot_layout(fig, "", self.x_title, "", pixels * len(rows) + 80 + legend)
        fig.update_yaxes(**theme.named_rows(names, 0.4))
        if self.is_fraction:
            fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%")
        elif self.includes_zero:
            fig.update_xaxes(rangemode="tozero")
        fig.update_layout(margin_r=24, dragmode=False)  # room for "100%"
        return fig

    @property
    def _form(self) -> str:
        return ".1%" if self.is_fraction else ".3g"

    def _numbers(self, frame: pd.DataFrame) -> list[Any]:
        if self.number:
            return column(frame, self.number)
        written = percent if self.is_fraction else f"{{:{self._form}}}".format
        values = frame[self.value].map(lambda value: "—" if pd.isna(value) else written(value))
        return list(values.groupby(frame["_name"]).transform(" / ".join))


def _in_two_lines(name: str) -> str:
    """Return a name in Plotly's HTML, of at most two lines of LONGEST_NAME letters."""
    lines = textwrap.wrap(name, LONGEST_NAME) or [name]
    rest = " ".join(lines[1:])
    shown = [lines[0], shorten(rest, LONGEST_NAME)] if rest else lines
    return "<br>".join(map(theme.escape, shown))


def _counted(number: float | str) -> str:
    return number if isinstance(number, str) else f"{number:,}"


HEIGHT = 316


class Curve(NamedTuple):
    """A column of the frame, drawn over the hidden states; NaN leaves a gap.

    Columns of its name and "_low" and "_high" are the intervals of one that is not grey.
    """

    y: str
    name: str
    place: int | None
    """Of its colour among the categorical ones; None for grey."""
    dash: str = "solid"
    is_optional: bool = False
    """Whether it is left out if it has no number at all."""


@dataclass(frozen=True, kw_only=True)
class LayerCurves(Chart):
    """Curves over the hidden states, a row each, each a column of the frame."""

    curves: Sequence[Curve]
    title: str
    unit: str
    is_fraction: bool = True
    """Whether 0 to 1 is in sight; else the axis begins at 0."""
    x: str = "state"
    """Column of the hidden states' names."""
    height: int = HEIGHT
    """Pixels."""
    chance: float | None = None
    """Where a dashed line goes."""
    chance_name: str = ""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        fig = Figure()
        states = frame[self.x].tolist()
        x = list(range(len(states)))
        curves = [
            curve for curve in self.curves if not curve.is_optional or frame[curve.y].notna().any()
        ]
        for curve in curves:
            name, place = curve.name, curve.place
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
                customdata=states,
                hovertemplate=f"%{{customdata}}: %{{y:.3f}}<extra>{name}</extra>",
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
        theme.plot_layout(fig, self.title, AFTER_LAYER, self.unit, self.height)
        every = 1 if len(x) <= 13 else 2
        fig.update_xaxes(tickvals=x[::every], ticktext=short_states(states)[::every])
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


AFTER_LAYER = "after layer"
"""Title of an axis of hidden states."""


def short_states(names: Iterable[str]) -> list[str]:
    """Return the names of hidden states for an axis titled AFTER_LAYER.

    >>> short_states(["input", "after layer 0"])
    ['in', '0']
    """
    return [name.removeprefix("after layer ").removesuffix("put") for name in names]


NICE = [digit * 10.0**power for power in range(-4, 7) for digit in (1, 2, 5)]
"""Ticks of a logarithmic axis."""
LINE_COLOURS = (theme.SEGMENT_A, theme.SEGMENT_B, theme.CATEGORICAL[2], *theme.CATEGORICAL[4:11])
"""Without those that could be mistaken for the accent."""
MOST_POINTS = 1200  # of a line; of more, every second, third ... is drawn


@dataclass(frozen=True, kw_only=True)
class Lines(Chart):
    """A line for each value of `by`; of several rows at one x their middle, with a band from the
    least to the most."""

    x: str = "layer"
    y: str
    by: str
    panel: str = ""
    """Column whose values are plots of their own, two side by side."""
    middle: str = "mean"
    """Of several rows: "mean" or "median"."""
    dotted: str = ""
    """Column of what a dotted line of the same colour shows; NaN for none."""
    level: float | None = None
    """Where a dotted line goes from left to right."""
    detail: Column = ""
    """What stands behind the number on hover, in Plotly's HTML, where an x has one row."""
    log: str = ""
    """The axes that are logarithmic: "x", "y"."""
    form: str = ".0%"
    x_names: str = ""
    """Column of what each x is called; the number if not given."""
    x_title: str = ""
    """The name of `x` if not given; AFTER_LAYER: `x` is the names of hidden states."""
    y_title: str = ""
    height: int = 320
    """Pixels, of one plot."""
    colours: Sequence[str] = ()
    """Of the lines, in their order, if not the usual ones."""
    called: Mapping[str, str] = field(default_factory=dict)
    """Value of `by` -> what its line is called, if not by its value; any text."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        frame = frame.assign(_detail=column(frame, self.detail) if self.detail else "")
        if self.x_title == AFTER_LAYER and not self.x_names:
            places, names = pd.factorize(frame[self.x])
            frame[self.x], frame["_state"] = places, [short_states(names)[i] for i in places]
            return replace(self, x_names="_state")._draw(frame)
        panels = [*frame.groupby(self.panel, sort=False)] if self.panel else []
        panels = panels or [("", frame)]
        columns = min(2, len(panels))
        rows = -(-len(panels) // columns)
        height = rows * self.height
        fig = Figure()
        if self.panel:
            fig = subplots(
                rows,
                columns,
                subplot_titles=[theme.escape(str(name)) for name, _ in panels],
                vertical_spacing=52 / height,
                horizontal_spacing=0.11,
            )
        theme.plot_layout(fig, "", "", self.y_title, height + (40 if self.panel else 0))
        named: set[str] = set()
        for place, (_, part) in enumerate(panels):
            at = {"row": place // columns + 1, "col": place % columns + 1} if self.panel else {}
            self._add(fig, part, frame, named, at)
            if place >= len(panels) - columns:  # the lowest of each column
                fig.update_xaxes(title_text=self.x_title or self.x, **at)
        fig.update_layout(hovermode="x unified", uirevision="lines", showlegend=bool(named))
        if self.panel:
            fig.update_annotations(font_size=12)
            fig.update_layout(margin={"t": 56}, legend={"y": 1 + 0.135 / rows})
        return fig

    def _add(
        self,
        fig: Figure,
        part: pd.DataFrame,
        frame: pd.DataFrame,
        named: set[str],
        at: dict[str, Any],
    ) -> None:
        """Add the lines of a plot, and to `named` those that have come into the legend."""
        places = {of: place for place, of in enumerate(frame[self.by].unique())}
        colours = self.colours or LINE_COLOURS
        for of, rows in part.groupby(self.by, sort=False):
            name = theme.escape(shorten(self.called.get(str(of), str(of))))
            colour = colours[places[of] % len(colours)]
            shared: dict[str, Any] = {"legendgroup": name, **at}
            points = rows.groupby(self.x)[self.y].agg([self.middle, "min", "max"])
            x = points.index.tolist()
            if (points["max"] > points["min"]).any():
                fig.add(
                    "scatter",
                    x=[*x, *x[::-1]],
                    y=[*points["max"], *points["min"][::-1]],
                    fill="toself",
                    fillcolor=colour,
                    opacity=0.14,
                    line_width=0,
                    mode="lines",
                    hoverinfo="skip",
                    showlegend=False,
                    **shared,
                )
            every = -(-len(x) // MOST_POINTS) or 1
            middle = points[self.middle].to_numpy(np.float64)[::every]
            details = rows.groupby(self.x)["_detail"].first()[::every]
            fig.add(
                "scatter",
                x=x[::every],
                y=[float(f"{y:.7g}") if np.isfinite(y) else None for y in middle],
                mode="lines+markers" if len(x) <= MOST_MARKED else "lines",
                name=name,
                line={"color": colour, "width": 3 if len(x) <= MOST_MARKED else 1.3},
                marker_size=8,
                customdata=details.tolist(),
                hovertemplate=f"{name}: %{{y:{self.form}}} %{{customdata}}<extra></extra>",
                showlegend=name not in named,
                **shared,
            )
            named.add(name)
            if self.dotted and rows[self.dotted].notna().any():
                level = rows.groupby(self.x)[self.dotted].first()
                dots = f"{name}: {self.dotted}"
                fig.add(
                    "scatter",
                    x=level.index.tolist(),
                    y=level.to_numpy(),
                    mode="lines",
                    name=dots,
                    line={"color": colour, "width": 1.5, "dash": "dot"},
                    hovertemplate=f"{dots}: %{{y:{self.form}}}<extra></extra>",
                    showlegend=dots not in named,
                    **shared,
                )
                named.add(dots)
        if self.level is not None:
            fig.add_hline(y=self.level, line={"dash": "dot", "color": theme.SPECIAL}, **at)
        self._scale(fig, part, at)

    def _scale(self, fig: Figure, part: pd.DataFrame, at: dict[str, Any]) -> None:
        low, high = part[self.y].min(), part[self.y].max()
        fig.update_yaxes(tickformat=self.form, **at)
        if "y" in self.log:
            fig.update_yaxes(type="log", tickvals=NICE, **at)
            if low > 0:  # a factor of 2.5 at least, so that noise looks as small as it is
                ends = [math.log10(0.9 * low), math.log10(max(1.1 * high, 2.5 * low))]
                fig.update_yaxes(range=ends, **at)
        elif not low > high / 2:  # a loss far from 0 needs a closer range
            fig.update_yaxes(rangemode="tozero", **at)
        names = part[self.x_names or self.x].map(_counted).map(shorten)
        ticks = dict(sorted(zip(part[self.x].tolist(), names, strict=True)))
        if "x" in self.log:
            fig.update_xaxes(type="log", **at)
        if len(ticks) <= (MOST_MARKED if self.x_names else MOST_TICKS):
            every = 1 if self.x_names else -(-len(ticks) // (4 if self.panel else 13)) or 1
            texts = [*map(theme.escape, ticks.values())][::every]
            fig.update_xaxes(tickvals=[*ticks][::every], ticktext=texts, **at)


MOST_MARKED, MOST_TICKS = 72, 26  # points of a line that have a dot, and a tick of their own
