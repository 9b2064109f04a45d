"""Figures for Plotly as plain dictionaries, without the validation of Plotly's own Python classes.

Plotly's classes check every property against a schema each time it is set, which takes most of the
processor time of an edit and changes nothing in the picture. Methods, properties and `a_b` for
`a={"b": ...}` are Plotly's, as far as they are used here, and so is what goes to the browser: the
tests have Plotly validate each figure and compare (tests/app/conftest.py).
"""

import base64
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import plotly.colors
import plotly.graph_objects as go
import plotly.io
from numpy.typing import ArrayLike, NDArray
from plotly.subplots import make_subplots

Properties: TypeAlias = dict[str, Any]

_WHOLE = {"paper_bgcolor", "plot_bgcolor", "error_x", "error_y", "error_z"}
"""Plotly's names that contain an underscore themselves."""
_DTYPES = {
    "int8": "i1",
    "uint8": "u1",
    "int16": "i2",
    "uint16": "u2",
    "int32": "i4",
    "uint32": "u4",
    "float32": "f4",
    "float64": "f8",
}
"""What plotly.js calls the types of the arrays that it reads as bytes."""


class Shades(NamedTuple):
    """A colour scale, and the values at its ends."""

    scale: str | Sequence[Sequence[object]]
    low: float = 0.0
    high: float = 1.0


class Figure:
    """Traces and layout, to be drawn by plotly.js.

    Args:
        data: Traces, or one.
        layout: Layout of the whole figure.
    """

    def __init__(
        self, data: Sequence[Properties] | Properties = (), layout: Mapping[str, Any] | None = None
    ) -> None:
        self.traces: list[Properties] = []
        self.settings: Properties = {}
        """The layout."""
        self.stages: list[Properties] = []
        """The frames of an animation."""
        self._axes: dict[tuple[int, int], tuple[str, str]] = {}
        """Row and column from 1 -> names of the axes there, such as ("xaxis2", "yaxis2")."""
        self.add_traces([data] if isinstance(data, dict) else data)
        self.update_layout(layout or {})

    # ---- adding ----

    def add_trace(self, trace: Properties, row: int | None = None, col: int | None = None) -> None:
        """Add a trace; in a grid at a row and column, from 1."""
        trace = _expanded(trace)
        if row is not None and col is not None and self._axes:
            trace["xaxis"], trace["yaxis"] = self._anchors(row, col)
        self.traces.append(trace)

    def add(
        self, kind: str, row: int | None = None, col: int | None = None, **properties: Any
    ) -> None:
        """Add a trace of Plotly's type `kind`."""
        self.add_trace(trace(kind, **properties), row, col)

    def heat(
        self,
        values: ArrayLike,
        shades: Shades,
        hover: str,
        *,
        gap: int | tuple[int, int] = 0,
        colorbar: Properties | None = None,
        row: int | None = None,
        col: int | None = None,
        **properties: Any,
    ) -> None:
        """Add a map of coloured cells, whose rows and columns are numbered from 0.

        Args:
            values: [R, C]; NaN is empty.
            shades: Its colours.
            hover: Plotly's text at a cell.
            gap: Pixels between two cells, or between columns and between rows.
            colorbar: None for none.
        """
        num_rows, num_columns = np.shape(values)
        across, down = (gap, gap) if isinstance(gap, int) else gap
        heat = {
            "z": values,
            "x": list(range(num_columns)),
            "y": list(range(num_rows)),
            "colorscale": shades.scale,
            "zmin": shades.low,
            "zmax": shades.high,
            "xgap": across,
            "ygap": down,
            "hoverongaps": False,
            "hovertemplate": f"{hover}<extra></extra>",
            **({"showscale": False} if colorbar is None else {"colorbar": colorbar}),
        }
        self.add("heatmap", row, col, **{**heat, **properties})

    def write(
        self,
        x: Sequence[float] | NDArray[Any],
        y: Sequence[float],
        text: Sequence[str],
        row: int | None = None,
        col: int | None = None,
        **properties: Any,
    ) -> None:
        """Write texts at places, which neither the hover nor the legend has."""
        silent = {"mode": "text", "hoverinfo": "skip", "showlegend": False}
        self.add("scatter", row, col, x=x, y=list(y), text=text, **silent, **properties)

    def write_behind(
        self,
        x: Sequence[float] | NDArray[Any],
        y: Sequence[float],
        text: Sequence[str],
        row: int | None = None,
        col: int | None = None,
    ) -> None:
        """Write texts that begin at places, such as the ends of bars, and may leave the plot."""
        self.write(x, y, text, row, col, textposition="middle right", cliponaxis=False)

    def add_traces(self, traces: Iterable[Properties]) -> None:
        """Add several traces."""
        for trace in traces:
            self.add_trace(trace)

    def add_annotation(
        self, row: int | None = None, col: int | None = None, **properties: Any
    ) -> None:
        """Add a text; in a grid at a row and column, in units of the axes there."""
        self._add("annotations", properties, row, col)

    def add_shape(self, row: int | None = None, col: int | None = None, **properties: Any) -> None:
        """Add a line or rectangle; in a grid at a row and column, in units of the axes there."""
        self._add("shapes", properties, row, col)

    def add_hline(
        self,
        y: float,
        row: int | None = None,
        col: int | None = None,
        annotation: Properties | None = None,
        **properties: Any,
    ) -> None:
        """Draw a line over the whole width, its text above its right end."""
        for x_axis, y_axis in self._plots(row, col):
            where = {"xref": f"{x_axis} domain", "yref": y_axis}
            line = {"type": "line", "x0": 0, "x1": 1, "y0": y, "y1": y, **properties}
            self._add("shapes", {**line, **where}, None, None)
            if annotation is not None:
                place = {"x": 1, "xanchor": "right", "y": y, "yanchor": "bottom"}
                text = {**place, "showarrow": False, **annotation, **where}
                self._add("annotations", text, None, None)

    def add_vline(self, x: float, row: int | None = None, **properties: Any) -> None:
        """Draw a line over the whole height."""
        for x_axis, y_axis in self._plots(row, None):
            where = {"xref": x_axis, "yref": f"{y_axis} domain"}
            line = {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, **properties}
            self._add("shapes", {**line, **where}, None, None)

    def _add(self, kind: str, properties: Properties, row: int | None, col: int | None) -> None:
        added = _expanded(properties)
        if row is not None and col is not None and self._axes:
            added["xref"], added["yref"] = self._anchors(row, col)
        self.settings.setdefault(kind, []).append(added)

    # ---- changing ----

    def update_layout(self, layout: Mapping[str, Any] | None = None, **properties: Any) -> None:
        """Change properties of the layout; what is not named stays."""
        _merge(self.settings, _expanded({**(layout or {}), **properties}))

    def update_xaxes(
        self, row: int | None = None, col: int | None = None, **properties: Any
    ) -> None:
        """Change the horizontal axes: all, or those of a row or column of a grid."""
        self._update_axes(0, row, col, properties)

    def update_yaxes(
        self, row: int | None = None, col: int | None = None, **properties: Any
    ) -> None:
        """Change the vertical axes: all, or those of a row or column of a grid."""
        self._update_axes(1, row, col, properties)

    def update_annotations(self, **properties: Any) -> None:
        """Change all texts."""
        for annotation in self.settings.get("annotations", ()):
            _merge(annotation, _expanded(properties))

    def _update_axes(
        self, side: int, row: int | None, col: int | None, properties: Properties
    ) -> None:
        prefix = ("xaxis", "yaxis")[side]
        if self._axes and (row is not None or col is not None):
            names = [axes[side] for at, axes in self._axes.items() if _is_at(at, row, col)]
        else:
            others = [name for name in self.settings if re.fullmatch(rf"{prefix}\d+", name)]
            names = [prefix, *others]
        for name in dict.fromkeys(names):
            _merge(self.settings.setdefault(name, {}), _expanded(properties))

    # ---- reading ----

    @property
    def height(self) -> int | None:
        """Pixels; None if the browser decides."""
        return self.settings.get("height")

    @property
    def title(self) -> str:
        """The title above it; empty for none."""
        return str(self.settings.get("title", {}).get("text") or "")

    def domain(self, row: int, col: int) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return where a plot of the grid is, in x and y, as fractions of the figure."""
        x_axis, y_axis = (self.settings[name]["domain"] for name in self._axes[row, col])
        return (x_axis[0], x_axis[1]), (y_axis[0], y_axis[1])

    def to_dict(self) -> Properties:
        """Return what plotly.js draws: traces, layout with the default template, frames."""
        template = _template(plotly.io.templates.default or "none")
        drawn = {
            "data": _encoded(self.traces),
            "layout": {"template": template, **_encoded(self.settings)},
        }
        return {**drawn, "frames": _encoded(self.stages)} if self.stages else drawn

    def to_json(self) -> str:
        """Return the same as JSON."""
        text: str = plotly.io.to_json(self.to_dict(), validate=False)
        return text

    def plotly(self) -> go.Figure:
        """Return the figure as an object of Plotly's, to be changed further in a notebook.

        ValueError if a property does not exist or has a value that it cannot have.
        """
        return go.Figure(data=self.traces, layout=self.settings, frames=self.stages)

    def _anchors(self, row: int, col: int) -> tuple[str, str]:
        """Return what traces and shapes call the axes at a place: ("x2", "y2")."""
        x_axis, y_axis = self._axes[row, col]
        return x_axis.replace("axis", ""), y_axis.replace("axis", "")

    def _plots(self, row: int | None, col: int | None) -> list[tuple[str, str]]:
        """Return the axes of the plots that a line over the whole width or height crosses."""
        if not self._axes:
            return [("x", "y")]
        return [self._anchors(*at) for at in self._axes if _is_at(at, row, col)]


def trace(kind: str, **properties: Any) -> Properties:
    """Return a trace of Plotly's type `kind`."""
    return {"type": kind, **properties}


def bar(**properties: Any) -> Properties:
    """Return bars."""
    return trace("bar", **properties)


def scatter(**properties: Any) -> Properties:
    """Return points, lines or texts."""
    return trace("scatter", **properties)


def heatmap(**properties: Any) -> Properties:
    """Return a map of coloured cells."""
    return trace("heatmap", **properties)


def subplots(
    rows: int = 1, cols: int = 1, *, subplot_titles: Sequence[str] = (), **options: Any
) -> Figure:
    """Return a figure with a grid of plots.

    Args:
        rows, cols: Size of the grid.
        subplot_titles: Title above each plot, row by row.
        options: Other options of `plotly.subplots.make_subplots`.
    """
    # Plotly skips plots without a title; their places are known by their numbers.
    numbered = [str(number) if title else "" for number, title in enumerate(subplot_titles)]
    layout, axes = _grid(json.dumps({"rows": rows, "cols": cols, **options}), tuple(numbered))
    made = Figure(layout=json.loads(layout))
    made._axes = dict(axes)
    for annotation in made.settings.get("annotations", ()):
        annotation["text"] = subplot_titles[int(annotation["text"])]
    return made


@lru_cache(maxsize=128)
def _grid(
    options: str, titles: tuple[str, ...]
) -> tuple[str, dict[tuple[int, int], tuple[str, str]]]:
    """Return the layout of a grid as JSON, and the axes of each row and column."""
    values = json.loads(options)
    made = make_subplots(**values, subplot_titles=titles or None)
    axes = {}
    for row in range(1, values["rows"] + 1):
        for col in range(1, values["cols"] + 1):
            plot = made.get_subplot(row, col)
            if plot is not None:
                axes[row, col] = (plot.xaxis.plotly_name, plot.yaxis.plotly_name)
    layout = made.to_plotly_json()["layout"]
    layout.pop("template", None)
    return json.dumps(layout), axes


@cache
def _template(name: str) -> Properties:
    """Return a template's properties; Streamlit's page fills in the colours of its default one."""
    properties: Properties = go.Figure(layout={"template": name}).to_dict()["layout"]["template"]
    return properties


@cache
def _colorscale(name: str) -> list[list[Any]]:
    """Return the steps of a named colour scale: fraction and colour."""
    colours = [colour for _, colour in plotly.colors.get_colorscale(name)]
    return [[place / (len(colours) - 1), colour] for place, colour in enumerate(colours)]


def _is_at(at: tuple[int, int], row: int | None, col: int | None) -> bool:
    return row in (None, at[0]) and col in (None, at[1])


def _expanded(properties: Mapping[str, Any]) -> Properties:
    """Return properties with `a_b` written as `a={"b": ...}`, at any depth, without None."""
    result: Properties = {}
    for name, entry in properties.items():
        if entry is None:
            continue
        if isinstance(entry, Mapping):
            entry = _expanded(entry)
        elif isinstance(entry, list | tuple):
            entry = [
                _expanded(element) if isinstance(element, Mapping) else element for element in entry
            ]
        elif name == "colorscale":  # in plotly.js a name may stand for slightly other colours
            entry = _colorscale(entry)
        *path, last = [name] if name in _WHOLE else name.split("_")
        place = result
        for part in path:
            place = place.setdefault(part, {})
        _merge(place, {last: entry})
    return result


def _merge(target: Properties, changes: Properties) -> None:
    """Change what is named in `changes`, at any depth; a list replaces the list before."""
    for name, entry in changes.items():
        old = target.get(name)
        if isinstance(old, dict) and isinstance(entry, dict):
            _merge(old, entry)
        else:
            target[name] = entry


def _encoded(value: Any) -> Any:
    """Return a value with arrays as plotly.js reads them: bytes in base64, or lists."""
    if isinstance(value, dict):
        return {name: _encoded(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray):
        return _encoded_array(value)
    if isinstance(value, list | tuple):
        return [_encoded(entry) for entry in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _encoded_array(array: NDArray[Any]) -> Any:
    if array.dtype in (np.int64, np.uint64) and array.size:  # as small as the values allow
        kinds = (
            ("int8", "int16", "int32") if array.dtype == np.int64 else ("uint8", "uint16", "uint32")
        )
        low, high = array.min(), array.max()
        fitting = [k for k in kinds if np.iinfo(k).min <= low and high <= np.iinfo(k).max]
        array = array.astype(fitting[0]) if fitting else array
    if array.dtype.name not in _DTYPES or not array.size:
        return array.tolist()
    data = base64.b64encode(array.tobytes()).decode("ascii")
    spec = {"dtype": _DTYPES[array.dtype.name], "bdata": data}
    return spec if array.ndim < 2 else {**spec, "shape": str(array.shape)[1:-1]}


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
