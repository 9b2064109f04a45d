"""A direction in a vector space: projection and probing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertcore.debiasing.direction import Direction, Vectors, find_direction

__all__ = ["Direction", "Probe", "Vectors", "find_direction", "probe", "project"]


def project(vectors: Vectors, direction: Direction) -> Vectors:
    """Return the cosine of each vector with the direction, [N].

    Args:
        vectors: [N, D].
        direction: A direction in the same space.
    """
    norms = np.linalg.norm(vectors, axis=1)
    out: Vectors = (vectors @ direction.vector) / np.where(norms == 0, 1.0, norms)
    return out


@dataclass(frozen=True, slots=True)
class Probe:
    """How well a linear probe distinguishes two classes of vectors."""

    accuracy: float
    """Mean accuracy over the folds of a cross-validation."""
    spread: float
    """Standard deviation over the folds."""
    chance: float
    """The share of the larger class."""


def probe(vectors: Vectors, labels: Sequence[int], *, num_folds: int = 5, seed: int = 0) -> Probe:
    """Return the cross-validated accuracy of a logistic regression.

    Args:
        vectors: [N, D].
        labels: Two classes, [N].
        num_folds: K; each class needs at least as many vectors.
        seed: Seed of the folds.

    ValueError if there is one class only, or one with fewer than K vectors.

    Source: Gonen and Goldberg 2019: what a probe recovers was not removed.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    names, counts = np.unique(np.asarray(labels), return_counts=True)
    if len(names) != 2 or counts.min() < num_folds:
        sizes = ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
        raise ValueError(
            f"a probe of {num_folds} folds needs two classes of at least {num_folds} words each, "
            f"but got {sizes}."
        )
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(num_folds, shuffle=True, random_state=seed)
    scores = cross_val_score(model, vectors, np.asarray(labels), cv=folds)
    return Probe(float(scores.mean()), float(scores.std()), float(counts.max() / counts.sum()))
