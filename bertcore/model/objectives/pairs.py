"""Objectives that judge a pair: next sentence (BERT) and sentence order (ALBERT)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertcore.model.objectives.row import Ids, Row

RANDOM, EXCHANGED = 0.5, 0.5
"""The share of random second texts, and of exchanged ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A pair as the network reads it, and its label."""

    input_ids: Ids
    """[T]"""
    like: Ids
    """For each token the place of the original row that is alike in kind, [T]: the same special
    token, or the first token of text A or B. Segment ids are taken from there."""
    label: int
    """1: text B is random (next sentence), or the texts are exchanged (sentence order); 0: they
    are as they were."""


def next_sentence(
    row: Row, rng: np.random.Generator, *, second_begins: int | None, others: Sequence[Ids]
) -> Judged:
    """Replace text B with another text in half of the draws; the label states whether.

    Args:
        second_begins: The place of the first token of text B; None: there is no pair.
        others: Candidate texts for a random B, as ids without special tokens. One longer than text
            B is truncated to its length.

    ValueError if there is no pair, or no other text.

    Source: Devlin et al. 2019, section 3.1.
    """
    first, second = pair_of(row, second_begins)
    assert second_begins is not None, "pair_of refuses a row without a pair"
    others = [other for other in others if len(other)]
    if not others:
        raise ValueError("there is no other text for a random B. Give at least one.")
    is_random = bool(rng.random() < RANDOM)
    other = others[int(rng.integers(len(others)))][: len(second)]
    return _judged(row, second_begins, first, other if is_random else second, int(is_random))


def sentence_order(row: Row, rng: np.random.Generator, *, second_begins: int | None) -> Judged:
    """Exchange the two texts in half of the draws; the label states whether.

    Args and errors are those of `next_sentence`, without other texts.

    Source: Lan et al. 2020, section 3.1.
    """
    first, second = pair_of(row, second_begins)
    assert second_begins is not None, "pair_of refuses a row without a pair"
    if rng.random() < EXCHANGED:
        return _judged(row, second_begins, second, first, 1)
    return _judged(row, second_begins, first, second, 0)


def pair_of(row: Row, second_begins: int | None) -> tuple[Ids, Ids]:
    """Return the ids of text A and of text B, without special tokens.

    ValueError if one of them is missing.
    """
    places = row.text_places
    begins = len(row) if second_begins is None else second_begins
    first, second = places[places < begins], places[places >= begins]
    if not len(first) or not len(second):
        raise ValueError("this objective needs a pair: write a text B, or a second sentence.")
    return row.ids[first], row.ids[second]


def _judged(row: Row, second_begins: int, first: Ids, second: Ids, label: int) -> Judged:
    """Replace the texts of a pair with two others, keeping its special tokens."""
    places = row.text_places
    of_a, of_b = places[places < second_begins], places[places >= second_begins]
    before, between, after = (
        np.arange(of_a[0]),
        np.arange(of_a[-1] + 1, of_b[0]),
        np.arange(of_b[-1] + 1, len(row)),
    )
    ids = [row.ids[before], first, row.ids[between], second, row.ids[after]]
    of_first, of_second = np.full(len(first), of_a[0]), np.full(len(second), of_b[0])
    like = [before, of_first, between, of_second, after]
    return Judged(np.concatenate(ids), np.concatenate(like).astype(np.int64), label)
