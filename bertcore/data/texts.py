"""Sentences of one's own: an uploaded file, or a short list with marked words and pairs."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from bertcore.data.cells import as_text
from bertcore.data.columns import LABELS, PAIRS, TEXTS, find, summarize
from bertcore.data.files import BadRows, find_encoding, kind_of, lines_of, open_text
from bertcore.data.tables import ENDINGS, Table, form_of, open_table
from bertcore.model.tokenizer.truncation import MOST_CHARACTERS

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
    notes: tuple[str, ...]
    """What was cut off or assumed, one sentence each."""


def read_upload(data: bytes | Path, name: str, *, max_rows: int = MAX_ROWS) -> Texts:
    """Read an uploaded file: a table by its ending or content, else one sentence per line.

    In a table, texts, texts B and labels are the first columns with a usual name; without one, the
    column with the longest cells is the text. The name, of any characters, is shown cleaned and
    shortened.

    ValueError if the file is empty, too large, not text, or has no text.
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
    num_empty = 0
    if form_of(path, file) == "text" and kind_of(path).lstrip(".") not in {*ENDINGS} - {"txt"}:
        encoding = find_encoding(path, file)
        if encoding.is_guessed:
            bad_rows.note(f"{path.name!r} is read as {encoding.title}.")
        with open_text(path, file, encoding) as text:
            lines = (line.strip("\ufeff \r\n") for line in lines_of(text, path, bad_rows=bad_rows))
            cells = (line.partition("\t")[::2] for line in lines)
            every = (Sentence(own.strip(), None, label.strip()) for own, label in cells)
            sentences = [*islice((sentence for sentence in every if sentence.text), max_rows + 1)]
    else:
        with open_table(path, bad_rows, file=file) as table:
            columns, sentences = table.columns, []
            used = _columns_of(table)
            places = [columns.index(name) if name else -1 for name in used]
            table.use(*places)
            for _, row in table.rows:
                own, pair, label = (as_text(row[i]) if 0 <= i < len(row) else "" for i in places)
                sentences += [Sentence(own, pair or None, label)] if own else []
                num_empty += not own
                if len(sentences) > max_rows:
                    break
        where = f"column {used[0]!r} of {where}"
    if not sentences:
        why = bad_rows.first or "Give one sentence per line or row."
        raise ValueError(f"there is no sentence in {where}: {why}")
    notes = bad_rows.notes()
    if num_empty:
        notes.append(f"{num_empty} row{'s' * (num_empty > 1)} without a text left out.")
    if len(sentences) > max_rows:
        notes.append(
            f"There are more than {max_rows:,} sentences: the first {max_rows:,} were taken."
        )
    most, sentences = MOST_CHARACTERS, sentences[:max_rows]
    notes += cut_note(len(sentence.text) for sentence in sentences)
    cut = (
        Sentence(
            sentence.text[:most],
            sentence.text_pair and sentence.text_pair[:most],
            sentence.label[:most],
        )
        for sentence in sentences
    )
    return Texts(tuple(cut), tuple(notes))


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


def _columns_of(table: Table) -> tuple[str, str, str]:
    """Return the columns of text, text B and label; "" for the last two if there is none."""
    columns = table.columns

    def usual(names: Sequence[str]) -> str:
        place = find(columns, names)
        return "" if place is None else columns[place]

    rows = [list(map(as_text, row)) for row in table.first]
    text = usual(TEXTS) or max(summarize(columns, rows), key=lambda c: c.mean_length).name
    return text, usual([second for _, second in PAIRS]), usual(LABELS)


def cut_note(lengths: Iterable[int]) -> list[str]:
    """Return a note on texts that are cut, given their characters; [] if there are none."""
    num = sum(length > MOST_CHARACTERS for length in lengths)
    some = "1 sentence was" if num == 1 else f"{num} sentences were"
    return [f"{some} cut at {MOST_CHARACTERS:,} characters."] if num else []


MOST_LINES = 500
"""Maximum number of sentences; the rest is left out, which the notes state."""
PAIR_MARK = "|||"
"""Separates the texts of a pair, as in Google's extract_features.py."""
_MARKED = re.compile(r"(?<!\*)\*(\w(?:[^*]*\w)?)\*(?!\*)")


class Span(NamedTuple):
    """Characters of a text."""

    start: int
    end: int


class Line(NamedTuple):
    text: str
    """Without the asterisks of its marks."""
    other: str = ""
    """What follows a tab or |||; "" if there is nothing."""
    is_pair: bool = False
    """Whether `other` follows |||: then it is text B, and never a label."""
    marks: tuple[Span, ...] = ()
    """The marked words of `text`."""


@dataclass(frozen=True, slots=True)
class SentenceList:
    """The lines of a list, and how they were read."""

    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    """What was left out or cut off, one sentence each."""

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The inputs of BERT: what follows ||| is text B, what follows a tab is a label."""
        return tuple(
            Sentence(line.text, line.other)
            if line.is_pair
            else Sentence(line.text, None, line.other)
            for line in self.lines
        )

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The lines with two texts, whether a tab or ||| separates them."""
        return tuple((line.text, line.other) for line in self.lines if line.other)

    @property
    def consecutive(self) -> tuple[tuple[str, str], ...]:
        """Each sentence with the next one."""
        return tuple((first.text, second.text) for first, second in pairwise(self.lines))

    @property
    def marks(self) -> tuple[tuple[int, Span], ...]:
        """The marked words: the number of the line, from 0, and the characters of its text."""
        return tuple(
            (number, span) for number, line in enumerate(self.lines) for span in line.marks
        )


def read_sentence_list(text: str) -> SentenceList:
    """Read one sentence per line; blank lines are left out.

    Between asterisks is a marked word, as in `the *bank* of the river`: not after a digit or a
    letter that has a case, or before one, so that `5*3*2` stays. A tab or ||| separates two texts.

    ValueError if there is no sentence.
    """
    read = [line for line in map(_line, text.splitlines()) if line.text]
    if not read:
        raise ValueError("there is no sentence in the list. Write one per line.")
    notes = []
    if len(read) > MOST_LINES:
        notes.append(f"There are {len(read):,} sentences: the first {MOST_LINES} were taken.")
    lines, most = read[:MOST_LINES], MOST_CHARACTERS
    notes += cut_note(max(len(line.text), len(line.other)) for line in lines)
    for number, line in enumerate(lines):
        marks = tuple(span for span in line.marks if span.end <= most)
        lines[number] = Line(line.text[:most], line.other[:most], line.is_pair, marks)
    num_repeated = len(lines) - len({(line.text, line.other) for line in lines})
    if num_repeated:
        some = "1 line repeats" if num_repeated == 1 else f"{num_repeated} lines repeat"
        notes.append(f"{some} an earlier one; each counts, so intervals are too narrow.")
    return SentenceList(tuple(lines), tuple(notes))


def list_text(sentences: Iterable[Sentence]) -> str:
    """Return sentences as the lines that `read_sentence_list` reads.

    >>> list_text([Sentence("It rained.", None, "weather"), Sentence("He ran.", "He was late.")])
    'It rained.\\tweather\\nHe ran. ||| He was late.'
    """
    lines = []
    for sentence in sentences:
        # Other white space would end the line, or separate what belongs together.
        text, pair, label = (re.sub(r"\s", " ", part or "") for part in sentence)
        lines.append(
            f"{text} {PAIR_MARK} {pair}" if pair else f"{text}\t{label}".removesuffix("\t")
        )
    return "\n".join(lines)


def _line(line: str) -> Line:
    text, tab, other = line.strip("\ufeff \r\n").partition("\t")
    is_pair = False
    if PAIR_MARK in text:
        # What follows a tab then belongs to text B.
        text, _, second = text.partition(PAIR_MARK)
        other, is_pair = second + tab + other, True
    if not text.strip():  # as before a tab, where there is no other text
        text, other, is_pair = other, "", False
    marked, marks = _without_marks(text.strip())
    other = _without_marks(other.strip())[0]
    return Line(marked, other, is_pair and bool(other), marks)


def _without_marks(text: str) -> tuple[str, tuple[Span, ...]]:
    """Return a text without the asterisks of its marks, and what they enclosed."""
    matches = [mark for mark in _MARKED.finditer(text) if not _is_in_word(text, *mark.span())]
    marks = tuple(
        Span(mark.start(1) - 2 * number - 1, mark.end(1) - 2 * number - 1)
        for number, mark in enumerate(matches)
    )
    signs = {place for mark in matches for place in (mark.start(), mark.end() - 1)}
    return "".join(c for place, c in enumerate(text) if place not in signs), marks


def _is_in_word(text: str, start: int, end: int) -> bool:
    around = text[start - 1 : start] + text[end : end + 1]
    return any(sign.isdigit() or sign.lower() != sign.upper() for sign in around)
