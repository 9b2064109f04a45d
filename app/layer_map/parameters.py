"""The parameters of a map's method: its widgets and the fields that keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bertcore.analysis.space.neighbour_embedding import EXAGGERATED_STEPS
from bertcore.analysis.space.projection import Settings
from bertcore.configs.maps import METRICS, STARTS, PacmapSettings, TsneSettings, UmapSettings

from ..shell.state import Field

LARGEST_SEED = 2**31


@dataclass(frozen=True, slots=True)
class Parameters:
    """The fields of one map's parameters."""

    neighbors: Field[int]
    min_dist: Field[float]
    perplexity: Field[float]
    exaggeration: Field[float]
    learning_rate: Field[float]
    steps: Field[int]
    start: Field[str]
    pairs: Field[int]
    """n_neighbors of PaCMAP, which has another default."""
    mid_near: Field[float]
    further: Field[float]
    metric: Field[str]
    seed: Field[int]

    @staticmethod
    def of(prefix: str) -> Parameters:
        """Return fields whose names begin with `prefix`."""
        return Parameters(
            neighbors=Field(f"{prefix}_neighbors", 15),
            min_dist=Field(f"{prefix}_min_dist", 0.1),
            perplexity=Field(f"{prefix}_perplexity", 30.0),
            exaggeration=Field(f"{prefix}_exaggeration", 12.0),
            learning_rate=Field(f"{prefix}_learning_rate", 0.0),
            steps=Field(f"{prefix}_n_iter", 500),
            start=Field(f"{prefix}_initialization", STARTS[0], STARTS),
            pairs=Field(f"{prefix}_pacmap_neighbors", 10),
            mid_near=Field(f"{prefix}_mn_ratio", 0.5),
            further=Field(f"{prefix}_fp_ratio", 2.0),
            metric=Field(f"{prefix}_metric", METRICS[0], METRICS),
            seed=Field(f"{prefix}_seed", 0),
        )


def choose_parameters(where: Any, method: str, fields: Parameters) -> Settings:
    """Draw the parameters of a method; return them.

    Args:
        where: A container, or Streamlit itself.
        method: One of METHODS. PCA has no parameter: its UmapSettings hold the metric by which it
            is measured.
        fields: Where they are kept.
    """
    if method == "tsne":
        own = _tsne(where, fields)
    elif method == "pacmap":
        own = _pacmap(where, fields)
    elif method == "umap":
        own = _umap(where, fields)
    else:
        own = {}
    metric = where.selectbox(
        "metric",
        METRICS,
        key=fields.metric.key(),
        help="Distance between vectors; the faithfulness of the map is measured by it too.",
    )
    seed = where.number_input(
        "seed", 0, LARGEST_SEED, key=fields.seed.key(low=0, high=LARGEST_SEED)
    )
    shared = {"metric": metric, "seed": int(seed)}
    if method == "tsne":
        return TsneSettings(**own, **shared)
    if method == "pacmap":
        return PacmapSettings(**own, **shared)
    return UmapSettings(**own, **shared)


def _umap(where: Any, fields: Parameters) -> dict[str, Any]:
    neighbors = where.slider(
        "n_neighbors",
        2,
        100,
        key=fields.neighbors.key(low=2, high=100),
        help="Size of a point's neighbourhood: a small one shows detail, a large one the whole.",
    )
    min_dist = where.slider(
        "min_dist",
        0.0,
        1.0,
        key=fields.min_dist.key(low=0.0, high=1.0),
        help="How close points may be in the map.",
    )
    return {"n_neighbors": int(neighbors), "min_dist": float(min_dist)}


def _tsne(where: Any, fields: Parameters) -> dict[str, Any]:
    perplexity = where.slider(
        "perplexity",
        2.0,
        200.0,
        format="%g",
        step=1.0,
        key=fields.perplexity.key(low=2.0, high=200.0),
        help="Effective number of a point's neighbours; less than the number of points.",
    )
    exaggeration = where.slider(
        "early_exaggeration",
        1.0,
        50.0,
        format="%g",
        step=1.0,
        key=fields.exaggeration.key(low=1.0, high=50.0),
        help=f"Multiplies the attraction in the first {EXAGGERATED_STEPS} steps: a large value "
        "draws groups together before they are laid out.",
    )
    rate = where.number_input(
        "learning_rate",
        0.0,
        100_000.0,
        format="%g",
        step=50.0,
        key=fields.learning_rate.key(low=0.0, high=100_000.0),
        help="0 for auto: the number of points divided by the exaggeration.",
    )
    steps = where.slider(
        "n_iter",
        50,
        2000,
        step=50,
        key=fields.steps.key(low=50, high=2000),
        help=f"Steps after the {EXAGGERATED_STEPS} with early exaggeration.",
    )
    start = where.selectbox(
        "initialization",
        STARTS,
        key=fields.start.key(),
        help="pca: groups are arranged as in PCA. random: their arrangement is chance.",
    )
    return {
        "perplexity": float(perplexity),
        "early_exaggeration": float(exaggeration),
        "learning_rate": float(rate),
        "n_iter": int(steps),
        "initialization": start,
    }


def _pacmap(where: Any, fields: Parameters) -> dict[str, Any]:
    neighbors = where.slider(
        "n_neighbors",
        2,
        100,
        key=fields.pairs.key(low=2, high=100),
        help="Nearest points that attract a point; fewer if there are few points.",
    )
    mid_near = where.slider(
        "MN_ratio",
        0.0,
        5.0,
        format="%g",
        step=0.1,
        key=fields.mid_near.key(low=0.0, high=5.0),
        help="Mid-near pairs per neighbour: they set the overall arrangement first.",
    )
    further = where.slider(
        "FP_ratio",
        0.5,
        20.0,
        format="%g",
        step=0.5,
        key=fields.further.key(low=0.5, high=20.0),
        help="Further pairs, which repel, per neighbour.",
    )
    return {
        "n_neighbors": int(neighbors),
        "MN_ratio": float(mid_near),
        "FP_ratio": float(further),
    }
