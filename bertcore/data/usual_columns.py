"""Which columns of a table hold texts and labels, by their names and what is in them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bertcore.configs.columns import Columns

TEXTS = tuple(
    (
        "sentence text content review comment_text review_text reviewtext review_body tweet "
        "tweet_text message comment sentence1 sentence_a text_a body document article passage post "
        "utterance query question_text description question headline title summary v2"
    ).split()
)
"""Usual names of a text, the likeliest first; `normal` of what stands in files."""
PAIRS = (
    ("sentence1", "sentence2"),  # MRPC, RTE, STS-B, WNLI, MNLI in GLUE
    ("question1", "question2"),  # QQP
    ("question", "sentence"),  # QNLI
    ("premise", "hypothesis"),
    ("#1_string", "#2_string"),  # MRPC as Microsoft published it
    ("sentence_a", "sentence_b"),  # SICK
    ("sentence_1", "sentence_2"),
    ("text", "text_pair"),
    ("text_a", "text_b"),
    ("text1", "text2"),
    ("question", "passage"),  # BoolQ
    ("query", "passage"),
)
"""Usual names of two texts."""
LABELS = tuple(
    (
        "label labels gold_label quality is_duplicate entailment_label class category sentiment "
        "airline_sentiment target class_index rating stars star_rating overall intent topic "
        "polarity emotion tag answer y category_id label_text sense gold v1"
    ).split()
)
"""Usual names of a label."""
SCORES = ("score", "label", "relatedness_score", "similarity", "relatedness", "grade", "value")
"""Usual names of a number."""
_ARE_NAMES = frozenset((*TEXTS, *LABELS, *(name for pair in PAIRS for name in pair))) - frozenset(
    "y answer question title summary overall tag topic body description quality".split()
)
"""Names that are no cell of a row of data."""
_LONGEST_USUAL = 100
"""Characters of a name that is compared with them: it may have some millions."""
_MOST_CLASSES = 50
"""Different values of a column that is taken for labels by its content."""


def normal(name: str) -> str:
    """Return a name as the lists above have it; one that is too long for them as it is."""
    if len(name) > _LONGEST_USUAL:
        return name
    return re.sub(r"[\s\-]+", "_", name.strip()).casefold()


def find(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Return the place of the first name that is one of those wanted, whatever its case."""
    places = {normal(name): place for place, name in reversed([*enumerate(names)])}
    return next((places[name] for name in map(normal, wanted) if name in places), None)


@dataclass(frozen=True, slots=True)
class Column:
    """The content of one column in the first rows."""

    name: str
    """Its name, or its number from 1 where the file has no names."""
    num_filled: int
    counts: Counter[str]
    """Of each value."""
    mean_length: float
    """Characters."""
    is_number: bool
    """Whether every filled cell is a finite number."""

    @property
    def is_whole(self) -> bool:
        """Whether every filled cell is an integer."""
        return self.is_number and all(float(value).is_integer() for value in self.counts)

    @property
    def may_be_label(self) -> bool:
        """Whether it has few values, each several times."""
        return 2 <= len(self.counts) <= min(_MOST_CLASSES, self.num_filled // 2)


def summarize(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    summaries = []
    for place, name in enumerate(columns):
        filled = [row[place] for row in rows if place < len(row) and row[place]]
        mean = sum(map(len, filled)) / max(1, len(filled))
        are_numbers = bool(filled) and all(map(is_finite, filled))
        summaries.append(Column(name, len(filled), Counter(filled), mean, are_numbers))
    return tuple(summaries)


def likely(columns: Sequence[Column], *, is_score: bool = False) -> Columns:
    """Return the likely columns of a table of texts: by their names, else by their content.

    Args:
        columns: From `summarize`; a name that stands twice is that of the first.
        is_score: Whether the answer is a number.
    """
    names = [column.name for column in columns]
    lists = (*SCORES, *LABELS) if is_score else (*LABELS, *SCORES)
    place = find(names, lists)
    if place is None:
        fit = [i for i, column in enumerate(columns) if _may_be_answer(column, is_score)]
        place = min(
            fit, key=lambda i: (columns[i].mean_length, len(columns[i].counts)), default=None
        )
    label = None if place is None else names[place]
    for pair in PAIRS:
        first, second = find(names, pair[:1]), find(names, pair[1:])
        if first is not None and second is not None:
            return Columns(text=names[first], text_pair=names[second], label=label)
    others = [column for column in columns if column.name != label]
    named = find([column.name for column in others], TEXTS)
    if named is not None and not others[named].is_number:
        return Columns(text=others[named].name, label=label)
    texts = [column for column in others if column.num_filled and not column.is_number]
    # One long word a cell is a key, a hash or a link.
    texts = [one for one in texts if not all(map(_is_key, one.counts))] or texts
    longest = max(texts, key=lambda column: column.mean_length).name if texts else None
    return Columns(text=longest, label=label)


def _is_key(cell: str) -> bool:
    return cell.isascii() and len(cell.split()) == 1


def _may_be_answer(column: Column, is_score: bool) -> bool:
    if not is_score:
        return column.may_be_label
    return column.is_number and not (column.is_whole and len(column.counts) == column.num_filled)


def are_names(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool | None:
    """Return whether the first row of a table has the names of its columns.

    Args:
        head: Its cells.
        rows: Cells of the rows below.

    Returns:
        True if one is a usual name, or they number the columns, as of pandas; False if the row
        recurs below, or one of its cells in a column of few values, or is a number in one of
        numbers; None if nothing of it is so.
    """
    if has_usual_name(head) or (len(head) > 1 and list(head) == [*map(str, range(len(head)))]):
        return True
    body = [list(map(str, row)) for row in rows if len(row) == len(head)]
    if list(head) in body:
        return False
    for cell, column in zip(head, summarize(head, body), strict=True):
        recurs = column.may_be_label and column.counts[cell] > 1
        if recurs or (column.is_number and is_finite(cell)):
            return False
    return None


def has_usual_name(cells: Sequence[str]) -> bool:
    """Return whether one of the cells of a first row is the usual name of a column."""
    return any(normal(cell) in _ARE_NAMES for cell in cells)


def header_if(named: Sequence[str]) -> Callable[[Sequence[str]], bool | None]:
    """Return a function that decides from the first row of a table whether it has names.

    Args:
        named: Columns that were asked for, by name or number; none leave it to the rows.
    """

    def has_header(cells: Sequence[str]) -> bool | None:
        if not named:
            return None
        has_all = {cell.strip() for cell in cells}.issuperset(named)
        return has_all or not all(map(str.isdecimal, named)) or has_usual_name(cells)

    return has_header


def is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
