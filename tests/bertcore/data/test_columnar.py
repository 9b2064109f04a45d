"""Parquet and Arrow files: every kind of column, one odd value, and what unpacks to too much."""

import gzip
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.tables import open_table
from tests.support import what_opens

KINDS: dict[str, tuple[pa.Array, list[Any]]] = {
    "text": (pa.array(["a", "b", None]), ["a", "b", None]),
    "whole": (pa.array([1, None, 3], pa.uint64()), [1, None, 3]),
    "flag": (pa.array([True, None, False]), [True, None, False]),
    "list": (pa.array([[1, 2], None, []]), [[1, 2], None, []]),
    "decimal": (pa.array([Decimal("1.5"), None, Decimal(2)]), [1.5, None, 2.0]),
    "time": (
        pa.array([datetime(2020, 1, 1), None, datetime(2021, 1, 1)]),
        ["2020-01-01 00:00:00", None, "2021-01-01 00:00:00"],
    ),
    "bytes": (pa.array([b"x", b"\xff", None]), ["x", None, None]),
    "struct": (pa.array([{"a": 1, "b": [b"q"]}] * 3), [{"a": 1, "b": ["q"]}] * 3),
    "dictionary": (pa.array(["x", "y", "x"]).dictionary_encode(), ["x", "y", "x"]),
    "map": (
        pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        [[["k", 1]], None, []],
    ),
    "nothing": (pa.nulls(3), [None, None, None]),
}
TABLE = pa.table({name: array for name, (array, _) in KINDS.items()})


def arrow(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)


def stream(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(str(path), table.schema) as file:
        file.write_table(table)


def packed(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path)
    path.write_bytes(gzip.compress(path.read_bytes()))


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "a.parquet": pq.write_table,
    "a.arrow": arrow,
    "b.arrow": stream,
    "a.parquet.gz": packed,
    "a.csv": pq.write_table,
}


what_opens.opens("Parquet and Arrow")


def rows(path: Path, bad: BadRows) -> list[list[Any]]:
    with open_table(path, bad) as table:
        return [[*row.cells] for row in table.rows]


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_column_is_read_as_json_has_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](TABLE, path)
    assert [*map(list, zip(*rows(path, BadRows()), strict=True))] == [v for _, v in KINDS.values()]
    with path.open("rb") as file, open_table(path, BadRows(), file=file) as table:
        assert len([*table.rows]) == 3
    assert guess(path).columns == tuple(KINDS)


def test_odd_values_cost_their_row_where_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    places = pa.py_buffer(np.array([0, 2, 4], dtype=np.int32))
    text = pa.Array.from_buffers(pa.string(), 2, [None, places, pa.py_buffer(b"ab\xff\xfe")])
    years = pa.array([2**50, 0], pa.timestamp("ms"))  # of which Python has 9999
    pq.write_table(pa.table({"text": text, "when": years, "label": ["a", "b"]}), path)
    with pytest.raises(ValueError, match=r"row 2 .* a byte 0xFF that is not UTF-8 in column"):
        rows(path, BadRows())
    assert [row[0] for row in rows(path, BadRows(skip=True))] == ["ab"]
    with open_table(path, BadRows()) as table:
        table.use(2)
        assert [row.cells[2] for row in table.rows] == ["a", "b"]


def _runs(value: Any) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([2**31 - 2], pa.int32()), pa.array([value]))


BOMBS: dict[str, tuple[pa.Array, Callable[[pa.Table, Path], None]]] = {
    "a value many times": (
        pa.DictionaryArray.from_arrays(pa.array(np.zeros(3000, np.int8)), ["x" * 10**6]),
        pq.write_table,
    ),
    "the same in Arrow": (
        pa.DictionaryArray.from_arrays(pa.array(np.zeros(3000, np.int8)), ["x" * 10**5]),
        arrow,
    ),
    "one run": (_runs("x" * 100), arrow),
    "nothing, two billion times": (pa.Array.from_buffers(pa.null(), 2**31 - 2, [None]), arrow),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_what_unpacks_to_too_much_is_refused_as_it_comes(kind: str, tmp_path: Path) -> None:
    array, write = BOMBS[kind]
    path = tmp_path / "a.parquet"
    write(pa.table({"text": array}), path)
    assert path.stat().st_size < 10**6
    with (
        pytest.raises(ValueError, match="unpacks to more than 32 MiB"),
        open_table(path, BadRows()) as table,
    ):
        for _ in table.rows:
            pass


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: content[:-20], "cannot be read as Parquet"),
        (lambda content: content[:30] + b"\xff" * 60 + content[90:], "cannot be read as Parquet"),
    ],
)
def test_damage_is_a_sentence(change: Callable[[bytes], bytes], said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=said):
        rows(path, BadRows())


def test_a_file_without_rows_or_columns_is_empty(tmp_path: Path) -> None:
    for table in (pa.table({"text": pa.array([], pa.string())}), pa.table({})):
        pq.write_table(table, tmp_path / "a.parquet")
        with pytest.raises(ValueError, match="is empty"):
            rows(tmp_path / "a.parquet", BadRows())
