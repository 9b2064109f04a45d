"""A direction in a vector space, found from pairs of words."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """The first principal component of the differences within pairs."""

    vector: Vectors
    """Of length 1, [D]; it points from the second words of the pairs to the first ones."""
    explained: Vectors
    """Share of the variance that each component explains, largest first, [C]."""


def find_direction(first: Vectors, second: Vectors) -> Direction:
    """Return the direction along which the words of each pair differ most.

    Each pair is centred on its own mean, and the components are those of all centred vectors.

    Args:
        first, second: The vectors of each pair's two words, [N, D] each, N at least 2.

    ValueError if there are fewer than two pairs, or no pair differs.

    Source: Bolukbasi et al. 2016, section 5.1.
    """
    if len(first) != len(second) or len(first) < 2:
        raise ValueError(
            f"there are {len(first)} and {len(second)} words; a direction needs at least two pairs."
        )
    half = (first - second) / 2
    rows = np.concatenate([half, -half])
    _, lengths, components = np.linalg.svd(rows, full_matrices=False)
    if lengths[0] == 0:
        raise ValueError("the words of every pair have the same vector, so there is no direction.")
    vector = components[0]
    if (half @ vector).mean() < 0:
        vector = -vector
    variances = lengths**2
    return Direction(vector, variances / variances.sum())
