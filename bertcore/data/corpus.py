"""Stream the sentences of a corpus without loading it: text and tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from bertcore.data.columnar import open_columnar
from bertcore.data.files import BadRows, kind_of, lines_of, listed_columns, open_text
from bertcore.data.sentences import split_sentences
from bertcore.data.tables import column_place, form_of, open_table

LONGEST_SENTENCE = 20_000
"""Characters; a longer one is split at white space, so that memory stays bounded."""
TEXT_COLUMNS = ("text", "sentence", "content", "review", "sentence1", "text_a")
"""Usual names of the text column; the first one wins."""
OWN_COLUMNS = ("document", "sentence", "position", "word_id", "piece", "word", "start", "end")
"""Columns that are ours; a table's column of such a name is called table_NAME in the rows."""
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".feather")
TAGGED = (".conllu", ".conll", ".conllup")
_REPORT_EVERY = 64
"""Lines or rows between two calls of `on_read`."""

OnRead = Callable[[int], None]
"""Called with the bytes of the corpus read since the last call; packed bytes for .xz and .gz."""


class CorpusText(NamedTuple):
    """One sentence of a corpus (or a whole line or cell, if they are not split)."""

    document: int
    """From 0: blank lines end a document of a text file; of a table it is the row."""
    sentence: int
    """Number within the document, from 0."""
    text: str
    columns: tuple[Any, ...]
    """Values of the table's other columns."""


@dataclass
class Corpus:
    """Files of one kind, which can be read repeatedly. Created by `open_corpus`."""

    paths: tuple[Path, ...]
    text_column: str | None
    """None for plain text."""
    fields: tuple[pa.Field, ...]
    """The table's other columns, under the names that they have in the rows."""
    split: bool
    """Whether texts are cut into sentences."""
    skip_bad_rows: bool
    num_blank: int = 0
    """Rows without a text, so far."""
    num_cut: int = 0
    """Sentences of more than LONGEST_SENTENCE characters that were cut into several, so far."""
    bad_rows: BadRows = field(default_factory=BadRows)
    _next_document: int = 0
    """The first document of the file after the one that is read."""

    def texts(self, on_read: OnRead = lambda num_bytes: None) -> Iterator[CorpusText]:
        """Yield every sentence in order; counts restart at 0.

        Raises:
            ValueError: If a file cannot be read, is incomplete, or has a row that cannot be read.
            OSError: If a file cannot be opened.
        """
        self.num_blank = self.num_cut = 0
        self.bad_rows = BadRows(skip=self.skip_bad_rows)
        self._next_document = 0
        read = self._lines if self.text_column is None else self._cells
        for path in self.paths:
            with path.open("rb") as raw:
                yield from read(path, raw, on_read)

    def _lines(self, path: Path, raw: BinaryIO, on_read: OnRead) -> Iterator[CorpusText]:
        document, number = self._next_document, 0
        position = _Position(raw, on_read)
        with open_text(path, raw) as file:
            for line in lines_of(file, path, bad_rows=self.bad_rows):
                position.passed()
                if not line.strip():
                    document, number = document + (number > 0), 0
                    continue
                for text in self._sentences(line):
                    yield CorpusText(document, number, text, ())
                    number += 1
        self._next_document = document + (number > 0)
        position.end()

    def _cells(self, path: Path, raw: BinaryIO, on_read: OnRead) -> Iterator[CorpusText]:
        assert self.text_column is not None
        position, first = _Position(raw, on_read), self._next_document
        kept = [pa.types.is_string(field.type) for field in self.fields]
        document = first - 1
        with open_table(path, self.bad_rows, file=raw) as table:
            place = column_place(table.columns, self.text_column, path)
            for row in table.rows:
                position.passed()
                document = first + row.number - 1
                text = _as_text(row.cells[place]) or ""
                if not text.strip():
                    self.num_blank += 1
                    continue
                others = zip(kept, [*row.cells[:place], *row.cells[place + 1 :]], strict=True)
                columns = tuple(_as_text(cell) if is_text else cell for is_text, cell in others)
                for number, sentence in enumerate(self._sentences(text)):
                    yield CorpusText(document, number, sentence, columns)
        self._next_document = document + 1
        position.end()

    def _sentences(self, text: str) -> Iterator[str]:
        for sentence in split_sentences(text) if self.split else [text.strip()]:
            if len(sentence) <= LONGEST_SENTENCE:
                yield sentence
            else:
                self.num_cut += 1
                yield from _cut(sentence)


def open_corpus(
    paths: Sequence[str | Path],
    *,
    text_column: str | None = None,
    split: bool | None = None,
    skip_bad_rows: bool = False,
) -> Corpus:
    """Determine the kind and columns of files from their endings and beginnings.

    Args:
        paths: Text files (one paragraph or sentence per line, a blank line between documents), or
            tables with the same columns (TABLES); text formats may be compressed.
        text_column: Text column of a table; None: the first of TEXT_COLUMNS, or its only column.
        split: Whether texts are split into sentences; None: only those of text files.
        skip_bad_rows: Leave out rows that cannot be read.

    Raises:
        ValueError: If a file is missing or of another kind, or a column is missing.
        OSError: If a file cannot be opened.
    """
    files = tuple(Path(path) for path in paths)
    if not files:
        raise ValueError("no corpus was given. Name at least one file.")
    for path in files:
        _check_file(path)
    if tagged := [path for path in files if kind_of(path) in TAGGED]:
        raise ValueError(
            f"{str(tagged[0])!r} has a tagged word a line, which is no text of a corpus. Write its "
            "sentences into a text file, one a line, or into a table with their tags."
        )
    are_tables = {kind_of(path) in TABLES for path in files}
    if len(are_tables) > 1:
        raise ValueError(
            f"the corpus mixes tables ({', '.join(TABLES)}) and plain text. "
            "Give files of one kind, or encode them separately."
        )
    if are_tables == {False}:
        if text_column is not None:
            raise ValueError(
                f"text_column is {text_column!r}, but {str(files[0])!r} is read as plain text. "
                f"Leave it out, or give a table ({', '.join(TABLES)})."
            )
        return Corpus(files, None, (), split is not False, skip_bad_rows)
    schemas = [_columns(path, skip_bad_rows) for path in files]
    for path, columns in zip(files, schemas, strict=True):
        if columns != schemas[0]:
            raise ValueError(
                f"{str(path)!r} has the columns {_listed(columns)}, but {str(files[0])!r} has "
                f"{_listed(schemas[0])}. Give tables with the same columns, or encode them "
                "separately."
            )
    chosen = _choose(schemas[0], text_column, files[0])
    others = tuple(
        pa.field(f"table_{name}" if name in (*OWN_COLUMNS, "vector", "layer") else name, kind)
        for name, kind in schemas[0]
        if name != chosen
    )
    return Corpus(files, chosen, others, bool(split), skip_bad_rows)


def sampled(texts: Iterable[CorpusText], share: float, seed: int) -> Iterator[CorpusText]:
    """Yield about a share of some texts; each is in or out by its document and sentence number
    alone.

    Args:
        texts: In any order.
        share: 0 < share <= 1; 1 keeps all.
        seed: A different seed keeps other texts.
    """
    if share >= 1:
        yield from texts
        return
    for text in texts:
        if _uniform(seed, text.document, text.sentence) < share:
            yield text


_MASK = 2**64 - 1


def _uniform(*numbers: int) -> float:
    """Return a number in [0, 1) that depends only on the arguments.

    Source: the mixing function of SplitMix64 (Steele, Lea and Flood 2014).
    """
    state = 0
    for number in numbers:
        state = (state + number + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state / 2**64


class _Position:
    """Reports the position in a file from time to time."""

    def __init__(self, raw: BinaryIO, on_read: OnRead) -> None:
        self._raw, self._on_read = raw, on_read
        self._reported = self._passed = 0

    def passed(self) -> None:
        self._passed += 1
        if self._passed % _REPORT_EVERY == 0:
            self.at(self._raw.tell())

    def at(self, num_bytes: int) -> None:
        self._on_read(num_bytes - self._reported)
        self._reported = num_bytes

    def end(self) -> None:
        self.at(Path(self._raw.name).stat().st_size)


def _check_file(path: Path) -> None:
    if not path.is_file():
        what = "is a folder; name its files" if path.is_dir() else "does not exist. Check the path"
        raise ValueError(f"the corpus {str(path)!r} {what}.")


def _columns(path: Path, skip_bad_rows: bool) -> list[tuple[str, pa.DataType]]:
    """Return names and types of a table's columns; a value that is no text or number is text."""
    if form_of(path) == "columnar":
        return [(field.name, _kept(field.type)) for field in open_columnar(path).fields]
    with open_table(path, BadRows(skip=skip_bad_rows)) as table:
        return [(name, pa.string()) for name in table.columns]


def _kept(kind: pa.DataType) -> pa.DataType:
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return kind if is_number else pa.string()


def _choose(columns: Sequence[tuple[str, pa.DataType]], wanted: str | None, path: Path) -> str:
    names = [name for name, _ in columns]
    if wanted is None:
        usual = [name for name in TEXT_COLUMNS if name in names]
        if not usual and len(names) > 1:
            raise ValueError(
                f"{str(path)!r} has no column with a usual name for a text "
                f"({', '.join(TEXT_COLUMNS)}). It has {_listed(columns)}. Name one with "
                "--text-column."
            )
        wanted = usual[0] if usual else names[0]
    if wanted not in names:
        raise ValueError(
            f"{str(path)!r} has no column {wanted[:40]!r}. It has {_listed(columns)}. "
            "Choose one of them."
        )
    column_place(names, wanted, path)
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        column_place(names, name, path)  # raises, with the places
    kind = dict(columns)[wanted]
    if not pa.types.is_string(kind):
        raise ValueError(
            f"the column {wanted!r} of {str(path)!r} is of the type {kind}, not text. "
            "Choose a column of text."
        )
    return wanted


def _listed(columns: Sequence[tuple[str, pa.DataType]]) -> str:
    return listed_columns([name for name, _ in columns])


def _as_text(value: Any) -> str | None:
    """Return a cell as text; JSON values other than texts are written as JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _cut(sentence: str) -> Iterator[str]:
    """Yield parts of at most LONGEST_SENTENCE characters, cut at white space if there is any."""
    while len(sentence) > LONGEST_SENTENCE:
        end = max(sentence.rfind(space, 1, LONGEST_SENTENCE) for space in " \t")
        end = end if end > 0 else LONGEST_SENTENCE
        yield sentence[:end].rstrip()
        sentence = sentence[end:].lstrip()
    if sentence:
        yield sentence
