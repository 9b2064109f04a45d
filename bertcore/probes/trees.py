"""Trees over words: gold distances and depths, predicted trees, and their agreement."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from scipy.stats import rankdata

LENGTHS = (5, 50)
"""Sentences of so many words enter the mean correlation (Hewitt and Manning 2019)."""


def tree_distances(heads: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of edges between each pair of words in a tree, [W, W].

    Args:
        heads: Place of each word's head, -1 for the root; see `is_tree`.
    """
    edges = np.zeros((len(heads), len(heads)))
    for word, head in enumerate(heads):
        if head >= 0:
            edges[word, head] = 1
    return np.asarray(shortest_path(edges, directed=False, unweighted=True)).astype(np.int64)


def tree_depths(heads: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of edges between each word and the root, [W]."""
    found: NDArray[np.int64] = tree_distances(heads)[list(heads).index(-1)]
    return found


def spanning_tree(
    distances: NDArray[np.floating] | NDArray[np.integer],
) -> tuple[tuple[int, int], ...]:
    """Return the edges of a minimum spanning tree, each (lower, higher) place, sorted.

    Args:
        distances: Symmetric, not negative, [W, W].
    """
    # One more on every edge changes no minimum, and zero would mean no edge.
    weights = np.triu(np.asarray(distances, dtype=np.float64) + 1, k=1)
    tree = minimum_spanning_tree(weights).tocoo()
    pairs = zip(tree.row.tolist(), tree.col.tolist(), strict=True)
    return tuple(sorted((min(a, b), max(a, b)) for a, b in pairs))


def scored_edges(
    distances: NDArray[np.floating],
    gold: NDArray[np.integer],
    is_punctuation: Sequence[bool] | NDArray[np.bool_],
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Return the edges of the predicted and of the gold tree over the words without punctuation.

    If punctuation is inside the gold tree, its neighbours are joined by the shortest remaining
    distance, as in the authors' code.

    Args:
        distances: Predicted, [W, W].
        gold: Distances in the tree, [W, W].
        is_punctuation: [W].
    """
    kept = np.flatnonzero(~np.asarray(is_punctuation, dtype=np.bool_))
    both = []
    for table in (distances, gold):
        edges = spanning_tree(table[np.ix_(kept, kept)])
        both.append(tuple((int(kept[a]), int(kept[b])) for a, b in edges))
    return both[0], both[1]


def attachment_counts(
    distances: NDArray[np.floating],
    gold: NDArray[np.integer],
    is_punctuation: Sequence[bool] | NDArray[np.bool_],
) -> tuple[int, int]:
    """Return how many edges of the gold tree the predicted one has, and how many there are.

    The undirected unlabelled attachment score (UUAS) is the sum of the first divided by that of the
    second.

    Source: Hewitt and Manning 2019, section 4.1: without punctuation.
    """
    predicted, right = scored_edges(distances, gold, is_punctuation)
    return len(set(predicted) & set(right)), len(right)


def row_correlations(
    predicted: NDArray[np.floating], gold: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return Spearman's correlation of each row, [R, W] -> [R]; 0 if either is constant."""
    first, second = (rankdata(table, axis=1) for table in (predicted, gold))
    first = first - first.mean(1, keepdims=True)
    second = second - second.mean(1, keepdims=True)
    below = np.sqrt((first**2).sum(1) * (second**2).sum(1))
    above = (first * second).sum(1)
    return np.where(below > 0, above / np.where(below > 0, below, 1), 0.0)


def is_scored(length: int) -> bool:
    """Return whether a sentence with this many words counts in the mean correlation."""
    return LENGTHS[0] <= length <= LENGTHS[1]
