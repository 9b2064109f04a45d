"""BERT's text normalisation, character by character, with every step recorded."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from bertcore.tokenizer.characters import (
    combining_class,
    decompose,
    is_accent,
    is_chinese,
    is_removed,
    is_whitespace,
    lower,
)


class Character(NamedTuple):
    """One character of a normalised text, and its place in the original."""

    text: str
    start: int
    end: int


class Stage:
    """The text after one step, as characters with their places in the original."""

    def __init__(self, name: str, characters: list[Character]) -> None:
        self.name = name
        self.characters = characters
        self._starts = [character.start for character in characters]

    def slice(self, start: int, end: int) -> str:
        """Return this step's result for the original characters from `start` to `end`."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return "".join(character.text for character in self.characters[first:last])


def normalize(
    text: str,
    start: int,
    *,
    do_lower_case: bool,
    strip_accents: bool,
    tokenize_chinese_chars: bool,
) -> list[Stage]:
    """Return the original text and the text after each step that the options ask for.

    Args:
        text: A text, or the part of one that begins at character `start`.
        start: Offset to add to every position.

    Source: BertNormalizer of the `tokenizers` library, in its order: accents are stripped before
        the text is lower-cased.
    """
    raw = [Character(c, start + i, start + i + 1) for i, c in enumerate(text)]
    stages = [Stage("original", raw)]
    steps: list[tuple[str, bool, Callable[[Sequence[Character]], list[Character]]]] = [
        ("clean", True, _clean),
        ("set Chinese characters apart", tokenize_chinese_chars, _set_chinese_apart),
        ("strip accents", strip_accents, _strip_accents),
        ("lower-case", do_lower_case, _lower),
    ]
    for name, is_wanted, step in steps:
        if is_wanted:
            stages.append(Stage(name, step(stages[-1].characters)))
    return stages


def _clean(characters: Sequence[Character]) -> list[Character]:
    """Drop control characters and turn all white space into plain spaces."""
    return [
        Character(" ", c.start, c.end) if is_whitespace(c.text) else c
        for c in characters
        if not is_removed(c.text)
    ]


def _set_chinese_apart(characters: Sequence[Character]) -> list[Character]:
    """Put a space on both sides of each Chinese character, which makes it a word."""
    apart = []
    for c in characters:
        space = [Character(" ", c.start, c.end)] if is_chinese(c.text) else []
        apart += [*space, c, *space]
    return apart


def _strip_accents(characters: Sequence[Character]) -> list[Character]:
    """Decompose letters (NFD) and drop the accents.

    All parts of a decomposed character have its place in the original. If sorting the accents moves
    a part past another character's, the places stay in order, as in the library.
    """
    parts = [
        (combining_class(part), part, is_first)
        for c in characters
        for part, is_first in _with_first(decompose(c.text))
    ]
    places = iter(characters)
    place = Character("", 0, 0)
    stripped = []
    for is_letter, run in groupby(parts, key=lambda part: part[0] == 0):
        letters_or_accents = list(run)
        if not is_letter:
            letters_or_accents.sort(key=lambda part: part[0])
        for _, part, is_first in letters_or_accents:
            if is_first:
                place = next(places)
            if not is_accent(part):
                stripped.append(Character(part, place.start, place.end))
    return stripped


def _with_first(parts: str) -> list[tuple[str, bool]]:
    return [(part, index == 0) for index, part in enumerate(parts)]


def _lower(characters: Sequence[Character]) -> list[Character]:
    """Lower-case each character by itself; one may become two, with the same place."""
    return [Character(part, c.start, c.end) for c in characters for part in lower(c.text)]
