"""All functions that a lesson may name, by their names."""

from bertcore.lessons import (
    heads,
    layers,
    objectives,
    pairs,
    pieces,
    runs,
    stereotypes,
    tuning,
    vectors,
    words,
)
from bertcore.lessons.answer import ANSWERS

__all__ = [
    "ANSWERS",
    "heads",
    "layers",
    "objectives",
    "pairs",
    "pieces",
    "runs",
    "stereotypes",
    "tuning",
    "vectors",
    "words",
]
