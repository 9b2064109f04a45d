"""The visitor's choices on the layer map."""

from __future__ import annotations

from bertcore.analysis.space.projection import METRICS
from bertcore.analysis.space.sense_sets import SETS

from ..shell.state import Field

SOURCES = {
    "sentence": "This sentence",
    "senses": "A word's senses",
    "pasted": "Paste",
    "file": "Upload",
    "corpus": "Corpus",
}
METHOD_NAMES = {"pca": "PCA", "umap": "UMAP"}
SPACE_NAMES = {"joint": "one map for all", "separate": "each by itself"}

VIEWS = {"map": "Map", "geometry": "Geometry"}

VIEW = Field("map_view", "map", tuple(VIEWS))
SOURCE = Field("map_source", "sentence", tuple(SOURCES))
SENSES_OF = Field("map_set", next(iter(SETS)), tuple(SETS))
UNIT = Field("map_unit", "tokens")
WORD = Field("map_word", "")
COLOUR = Field("map_colour", "word")
DIMS = Field("map_dims", "2")
METHOD = Field("map_method", "pca", tuple(METHOD_NAMES))
SPACE = Field("map_space", "joint", tuple(SPACE_NAMES))
LAYER = Field("map_layer", 0)
HIDE_SPECIAL = Field("map_hide", True)
LEVEL_LAYERS = Field("map_level", True)
ROGUE_OFF = Field("map_rogue_off", 0)
SECOND_SEED = Field("map_second_seed", False)
UMAP_NEIGHBORS = Field("umap_neighbors", 15)
UMAP_MIN_DIST = Field("umap_min_dist", 0.1)
UMAP_METRIC = Field("umap_metric", METRICS[0], METRICS)
UMAP_SEED = Field("umap_seed", 0)
