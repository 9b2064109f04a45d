"""Tables: of arrays and rows at hand, and what makes a view's table of a result.

The second kind returns a function of the result, which reads it from places.

A place is where a column's values are: "tokens"; "pair.first.tokens", of an attribute; "weights.0",
of an item; "words.*.text", of each item; "", the result itself. A method is called. A place can
also be a function of the number of rows, such as `range` or `state_names`, or the values
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from inspect import ismethod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..on_demand import pd

if TYPE_CHECKING:
    from bertcore.training.tasks.judged import WrongAnswer

Place: TypeAlias = "str | Callable[[int], Iterable[Any]] | Sequence[Any]"
Frames: TypeAlias = "Callable[[object], pd.DataFrame]"
Axis: TypeAlias = "Mapping[str, Place] | Frames"
"""The columns that say what each row of an array is, or what makes them of the result."""
Arrays: TypeAlias = "dict[str, NDArray[Any]]"


def cell_table(
    rows: Mapping[str, Iterable[Any]],
    columns: Mapping[str, Iterable[Any]] | pd.DataFrame,
    **values: ArrayLike,
) -> pd.DataFrame:
    """Return a row for each cell of arrays [R, C], row by row.

    Args:
        rows: What each row is, by the names of the table's columns; [R] each.
        columns: What each column is; [C] each.
        values: The arrays; one of another shape is broadcast.

    >>> cell_table({"layer": [0, 1]}, {"head": [0, 1]}, bits=[[1, 2], [3, 4]]).values.tolist()
    [[0, 0, 1], [0, 1, 2], [1, 0, 3], [1, 1, 4]]
    """
    return crossed([pd.DataFrame(rows), pd.DataFrame(columns)], values)


def crossed(axes: Sequence[pd.DataFrame], values: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Return a row for each combination of the rows of some tables, with the cells of arrays.

    Args:
        values: Arrays with a dimension for each table; one with fewer is repeated along the last.
    """
    table, shape = axes[0], tuple(map(len, axes))
    for axis in axes[1:]:
        table = table.merge(axis, how="cross")
    for name, of in values.items():
        cells = np.asarray(of)
        cells = cells.reshape(cells.shape + (1,) * (len(shape) - cells.ndim))
        flat = np.broadcast_to(cells, shape).ravel()
        table[name] = flat.astype(np.float64) if flat.dtype.kind == "f" else flat
    return table


def tabulate(columns: str, rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Return a table of rows; `columns` are their names, separated by spaces.

    >>> tabulate("x y", [(1, 2)]).to_dict("records")
    [{'x': 1, 'y': 2}]
    """
    return pd.DataFrame(list(rows), columns=columns.split())


def at(result: Any, place: str) -> Any:
    """Return what is at a place of a result; None if there is nothing on the way there.

    >>> at([1 + 2j, 3j], "*.imag"), at(1j, "imag"), at(None, "imag")
    ([2.0, 3.0], 1.0, None)
    """
    first, _, rest = place.partition(".")
    if not first or result is None:
        return result
    if first == "*":
        return [at(each, rest) for each in result]
    if isinstance(result, Mapping):
        return at(result.get(first), rest)
    of = result[int(first)] if first.isdigit() else getattr(result, first)
    return at(of() if ismethod(of) else of, rest)


def from_one(count: int) -> range:
    """Return the numbers of ranks."""
    return range(1, count + 1)


def named(place: str, *names: str) -> dict[str, str]:
    """Return the places of attributes of what is at a place, by their names."""
    return {name: f"{place}.{name}" for name in names}


def columns(missing: str = "", /, **places: Place) -> Frames:
    """Return what makes a table of columns; a single value stands in each row.

    Args:
        missing: What the ValueError says if there is nothing at a place; if not given, such a
            column is left out.

    >>> columns(place=from_one, y="*.imag")([1j, 2j]).values.tolist()
    [[1.0, 1.0], [2.0, 2.0]]
    """
    return lambda result: _frame(result, places, None, missing)


def exploded(**places: Place) -> Frames:
    """Return what makes a table like `columns`, with a row for each item of the lists in a row;
    none for empty lists.

    >>> exploded(n=range, x="*.x")([{"x": [1, 2]}, {"x": [3]}]).values.tolist()
    [[0, 1], [0, 2], [1, 3]]
    """

    def table(result: Any) -> pd.DataFrame:
        frame = columns(**places)(result)
        lists = [name for name, of in frame.items() if of.map(np.ndim).any()]
        frame = frame[frame[lists[0]].map(len) > 0]
        return frame.explode(lists, ignore_index=True).infer_objects()

    return table


def cells(*axes: Axis, missing: str = "", **places: str) -> Frames:
    """Return what makes a table of a row for each cell of arrays, which have as many dimensions
    as there are axes; one with fewer is repeated along the last ones.

    Args:
        missing: As for `columns`.

    >>> cells({"layer": range}, {"head": range}, bits="")([[1, 2], [3, 4]]).values.tolist()
    [[0, 0, 1], [0, 1, 2], [1, 0, 3], [1, 1, 4]]
    """

    def table(result: Any) -> pd.DataFrame:
        arrays = arrays_at(result, places)
        if missing and len(arrays) < len(places):
            raise ValueError(missing)
        shape = next(array.shape for array in arrays.values() if array.ndim == len(axes))
        frames = [
            axis(result) if callable(axis) else _frame(result, axis, count, "")
            for axis, count in zip(axes, shape, strict=True)
        ]
        return crossed(frames, arrays)

    return table


def head_cells(**places: str) -> Frames:
    """Return what makes a table of a row for each head, from arrays [L, H]."""
    return cells({"layer": range}, {"head": range}, **places)


def stacked(by: str, tables: Mapping[str, Frames]) -> Frames:
    """Return what makes one table of several, named in the column `by`; empty ones are left out."""

    def table(result: Any) -> pd.DataFrame:
        frames = {name: make(result) for name, make in tables.items()}
        parts = [frame.assign(**{by: name}) for name, frame in frames.items() if len(frame)]
        return pd.concat(parts, ignore_index=True)

    return table


def each(place: str, table: Frames) -> Frames:
    """Return what makes one table of those of the items at a place, one below the other."""
    return lambda result: pd.concat([*map(table, at(result, place))], ignore_index=True)


def arrays(**places: str) -> Callable[[object], Arrays]:
    """Return what makes named arrays, without those that a result does not have."""
    return lambda result: arrays_at(result, places)


def tensors(place: str = "") -> Callable[[object], Arrays]:
    """Return what makes named arrays of the tensors of a dataclass at a place."""

    def table(result: Any) -> Arrays:
        found = at(result, place)
        values = {field.name: getattr(found, field.name) for field in fields(found)}
        return {name: as_array(of) for name, of in values.items() if hasattr(of, "detach")}

    return table


def arrays_at(result: Any, places: Mapping[str, str]) -> Arrays:
    """Return the arrays at the places of a result that are there."""
    found = {name: at(result, place) for name, place in places.items()}
    return {name: as_array(of) for name, of in found.items() if of is not None}


def as_array(values: Any) -> NDArray[Any]:
    """Return values as an array; half precision of a tensor becomes float32."""
    if not hasattr(values, "detach"):
        return np.asarray(values)
    is_half = values.is_floating_point() and values.element_size() < 4
    array: NDArray[Any] = (values.float() if is_half else values).numpy()
    return array


def _frame(
    result: Any, places: Mapping[str, Place], count: int | None, missing: str
) -> pd.DataFrame:
    found = {of: at(result, p) if isinstance(p, str) else p for of, p in places.items()}
    if missing and any(values is None for values in found.values()):
        raise ValueError(missing)
    found = {name: values for name, values in found.items() if values is not None}
    if count is None:
        count = max(map(_size, found.values()), default=0)
    return pd.DataFrame(
        {name: _column(v(count) if callable(v) else v) for name, v in found.items()},
        index=range(count),
    )


def _size(values: Any) -> int:
    """Return the number of values; 0 for a single one, or a function."""
    if isinstance(values, list | tuple):
        return len(values)
    return 0 if callable(values) or not np.ndim(values) else len(values)


def _column(values: Any) -> Any:
    """Return values as a column: None is missing among whole numbers, and else stays as it is."""
    if not isinstance(values, list | tuple):
        return as_array(values) if hasattr(values, "detach") else values
    if not any(value is None for value in values):
        return [*values]
    whole = {type(value) for value in values} == {int, type(None)}
    return pd.array(values, dtype="Int64") if whole else pd.Series(values, dtype=object)


def wrong_answers(errors: Sequence[WrongAnswer], severity: str) -> pd.DataFrame:
    """Return a row for each wrong answer; second texts only if there are any.

    Args:
        errors: The worst first.
        severity: Name of the column of how bad each is.
    """
    places = {"row": "*.row", "true": "*.gold", "predicted": "*.predicted", severity: "*.severity"}
    places["text"] = "*.text"
    if any(error.text_pair is not None for error in errors):
        places["second text"] = "*.text_pair"
    return columns(**places)(errors)
