"""Read sentences from pasted text and uploads: text, CSV and TSV in any usual encoding."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from bertcore.data.files import check_width

MAX_FILE_BYTES = 50 * 2**20
"""Larger files are rejected."""
MAX_READ_BYTES = 8 * 2**20
"""Only the beginning of a larger file is read, up to its last complete line."""
MAX_ROWS = 2000
"""Maximum number of sentences; the rest is left out, which the notes state."""
MAX_CHARACTERS = 20_000
"""Maximum number of characters of a sentence; BERT reads at most 512 tokens of them."""
MAX_CELL = 2**17
"""Maximum number of characters of a table's cell; a longer one means an unclosed quotation mark."""

TEXT_NAMES = ("text", "sentence", "sentence1", "text_a", "sentence_a", "content", "review")
PAIR_NAMES = ("text_b", "sentence2", "sentence_b", "text_pair")
LABEL_NAMES = ("label", "sense", "class", "category", "topic", "gold")

_KINDS = {
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\xd0\xcf\x11\xe0": "an old Office file",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"\x1f\x8b": "a gzip archive",
    b"\xfd7zXZ": "an xz archive",
    b"PAR1": "a Parquet table",
}


class Sentence(NamedTuple):
    """One input of BERT: a text or a pair, and its label."""

    text: str
    text_pair: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Texts:
    """Sentences, and how they were read."""

    sentences: tuple[Sentence, ...]
    columns: tuple[str, ...]
    """Column names of a table; () for plain text."""
    text_column: str
    """The column of the texts; "" for plain text."""
    pair_column: str
    """The column of text B, or ""."""
    label_column: str
    """The column of the labels, or ""."""
    encoding: str
    """How the bytes were read."""
    notes: tuple[str, ...]
    """What was cut off or assumed, one sentence each."""


def read_pasted(text: str, *, max_rows: int = MAX_ROWS) -> Texts:
    """Read one sentence per line; the text after a tab is its label.

    Raises:
        ValueError: If there is no sentence.
    """
    lines = [line.strip() for line in text.splitlines()]
    parts = [line.partition("\t") for line in lines if line]
    sentences = [Sentence(part.strip(), None, label.strip()) for part, _, label in parts if part]
    notes: list[str] = []
    return Texts(
        sentences=_bounded(sentences, max_rows, notes, "the text"),
        columns=(),
        text_column="",
        pair_column="",
        label_column="",
        encoding="utf-8",
        notes=tuple(notes),
    )


def read_upload(
    data: bytes,
    name: str,
    *,
    text_column: str | None = None,
    pair_column: str | None = None,
    label_column: str | None = None,
    max_rows: int = MAX_ROWS,
) -> Texts:
    """Read an uploaded file: a table if its name ends in .csv or .tsv, else one sentence per line.

    Args:
        data: The file's bytes.
        name: Its name; any characters, shown cleaned and shortened.
        text_column, pair_column, label_column: Columns of a table. None takes the first with a
            usual name; without one, the column with the longest cells is the text. "" means no such
            column.
        max_rows: Maximum number of sentences taken.

    Raises:
        ValueError: If the file is empty, too large, not text, lacks a column or has no text.
    """
    file_name = shown_name(name)
    notes: list[str] = []
    text, encoding = _decode(_beginning(data, file_name, notes), file_name, notes)
    ending = PurePath(name.lower().replace("\\", "/")).suffix
    if ending not in (".csv", ".tsv"):
        texts = read_pasted(text, max_rows=max_rows)
        return Texts(texts.sentences, (), "", "", "", encoding, notes=(*notes, *texts.notes))
    columns, rows = _table(text, file_name, tab=ending == ".tsv", max_rows=max_rows)
    chosen = _choose(columns, rows, (text_column, pair_column, label_column), file_name)
    indices = [columns.index(column) if column else -1 for column in chosen]
    sentences = []
    for row in rows:
        body, pair, label = (
            row[index].strip() if 0 <= index < len(row) else "" for index in indices
        )
        if body:
            sentences.append(Sentence(body, pair or None, label))
    if len(sentences) < len(rows):
        empty = len(rows) - len(sentences)
        some = "1 row" if empty == 1 else f"{empty} rows"
        notes.append(f"{some} without a text left out.")
    return Texts(
        sentences=_bounded(sentences, max_rows, notes, f"column {chosen[0]!r} of {file_name}"),
        columns=tuple(columns),
        text_column=chosen[0],
        pair_column=chosen[1],
        label_column=chosen[2],
        encoding=encoding,
        notes=tuple(notes),
    )


def shown_name(name: str) -> str:
    """Return a file name that is safe to show: no folders, no control characters, 60 characters.

    >>> shown_name("../../etc/x\\u202egpj.csv")
    "'xgpj.csv'"
    """
    base = name.replace("\\", "/").rpartition("/")[2]
    visible = "".join(c for c in base if unicodedata.category(c)[0] != "C")
    short = visible if len(visible) <= 60 else f"{visible[:45]}…{visible[-14:]}"
    return repr(short or "the file")


def _beginning(data: bytes, file_name: str, notes: list[str]) -> bytes:
    """Return the bytes to read: all, or a beginning that ends with a complete line."""
    if not data.strip():
        raise ValueError(
            f"{file_name} is empty. Choose a file with one sentence per line, or a CSV."
        )
    size = len(data) / 2**20
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(
            f"{file_name} has {size:.0f} MB; the limit is {MAX_FILE_BYTES >> 20} MB. "
            "Cut out the rows you want."
        )
    if len(data) <= MAX_READ_BYTES:
        return data
    notes.append(
        f"{file_name} has {size:.0f} MB: only its first {MAX_READ_BYTES >> 20} MB were read."
    )
    end = data.rfind(b"\n", 0, MAX_READ_BYTES) + 1 or MAX_READ_BYTES
    # In little-endian UTF-16 the second byte of the line break comes after it.
    return data[: end + (end % 2 == 1 and data[end : end + 1] == b"\0")]


def _decode(data: bytes, file_name: str, notes: list[str]) -> tuple[str, str]:
    for magic, kind in _KINDS.items():
        if data.startswith(magic):
            raise ValueError(
                f"{file_name} is {kind}, not text. Save it as CSV or plain text in UTF-8."
            )
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return _checked(data.decode(encoding, errors="replace"), file_name), encoding
    # UTF-16 without its mark: every other byte of Latin text is zero.
    for odd, encoding in ((True, "utf-16-le"), (False, "utf-16-be")):
        # UTF-16 without its mark: every other byte of Latin text is zero.
        zero, letter = data[odd:2000:2], data[not odd : 2000 : 2]
        if zero.count(0) > 0.7 * len(zero) and letter.count(0) < 0.1 * len(letter):
            return _checked(data.decode(encoding, errors="replace"), file_name), encoding
    try:
        return _checked(data.decode("utf-8"), file_name), "utf-8"
    except UnicodeDecodeError as error:
        # A large file may be cut within its last character; this is not a wrong encoding.
        if error.start >= len(data) - 3:
            return _checked(data[: error.start].decode("utf-8"), file_name), "utf-8"
        text = _checked(data.decode("latin-1"), file_name)
        notes.append(
            f"{file_name} is not UTF-8 (byte {error.start}); it was read as Latin-1. "
            "If accents look wrong, save it as UTF-8."
        )
        return text, "latin-1"


def _checked(text: str, file_name: str) -> str:
    """Return the text; reject what was not text before decoding."""
    sample = text[:20_000]
    wrong = sum(
        c == "\ufffd" or (unicodedata.category(c) == "Cc" and c not in "\t\r\n\f\v") for c in sample
    )
    if "\0" in sample or wrong > 0.05 * len(sample):
        raise ValueError(
            f"{file_name} is not a text file: it contains characters that do not occur in text. "
            "Save it as CSV or plain text in UTF-8."
        )
    return text


def _table(
    text: str, file_name: str, *, tab: bool, max_rows: int
) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows below it, at most slightly more than `max_rows`."""
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = "\t" if tab else max(",;\t|", key=first.count)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            # csv's own limit is global to the process, and other readers raise it.
            if any(len(cell) > MAX_CELL for cell in row):
                raise csv.Error(f"a cell has more than {MAX_CELL:,} characters")
            if any(cell.strip() for cell in row):
                rows.append(row)
            check_width(len(row), file_name)
            if len(rows) > 2 * max_rows:
                break
    except csv.Error as error:
        raise ValueError(
            f"{file_name} cannot be read as a table after row {len(rows)}: {error}. Check that "
            "every quotation mark is closed, or save it again as CSV."
        ) from error
    if not rows:
        raise ValueError(f"{file_name} has no row. Choose a file with a row of column names.")
    header = [cell.strip() or f"column {i + 1}" for i, cell in enumerate(rows[0])]
    return header, rows[1:]


def _choose(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    wanted: tuple[str | None, str | None, str | None],
    file_name: str,
) -> tuple[str, str, str]:
    """Return the columns of text, text B and label; "" for the last two if there is none."""
    for column in wanted:
        if column and column not in columns:
            listed = ", ".join(repr(name[:40]) for name in columns[:20])
            more = f" and {len(columns) - 20} more" if len(columns) > 20 else ""
            raise ValueError(
                f"{file_name} has no column {column!r}. It has {listed}{more}. Choose one of them."
            )
    text, pair, label = wanted
    by_name = {name.lower(): name for name in reversed(columns)}
    if not text:
        usual = [by_name[name] for name in TEXT_NAMES if name in by_name]
        text = usual[0] if usual else columns[_longest(len(columns), rows)]
    if pair is None:
        pair = next((by_name[n] for n in PAIR_NAMES if n in by_name and by_name[n] != text), "")
    if label is None:
        label = next((by_name[n] for n in LABEL_NAMES if n in by_name and by_name[n] != text), "")
    return text, pair, label


def _longest(num_columns: int, rows: Sequence[Sequence[str]]) -> int:
    """Return the column with the most characters in the first rows."""
    totals = [0] * num_columns
    for row in rows[:200]:
        for index, cell in enumerate(row[:num_columns]):
            totals[index] += len(cell)
    return totals.index(max(totals))


def _bounded(
    sentences: Sequence[Sentence], max_rows: int, notes: list[str], where: str
) -> tuple[Sentence, ...]:
    if not sentences:
        raise ValueError(f"there is no sentence in {where}. Give one sentence per line or row.")
    if len(sentences) > max_rows:
        notes.append(
            f"There are more than {max_rows:,} sentences: the first {max_rows:,} were taken."
        )
    kept = sentences[:max_rows]
    long = sum(len(sentence.text) > MAX_CHARACTERS for sentence in kept)
    if long:
        some = "1 sentence was" if long == 1 else f"{long} sentences were"
        notes.append(f"{some} cut at {MAX_CHARACTERS:,} characters.")
    return tuple(
        Sentence(
            s.text[:MAX_CHARACTERS], s.text_pair and s.text_pair[:MAX_CHARACTERS], s.label[:200]
        )
        for s in kept
    )
