"""Words, templates and tests written for this project, and what a vocabulary can write of them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from bertcore.model.model import Model

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Group:
    """A group of people, and words for it."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TemplateAudit:
    """Templates, two groups and fillers that belong together."""

    name: str
    templates: tuple[str, ...]
    groups: tuple[Group, Group]
    fillers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AssociationTest:
    """Two sets of target words and two of attributes (WEAT)."""

    name: str
    targets: tuple[Group, Group]
    """X and Y, such as names of two groups."""
    attributes: tuple[Group, Group]
    """A and B, such as pleasant and unpleasant words."""
    source: str = ""
    """Where the words are from, if they are not ours."""

    @property
    def sets(self) -> tuple[Group, Group, Group, Group]:
        return (*self.targets, *self.attributes)


@lru_cache(maxsize=1)
def _shipped() -> dict[str, Any]:
    path = Path(__file__).parent / "data" / "sets.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def template_audits() -> tuple[TemplateAudit, ...]:
    """Return the shipped template audits."""
    data = _shipped()

    def group(name: str) -> Group:
        return Group(name, tuple(data["groups"][name]))

    return tuple(
        TemplateAudit(
            audit["name"],
            tuple(data["templates"][audit["fillers"]]),
            (group(audit["groups"][0]), group(audit["groups"][1])),
            tuple(data["fillers"][audit["fillers"]]),
        )
        for audit in data["audits"]
    )


def association_tests() -> tuple[AssociationTest, ...]:
    """Return the shipped association tests."""

    def two(sets: dict[str, list[str]]) -> tuple[Group, Group]:
        first, second = (Group(name, tuple(words)) for name, words in sets.items())
        return first, second

    return tuple(
        AssociationTest(
            test["name"], two(test["targets"]), two(test["attributes"]), test.get("source", "")
        )
        for test in _shipped()["associations"]
    )


def gender_pairs(part: Literal["direction", "probe"]) -> tuple[Pair, ...]:
    """Return the pairs of words that define the direction, or other ones that test a probe of it.

    The feminine word is the first.
    """
    return tuple((first, second) for first, second in _shipped()["gender"][part])


def word_pieces(bert: Model, word: str) -> list[int]:
    """Return the pieces of a word.

    ValueError if it is empty, is a special token, or has an unknown piece.
    """
    tokenizer = bert.tokenizer
    ids = tokenizer.encode_word(word)
    if not ids:
        raise ValueError(f"{word!r} has no visible characters. Give a word.")
    if tokenizer.unk_id in ids:
        raise ValueError(
            f"{word!r} cannot be written with this vocabulary: part of it becomes "
            f"{tokenizer.unk_token}. Leave it out, or use another word."
        )
    special = [i for i in ids if i in tokenizer.special_ids]
    if special:
        raise ValueError(f"{tokenizer.id_to_token(special[0])!r} is a special token, not a word.")
    return ids


def known_words(bert: Model, words: Iterable[str]) -> tuple[str, ...]:
    """Return the words that the vocabulary can write, in order."""
    known = []
    for word in words:
        try:
            word_pieces(bert, word)
        except ValueError:
            continue
        known.append(word)
    return tuple(known)


def known_group(bert: Model, group: Group) -> Group:
    """Return the group with the words that the vocabulary can write."""
    return Group(group.name, known_words(bert, group.words))


def known_pairs(bert: Model, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return the pairs whose two words the vocabulary can write."""
    return tuple(pair for pair in pairs if len(known_words(bert, pair)) == 2)


def left_out_note(before: Iterable[str], after: Iterable[str]) -> str | None:
    """Return a sentence about the words that were left out; None if none was."""
    left = set(after)
    gone = [word for word in dict.fromkeys(before) if word not in left]
    if not gone:
        return None
    listed = ", ".join(gone[:8]) + (" ..." if len(gone) > 8 else "")
    return f"Left out, because this vocabulary cannot write them ({len(gone)}): {listed}."
