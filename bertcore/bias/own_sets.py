"""Shipped word sets and templates, written for this project, and association tests from files."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bertcore.bias.slots import known_words
from bertcore.bias.templates import Group
from bertcore.bias.word_association import AssociationTest
from bertcore.data.files import json_text
from bertcore.debiasing import direction_pairs, probe_pairs
from bertcore.model import Model

SETS = Path(__file__).parent / "data" / "sets.json"
_PARTS = ("targ1", "targ2", "attr1", "attr2")


@dataclass(frozen=True, slots=True)
class TemplateAudit:
    """Templates, two groups and fillers that belong together."""

    name: str
    templates: tuple[str, ...]
    groups: tuple[Group, Group]
    fillers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedAssociation:
    """An association test and its name."""

    name: str
    test: AssociationTest
    source: str = ""
    """Where the words are from, if they are not ours."""


@dataclass(frozen=True, slots=True)
class DirectionWords:
    """Pairs of words that define a direction, and pairs for testing a probe."""

    pairs: tuple[tuple[str, str], ...]
    probe: tuple[tuple[str, str], ...]
    """None of them is among the pairs that define the direction."""


@lru_cache(maxsize=1)
def _sets() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(SETS.read_text(encoding="utf-8"))
    return data


def group_sets() -> dict[str, tuple[str, ...]]:
    """Return the shipped groups of people, by name."""
    return {name: tuple(words) for name, words in _sets()["groups"].items()}


def template_audits() -> tuple[TemplateAudit, ...]:
    """Return the shipped template audits."""
    data, groups = _sets(), group_sets()
    return tuple(
        TemplateAudit(
            name=audit["name"],
            templates=tuple(data["templates"][audit["fillers"]]),
            groups=(
                Group(audit["groups"][0], groups[audit["groups"][0]]),
                Group(audit["groups"][1], groups[audit["groups"][1]]),
            ),
            fillers=tuple(data["fillers"][audit["fillers"]]),
        )
        for audit in data["audits"]
    )


def association_tests() -> tuple[NamedAssociation, ...]:
    """Return the shipped association tests."""
    return tuple(
        NamedAssociation(
            each["name"], _test(each["targets"], each["attributes"]), each.get("source", "")
        )
        for each in _sets()["associations"]
    )


def direction_words(name: str = "gender") -> DirectionWords:
    """Return the pairs of words of a shipped direction.

    ValueError if there is none of that name.
    """
    return DirectionWords(direction_pairs(name), probe_pairs(name))


def paired_sentences(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return our own sentences that differ only in the words of a pair of nouns or pronouns.

    Pronouns are placed where they fit, as subjects or objects; nouns get an article.
    """
    data = _sets()["contexts"]
    found = []
    for pair in pairs:
        is_subject, is_object = pair == ("she", "he"), pair == ("her", "him")
        contexts = [] if is_object else list(data["subject"])
        contexts += [] if is_subject else data["object"]
        words = pair if is_subject or is_object else tuple(f"the {word}" for word in pair)
        for context in contexts:
            first, second = (_sentence(context, word) for word in words)
            found.append((first, second))
    return found


def _sentence(context: str, word: str) -> str:
    text = context.replace("[X]", word)
    return text[:1].upper() + text[1:]


def known_part(bert: Model, test: AssociationTest) -> AssociationTest:
    """Return a test with only the words that the vocabulary can write; sentences are kept."""

    def known(texts: tuple[str, ...]) -> tuple[str, ...]:
        if any(" " in text.strip() for text in texts):
            return texts
        return known_words(bert, texts)

    (x, y), (a, b) = test.targets, test.attributes
    return AssociationTest((known(x), known(y)), (known(a), known(b)), test.names)


def known_pairs(bert: Model, pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the pairs whose two words the vocabulary can write."""
    return tuple(pair for pair in pairs if len(known_words(bert, pair)) == 2)


def read_association(path: Path) -> NamedAssociation:
    """Read an association test from JSON in the format of the SEAT data.

    An object with targ1, targ2, attr1 and attr2, each with a category and a list of examples, which
    are words or sentences. The file may be compressed as .gz or .xz. ValueError if the file is not
    one. OSError if it cannot be opened.
    """
    what = (
        f"{str(path)!r} is not an association test; expected JSON with targ1, targ2, attr1 and "
        "attr2, each an object with a category and a list of examples"
    )
    try:
        data = json.loads(json_text(path))
        sets = [data[part] for part in _PARTS]
        names = [str(each["category"]) for each in sets]
        texts = [each["examples"] for each in sets]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{what} ({type(error).__name__}: {error}).") from error
    for name, examples in zip(names, texts, strict=True):
        if not isinstance(examples, list) or not all(
            isinstance(example, str) for example in examples
        ):
            raise ValueError(f"{what}; the examples of {name!r} are not a list of texts.")
        if not any(example.strip() for example in examples):
            raise ValueError(f"{what}; {name!r} has no example.")
    first, second = (
        dict(zip(names[:2], texts[:2], strict=True)),
        dict(zip(names[2:], texts[2:], strict=True)),
    )
    if len(first) < 2 or len(second) < 2:
        raise ValueError(f"{what}; two of its sets have the same category.")
    for two in (first, second):
        _check_apart(path, two)
    return NamedAssociation(path.stem, _test(first, second))


def _check_apart(path: Path, sets: dict[str, list[str]]) -> None:
    (one, texts), (other, more) = sets.items()
    both = {text.strip().lower() for text in texts} & {text.strip().lower() for text in more}
    if both:
        raise ValueError(
            f"{str(path)!r}: {min(both)!r} is in the sets {one!r} and {other!r}; a shared word "
            "carries no information. Leave it out of one."
        )


def _test(targets: dict[str, list[str]], attributes: dict[str, list[str]]) -> AssociationTest:
    x, y = (tuple(words) for words in targets.values())
    a, b = (tuple(words) for words in attributes.values())
    first, second, third, fourth = (*targets, *attributes)
    return AssociationTest((x, y), (a, b), (first, second, third, fourth))
