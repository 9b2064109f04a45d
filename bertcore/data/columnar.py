"""Parquet and Arrow files, by pyarrow: their columns, and their rows batch by batch."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bertcore.data.files import bomb, check_width, look, most_unpacked, open_bytes

_ROWS_AT_ONCE = 256
_CELL = 8
"""Bytes that a cell counts at least: a column of nothing can have any number of them."""
_INDEX = re.compile(r"__index_level_\d+__")
"""Name of a column that pandas adds."""


class Columnar(NamedTuple):
    """An open file in columns."""

    form: str
    """"Parquet" or "Arrow"."""
    fields: tuple[pa.Field, ...]
    """Names and types of the columns."""
    rows: Iterator[Sequence[Any]]
    """The cells of each row, as JSON has them: times are texts, decimals are numbers, and bytes are
    text, or None if they are no UTF-8."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)


def is_columnar(head: bytes) -> bool:
    """Return whether a file that begins with some bytes is Parquet, or Arrow (file or stream)."""
    return head.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"))


def open_columnar(path: Path, file: BinaryIO | None = None) -> Columnar:
    """Open a Parquet or Arrow file, plain or packed, of which a batch of rows is read at once.

    ValueError, also while rows are read, if it is damaged, has a column twice or too many columns,
    or unpacks to more than `most_unpacked`.
    """
    source: Any = pa.memory_map(str(path)) if file is None else pa.PythonFile(file, "r")
    if not is_columnar(source.read(6)):  # packed
        source.seek(0)
        with open_bytes(path, file or source) as content:
            source = pa.BufferReader(content.read())
    source.seek(0)
    head = source.read(6)
    source.seek(0)
    form = "Parquet" if head.startswith(b"PAR1") else "Arrow"
    with _sentences(path, form):
        batches: Iterable[pa.RecordBatch]
        if form == "Parquet":
            parquet = pq.ParquetFile(source)
            schema, batches = parquet.schema_arrow, parquet.iter_batches(_ROWS_AT_ONCE)
        elif head == b"ARROW1":
            arrow = pa.ipc.open_file(source)
            schema = arrow.schema
            batches = map(arrow.get_batch, range(arrow.num_record_batches))
        else:
            stream = pa.ipc.open_stream(source)
            schema, batches = stream.schema, stream
        check_width(len(schema.names), repr(str(path)))
        fields = tuple(field for field in schema if not _INDEX.fullmatch(field.name))
        names = [field.name for field in fields]
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"it has the column {twice[:40]!r} several times")
        most = most_unpacked(source.size())
    return Columnar(form, fields, _rows(batches, names, path, form, most))


def check_size(path: Path, *, most_rows: int, most_bytes: int) -> None:
    """Refuse a Parquet file that says that it unpacks to more; Arrow files say nothing of it.

    Values that are written once and repeated count once: readers count them as they come.

    ValueError if it has more rows or bytes, or is damaged.
    """
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return
    with _sentences(path, "Parquet"):
        said = pq.read_metadata(path)
        num_bytes = sum(said.row_group(i).total_byte_size for i in range(said.num_row_groups))
    if said.num_rows > most_rows or num_bytes > most_bytes:
        raise ValueError(
            f"{str(path)!r} has {said.num_rows:,} rows of {num_bytes / 1e6:,.0f} MB when unpacked; "
            f"at most {most_rows:,} rows and {most_bytes // 1_000_000} MB are read. Give a part of "
            "it."
        )


@contextmanager
def _sentences(path: Path, form: str) -> Iterator[None]:
    """Raise pyarrow's errors as a sentence."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError) as error:
        if str(path) in str(error):
            raise
        why = " ".join(str(error).split())[:300] or type(error).__name__
        raise ValueError(
            f"{str(path)!r} cannot be read as {form} ({why}). Copy it again, or save the table as "
            "CSV."
        ) from error


def _rows(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], path: Path, form: str, most: int
) -> Iterator[Sequence[Any]]:
    num_bytes, source = 0, iter(batches)
    while True:
        with _sentences(path, form):
            batch = next(source, None)
            if batch is None:
                return
            if form == "Arrow":
                batch.validate(full=True)  # it may claim that texts lie anywhere in the memory
        for start in range(0, len(batch), _ROWS_AT_ONCE):  # some writers make one batch of all
            look()
            with _sentences(path, form):
                part = batch.slice(start, _ROWS_AT_ONCE)
                columns = [_unpacked(part.column(name)) for name in names]
                num_bytes += sum(column.nbytes + _CELL * len(part) for column in columns)
                if num_bytes > most:
                    raise bomb(path, most)
                rows = [*zip(*map(_values, columns), strict=True)]
            yield from rows


def _unpacked(column: pa.Array) -> pa.Array:
    """Return a column with each value as often as it occurs."""
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    is_runs = pa.types.is_run_end_encoded(column.type)
    return pc.run_end_decode(column) if is_runs else column


def _values(column: pa.Array) -> list[Any]:
    kind = column.type
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):  # text that is no UTF-8, a time that Python lacks
        if pa.types.is_temporal(kind):
            return column.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
        texts = column.cast(pa.large_binary()).to_pylist()
        return [text and text.decode("utf-8", "surrogateescape") for text in texts]
    is_json = pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return values if is_json else [*map(_as_json, values)]


def _as_json(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {str(name): _as_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_as_json, value)]
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
        return None
    return float(value) if hasattr(value, "as_integer_ratio") else str(value)
