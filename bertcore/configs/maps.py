"""Settings of maps in two or three dimensions: UMAP, t-SNE, PaCMAP."""

import math
from dataclasses import dataclass, field

from bertcore.configs.numbers import check_numbers_of

METRICS = ("cosine", "euclidean", "correlation", "manhattan")
STARTS = ("pca", "random")


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

    Source: van der Maaten and Hinton 2008; names and defaults of openTSNE (Poličar et al. 2024),
        but cosine.
    """

    perplexity: float = 30.0
    """Effective number of a point's neighbours; above 1 and less than the number of points."""
    early_exaggeration: float = 12.0
    """Attraction is multiplied by it in the first 250 steps; 1 or more."""
    learning_rate: float = 0.0
    """0 means openTSNE's "auto": the number of points by the exaggeration."""
    n_iter: int = 500
    """Steps after those with early exaggeration, 1 to 5,000."""
    initialization: str = "pca"
    """"pca": from the PCA map with a little noise; "random": from noise alone."""
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
        if not 1 <= self.n_iter <= 5000:
            raise ValueError(f"n_iter is {self.n_iter}; expected 1 to 5,000.")
        if self.initialization not in STARTS:
            raise ValueError(
                f"initialization is {self.initialization!r}; expected one of {', '.join(STARTS)}."
            )
        check_metric_and_seed(self.metric, self.seed)
        check_numbers_of(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class PacmapSettings:
    """The parameters of PaCMAP.

    ValueError if one is out of range.

    Source: Wang, Huang, Rudin and Shaposhnik 2021; names and defaults of pacmap, but cosine.
    """

    n_neighbors: int = 10
    """Neighbours that attract each point; 2 or more."""
    MN_ratio: float = field(default=0.5, metadata={"flag": "--mn-ratio"})
    """Mid-near pairs for each neighbour, 0 to 5: they arrange the whole first."""
    FP_ratio: float = field(default=2.0, metadata={"flag": "--fp-ratio"})
    """Further pairs, which repel, for each neighbour, up to 20; at least one per point."""
    metric: str = "cosine"
    """Distance between vectors, one of METRICS."""
    seed: int = 0
    """Fixes the result."""

    def __post_init__(self) -> None:
        if self.n_neighbors < 2:
            raise ValueError(f"n_neighbors is {self.n_neighbors}; expected 2 or more.")
        if not 0 <= self.MN_ratio <= 5:
            raise ValueError(f"MN_ratio is {self.MN_ratio}; expected 0 to 5.")
        if not 0 < self.FP_ratio <= 20 or round(self.n_neighbors * self.FP_ratio) < 1:
            raise ValueError(
                f"FP_ratio is {self.FP_ratio} with {self.n_neighbors} neighbours; expected at "
                "most 20, and large enough for one further pair for each point."
            )
        check_metric_and_seed(self.metric, self.seed)
        check_numbers_of(self)


def check_metric_and_seed(metric: str, seed: int) -> None:
    """Check the settings shared by all methods; ValueError if one is out of range."""
    if metric not in METRICS:
        raise ValueError(f"metric is {metric!r}; expected one of {', '.join(METRICS)}.")
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed is {seed}; expected 0 to {2**32 - 1}.")
