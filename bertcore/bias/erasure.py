"""Projections that remove an attribute from vectors: LEACE, INLP, hard debiasing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.debiasing.direction_penalty import Direction

Vectors = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Eraser:
    """The affine map x -> x - (x - mean) @ matrix.T."""

    matrix: Vectors
    """The part that is removed, [D, D]."""
    mean: Vectors
    """[D]"""
    rank: int
    """Number of removed dimensions."""

    def __call__(self, vectors: Vectors) -> Vectors:
        """Return erased vectors, [..., D]."""
        out: Vectors = vectors - (vectors - self.mean) @ self.matrix.T
        return out


def leace(vectors: Vectors, labels: NDArray[np.generic]) -> Eraser:
    """Return the least-squares map after which no linear probe can distinguish the classes.

    With W the whitening of the vectors and S their cross-covariance with the one-hot labels, the
    orthogonal projection onto the columns of W S is removed in whitened space.

    Args:
        vectors: [N, D].
        labels: Of each vector, [N].

    ValueError if there is one class only.

    Source: Belrose et al. 2023, theorem 4.3. The package concept-erasure gives the same result with
    shrinkage=False; by default it shrinks the covariance first.
    """
    one_hot = _one_hot(labels)
    mean = vectors.mean(0)
    centred = vectors - mean
    covariance = centred.T @ centred / len(vectors)
    cross = centred.T @ (one_hot - one_hot.mean(0)) / len(vectors)  # [D, C]
    values, basis = np.linalg.eigh(covariance)
    kept = values > values.max() * len(values) * np.finfo(np.float64).eps
    root = np.sqrt(values[kept])
    whiten = (basis[:, kept] / root) @ basis[:, kept].T
    unwhiten = (basis[:, kept] * root) @ basis[:, kept].T
    columns = _basis(whiten @ cross)
    return Eraser(unwhiten @ columns @ columns.T @ whiten, mean, columns.shape[1])


def inlp(
    vectors: Vectors, labels: NDArray[np.generic], *, num_rounds: int = 8, seed: int = 0
) -> Eraser:
    """Return the projection onto the null space of linear classifiers trained one after another.

    Args:
        vectors: [N, D].
        labels: Of each vector, [N].
        num_rounds: Maximum number of classifiers; it stops earlier once one is no better than the
            larger class.

    ValueError if there is one class only, or num_rounds is below 1.

    Source: Ravfogel et al. 2020, algorithm 1.
    """
    from sklearn.linear_model import LogisticRegression

    _one_hot(labels)
    if num_rounds < 1:
        raise ValueError(f"num_rounds is {num_rounds}; expected at least 1.")
    mean, width = vectors.mean(0), vectors.shape[1]
    chance = np.unique(labels, return_counts=True)[1].max() / len(labels)
    rows = np.empty((0, width))
    rest = vectors - mean
    for _ in range(min(num_rounds, width)):
        model = LogisticRegression(max_iter=1000, random_state=seed).fit(rest, labels)
        if model.score(rest, labels) <= chance:
            break
        rows = _basis(np.concatenate([rows, model.coef_]).T).T
        rest = vectors - mean
        rest = rest - rest @ rows.T @ rows
    return Eraser(rows.T @ rows, mean, len(rows))


def neutralise(vectors: Vectors, direction: Direction) -> Vectors:
    """Return vectors without their part along a direction, with their old lengths, [N, D].

    Source: Bolukbasi et al. 2016, section 6, "neutralize".
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rest = vectors - np.outer(vectors @ direction.vector, direction.vector)
    norms = np.linalg.norm(rest, axis=1, keepdims=True)
    out: Vectors = rest * lengths / np.where(norms == 0, 1.0, norms)
    return out


def equalise(first: Vectors, second: Vectors, direction: Direction) -> tuple[Vectors, Vectors]:
    """Return pairs that differ only along the direction, by the same amount on both sides.

    The authors norm all vectors first; here a pair has the mean length of its two words.

    Args:
        first, second: The vectors of each pair's words, [N, D] each.
        direction: A direction in the same space.

    Source: Bolukbasi et al. 2016, section 6, "equalize".
    """
    lengths = (np.linalg.norm(first, axis=1) + np.linalg.norm(second, axis=1)) / 2
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (first, second)]
    middle = (unit[0] + unit[1]) / 2
    off = middle - np.outer(middle @ direction.vector, direction.vector)  # outside the direction
    reach = np.sqrt(np.maximum(0.0, 1 - (off**2).sum(1)))
    sides = np.sign((unit[0] - unit[1]) @ direction.vector)
    step = (reach * np.where(sides == 0, 1.0, sides))[:, None] * direction.vector
    return (off + step) * lengths[:, None], (off - step) * lengths[:, None]


def _one_hot(labels: NDArray[np.generic]) -> Vectors:
    """Return a column for each class; ValueError if there is one class only."""
    names: Sequence[object] = np.unique(labels).tolist()
    if len(names) < 2:
        raise ValueError("all vectors have one class, so there is nothing to erase. Give two.")
    rows: Vectors = (np.asarray(labels)[:, None] == np.unique(labels)[None]).astype(np.float64)
    return rows


def _basis(columns: Vectors) -> Vectors:
    """Return an orthonormal basis of the space that the columns span, [D, rank]."""
    left, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    most = lengths.max(initial=0.0)
    rank = int((lengths > most * max(columns.shape) * np.finfo(np.float64).eps).sum())
    out: Vectors = left[:, :rank]
    return out
