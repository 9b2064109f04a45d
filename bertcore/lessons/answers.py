"""All functions that a lesson may name, by their names."""

from bertcore.lessons import (
    heads,
    objectives,
    pieces,
    prompts,
    runs,
    stereotypes,
    tuning,
    vectors,
    words,
)
from bertcore.lessons.answer import ANSWERS, Answer

__all__ = [
    "ANSWERS",
    "Answer",
    "heads",
    "objectives",
    "pieces",
    "prompts",
    "runs",
    "stereotypes",
    "tuning",
    "vectors",
    "words",
]
