"""Structural probes, and the trees over words that they are trained for and predict.

A probe is a linear map under which squared distances or norms match those of a tree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from scipy.stats import rankdata
from torch import Tensor

RANK = 64
"""Rows of B; the authors find no gain beyond."""
LEARNING_RATE, BATCH_SIZE, MAX_EPOCHS = 1e-3, 20, 40
SMALLEST_RATE = 1e-6
"""The training ends where the rate falls below."""
_INITIAL_SPREAD = 0.05

Kind = Literal["distance", "depth"]


@dataclass(frozen=True, eq=False)
class Example:
    """A sentence of W words with vectors, and the probe's targets for it."""

    states: NDArray[np.floating]
    """[W, D]."""
    gold: NDArray[np.integer]
    """Distances [W, W] or depths [W] in the tree."""


@dataclass(frozen=True, eq=False)
class StructuralProbe:
    kind: Kind
    matrix: Tensor
    """B, [K, D]."""

    def predict(self, states: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the squared distances [W, W] or norms [W] of words [W, D] under B."""
        values = torch.from_numpy(np.asarray(states, dtype=np.float32))[None]
        found: NDArray[np.float32] = _predicted(self.kind, values, self.matrix)[0].cpu().numpy()
        return found


def fit_structural(
    kind: Kind,
    train: Sequence[Example],
    dev: Sequence[Example],
    *,
    rank: int = RANK,
    seed: int = 0,
    progress: Callable[[float], None] = lambda fraction: None,
) -> StructuralProbe:
    """Train a probe.

    distance: d(i, j) = |B (h_i - h_j)|^2, and the loss of a sentence of W words is
    sum_ij |tree distance - d(i, j)| / W^2. depth: |B h_i|^2, and sum_i |tree depth - .| / W. The
    loss is the mean over the sentences of a batch.

    Adam at 1e-3, 20 sentences of about the same length per step, at most 40 epochs; after an epoch
    without a new lowest loss on dev it restarts at a tenth of the rate. The B with the lowest loss
    on dev is kept.

    Args:
        kind: The quantity to learn.
        train, dev: Sentences.
        rank: Number of rows of B; at most D are used.
        seed: Seed of the initial B and the order.
        progress: Called with the fraction of the epochs; may raise to stop.

    Source: Hewitt and Manning 2019, sections 2 and 3 and appendix A.
    """
    width = train[0].states.shape[1]
    generator = torch.Generator().manual_seed(seed)
    start = torch.rand(min(rank, width), width, generator=generator)
    matrix = ((2 * start - 1) * _INITIAL_SPREAD).requires_grad_()
    train_batches, dev_batches = _batches(train), _batches(dev)
    rate, lowest, best = LEARNING_RATE, float("inf"), matrix.detach().clone()
    solver = torch.optim.Adam([matrix], lr=rate)
    for epoch in range(MAX_EPOCHS):
        progress(epoch / MAX_EPOCHS)
        for number in torch.randperm(len(train_batches), generator=generator).tolist():
            solver.zero_grad()
            loss(kind, train_batches[number], matrix).mean().backward()  # type: ignore[no-untyped-call]
            solver.step()
        with torch.no_grad():
            found = torch.cat([loss(kind, batch, matrix) for batch in dev_batches]).mean().item()
        if found < lowest:
            lowest, best = found, matrix.detach().clone()
            continue
        rate /= 10
        if rate < SMALLEST_RATE:
            break
        solver = torch.optim.Adam([matrix], lr=rate)
    return StructuralProbe(kind, best)


@dataclass(frozen=True, eq=False)
class Batch:
    """Padded sentences."""

    states: Tensor
    """float32 [S, W, D]."""
    gold: Tensor
    """float32 [S, W, W] or [S, W]."""
    lengths: Tensor
    """[S]."""


def loss(kind: Kind, batch: Batch, matrix: Tensor) -> Tensor:
    """Return the loss of each sentence, [S]; see `fit_structural`."""
    is_word = torch.arange(batch.states.shape[1]) < batch.lengths[:, None]
    counted = is_word
    if kind == "distance":
        counted = is_word[:, :, None] & is_word[:, None, :]
    errors = (_predicted(kind, batch.states, matrix) - batch.gold).abs() * counted
    return errors.flatten(1).sum(1) / counted.flatten(1).sum(1)


def _predicted(kind: Kind, states: Tensor, matrix: Tensor) -> Tensor:
    mapped = states @ matrix.T  # [S, W, K]
    norms = mapped.square().sum(-1)
    if kind == "depth":
        return norms
    products = mapped @ mapped.transpose(1, 2)
    return (norms[:, :, None] + norms[:, None, :] - 2 * products).clamp(min=0)


def _batches(examples: Sequence[Example]) -> list[Batch]:
    """Return padded batches of sentences of about the same length."""
    order = sorted(range(len(examples)), key=lambda number: len(examples[number].states))
    batches = []
    for start in range(0, len(order), BATCH_SIZE):
        part = [examples[number] for number in order[start : start + BATCH_SIZE]]
        lengths = [len(example.states) for example in part]
        longest, width = max(lengths), part[0].states.shape[1]
        states = torch.zeros(len(part), longest, width)
        gold = torch.zeros(len(part), *[longest] * part[0].gold.ndim)
        for row, (example, length) in enumerate(zip(part, lengths, strict=True)):
            states[row, :length] = torch.from_numpy(np.asarray(example.states, dtype=np.float32))
            where: tuple[int | slice, ...] = (row, *[slice(length)] * example.gold.ndim)
            gold[where] = torch.from_numpy(np.asarray(example.gold, dtype=np.float32))
        batches.append(Batch(states, gold, torch.tensor(lengths)))
    return batches


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
