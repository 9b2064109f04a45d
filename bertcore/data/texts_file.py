"""Read sentences from uploads: a sentence a line, or any table."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bertcore.data.cells import as_text
from bertcore.data.encodings import find_encoding
from bertcore.data.files import BadRows, kind_of, lines_of, listed_columns, open_text
from bertcore.data.tables import ENDINGS, Table, form_of, open_table
from bertcore.data.usual_columns import LABELS, PAIRS, TEXTS, find, summarize
from bertcore.tokenizer.truncation import MOST_CHARACTERS

MAX_FILE_BYTES = 50 * 2**20
"""Larger files are rejected."""
MAX_ROWS = 2000
"""Maximum number of sentences; the rest is left out, which the notes state."""


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
    notes: tuple[str, ...]
    """What was cut off or assumed, one sentence each."""


def read_upload(
    data: bytes | Path,
    name: str,
    *,
    text_column: str | None = None,
    pair_column: str | None = None,
    label_column: str | None = None,
    max_rows: int = MAX_ROWS,
) -> Texts:
    """Read an uploaded file: a table by its ending or content, else one sentence per line.

    Args:
        data: The file's bytes, plain or compressed, or where it lies under another name.
        name: Its name; any characters, shown cleaned and shortened.
        text_column, pair_column, label_column: Columns of a table. None takes the first with a
            usual name; without one, the column with the longest cells is the text. "" means no such
            column.
        max_rows: Maximum number of sentences taken.

    ValueError if the file is empty, too large, not text, lacks a column or has no text.
    """
    data = data.read_bytes() if isinstance(data, Path) else data
    path, file = Path(_clean(name)), BytesIO(data)
    if not data.strip():
        raise ValueError(
            f"{str(path)!r} is empty. Choose a file with one sentence per line, or a table."
        )
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(
            f"{str(path)!r} has {len(data) / 2**20:.0f} MB; the limit is {MAX_FILE_BYTES >> 20} "
            "MB. Cut out the rows you want."
        )
    bad_rows, where = BadRows(skip=True), repr(str(path))
    columns: tuple[str, ...] = ()
    chosen = "", "", ""
    num_empty = 0
    if form_of(path, file) == "text" and kind_of(path).lstrip(".") not in {*ENDINGS} - {"txt"}:
        encoding = find_encoding(path, file)
        if encoding.is_guessed:
            bad_rows.note(f"{path.name!r} is read as {encoding.title}.")
        with open_text(path, file, encoding) as text:
            lines = (line.strip("\ufeff \r\n") for line in lines_of(text, path, bad_rows=bad_rows))
            cells = (line.partition("\t")[::2] for line in lines)
            every = (Sentence(own.strip(), None, label.strip()) for own, label in cells)
            found = [*islice((one for one in every if one.text), max_rows + 1)]
    else:
        with open_table(path, bad_rows, file=file) as table:
            columns, found = table.columns, []
            chosen = _choose(table, (text_column, pair_column, label_column), path)
            places = [columns.index(name) if name else -1 for name in chosen]
            table.use(*places)
            for _, row in table.rows:
                own, pair, label = (as_text(row[i]) if 0 <= i < len(row) else "" for i in places)
                found += [Sentence(own, pair or None, label)] if own else []
                num_empty += not own
                if len(found) > max_rows:
                    break
        where = f"column {chosen[0]!r} of {where}"
    if not found:
        why = bad_rows.first or "Give one sentence per line or row."
        raise ValueError(f"there is no sentence in {where}: {why}")
    notes = bad_rows.notes()
    if num_empty:
        notes.append(f"{num_empty} row{'s' * (num_empty > 1)} without a text left out.")
    if len(found) > max_rows:
        notes.append(
            f"There are more than {max_rows:,} sentences: the first {max_rows:,} were taken."
        )
    most, found = MOST_CHARACTERS, found[:max_rows]
    notes += cut_note(len(one.text) for one in found)
    kept = (
        Sentence(one.text[:most], one.text_pair and one.text_pair[:most], one.label[:most])
        for one in found
    )
    return Texts(tuple(kept), columns, *chosen, tuple(notes))


def shown_name(name: str) -> str:
    """Return a file name that is safe to show: no folders, no control characters, 60 characters.

    >>> shown_name("../../etc/x\\u202egpj.csv")
    "'xgpj.csv'"
    """
    return repr(_clean(name))


def _clean(name: str) -> str:
    base = name.replace("\\", "/").rpartition("/")[2]
    visible = "".join(c for c in base if unicodedata.category(c)[0] != "C")
    short = visible if len(visible) <= 60 else f"{visible[:45]}…{visible[-14:]}"
    return short or "the file"


def _choose(
    table: Table, wanted: tuple[str | None, str | None, str | None], path: Path
) -> tuple[str, str, str]:
    """Return the columns of text, text B and label; "" for the last two if there is none."""
    columns = table.columns
    for column in wanted:
        if column and column not in columns:
            raise ValueError(
                f"{str(path)!r} has no column {column!r}. It has {listed_columns(columns)}. "
                "Choose one of them."
            )
    text, pair, label = wanted

    def usual(names: Sequence[str]) -> str:
        others = [column for column in columns if column != text]
        place = find(others, names)
        return "" if place is None else others[place]

    rows = [list(map(as_text, row)) for row in table.first]
    text = text or usual(TEXTS) or max(summarize(columns, rows), key=lambda c: c.mean_length).name
    pair = usual([second for _, second in PAIRS]) if pair is None else pair
    return text, pair, usual(LABELS) if label is None else label


def cut_note(lengths: Iterable[int]) -> list[str]:
    """Return a note on texts that are cut, given their characters; [] if there are none."""
    num = sum(length > MOST_CHARACTERS for length in lengths)
    some = "1 sentence was" if num == 1 else f"{num} sentences were"
    return [f"{some} cut at {MOST_CHARACTERS:,} characters."] if num else []
