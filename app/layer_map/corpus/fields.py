"""The visitor's choices on the map of a corpus."""

from bertcore.analysis.space.projection import METHODS

from ...shell.state import Field

NUM_POINTS = (20_000, 50_000, 100_000, 200_000)

METHOD = Field("corpus_method", "pca", tuple(METHODS))
POINTS = Field("corpus_points", NUM_POINTS[-1], NUM_POINTS)
COLOUR = Field("corpus_colour", "")
FITTED = Field("corpus_fitted", 10_000)
PARAMETERS = "corpus"  # begins the names of a method's parameters
