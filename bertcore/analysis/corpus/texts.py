"""Stream the sentences of a corpus without loading it: text and tables."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from bertcore.data.columnar import open_columnar
from bertcore.data.columns import column_place
from bertcore.data.files import BadRows, check_file, kind_of, lines_of, listed_columns, open_text
from bertcore.data.sentences import split_sentences
from bertcore.data.tables import form_of, open_table
from bertcore.model.tokenizer.truncation import MOST_CHARACTERS

TEXT_COLUMNS = ("text", "sentence", "content", "review", "sentence1", "text_a")
"""Usual names of the text column; the first one wins."""
OWN_COLUMNS = ("document", "sentence", "position", "word_id", "piece", "word", "start", "end")
"""Columns that are ours; a table's column of such a name is called table_NAME in the rows."""
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".feather")
_REPORT_EVERY = 64
"""Lines or rows between two calls of `on_read`."""
_PART = re.compile(rf".{{1,{MOST_CHARACTERS}}}(?!\S)|\S{{{MOST_CHARACTERS}}}", re.DOTALL)

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
    """Sentences of more than MOST_CHARACTERS characters that were cut into several, so far."""
    bad_rows: BadRows = field(default_factory=BadRows)

    def texts(self, on_read: OnRead = lambda num_bytes: None) -> Iterator[CorpusText]:
        """Yield every sentence in order; counts restart at 0.

        ValueError if a file or a row cannot be read; OSError if a file cannot be opened.
        """
        self.num_blank = self.num_cut = 0
        self.bad_rows = BadRows(skip=self.skip_bad_rows)
        read = self._lines if self.text_column is None else self._cells
        first = 0
        for path in self.paths:
            with path.open("rb") as raw:
                reported, document, sentence = 0, -1, 0
                for num, (at, text, columns) in enumerate(read(path, raw), start=1):
                    document, sentence = at, sentence if at == document else 0
                    for part in self._sentences(text):
                        yield CorpusText(first + document, sentence, part, columns)
                        sentence += 1
                    if num % _REPORT_EVERY == 0:
                        on_read(raw.tell() - reported)
                        reported = raw.tell()
                on_read(path.stat().st_size - reported)
                first += document + 1

    def _lines(self, path: Path, raw: BinaryIO) -> Iterator[tuple[int, str, tuple[Any, ...]]]:
        document, has_text = 0, False
        with open_text(path, raw) as file:
            for line in lines_of(file, path, bad_rows=self.bad_rows):
                if line.strip():
                    has_text = True
                    yield document, line, ()
                else:
                    document, has_text = document + has_text, False

    def _cells(self, path: Path, raw: BinaryIO) -> Iterator[tuple[int, str, tuple[Any, ...]]]:
        are_texts = [pa.types.is_string(field.type) for field in self.fields]
        with open_table(path, self.bad_rows, file=raw) as table:
            place = column_place(table.columns, self.text_column or "", path)
            for number, cells in table.rows:
                text = _as_text(cells[place]) or ""
                self.num_blank += not text.strip()
                others = zip(are_texts, [*cells[:place], *cells[place + 1 :]], strict=True)
                columns = (_as_text(cell) if is_text else cell for is_text, cell in others)
                yield number - 1, text, tuple(columns)

    def _sentences(self, text: str) -> Iterator[str]:
        for sentence in split_sentences(text) if self.split else [text.strip()]:
            if len(sentence) <= MOST_CHARACTERS:
                yield from filter(None, [sentence])
            else:  # split at white space, so that memory stays bounded
                self.num_cut += 1
                yield from filter(None, map(str.strip, _PART.findall(sentence)))


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

    ValueError if a file is missing or of another kind, or a column is missing; OSError if a file
    cannot be opened.
    """
    files = tuple(Path(path) for path in paths)
    if not files:
        raise ValueError("no corpus was given. Name at least one file.")
    for path in files:
        check_file(path)
        if kind_of(path) in (".conllu", ".conll", ".conllup"):
            raise ValueError(
                f"{str(path)!r} has a tagged word a line, which is no text of a corpus. Write its "
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
    columns, *more = [_columns(path, skip_bad_rows) for path in files]
    for path, others in zip(files[1:], more, strict=True):
        if others != columns:
            raise ValueError(
                f"{str(path)!r} has the columns {_listed(others)}, but {str(files[0])!r} has "
                f"{_listed(columns)}. Give tables with the same columns, or encode them separately."
            )
    text_name = _choose(columns, text_column, files[0])
    fields = tuple(
        pa.field(f"table_{name}" if name in (*OWN_COLUMNS, "vector", "layer") else name, kind)
        for name, kind in columns
        if name != text_name
    )
    return Corpus(files, text_name, fields, bool(split), skip_bad_rows)


def _columns(path: Path, skip_bad_rows: bool) -> list[tuple[str, pa.DataType]]:
    """Return names and types of a table's columns; a value that is no text or number is text."""
    if form_of(path) != "columnar":
        with open_table(path, BadRows(skip=skip_bad_rows)) as table:
            return [(name, pa.string()) for name in table.columns]
    numbers = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean
    return [
        (field.name, field.type if any(of(field.type) for of in numbers) else pa.string())
        for field in open_columnar(path).fields
    ]


def _choose(columns: Sequence[tuple[str, pa.DataType]], wanted: str | None, path: Path) -> str:
    names = [name for name, _ in columns]
    for name in names:
        column_place(names, name, path)
    usual = [name for name in TEXT_COLUMNS if name in names] or names
    if wanted is None and len(usual) > 1 and usual is names:
        raise ValueError(
            f"{str(path)!r} has no column with a usual name for a text "
            f"({', '.join(TEXT_COLUMNS)}). It has {_listed(columns)}. Name one with --text."
        )
    wanted = usual[0] if wanted is None else wanted
    if wanted not in names:
        raise ValueError(
            f"{str(path)!r} has no column {wanted[:40]!r}. It has {_listed(columns)}. "
            "Choose one of them."
        )
    if not pa.types.is_string(kind := dict(columns)[wanted]):
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
