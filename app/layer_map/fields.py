"""The visitor's choices on the layer map."""

from bertcore.analysis.space.projection import METHODS
from bertcore.analysis.space.sense_sets import SETS

from ..shell import Field

SOURCES = {
    "sentence": "This sentence",
    "senses": "A word's senses",
    "pasted": "Paste",
    "file": "Upload",
    "corpus": "Corpus",
}
SPACE_NAMES = {"joint": "one map for all", "separate": "each by itself"}

VIEWS = {"map": "Map", "geometry": "Geometry"}

VIEW = Field("map_view", "map", tuple(VIEWS))
SOURCE = Field("map_source", "sentence", tuple(SOURCES))
SENSES_OF = Field("map_set", next(iter(SETS)), tuple(SETS))
UNIT = Field("map_unit", "tokens")
WORD = Field("map_word", "")
COLOUR = Field("map_colour", "word")
DIMS = Field("map_dims", "2")
METHOD = Field("map_method", "pca", tuple(METHODS))
SPACE = Field("map_space", "joint", tuple(SPACE_NAMES))
HIDE_SPECIAL = Field("map_hide", True)
LEVEL_LAYERS = Field("map_level", True)
ROGUE_OFF = Field("map_rogue_off", 0)
SECOND_SEED = Field("map_second_seed", False)
PARAMETERS = "umap"
"""Begins the names of a method's parameters, as in links made when UMAP was the only one."""
