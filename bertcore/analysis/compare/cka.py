"""Centred kernel alignment (CKA): rotation-invariant similarity of two sets of vectors.

It needs the same examples in both, but neither the same width nor matching axes: a rotation of all
vectors, or a change of their common scale or mean, changes nothing.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

FEW_TOKENS = 4
"""Fewest examples of the unbiased estimate."""
NUM_PERMUTATIONS = 19
"""With this many, unrelated vectors exceed the highest of them in one case in twenty."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerSimilarity:
    """CKA between the layers of two checkpoints, over N examples."""

    cka: NDArray[np.float64]
    """Debiased linear CKA, [L1+1, L2+1], at most 1; row: layer of the first (0: embeddings),
    column: of the second. About 0 for random vectors, possibly slightly below. NaN for a layer
    without any spread."""
    chance: NDArray[np.float64]
    """The highest CKA over NUM_PERMUTATIONS chance pairings of the examples, of the same shape:
    values not above it may be chance."""
    num_examples: int
    """N."""


@torch.no_grad()
def layer_similarity(first: Tensor, second: Tensor, *, seed: int = 0) -> LayerSimilarity:
    """Return the CKA between all layers of two checkpoints.

    Of hidden states of the same N examples, [L1+1, N, D1] and [L2+1, N, D2]; NaN in a layer gives
    NaN. Computed from the N x N kernels, so N bounds memory: at N = 1,000, 8 MB per layer and 160
    MB for the chance pairings.

    ValueError if there are fewer than FEW_TOKENS examples.

    Source: Kornblith et al. 2019, "Similarity of Neural Network Representations Revisited", section
        3; debiased: Nguyen et al. 2021, "Do Wide and Deep Networks Learn the Same Things?",
        equation 3 (Song et al. 2012, equation 4).
    """
    num = first.shape[1]
    if num < FEW_TOKENS:
        raise ValueError(
            f"CKA needs at least {FEW_TOKENS} examples, but got {num}. Give a longer text."
        )
    ours = torch.stack([_kernel(layer) for layer in first]).flatten(1)
    own_first = ours.square().sum(1).tolist()
    cka, chance = (np.full((len(first), len(second)), np.nan) for _ in range(2))
    generator = torch.Generator().manual_seed(seed)
    permutations = [torch.randperm(num, generator=generator) for _ in range(NUM_PERMUTATIONS)]
    for column, layer in enumerate(second):
        kernel = _kernel(layer)
        own_second = float(kernel.flatten().square().sum())
        by_chance = torch.stack([kernel[order][:, order] for order in permutations]).flatten(1)
        highest = (ours @ by_chance.T).amax(1).tolist()
        cross = (ours * kernel.flatten()).sum(1).tolist()
        for row, own in enumerate(own_first):
            cka[row, column] = _ratio(cross[row], own, own_second)
            chance[row, column] = _ratio(highest[row], own, own_second)
    return LayerSimilarity(cka, chance, num)


def _kernel(vectors: Tensor) -> Tensor:
    """Return the kernel of one layer with U-centring, [N, N]."""
    x, num = vectors.double(), len(vectors)
    x = x - x.mean(0)  # changes nothing, and keeps the numbers small
    bare = (x @ x.T).fill_diagonal_(0)
    sums = bare.sum(0)
    unbiased = (
        bare
        - sums[None] / (num - 2)
        - sums[:, None] / (num - 2)
        + bare.sum() / ((num - 1) * (num - 2))
    )
    return unbiased.fill_diagonal_(0)


def _ratio(cross: float, own_first: float, own_second: float) -> float:
    """Return cross / sqrt(own_first own_second); NaN where a side has no spread."""
    if not own_first * own_second > 0 or not math.isfinite(cross):
        return math.nan
    if all(math.isclose(cross, own, rel_tol=1e-12) for own in (own_first, own_second)):
        return 1.0  # identical layers must look identical, not 1 minus a rounding error
    # sqrt of each: the product of two large numbers may be infinite.
    return min(1.0, cross / math.sqrt(own_first) / math.sqrt(own_second))
