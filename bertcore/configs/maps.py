"""Settings of maps in two or three dimensions: UMAP and t-SNE."""

import math
from dataclasses import dataclass

from bertcore.configs.numbers import check_numbers_of

METRICS = ("cosine", "euclidean", "correlation", "manhattan")


@dataclass(frozen=True, kw_only=True, slots=True)
class UmapSettings:
    """UMAP's own parameters.

    ValueError if one is out of range.

    Source: McInnes, Healy and Melville 2018; names and defaults of umap-learn, but cosine.
    """

    n_neighbors: int = 15
    """Size of a point's neighbourhood, 2 or more: small shows detail, large the whole."""
    min_dist: float = 0.1
    """How close points may be in the map, 0 to 1."""
    metric: str = "cosine"
    """Distance between vectors, one of METRICS."""
    seed: int = 0
    """Fixes the result."""

    def __post_init__(self) -> None:
        if self.n_neighbors < 2:
            raise ValueError(f"n_neighbors is {self.n_neighbors}; expected 2 or more.")
        if not 0 <= self.min_dist <= 1:
            raise ValueError(f"min_dist is {self.min_dist}; expected 0 to 1.")
        check_metric_and_seed(self.metric, self.seed)
        check_numbers_of(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class TsneSettings:
    """The parameters of t-SNE.

    ValueError if one is out of range.

    Source: van der Maaten and Hinton 2008; names and defaults of scikit-learn, but cosine.
    """

    perplexity: float = 30.0
    """Effective number of a point's neighbours; above 1 and less than the number of points."""
    early_exaggeration: float = 12.0
    """Attraction is multiplied by it in the first 250 steps; 1 or more."""
    learning_rate: float = 0.0
    """0 means scikit-learn's "auto": the number of points by four times the exaggeration."""
    max_iter: int = 1000
    """Steps, of which the first 250 have early exaggeration; 250 to 5,000."""
    metric: str = "cosine"
    """Distance between vectors, one of METRICS."""
    seed: int = 0
    """Fixes the result."""

    def __post_init__(self) -> None:
        if not 1 < self.perplexity < math.inf:
            raise ValueError(f"perplexity is {self.perplexity}; expected more than 1.")
        if not 1 <= self.early_exaggeration < math.inf:
            raise ValueError(
                f"early_exaggeration is {self.early_exaggeration}; expected 1 or more."
            )
        if not 0 <= self.learning_rate < math.inf:
            raise ValueError(
                f"learning_rate is {self.learning_rate}; expected a number above 0, or 0 for auto."
            )
        if not 250 <= self.max_iter <= 5000:
            raise ValueError(f"max_iter is {self.max_iter}; expected 250 to 5,000.")
        check_metric_and_seed(self.metric, self.seed)
        check_numbers_of(self)


def check_metric_and_seed(metric: str, seed: int) -> None:
    """Check the settings shared by all methods; ValueError if one is out of range."""
    if metric not in METRICS:
        raise ValueError(f"metric is {metric!r}; expected one of {', '.join(METRICS)}.")
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed is {seed}; expected 0 to {2**32 - 1}.")
