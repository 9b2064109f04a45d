"""The visitor's choices on the map of a corpus."""

from __future__ import annotations

from bertcore.analysis.space.projection import METRICS

from ..shell.state import Field

METHOD_NAMES = {"pca": "PCA", "umap": "UMAP"}
NUM_POINTS = (20_000, 50_000, 100_000, 200_000)

METHOD = Field("corpus_method", "pca", tuple(METHOD_NAMES))
POINTS = Field("corpus_points", NUM_POINTS[-1], NUM_POINTS)
COLOUR = Field("corpus_colour", "")
FITTED = Field("corpus_fitted", 10_000)
NEIGHBORS = Field("corpus_neighbors", 15)
MIN_DIST = Field("corpus_min_dist", 0.1)
METRIC = Field("corpus_metric", METRICS[0], METRICS)
SEED = Field("corpus_seed", 0)
