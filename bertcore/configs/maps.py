"""Settings of maps in two or three dimensions: UMAP and t-SNE."""

import math
from dataclasses import dataclass

from bertcore.configs.numbers import check_at_least, check_choice, check_fields, check_numbers_of

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
        check_at_least(self, "n_neighbors", 2)
        check_fields(self, "min_dist", lambda distance: 0 <= distance <= 1, "0 to 1")
        check_metric_and_seed(self)
        check_numbers_of(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class TsneSettings:
    """The parameters of t-SNE.

    ValueError if one is out of range.

    Source: van der Maaten and Hinton 2008; names and defaults of scikit-learn, but cosine.
    """

    perplexity: float = 30.0
    """Effective number of a point's neighbours; above 1 and less than the number of points."""
    metric: str = "cosine"
    """Distance between vectors, one of METRICS."""
    seed: int = 0
    """Fixes the result."""

    def __post_init__(self) -> None:
        check_fields(self, "perplexity", lambda number: 1 < number < math.inf, "more than 1")
        check_metric_and_seed(self)
        check_numbers_of(self)


def check_metric_and_seed(settings: UmapSettings | TsneSettings) -> None:
    """Check the settings shared by all methods; ValueError if one is out of range."""
    check_choice("metric", settings.metric, METRICS)
    check_fields(settings, "seed", lambda seed: 0 <= seed < 2**32, f"0 to {2**32 - 1}")
