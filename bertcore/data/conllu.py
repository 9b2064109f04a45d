"""Sentences with syntax, read from CoNLL-U, the format of Universal Dependencies."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from bertcore.data.files import MAX_WORDS, UTF8

_FORM, _TAG, _HEAD, _RELATION, _MISC = 1, 3, 6, 7, 9
_HEAD_NUMBER = re.compile(r"[0-9]{1,9}")
_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
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
        on_bad: Called with what is wrong with a sentence, which is left out if this returns.
        needs_trees: Whether a word without a head or a relation is wrong.

    ValueError if a line is damaged, with its number, and `on_bad` does not take it, or there is no
    sentence.

    Source: universaldependencies.org/format.html, version 2.
    """
    sentences: list[ParsedSentence] = []
    block: list[tuple[int, list[str]]] = []
    for number, raw in enumerate(chain(lines, [""]), start=1):
        line = raw.rstrip("\r\n").removeprefix("\ufeff" if number == 1 else "")
        if line.strip():
            if not line.startswith("#") and len(block) < 2 * MAX_WORDS:
                block.append((number, line.split("\t")))
        elif block:
            sentence = _sentence(block, needs_trees=needs_trees)
            if isinstance(sentence, ParsedSentence):
                sentences.append(sentence)
            else:
                on_bad(f"line {sentence[0]} of {name}: {sentence[1]}")
            block = []
    if not sentences:
        raise ValueError(
            f"{name} has no sentence. CoNLL-U has one word per line, in 10 tab-separated columns, "
            "and an empty line after each sentence."
        )
    return tuple(sentences)


def _sentence(
    block: Sequence[tuple[int, list[str]]], *, needs_trees: bool
) -> ParsedSentence | tuple[int, str]:
    """Return a sentence from its lines, or the number of a wrong one and what is wrong."""
    words: list[list[str]] = []
    surface: list[tuple[str, str, int, int]] = []
    """Form of each token, the space behind it, and the first and the last of its words, from 1."""
    for number, columns in block:
        last = surface[-1][3] if surface else 0
        if wrong := _wrong(columns, len(words) + 1, last, needs_trees=needs_trees):
            return number, wrong
        if _EMPTY.fullmatch(columns[0]):
            continue
        space = " " * ("SpaceAfter=No" not in columns[_MISC].split("|"))
        if pair := _RANGE.fullmatch(columns[0]):
            surface.append((columns[_FORM], space, int(pair[1]), int(pair[2])))
            continue
        words.append(columns)
        if len(words) > last:
            surface.append((columns[_FORM], space, len(words), len(words)))
    start, num = block[0][0], len(words)
    begins = "the sentence that begins here"
    if not num:
        return start, f"{begins} has no word. Give each word a line."
    if surface[-1][3] > num:
        return start, f"{begins} ends within a multiword token: word {surface[-1][3]} is missing."
    heads = [int(w[_HEAD]) if _HEAD_NUMBER.fullmatch(w[_HEAD]) else num + 1 for w in words]
    if needs_trees and max(heads) > num:
        word, head = next((n, head) for n, head in enumerate(heads, start=1) if head > num)
        return start, f"in {begins}, word {word} has the head {head}, but there are {num} words."
    text, spans = "", []
    for form, space, first, last in surface:
        place, parts = len(text), [word[_FORM] for word in words[first - 1 : last]]
        is_split = "".join(parts) == form
        for part in parts:
            spans.append((place, place + len(part if is_split else form)))
            place += len(part) * is_split
        text += form + space
    return ParsedSentence(
        text=text.rstrip(" "),
        words=tuple(word[_FORM] for word in words),
        spans=tuple(spans),
        heads=tuple(
            NO_HEAD if head > num or head == number else head - 1
            for number, head in enumerate(heads, start=1)
        ),
        relations=tuple(word[_RELATION] or "_" for word in words),
        tags=tuple(word[_TAG] or "_" for word in words),
    )


def _wrong(columns: Sequence[str], number: int, covered: int, *, needs_trees: bool) -> str:
    """Return what is wrong with a line whose word should have this number; "" for nothing."""
    place = columns[0][:40] + "…" * (len(columns[0]) > 40)
    read = [columns[at] for at in (_FORM, _TAG, _RELATION) if at < len(columns)]
    if damage := UTF8.damage(read):
        return f"it {damage}."
    if len(columns) != 10:
        return (
            f"it has {len(columns)} column{'s' * (len(columns) != 1)}; expected 10, separated by "
            "tabs. Spaces do not count."
        )
    if _EMPTY.fullmatch(columns[0]):
        return ""
    if not columns[_FORM].strip():
        return "the word (column 2) is empty. Write its form there."
    if pair := _RANGE.fullmatch(columns[0]):
        is_next = int(pair[1]) == number > covered and int(pair[2]) >= number
        said = f"the multiword token {place!r} does not begin at the next word, {number}. "
        return "" if is_next else said + "Number the words 1, 2, 3, ..."
    if number > MAX_WORDS:
        return f"more than {MAX_WORDS:,} words; expected an empty line after each sentence."
    if columns[0] != str(number):
        said = f"the word's number is {place!r}; expected {number}. "
        return said + "Number the words of a sentence 1, 2, 3, ..."
    head = columns[_HEAD]
    if needs_trees and (not _HEAD_NUMBER.fullmatch(head) or int(head) == number):
        shown = head[:40] + "…" * (len(head) > 40)
        said = f"the head of word {number} (column 7) is {shown!r}; expected the number of "
        return said + "another word, or 0 for the root."
    if needs_trees and columns[_RELATION] in ("", "_"):
        return "the relation (column 8) is empty. Write its name, such as nsubj."
    return ""
