"""WEAT and SEAT: are two sets of words or sentences closer to different attributes?"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.space.map_quality import are_copies
from bertcore.bias.slots import word_pieces
from bertcore.grammar import TokenCounts
from bertcore.model import Model

Vectors = NDArray[np.float64]
MOST_EXACT = 100_000
"""Maximum number of partitions that are all tried; if there are more, this many are drawn."""
_CHUNK = 4096
_ROUNDING = 1e-12  # differences of cosines that float64 makes of equal ones


class AssociationTest(NamedTuple):
    """Two target sets and two attribute sets: words for WEAT, sentences for SEAT."""

    targets: tuple[tuple[str, ...], tuple[str, ...]]
    """X and Y, such as names of two groups."""
    attributes: tuple[tuple[str, ...], tuple[str, ...]]
    """A and B, such as pleasant and unpleasant words."""
    names: tuple[str, str, str, str] = ("X", "Y", "A", "B")


@dataclass(frozen=True, slots=True)
class Association:
    """The outcome of an association test."""

    effect_size: float
    """Cohen's d, -2 to 2; above 0: X is closer to A than Y is."""
    p_value: float
    """One-sided: the share of partitions of X and Y into sets of these sizes whose statistic is at
    least as large."""
    num_partitions: int
    """How many were tried."""
    is_exact: bool
    """Whether these are all partitions."""
    scores: tuple[tuple[float, ...], tuple[float, ...]]
    """Of each target word of X and of Y: mean cosine to A minus mean cosine to B."""
    note: str = ""
    """Why the numbers mean less than they look, such as equal words; else empty."""


def association(x: Vectors, y: Vectors, a: Vectors, b: Vectors, *, seed: int = 0) -> Association:
    """Return the effect size and permutation p-value of four sets of vectors.

    Args:
        x, y: Targets, [n, D] and [m, D], at least two each.
        a, b: Attributes, at least one each.
        seed: Seed of the partitions drawn if there are more than MOST_EXACT.

    ValueError if a set is too small, or a vector is zero or not finite.

    Source: Caliskan, Bryson and Narayanan 2017. The standard deviation is the population's, as in
        the package wefe; with that of a sample (May et al. 2019) effects are a little smaller.
    """
    for name, vectors, least in (("X", x, 2), ("Y", y, 2), ("A", a, 1), ("B", b, 1)):
        if len(vectors) < least:
            raise ValueError(
                f"set {name} has {len(vectors)} usable entries; expected at least {least}."
            )
    normed = [_normed(vectors) for vectors in (x, y, a, b)]
    first, second = (
        (target @ normed[2].T).mean(1) - (target @ normed[3].T).mean(1) for target in normed[:2]
    )
    both = np.concatenate([first, second])
    effect = _standardised(both, len(first))
    p_value, number, is_exact = _permutation_test(both, len(first), seed)
    scores = tuple(first.tolist()), tuple(second.tolist())
    return Association(effect, p_value, number, is_exact, scores, _note(normed, both))


def _note(sets: Sequence[Vectors], scores: Vectors) -> str:
    """Return what equal vectors among targets X, Y and attributes A, B make of a test."""
    if scores.std() <= _ROUNDING:
        return "All target words score the same, so d = 0 and p = 1 say nothing."
    targets, attributes = np.concatenate(sets[:2]), np.concatenate(sets[2:])
    found = []
    for name, vectors in (("target", targets), ("attribute", attributes)):
        copies = int(are_copies(vectors).sum())
        if copies:
            found.append(
                f"{copies} of {len(vectors)} {name} words have the vector of another one (the "
                "same word twice, or spellings with the same pieces): they count twice, and p is "
                "too sure."
            )
    both = int(((targets @ attributes.T).max(1) > 1 - _ROUNDING).sum())
    if both:
        found.append(
            f"{both} target words have the vector of an attribute: a cosine of 1 with itself is no "
            "association."
        )
    return " ".join(found)


def _normed(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise ValueError("a vector is zero or not finite, so it has no cosine. Check the weights.")
    unit: Vectors = vectors / norms
    return unit


def _permutation_test(scores: Vectors, size: int, seed: int) -> tuple[float, int, bool]:
    """Return the p-value, the number of partitions counted, and whether these are all.

    The statistic is the difference of the means, which for sets of equal size orders partitions
    like the difference of the sums.
    """
    number = math.comb(len(scores), size)
    is_exact = number <= MOST_EXACT
    total = scores.sum()

    def statistic(sums: Vectors) -> Vectors:
        means: Vectors = sums / size - (total - sums) / (len(scores) - size)
        return means

    observed = statistic(np.array([scores[:size].sum()]))[0]
    reached = 0
    for chosen in _partitions(len(scores), size, seed, is_exact=is_exact):
        values = statistic(scores[chosen].sum(1))
        reached += int((values >= observed - _ROUNDING).sum())
    if is_exact:
        return reached / number, number, True
    # The observed partition counts as one of those drawn (Phipson and Smyth 2010).
    return (reached + 1) / (MOST_EXACT + 1), MOST_EXACT, False


def _partitions(number: int, size: int, seed: int, *, is_exact: bool) -> Iterator[NDArray[np.intp]]:
    """Yield members of the first set of partitions, [n, size], all of them or drawn."""
    if is_exact:
        every = combinations(range(number), size)
        while part := [each for _, each in zip(range(_CHUNK), every, strict=False)]:
            yield np.array(part)
        return
    generator = np.random.default_rng(seed)
    for start in range(0, MOST_EXACT, _CHUNK):
        rows = min(_CHUNK, MOST_EXACT - start)
        order = generator.random((rows, number)).argsort(1)
        yield order[:, :size]


def table_vectors(bert: Model, words: Sequence[str]) -> Vectors:
    """Return the mean token embedding of each word's pieces, [N, E].

    ValueError if a word cannot be written with the vocabulary.
    """
    table = bert.module.token_table.detach().float().cpu().numpy().astype(np.float64)
    return np.stack([table[word_pieces(bert, word)].mean(0) for word in words])


def text_vectors(bert: Model, texts: Sequence[str], *, layer: int, pooling: str) -> Vectors:
    """Return one vector for each word or sentence, [N, D], as from `Model.encode`."""
    return bert.encode(texts, layer=layer, pooling=pooling).double().numpy()


def chance_effects(
    bert: Model,
    test: AssociationTest,
    counts: TokenCounts,
    *,
    num_draws: int = 200,
    seed: int = 0,
) -> Vectors:
    """Return effect sizes of random target words as frequent as the test's own, [num_draws].

    Each target word is replaced by a whole word of the vocabulary from the hundred nearest in
    frequency; the attributes stay. On the token table. Shows which effect sizes are meaningless.

    ValueError if a word cannot be written, or the vocabulary has too few words.
    """
    table = bert.module.token_table.detach().float().cpu().numpy().astype(np.float64)
    usual = _whole_words(bert, counts)
    sizes = [len(set_) for set_ in test.targets]
    if len(usual) < 2 * sum(sizes):
        raise ValueError(
            f"the vocabulary has {len(usual)} whole words with counts; chance sets need at least "
            f"{2 * sum(sizes)}."
        )
    order = usual[np.argsort(counts.counts[usual], kind="stable")]
    ranked = counts.counts[order]
    places = [
        int(np.searchsorted(ranked, counts.counts[word_pieces(bert, word)].min()))
        for set_ in test.targets
        for word in set_
    ]
    a, b = (table_vectors(bert, words) for words in test.attributes)
    generator = np.random.default_rng(seed)
    found = np.empty(num_draws)
    for draw in range(num_draws):
        chosen: list[int] = []
        for place in places:
            near = [
                int(i)
                for i in order[max(0, place - 50) : place + 50 + sum(sizes)]
                if int(i) not in chosen
            ]
            chosen.append(near[generator.integers(len(near))])
        vectors = table[chosen]
        found[draw] = _effect(vectors[: sizes[0]], vectors[sizes[0] :], a, b)
    return found


def _effect(x: Vectors, y: Vectors, a: Vectors, b: Vectors) -> float:
    normed = [_normed(vectors) for vectors in (x, y, a, b)]
    both = np.concatenate(normed[:2])
    scores = (both @ normed[2].T).mean(1) - (both @ normed[3].T).mean(1)
    return _standardised(scores, len(x))


def _standardised(scores: Vectors, size: int) -> float:
    """Return the difference of two sets' means in standard deviations of all; 0 without spread."""
    spread = scores.std()
    if spread <= _ROUNDING:
        return 0.0
    return float((scores[:size].mean() - scores[size:].mean()) / spread)


def _whole_words(bert: Model, counts: TokenCounts) -> NDArray[np.intp]:
    """Return the ids of counted pieces that are whole words of letters."""
    tokenizer = bert.tokenizer
    return np.array(
        [
            i
            for i in np.flatnonzero(counts.counts).tolist()
            if tokenizer.id_to_token(i).isalpha() and len(tokenizer.id_to_token(i)) > 2
        ],
        dtype=np.intp,
    )
