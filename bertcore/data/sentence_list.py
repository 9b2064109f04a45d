"""A short list of one's own sentences: one per line, with marked words, pairs and labels."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from bertcore.data.texts_file import Sentence, cut_note
from bertcore.tokenizer.truncation import MOST_CHARACTERS

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
    found = [line for line in map(_line, text.splitlines()) if line.text]
    if not found:
        raise ValueError("there is no sentence in the list. Write one per line.")
    notes = []
    if len(found) > MOST_LINES:
        notes.append(f"There are {len(found):,} sentences: the first {MOST_LINES} were taken.")
    lines, most = found[:MOST_LINES], MOST_CHARACTERS
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
    found = [mark for mark in _MARKED.finditer(text) if not _is_in_word(text, *mark.span())]
    marks = tuple(
        Span(mark.start(1) - 2 * number - 1, mark.end(1) - 2 * number - 1)
        for number, mark in enumerate(found)
    )
    signs = {place for mark in found for place in (mark.start(), mark.end() - 1)}
    return "".join(c for place, c in enumerate(text) if place not in signs), marks


def _is_in_word(text: str, start: int, end: int) -> bool:
    around = text[start - 1 : start] + text[end : end + 1]
    return any(one.isdigit() or one.lower() != one.upper() for one in around)
