"""Similarity of heads: distances between their attention, and a map of all heads in 2-D."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.heads.stream import AttentionBatch
from bertcore.architecture.config import BertConfig

MAX_COMPARISONS = 1_000_000_000
"""Pairs of weights compared by default; beyond that, each sentence gives fewer of its tokens, drawn
at random."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadDistances:
    """Divergence of attention between each pair of heads; N = L * H heads, layer by layer."""

    matrix: NDArray[np.float64]
    """Mean Jensen-Shannon distance over tokens, 0 = the same, 1 = never at the same token;
    [N, N], symmetric, 0 on the diagonal."""
    num_heads: int
    """H: head n is head n % H of layer n // H."""
    num_compared: int
    """Number of tokens whose rows were compared."""
    num_tokens: int
    """Total number of tokens."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadMap:
    """Heads as points: close heads attend alike."""

    positions: NDArray[np.float64]
    """[N, 2]; the axes have no meaning apart from distance."""
    stress: float
    """Kruskal's stress-1 of the map: 0 = all distances are exact, below 0.1 good, above 0.2 poor.
    """


class SimilaritySurvey:
    """Accumulates the distances between heads over sentences; pass it to `run_surveys`.

    Args:
        max_comparisons: Each sentence gets an equal share of this many comparisons of two weights,
            but at least one token; see MAX_COMPARISONS.
        seed: Seed of the draw of tokens.

    Source: Clark et al. 2019, section 6. Differs: they add up Jensen-Shannon divergences; here the
    mean of their square roots (base 2), which is a metric, as the map needs.
    """

    def __init__(
        self,
        num_sentences: int,
        config: BertConfig,
        *,
        max_comparisons: int = MAX_COMPARISONS,
        seed: int = 0,
    ) -> None:
        self._num_heads = config.num_attention_heads
        self._num = config.num_hidden_layers * config.num_attention_heads
        self._sum = np.zeros((self._num, self._num))
        pairs = max(1, self._num * (self._num - 1) // 2)
        self._weights_each = max_comparisons / pairs / max(1, num_sentences)
        self._seed = seed
        self._num_compared = self._num_tokens = 0

    def add(self, batch: AttentionBatch) -> None:
        for row, (number, encoding) in enumerate(zip(batch.rows, batch.encodings, strict=True)):
            num_tokens = len(encoding)
            count = min(num_tokens, max(1, int(self._weights_each / num_tokens)))
            maps = batch.attentions[:, row, :, :num_tokens, :num_tokens].flatten(0, 1)
            if count < num_tokens:
                # One draw for each sentence, so that the order of the batches does not matter.
                generator = np.random.default_rng([self._seed, number])
                drawn = generator.choice(num_tokens, count, replace=False)
                maps = maps[:, torch.from_numpy(np.sort(drawn)).to(maps.device)]
            self._sum += distance_sums(maps).cpu().numpy()
            self._num_compared += count
            self._num_tokens += num_tokens

    def result(self) -> HeadDistances:
        """Return the mean distances; ValueError if no sentence was added."""
        if not self._num_compared:
            raise ValueError("there is no attention to compare. Add at least one sentence.")
        return HeadDistances(
            matrix=self._sum / self._num_compared,
            num_heads=self._num_heads,
            num_compared=self._num_compared,
            num_tokens=self._num_tokens,
        )


def distance_sums(maps: Tensor) -> Tensor:
    """Return the Jensen-Shannon distances of each pair of heads, summed over rows, float64 [N, N].

    Args:
        maps: [N, R, T]: for each of N heads, R rows of T weights that sum to 1.

    Source: Endres and Schindelin 2003: the square root of H(m) - (H(p) + H(q)) / 2, with m the
        mean of p and q, in bits; as scipy.spatial.distance.jensenshannon(base=2).
    """
    # The square root of a small difference needs double precision: 1e-7 would become 3e-4.
    weights = maps.double()
    entropies = torch.special.entr(weights).sum(-1)  # [N, R]
    num = len(weights)
    sums = weights.new_zeros(num, num)
    for first in range(num - 1):
        rest = slice(first + 1, num)
        mixed = torch.special.entr((weights[rest] + weights[first]) / 2).sum(-1)
        divergence = mixed - (entropies[rest] + entropies[first]) / 2
        distance = (divergence.clamp(min=0) / math.log(2)).sqrt().clamp(max=1)
        sums[first, rest] = sums[rest, first] = distance.sum(-1)
    return sums


def head_map(distances: HeadDistances) -> HeadMap:
    """Lay out the heads in 2-D so that their distances are preserved as well as possible.

    Metric multidimensional scaling (scikit-learn's SMACOF) started from classical scaling: the same
    distances always give the same map. ValueError if a distance is not a number.
    """
    from sklearn.manifold import smacof

    matrix = distances.matrix
    if not np.isfinite(matrix).all():
        raise ValueError(
            "some distances between heads are not numbers: the attention contains NaN. Check the "
            "checkpoint's weights."
        )
    start = _classical_scaling(matrix)
    if len(matrix) < 3 or not matrix.any():
        return HeadMap(start, 0.0)
    positions, stress = smacof(
        matrix, n_components=2, init=start, n_init=1, normalized_stress=True, random_state=0
    )
    return HeadMap(_upright(positions), float(stress))


def _classical_scaling(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the positions of Torgerson 1952, [N, 2]."""
    num = len(matrix)
    centre = np.eye(num) - 1 / num
    values, vectors = np.linalg.eigh(-centre @ matrix**2 @ centre / 2)
    places = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    return _upright(np.pad(places, ((0, 0), (0, 2 - places.shape[1]))))


def _upright(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre the points, rotate the longest axis to horizontal, and fix the signs."""
    centred = positions - positions.mean(0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ axes.T
    turned = np.pad(turned, ((0, 0), (0, 2 - turned.shape[1])))
    largest = np.abs(turned).argmax(0)
    signs = np.sign(turned[largest, np.arange(2)])
    return np.asarray(turned * np.where(signs == 0, 1, signs))
