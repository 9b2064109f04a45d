"""WEAT: are two sets of words closer to different attributes than chance would have it?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.bias.words import (
    AssociationTest,
    association_tests,
    known_group,
    word_pieces,
)
from bertcore.model.model import Model

Vectors = NDArray[np.float64]
MOST_EXACT = 100_000
"""Maximum number of partitions that are all tried; if there are more, this many are drawn."""
LEAST_WORDS = 2
"""Fewest known words of each set; a test with fewer is left out."""
_CHUNK = 4096
_DECIMALS = 12  # of a cosine that are no rounding
_UNEVEN = 0.25
"""Least difference between the shares of split words that is noted."""


@dataclass(frozen=True, slots=True)
class Association:
    """The outcome of an association test."""

    effect_size: float
    """Cohen's d, -2 to 2; above 0: X is closer to A than Y is."""
    p_value: float
    """One-sided: the share of partitions of X and Y into sets of these sizes whose statistic is at
    least as large."""
    scores: tuple[tuple[float, ...], tuple[float, ...]]
    """Of each target word of X and of Y: mean cosine to A minus mean cosine to B."""


def word_vectors(bert: Model, words: Sequence[str], layer: int | None = None) -> Vectors:
    """Return a vector for each word, float64, [N, D].

    The mean over hidden_states[layer], 0 the input, of the word as a text by itself; without a
    layer, the mean of its pieces' rows of the token table. ValueError if a word cannot be written
    with the vocabulary, or there is no such layer.
    """
    if layer is not None:
        return bert.encode(words, layer=layer, pooling="mean").double().numpy()
    table = bert.module.token_table.detach().float().cpu().numpy().astype(np.float64)
    return np.stack([table[word_pieces(bert, word)].mean(0) for word in words])


def association(x: Vectors, y: Vectors, a: Vectors, b: Vectors, *, seed: int = 0) -> Association:
    """Return the effect size and permutation p-value of four sets of vectors.

    Args:
        x, y: Targets, [n, D] and [m, D], at least two each.
        a, b: Attributes, at least one each.

    ValueError if a vector is zero or not finite.

    Source: Caliskan, Bryson and Narayanan 2017. The standard deviation is the population's, as in
        the package wefe; with that of a sample (May et al. 2019) effects are a little smaller.
    """
    x, y, a, b = map(_normed, (x, y, a, b))
    scores = [(target @ a.T).mean(1) - (target @ b.T).mean(1) for target in (x, y)]
    both = np.concatenate(scores)
    difference, spread = scores[0].mean() - scores[1].mean(), both.std()
    effect = float(difference / spread) if spread > 10**-_DECIMALS else 0.0  # all alike
    first, second = (tuple(each.tolist()) for each in scores)
    return Association(effect, _permutation_test(scores[0], scores[1], seed), (first, second))


def _normed(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise ValueError("a vector is zero or not finite, so it has no cosine. Check the weights.")
    unit: Vectors = vectors / norms
    return unit


def _permutation_test(first: Vectors, second: Vectors, seed: int) -> float:
    """Return the p-value of the difference of the means; for equal sets, that of the sums."""
    from scipy.stats import permutation_test

    tested = permutation_test(
        # Equal cosines may differ by rounding.
        (first.round(_DECIMALS), second.round(_DECIMALS)),
        lambda x, y, axis: x.mean(axis) - y.mean(axis),
        n_resamples=MOST_EXACT,
        batch=_CHUNK,
        alternative="greater",
        rng=np.random.default_rng(seed),
    )
    return float(tested.pvalue)


def known_tests(bert: Model, tests: Sequence[AssociationTest]) -> list[AssociationTest]:
    """Return the tests with the words that the vocabulary can write, if enough of them are known.

    ValueError if no test has enough.
    """
    known = []
    for test in tests:
        x, y, a, b = (known_group(bert, group) for group in test.sets)
        if min(len(group.words) for group in (x, y, a, b)) >= LEAST_WORDS:
            known.append(replace(test, targets=(x, y), attributes=(a, b)))
    if not known:
        raise ValueError(
            "this checkpoint's vocabulary cannot write the English words of any test. Choose "
            "another checkpoint."
        )
    return known


def associate(bert: Model, test: AssociationTest, *, layer: int | None = None) -> Association:
    """Return the outcome of a test on a checkpoint's vectors; arguments as for `word_vectors`."""
    return association(*(word_vectors(bert, group.words, layer) for group in test.sets))


def note_on_pieces(bert: Model, test: AssociationTest) -> str | None:
    """Return what it means that far more words of one target set are split than of the other."""
    split = [sum(len(word_pieces(bert, word)) > 1 for word in g.words) for g in test.targets]
    first, second = (n / len(g.words) for n, g in zip(split, test.targets, strict=True))
    if abs(first - second) < _UNEVEN:
        return None
    counted = [
        f"{n} of {len(group.words)} words of {group.name!r}"
        for n, group in zip(split, test.targets, strict=True)
    ]
    return (
        f"This vocabulary splits {counted[0]} into pieces, and {counted[1]}: rare words, whose "
        "pieces belong to other words too, are compared with frequent ones, and d measures that "
        "as well."
    )


@dataclass(frozen=True, slots=True)
class TargetWord:
    """A target word of a test."""

    word: str
    set: str
    words_of_set: int
    score: float
    """As in `Association.scores`."""


@dataclass(frozen=True, slots=True)
class AssociationOutcome:
    """A test with the words that the vocabulary can write, and its outcome."""

    test: AssociationTest
    association: Association
    note: str | None
    """That of `note_on_pieces`."""

    @property
    def words(self) -> list[TargetWord]:
        """The target words, the highest score of each set first."""
        sets = zip(self.test.targets, self.association.scores, strict=True)
        return [
            TargetWord(word, group.name, len(group.words), score)
            for group, scores in sets
            for word, score in sorted(zip(group.words, scores, strict=True), key=lambda w: -w[1])
        ]


def run_association_tests(
    bert: Model,
    layer: int | None = None,
    tests: Sequence[AssociationTest] = (),
    *,
    on_fraction: Callable[[float], None] = lambda done: None,
) -> tuple[AssociationOutcome, ...]:
    """Return the outcomes of the tests (by default the shipped) of which enough words are known.

    `layer` as for `word_vectors`. ValueError if no test has enough words.
    """
    known = known_tests(bert, tests or association_tests())
    outcomes = []
    for number, test in enumerate(known):
        on_fraction(number / len(known))
        found = associate(bert, test, layer=layer)
        outcomes.append(AssociationOutcome(test, found, note_on_pieces(bert, test)))
    return tuple(outcomes)


def run_association_test(
    bert: Model, test: str = "", layer: int | None = None
) -> AssociationOutcome:
    """Return the outcome of a shipped test; by default the first of which enough words are known.

    `layer` as for `word_vectors`. ValueError if there is no such test, or not enough of its words
    are known.
    """
    named = {each.name: each for each in association_tests()}
    if test and test not in named:
        raise ValueError(f"there is no test {test!r}; expected one of {', '.join(named)}.")
    first = known_tests(bert, [named[test]] if test else [*named.values()])[0]
    return run_association_tests(bert, layer, [first])[0]
