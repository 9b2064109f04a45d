"""Centred kernel alignment (CKA): rotation-invariant similarity of two sets of vectors.

It needs the same examples in both, but neither the same width nor matching axes: a rotation of all
vectors, or a change of their common scale or mean, changes nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

FEW_TOKENS = 4
"""Minimum number of examples for the debiased estimate."""
NUM_PERMUTATIONS = 19
"""With this many, unrelated vectors exceed the highest of them in one case in twenty."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerSimilarity:
    """CKA between the layers of two checkpoints, over N examples."""

    plain: NDArray[np.float64]
    """Linear CKA, [L1+1, L2+1], 0 to 1; row: layer of the first (0: embeddings), column: of the
    second. Too high with few examples: random vectors of width D reach about D / (D + N)."""
    debiased: NDArray[np.float64]
    """The same from the unbiased estimate of HSIC; about 0 for random vectors at any N, possibly
    slightly below 0. NaN with fewer than FEW_TOKENS examples."""
    plain_chance: NDArray[np.float64]
    """The highest plain CKA over NUM_PERMUTATIONS chance pairings of the examples, of the same
    shape: values not above it may be chance."""
    debiased_chance: NDArray[np.float64]
    """The same for the debiased estimate."""
    num_examples: int
    """N."""
    width: int
    """The larger of the two hidden sizes; with N well above it both estimates agree."""


def linear_cka(first: Tensor, second: Tensor) -> float:
    """Return the linear CKA of two sets of vectors of the same N examples, 0 to 1.

    |X^T Y|^2 / (|X^T X| |Y^T Y|) in the Frobenius norm, with centred columns.

    Args:
        first, second: [N, D1] and [N, D2]. NaN gives NaN, and so does a side without any spread.

    Source: Kornblith et al. 2019, "Similarity of Neural Network Representations Revisited",
        section 3, equation 4 with linear kernels.
    """
    x, y = (vectors.double() - vectors.double().mean(0) for vectors in (first, second))
    cross, own_x, own_y = (float((a.T @ b).square().sum()) for a, b in ((x, y), (x, x), (y, y)))
    return _ratio(cross, own_x, own_y)


@torch.no_grad()
def layer_similarity(first: Tensor, second: Tensor, *, seed: int = 0) -> LayerSimilarity:
    """Return the CKA between all layers of two checkpoints.

    Computed from the N x N kernels, so N bounds memory: at N = 1,000, 32 MB per layer and 160 MB
    for the chance pairings.

    Args:
        first, second: Hidden states of the same N examples, [L1+1, N, D1] and [L2+1, N, D2].
        seed: Of the permutations.

    ValueError if there are fewer than two examples.

    Source: Kornblith et al. 2019 as in `linear_cka`; debiased: Nguyen et al. 2021, "Do Wide and
        Deep Networks Learn the Same Things?", equation 3 (Song et al. 2012, equation 4).
    """
    num = first.shape[1]
    if num < 2:
        raise ValueError(f"CKA needs at least two examples, but got {num}. Give a longer text.")
    ones = [_kernels(layer) for layer in first]
    flat_ones = [torch.stack([pair[i] for pair in ones]).flatten(1) for i in range(2)]
    own_first = [_similarities(kernels, kernels) for kernels in ones]
    shape = (len(first), len(second))
    plain, debiased, plain_chance, debiased_chance = (np.full(shape, np.nan) for _ in range(4))
    generator = torch.Generator().manual_seed(seed)
    permutations = [torch.randperm(num, generator=generator) for _ in range(NUM_PERMUTATIONS)]
    for column, layer in enumerate(second):
        kernels = _kernels(layer)
        own_second = _similarities(kernels, kernels)
        for row, others in enumerate(ones):
            cross = _similarities(others, kernels)
            if first.shape == second.shape and torch.equal(first[row], layer):
                # Exactly 1, not 1 minus a rounding error: identical layers must look identical.
                cross = own_second = own_first[row]
            plain[row, column] = _ratio(cross[0], own_first[row][0], own_second[0])
            debiased[row, column] = _ratio(cross[1], own_first[row][1], own_second[1])
        for estimate, chance in enumerate((plain_chance, debiased_chance)):
            kernel = kernels[estimate]
            by_chance = torch.stack([kernel[order][:, order] for order in permutations]).flatten(1)
            highest = (flat_ones[estimate] @ by_chance.T).amax(1)
            for row, own in enumerate(own_first):
                value = _ratio(float(highest[row]), own[estimate], own_second[estimate])
                chance[row, column] = value
    width = max(first.shape[-1], second.shape[-1])
    return LayerSimilarity(plain, debiased, plain_chance, debiased_chance, num, width)


def _kernels(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Return the centred kernel of one layer, and the kernel with U-centring, each [N, N]."""
    x = vectors.double()
    x = x - x.mean(0)  # changes neither kernel, and keeps the numbers small
    kernel = x @ x.T
    num = len(x)
    if num < FEW_TOKENS:
        return kernel, torch.full_like(kernel, torch.nan)
    bare = kernel.clone().fill_diagonal_(0)
    sums = bare.sum(0)
    unbiased = (
        bare
        - sums[None] / (num - 2)
        - sums[:, None] / (num - 2)
        + bare.sum() / ((num - 1) * (num - 2))
    )
    return kernel, unbiased.fill_diagonal_(0)


def _similarities(first: Sequence[Tensor], second: Sequence[Tensor]) -> tuple[float, float]:
    return (
        float((first[0] * second[0]).sum()),
        float((first[1] * second[1]).sum()),
    )


def _ratio(cross: float, own_first: float, own_second: float) -> float:
    """Return cross / sqrt(own_first own_second); NaN where a side has no spread."""
    both = own_first * own_second
    if not both > 0 or not math.isfinite(cross):
        return math.nan
    # sqrt of each: the product of two large numbers may be infinite.
    value = cross / math.sqrt(own_first) / math.sqrt(own_second)
    return 1.0 if cross == own_first == own_second else min(1.0, value)
