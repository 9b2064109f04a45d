"""The interface of every index: queries and results."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The nearest rows to one vector, the nearest first."""

    rows: NDArray[np.int64]
    """[K]; fewer than were asked for where there are no more."""
    cosines: NDArray[np.float32]
    """[K], exact."""


class VectorIndex(ABC):
    """The rows of one layer of an encoded corpus, searchable by cosine.

    Rows without a direction (NaN, infinity, or all zero) are never found.
    """

    num_rows: int
    """Of the layer."""
    num_left_out: int
    """Rows without a direction."""

    @abstractmethod
    def search(self, queries: NDArray[np.floating], k: int) -> list[Found]:
        """Return the nearest rows to each of Q vectors.

        Args:
            queries: [Q, D], of any non-zero length.
            k: Number of rows, at least 1.

        ValueError if `queries` has another shape or no direction, or `k` is below 1.
        """


def has_direction(vectors: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return which vectors, [N, D], have a finite length that is not zero, [N]."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(np.asarray(vectors, np.float32), axis=1)
    found: NDArray[np.bool_] = np.isfinite(lengths) & (lengths > 0)
    return found


def unit_queries(queries: NDArray[np.floating], width: int, k: int) -> NDArray[np.float32]:
    """Return queries as float32 of length 1, [Q, D].

    ValueError if they have another shape or no direction, or `k` is below 1.
    """
    given = np.asarray(queries, np.float32)
    if given.ndim != 2 or given.shape[1] != width:
        raise ValueError(f"queries have the shape {list(given.shape)}; expected [Q, {width}].")
    if k < 1:
        raise ValueError(f"k is {k}; expected at least 1.")
    wrong = np.flatnonzero(~has_direction(given))
    if len(wrong):
        raise ValueError(
            f"query {wrong[0]} has no direction: it is zero, or not finite. Give another vector."
        )
    found: NDArray[np.float32] = given / np.linalg.norm(given, axis=1, keepdims=True)
    return found
