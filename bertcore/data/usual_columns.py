"""Which columns of a table hold texts and labels, by their names and what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bertcore.data.cells import is_amount, is_finite

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
        "polarity emotion tag answer y category_id label_text sense gold v1 cats annotation"
    ).split()
)
"""Usual names of a label."""
SCORES = ("score", "label", "relatedness_score", "similarity", "relatedness", "grade", "value")
"""Usual names of a number."""
_ARE_NAMES = frozenset((*TEXTS, *LABELS, *(name for pair in PAIRS for name in pair))) - frozenset(
    (
        "y answer question title summary overall tag topic body description quality cats annotation"
    ).split()
)
"""Names that are no cell of a row of data."""
_LONGEST_USUAL = 100
"""Characters of a name that is compared with them: it may have some millions."""
MOST_CLASSES = 50
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
    is_whole: bool
    """Whether every filled cell is an integer."""

    @property
    def may_be_label(self) -> bool:
        """Whether it has few values, each several times."""
        return 2 <= len(self.counts) <= min(MOST_CLASSES, self.num_filled // 2)


def summarize(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    summaries = []
    for place, name in enumerate(columns):
        filled = [row[place] for row in rows if place < len(row) and row[place]]
        mean = sum(map(len, filled)) / max(1, len(filled))
        counts = Counter(filled)
        are_numbers = bool(filled) and all(map(is_amount, counts))
        are_whole = are_numbers and all(is_finite(c) and float(c).is_integer() for c in counts)
        summaries.append(Column(name, len(filled), counts, mean, are_numbers, are_whole))
    return tuple(summaries)


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
        if recurs or (column.is_number and is_amount(cell)):
            return False
    return None


def has_usual_name(cells: Sequence[str]) -> bool:
    """Return whether one of the cells of a first row is the usual name of a column."""
    return any(normal(cell) in _ARE_NAMES for cell in cells)
