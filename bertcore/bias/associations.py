"""Association tests on a checkpoint, beside what random words of the same frequency give."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bertcore.bias.own_sets import NamedAssociation, known_part
from bertcore.bias.slots import word_pieces
from bertcore.bias.word_association import (
    Association,
    AssociationTest,
    Vectors,
    association,
    chance_effects,
    table_vectors,
    text_vectors,
)
from bertcore.grammar import TokenCounts
from bertcore.model import Model

_UNEVEN = 0.25
"""Least difference between the shares of split words that is noted."""
LEAST_WORDS = 2
"""Fewest known words of each set; a test with fewer is left out."""


@dataclass(frozen=True, slots=True, eq=False)
class AssociationOutcome:
    """A test on a checkpoint's vectors."""

    test: NamedAssociation
    layer: int | None
    """Hidden state of the vectors; None: the token table."""
    association: Association
    chance: Vectors | None
    """Effect sizes of random target words; None without word counts, or in a hidden state."""

    def row(self) -> dict[str, Any]:
        x, y, a, b = self.test.test.names
        size, as_large = self.association.effect_size, float("nan")
        if self.chance is not None:
            as_large = float((np.abs(self.chance) >= abs(size)).mean())
        return {
            "test": self.test.name,
            "first_targets": x,
            "second_targets": y,
            "first_attributes": a,
            "second_attributes": b,
            "effect_size": size,
            "p_value": self.association.p_value,
            "partitions": self.association.num_partitions,
            "chance_sets_as_large": as_large,
        }


def known_tests(bert: Model, tests: Sequence[NamedAssociation]) -> list[NamedAssociation]:
    """Return the tests with the words that the vocabulary can write, if enough of them are known.

    ValueError if no test has enough.
    """
    known = [replace(test, test=known_part(bert, test.test)) for test in tests]
    known = [test for test in known if min(map(len, _sets(test))) >= LEAST_WORDS]
    if not known:
        raise ValueError(
            "this checkpoint's vocabulary cannot write the English words of any test. Choose "
            "another checkpoint, or run your own test with `bertscope bias weat FILE`."
        )
    return known


def run_association_tests(
    bert: Model,
    tests: Sequence[NamedAssociation],
    *,
    layer: int | None = None,
    pooling: str = "mean",
    on_fraction: Callable[[float], None] = lambda done: None,
) -> list[AssociationOutcome]:
    """Return the outcome of each test.

    Args:
        tests: Whose words the vocabulary can write.
        layer: Hidden state, with each word or sentence run by itself; None: the token table, or for
            tests of sentences the last hidden state.
        pooling: Pooling of a text's tokens in a hidden state.

    ValueError if a word cannot be written, or there is no such layer or pooling.
    """
    counts = TokenCounts.of_checkpoint(bert)
    outcomes = []
    for number, test in enumerate(tests):
        on_fraction(number / len(tests))
        sets = _sets(test)
        has_sentences = any(" " in text.strip() for texts in sets for text in texts)
        state = -1 if layer is None and has_sentences else layer
        if state is None:
            vectors = [table_vectors(bert, words) for words in sets]
        else:
            vectors = [text_vectors(bert, texts, layer=state, pooling=pooling) for texts in sets]
        chance = None
        if state is None and counts is not None:
            chance = chance_effects(bert, test.test, counts)
        found = association(*vectors)
        if not has_sentences:
            note = " ".join(filter(None, (found.note, _note_on_pieces(bert, test.test))))
            found = replace(found, note=note)
        outcomes.append(AssociationOutcome(test, state, found, chance))
    return outcomes


def _note_on_pieces(bert: Model, test: AssociationTest) -> str:
    """Return what it means that far more words of one target set are split than of the other."""
    split = [sum(len(word_pieces(bert, word)) > 1 for word in words) for words in test.targets]
    shares = [number / len(words) for number, words in zip(split, test.targets, strict=True)]
    if abs(shares[0] - shares[1]) < _UNEVEN:
        return ""
    counted = [
        f"{number} of {len(words)} words of {name!r}"
        for number, words, name in zip(split, test.targets, test.names[:2], strict=True)
    ]
    return (
        f"This vocabulary splits {counted[0]} into pieces, and {counted[1]}: rare words, whose "
        "pieces belong to other words too, are compared with frequent ones, and d measures that "
        "as well."
    )


def _sets(test: NamedAssociation) -> tuple[tuple[str, ...], ...]:
    return (*test.test.targets, *test.test.attributes)
