"""All functions that a lesson may name, by their names."""

from bertcore.lessons import heads, layers, pairs, pieces, vectors, words
from bertcore.lessons.answer import ANSWERS

__all__ = ["ANSWERS", "heads", "layers", "pairs", "pieces", "vectors", "words"]
