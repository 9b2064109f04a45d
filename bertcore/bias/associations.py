"""Association tests on a checkpoint, beside what random words of the same frequency give."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertcore.bias.own_sets import NamedAssociation, known_part
from bertcore.bias.word_association import (
    Association,
    Vectors,
    association,
    chance_effects,
    table_vectors,
    text_vectors,
)
from bertcore.grammar import TokenCounts
from bertcore.model import Model

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
        """Return the outcome as a row of a table."""
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
    known = [NamedAssociation(test.name, known_part(bert, test.test)) for test in tests]
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
        outcomes.append(AssociationOutcome(test, state, association(*vectors), chance))
    return outcomes


def _sets(test: NamedAssociation) -> tuple[tuple[str, ...], ...]:
    return (*test.test.targets, *test.test.attributes)
