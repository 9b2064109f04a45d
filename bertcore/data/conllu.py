"""Sentences with syntax, read from CoNLL-U, the format of Universal Dependencies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bertcore.data.encodings import UTF8
from bertcore.data.files import MAX_WORDS

_NUM_COLUMNS = 10
_ID, _FORM, _TAG, _HEAD, _RELATION, _MISC = 0, 1, 3, 6, 7, 9
_WORD = re.compile(r"[1-9][0-9]*")
_HEAD_NUMBER = re.compile(r"[0-9]{1,9}")
_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY = re.compile(r"[0-9]+\.[1-9][0-9]*")
NO_HEAD = -2


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """One sentence of W syntactic words and the tree over them."""

    text: str
    """The forms put together; a space after each but where the file says SpaceAfter=No."""
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    """Characters of each word in `text`. Words that share one surface form and are not its parts
    (French "du" = de + le) all have the span of the whole."""
    heads: tuple[int, ...]
    """Place of each word's head in `words`; -1 for the root, NO_HEAD where the file has none."""
    relations: tuple[str, ...]
    """Relation of each word to its head, with its subtype: "nsubj:pass"; "_" where there is
    none."""
    tags: tuple[str, ...]
    """Universal part of speech of each word (column 4): "NOUN"; "_" where there is none."""


class _Word(NamedTuple):
    form: str
    head: int
    relation: str
    tag: str


@dataclass(slots=True)
class _Open:
    """A sentence that is being read."""

    line: int
    words: list[_Word]
    surface: list[tuple[str, bool, int, int]]
    """Form, whether a space follows, and the first and the last of its words, from 1."""


def _refuse(sentence: str) -> None:
    raise ValueError(sentence)


def read_conllu(
    lines: Iterable[str],
    name: str = "the file",
    on_bad: Callable[[str], None] = _refuse,
    *,
    needs_trees: bool = True,
) -> tuple[ParsedSentence, ...]:
    """Read all sentences of a CoNLL-U file.

    Comments and empty nodes (8.1) are left out. A multiword token (2-3) provides the text, its
    words the syntax.

    Args:
        lines: With or without their ends; a byte order mark is taken off.
        name: What to call it in messages.
        on_bad: Called with what is wrong with a sentence, which is left out if this returns.
        needs_trees: Whether a word without a head or a relation is wrong.

    ValueError if a line is damaged, with its number, and `on_bad` does not take it, or there is no
    sentence.

    Source: universaldependencies.org/format.html, version 2.
    """
    sentences: list[ParsedSentence] = []
    current: _Open | None = None
    is_bad = False  # the rest of an invalid sentence is skipped

    def finish(done: _Open) -> None:
        try:
            sentences.append(_finish(done, needs_trees=needs_trees))
        except ValueError as error:
            on_bad(f"line {done.line} of {name}: {error}")

    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip("\r\n").removeprefix("\ufeff" if number == 1 else "")
        if not line.strip():
            if current is not None:
                finish(current)
            current, is_bad = None, False
        elif not line.startswith("#") and not is_bad:
            current = current or _Open(number, [], [])
            try:
                _read(line, current, needs_trees=needs_trees)
            except ValueError as error:
                current, is_bad = None, True
                on_bad(f"line {number} of {name}: {error}")
    if current is not None:
        finish(current)
    if not sentences:
        raise ValueError(
            f"{name} has no sentence. CoNLL-U has one word per line, in 10 tab-separated columns, "
            "and an empty line after each sentence."
        )
    return tuple(sentences)


def _read(line: str, current: _Open, *, needs_trees: bool) -> None:
    columns = line.split("\t")
    read = (_FORM, _TAG, _RELATION)
    if damage := UTF8.damage([columns[place] for place in read if place < len(columns)]):
        raise ValueError(f"it {damage}.")
    if len(columns) != _NUM_COLUMNS:
        raise ValueError(
            f"it has {len(columns)} column{'s' * (len(columns) != 1)}; expected {_NUM_COLUMNS}, "
            "separated by tabs. Spaces do not count."
        )
    place, form, space = columns[_ID], columns[_FORM], "SpaceAfter=No" not in _features(columns)
    num_words = len(current.words)
    if _EMPTY.fullmatch(place):
        return
    if not form.strip():
        raise ValueError("the word (column 2) is empty. Write its form there.")
    covered = current.surface[-1][3] if current.surface else 0
    pair = _RANGE.fullmatch(place)
    if pair:
        first, last = int(pair[1]), int(pair[2])
        if first != num_words + 1 or last < first or first <= covered:
            raise ValueError(
                f"the multiword token {_quoted(place)} does not begin at the next word, "
                f"{num_words + 1}. Number the words 1, 2, 3, ..."
            )
        current.surface.append((form, space, first, last))
        return
    if num_words == MAX_WORDS:
        raise ValueError(
            f"the sentence has more than {MAX_WORDS:,} words; expected an empty line after each "
            "sentence."
        )
    if not _WORD.fullmatch(place) or int(place) != num_words + 1:
        raise ValueError(
            f"the word's number is {_quoted(place)}; expected {num_words + 1}. "
            "Number the words of a sentence 1, 2, 3, ..."
        )
    head, relation = columns[_HEAD], columns[_RELATION] or "_"
    has_head = bool(_HEAD_NUMBER.fullmatch(head)) and int(head) != num_words + 1
    if needs_trees and not has_head:
        raise ValueError(
            f"the head of word {place} (column 7) is {_quoted(head)}; expected the number of "
            "another word, or 0 for the root."
        )
    if needs_trees and relation == "_":
        raise ValueError("the relation (column 8) is empty. Write its name, such as nsubj.")
    number = int(head) if has_head else NO_HEAD + 1
    current.words.append(_Word(form, number, relation, columns[_TAG] or "_"))
    if num_words + 1 > covered:
        current.surface.append((form, space, num_words + 1, num_words + 1))


def _features(columns: Sequence[str]) -> list[str]:
    return columns[_MISC].split("|")


def _quoted(value: str) -> str:
    return repr(value if len(value) <= 40 else f"{value[:40]}…")


def _finish(current: _Open, *, needs_trees: bool) -> ParsedSentence:
    """Return the sentence with its text assembled."""
    num_words = len(current.words)
    if not num_words:
        raise ValueError("the sentence has no word. Give each word a line.")
    for number, word in enumerate(current.words, start=1):
        if needs_trees and word.head > num_words:
            raise ValueError(
                f"in the sentence that begins here, word {number} has the head {word.head}, but "
                f"there are {num_words} words."
            )
    if current.surface[-1][3] > num_words:
        raise ValueError(
            f"the sentence that begins here ends within a multiword token: word "
            f"{current.surface[-1][3]} is missing."
        )
    text, spans = "", []
    for form, space, first, last in current.surface:
        start = len(text)
        parts = [word.form for word in current.words[first - 1 : last]]
        if "".join(parts) == form:
            for part in parts:
                spans.append((start, start + len(part)))
                start += len(part)
        else:
            spans += [(start, start + len(form))] * len(parts)
        text += form + " " * space
    return ParsedSentence(
        text=text.rstrip(" "),
        words=tuple(word.form for word in current.words),
        spans=tuple(spans),
        heads=tuple(word.head - 1 if word.head <= num_words else NO_HEAD for word in current.words),
        relations=tuple(word.relation for word in current.words),
        tags=tuple(word.tag for word in current.words),
    )
