"""Tags of words (part of speech, entity ...), and the rows of pieces and words that get them.

A row has the tags of the word in which it begins. If a treebank splits "didn't" into "did" and
"n't", the piece "did" has the tags of the first, "##n", "'" and "t" those of the second.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Span = tuple[int, int]


class WordTags(NamedTuple):
    """The W words of a text, and a file's tags for each."""

    words: tuple[str, ...]
    spans: tuple[Span, ...]
    """Characters of each word in the text; several may share one (French "du" = de + le)."""
    values: tuple[tuple[Any, ...], ...]
    """Column -> the value of each word, None where the file has none."""


@dataclass(frozen=True, slots=True)
class RowTags:
    """The tags of R rows."""

    columns: tuple[pa.Array, ...]
    """Each [R]; null where there is none."""
    num_lost: int = 0
    """Words whose tags no row has: no row begins in them."""
    first_lost: tuple[int, int] | None = None
    """Text and word of the first."""
    num_untagged: int = 0
    """Rows that begin in no word, special tokens aside."""


def joined(words: Sequence[str]) -> tuple[str, tuple[Span, ...]]:
    """Return the words joined by spaces, and their spans in the result.

    >>> joined(["It", "rained", "."])
    ('It rained .', ((0, 2), (3, 9), (10, 11)))
    """
    spans, start = [], 0
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return " ".join(words), tuple(spans)


def spans_in(text: str, spans: Sequence[Span], other: str) -> tuple[Span, ...] | None:
    """Return the spans of a text in another one that differs from it only in white space.

    Returns:
        One for each; None if other characters differ too.

    >>> spans_in("It rained .", [(0, 2), (3, 9), (10, 11)], "It  rained.")
    ((0, 2), (4, 10), (10, 11))
    """
    here, there = _places(text), _places(other)
    if [text[i] for i in here] != [other[i] for i in there]:
        return None
    found = []
    for start, end in spans:
        first, last = bisect_left(here, start), bisect_left(here, end) - 1
        found.append((there[first], there[last] + 1) if first <= last else (0, 0))
    return tuple(found)


def owners(length: int, spans: Sequence[Span], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the word in which each piece begins, the first of several; -1 for none.

    Args:
        length: Characters of the text.
        spans: Of its words.
        starts: First character of each piece, [T].

    Returns:
        [T].
    """
    owner = np.full(length + 1, -1, dtype=np.int64)
    words = {span: word for word, span in reversed([*enumerate(spans)])}  # each span once
    for (first, end), word in words.items():
        owner[first:end] = word
    return owner[np.minimum(starts, length)]


def row_tags(
    lengths: Sequence[int],
    tags: Sequence[WordTags],
    kinds: Sequence[pa.DataType],
    texts: NDArray[np.int64],
    starts: NDArray[np.int64],
    is_special: NDArray[np.bool_],
) -> RowTags:
    """Return the tags of the rows of some texts.

    Args:
        lengths: Characters of each text.
        tags: Tags of each text.
        kinds: Type of each column.
        texts: Number of each row's text, ascending, [R].
        starts: First character of each row in its text, [R].
        is_special: Rows of special tokens, which belong to no word, [R].
    """
    bounds = np.searchsorted(texts, np.arange(len(tags) + 1))
    firsts = np.cumsum([0, *(len(one.words) for one in tags)])
    words = np.full(len(texts), -1, dtype=np.int64)
    for number, (length, one) in enumerate(zip(lengths, tags, strict=True)):
        rows = slice(bounds[number], bounds[number + 1])
        found = owners(length, one.spans, starts[rows])
        found[is_special[rows]] = -1
        words[rows] = np.where(found < 0, -1, found + firsts[number])
    places = pa.array(words, mask=words < 0)
    columns = tuple(
        pa.array([value for one in tags for value in one.values[column]], kind).take(places)
        for column, kind in enumerate(kinds)
    )
    is_lost = np.ones(firsts[-1], dtype=np.bool_)
    is_lost[words[words >= 0]] = False
    lost = np.flatnonzero(is_lost)
    first_lost = None
    if len(lost):
        text = int(np.searchsorted(firsts, lost[0], side="right")) - 1
        first_lost = text, int(lost[0] - firsts[text])
    return RowTags(columns, len(lost), first_lost, int(((words < 0) & ~is_special).sum()))


def _places(text: str) -> list[int]:
    """Return the places of the characters that are not white space."""
    return [place for place, sign in enumerate(text) if not sign.isspace()]
