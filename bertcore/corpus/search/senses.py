"""The occurrences of a word in a corpus, grouped by their vectors, layer by layer."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.corpus.encoded import EncodedCorpus
from bertcore.corpus.search.index import has_direction
from bertcore.corpus.search.places import Hit, Places

FEWEST = 8
"""Occurrences that can be grouped."""
MOST_GROUPS = 5
MOST_OCCURRENCES = 1000
"""If there are more, this many are drawn."""
_COMPONENTS = 10
_RESAMPLES = 8
NUM_NULLS = 19
"""Clouds without groups; a cloud like them exceeds the highest in one case in twenty."""
_NUM_EXAMPLES, _NUM_WORDS = 4, 5
_WINDOW = 60  # characters on each side in which typical words are looked for


@dataclass(frozen=True, slots=True)
class Sense:
    """A group of occurrences."""

    num: int
    words: tuple[str, ...]
    """Words more frequent around these occurrences than around the others, the most characteristic
    first."""
    examples: tuple[int, ...]
    """Occurrences nearest to the group's mean, numbers from 0, the nearest first."""


@dataclass(frozen=True, slots=True, eq=False)
class Senses:
    """The groups at one layer."""

    layer: int
    labels: NDArray[np.int64]
    """Group of each occurrence, from 0, the largest group first; [N]."""
    points: NDArray[np.float64]
    """The first two principal components, [N, 2]."""
    silhouette: float
    """Mean over the occurrences, -1 to 1."""
    chance: float
    """The highest silhouette that the same search finds in NUM_NULLS clouds without groups: normal
    distributions with the same variance along each component."""
    stability: float
    """Mean adjusted Rand index to the groups of eight samples of 80%; 1: always the same."""
    groups: tuple[Sense, ...]

    @property
    def has_groups(self) -> bool:
        """Whether the groups are farther apart than any found in clouds without groups."""
        return self.silhouette > self.chance


@dataclass(frozen=True, slots=True)
class WordSenses:
    """A word's occurrences and their groups."""

    word: str
    num_found: int
    """In the whole corpus."""
    occurrences: tuple[Hit, ...]
    """Those that were grouped, N."""
    by_layer: tuple[Senses, ...]

    @property
    def num_copies(self) -> int:
        """Those of the occurrences whose sentence occurs more than once: copies form groups of
        their own, whatever the word means."""
        counts = Counter(hit.text for hit in self.occurrences)
        return sum(number for number in counts.values() if number > 1)


def word_senses(
    places: Places,
    word: str,
    layers: Sequence[int],
    *,
    num_groups: int | None = None,
    seed: int = 0,
    marked: Sequence[tuple[int, int, int]] = (),
) -> WordSenses:
    """Group the occurrences of a word by k-means, at each of some layers.

    An occurrence is the mean of its pieces' vectors, scaled to length 1. Their mean is subtracted,
    and the first ten principal components are grouped.

    Args:
        places: Of an encoded corpus with rows of tokens or words.
        word: The word; case is ignored.
        layers: Layers of the corpus.
        num_groups: 2 to 5; None: the number with the highest silhouette, at each layer.
        seed: Seed of the drawn occurrences and of k-means.
        marked: The occurrences instead of those of `word`, as for `Places.covering`; `word` then
            only names them.

    ValueError if the word occurs in the corpus fewer than eight times, the rows are sentences, or a
    number or layer does not exist.
    """
    if num_groups is not None and not 2 <= num_groups <= MOST_GROUPS:
        raise ValueError(f"num_groups is {num_groups}; expected 2 to {MOST_GROUPS}.")
    found = places.covering(marked) if marked else places.occurrences(word)
    starts, ends = found.rows, found.ends
    if len(starts) > MOST_OCCURRENCES:
        drawn = np.random.default_rng(seed).permutation(len(starts))[:MOST_OCCURRENCES]
        starts, ends = starts[np.sort(drawn)], ends[np.sort(drawn)]
    by_layer = {layer: _vectors(places.encoded, layer, starts, ends) for layer in layers}
    usable = np.ones(len(starts), bool)
    for vectors in by_layer.values():
        usable &= has_direction(vectors)
    if usable.sum() < FEWEST:
        what = word.strip() if marked else repr(word.strip())
        advice = "Mark more" if marked else "Choose another word, or a larger corpus"
        raise ValueError(
            f"the corpus has {what} {_times(int(usable.sum()))}; grouping needs at least "
            f"{FEWEST}. {advice}."
        )
    occurrences = places.hits(starts[usable], np.full(int(usable.sum()), np.nan))
    with one_thread():
        groups = [
            _grouped(layer, vectors[usable], occurrences, num_groups, seed)
            for layer, vectors in by_layer.items()
        ]
    return WordSenses(word.strip(), len(found.rows), tuple(occurrences), tuple(groups))


@contextmanager
def one_thread() -> Iterator[None]:
    """Run k-means in one thread: with so few points, several threads take ten times as long."""
    import sklearn.cluster  # noqa: F401  # threads are limited of what is loaded
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1, user_api="openmp"):
        yield


def _times(number: int) -> str:
    return {0: "nowhere", 1: "once"}.get(number, f"{number} times")


def _vectors(
    encoded: EncodedCorpus, layer: int, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the mean vector of each stretch of rows, [N, D]."""
    stored = encoded.vectors(layer)
    vectors = np.empty((len(starts), encoded.manifest.hidden_size), np.float32)
    for place, (low, high) in enumerate(zip(starts, ends, strict=True)):
        vectors[place] = np.asarray(stored[low:high], np.float32).mean(0)
    return vectors


def _grouped(
    layer: int,
    vectors: NDArray[np.float32],
    occurrences: Sequence[Hit],
    num_groups: int | None,
    seed: int,
) -> Senses:
    components = principal_components(vectors)
    num_distinct = len(np.unique(components.round(6), axis=0))
    most = min(MOST_GROUPS, num_distinct - 1, len(vectors) // 2)
    if most < 2:  # all alike, as one word at one place in the embeddings
        labels = np.zeros(len(vectors), np.int64)
        grouped = Grouping(labels, 0.0)
        chance = stability = 0.0
    else:
        tried = range(2, most + 1) if num_groups is None else [min(num_groups, most)]
        grouped = best_grouping(components, tried, seed)
        labels = _largest_first(grouped.labels)
        chance = chance_silhouette(components, tried, seed)
        stability = _stability(components, labels, int(labels.max()) + 1, seed)
    points = np.zeros((len(vectors), 2))
    points[:, : min(2, components.shape[1])] = components[:, :2]
    return Senses(
        layer,
        labels,
        points,
        grouped.silhouette,
        chance,
        stability,
        tuple(
            _sense(number, labels, components, occurrences) for number in range(labels.max() + 1)
        ),
    )


class Grouping(NamedTuple):
    """The groups of k-means, and how far apart they are."""

    labels: NDArray[np.int64]
    silhouette: float


def principal_components(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the first ten principal components of vectors at length 1, [N, at most 10]."""
    wide = np.asarray(vectors, np.float64)
    unit = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    left, sizes, _ = np.linalg.svd(unit - unit.mean(0), full_matrices=False)
    components: NDArray[np.float64] = left[:, :_COMPONENTS] * sizes[:_COMPONENTS]
    return components


def group(components: NDArray[np.float64], k: int, seed: int) -> Grouping:
    """Group points by k-means (ten starts)."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    labels = KMeans(k, n_init=10, random_state=seed).fit_predict(components).astype(np.int64)
    return Grouping(labels, float(silhouette_score(components, labels)))


def best_grouping(components: NDArray[np.float64], tried: Sequence[int], seed: int) -> Grouping:
    """Return the grouping with the highest silhouette among some numbers of groups."""
    return max((group(components, k, seed) for k in tried), key=lambda found: found.silhouette)


def chance_silhouette(components: NDArray[np.float64], tried: Sequence[int], seed: int) -> float:
    """Return the highest silhouette of NUM_NULLS clouds; see `Senses.chance`."""
    rng = np.random.default_rng(seed)
    clouds = (rng.normal(size=components.shape) * components.std(0) for _ in range(NUM_NULLS))
    return max(best_grouping(cloud, tried, seed).silhouette for cloud in clouds)


def _stability(
    components: NDArray[np.float64], labels: NDArray[np.int64], k: int, seed: int
) -> float:
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.default_rng(seed)
    num = max(k + 1, round(0.8 * len(labels)))
    agreements = []
    for _ in range(_RESAMPLES):
        chosen = rng.permutation(len(labels))[:num]
        if len(np.unique(components[chosen].round(6), axis=0)) <= k:
            continue
        again = group(components[chosen], k, int(rng.integers(2**31)))
        agreements.append(adjusted_rand_score(labels[chosen], again.labels))
    return float(np.mean(agreements)) if agreements else 0.0


def _largest_first(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.bincount(labels)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[labels]


def _sense(
    number: int,
    labels: NDArray[np.int64],
    components: NDArray[np.float64],
    occurrences: Sequence[Hit],
) -> Sense:
    own = np.flatnonzero(labels == number)
    distances = np.linalg.norm(components[own] - components[own].mean(0), axis=1)
    nearest = own[np.argsort(distances, kind="stable")]
    examples, seen = [], set()
    for place in nearest:
        text = occurrences[place].text
        if text not in seen:
            seen.add(text)
            examples.append(int(place))
    beside = [words_around(hit) for hit in occurrences]
    inside = [words for words, label in zip(beside, labels, strict=True) if label == number]
    outside = [words for words, label in zip(beside, labels, strict=True) if label != number]
    return Sense(len(own), typical_words(inside, outside), tuple(examples[:_NUM_EXAMPLES]))


def words_around(hit: Hit) -> set[str]:
    """Return the whole words within _WINDOW characters of a hit, lower-cased.

    The hit's own word, of which it may be the first piece, is excluded.
    """
    first, last = hit.start - _WINDOW, hit.end + _WINDOW
    found = re.finditer(r"[^\W\d_]{3,}", hit.text)
    return {
        word.group().lower()
        for word in found
        if first <= word.start() and word.end() <= last
        if word.end() <= hit.start or hit.end <= word.start()
    }


def typical_words(inside: Sequence[set[str]], outside: Sequence[set[str]]) -> tuple[str, ...]:
    """Return the words of some sets that others lack, the most characteristic first.

    Ranked by the log-likelihood ratio of Dunning (1993), among words in at least two of the sets
    with a higher share inside.
    """
    counts = Counter(word for words in inside for word in words)
    others = Counter(word for words in outside for word in words)
    n, m = len(inside), len(outside)
    scores = {}
    for word, a in counts.items():
        b = others[word]
        if a < 2 or not m or a / n <= b / m:
            continue
        scores[word] = likelihood_ratio(a, n, b, m)
    ranked = sorted(scores, key=lambda word: (-scores[word], word))
    return tuple(ranked[:_NUM_WORDS])


def likelihood_ratio(a: int, n: int, b: int, m: int) -> float:
    """Return the log-likelihood ratio of the rates `a` of `n` and `b` of `m` against one for
    both."""
    p, q, r = a / n, b / m, (a + b) / (n + m)
    apart = _likelihood(a, n, p) + _likelihood(b, m, q)
    return apart - _likelihood(a, n, r) - _likelihood(b, m, r)


def _likelihood(count: int, total: int, p: float) -> float:
    """Return the log-likelihood of `count` of `total` at a rate p; 0 log 0 is 0."""
    first = count * math.log(p) if count else 0.0
    return first + ((total - count) * math.log(1 - p) if count < total else 0.0)
