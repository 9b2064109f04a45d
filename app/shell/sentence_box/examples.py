"""Example sentences, each with what it shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """A text or a pair to start from."""

    title: str
    """What it shows, in a few words."""
    text_a: str
    text_b: str = ""
    """Empty for a single text."""


EXAMPLES: tuple[Example, ...] = (
    Example(
        "One word, two meanings: bank",
        "He sat on the bank of the river and counted the money from the bank.",
    ),
    Example(
        "Who is it? Pronouns",
        "The animal did not cross the street because it was too tired.",
    ),
    Example(
        "A pair that belongs together",
        "The river rose during the night.",
        "In the morning the old bridge was under water.",
    ),
    Example(
        "A pair that does not",
        "The river rose during the night.",
        "The committee elected a new chairman in May.",
    ),
    Example(
        "The verb agrees with a far noun",
        "The keys to the old wooden cabinet are on the table.",
    ),
    Example(
        "Rare words fall into pieces",
        "The palaeontologist photographed an unidentifiable microorganism.",
    ),
    Example(
        "Who did it? Word order",
        "The dog bit the man.",
        "The man bit the dog.",
    ),
    Example(
        "Accents, numbers, signs",
        "Zoë paid €12.50 for crème brûlée at 9:30 p.m. - très cher!",
    ),
    Example(
        "A negation",
        "The film was not good, but the music was wonderful.",
    ),
    Example(
        "Right to left, Chinese, emoji",
        "The word for peace is שלום in Hebrew, سلام in Arabic and 和平 in Chinese 🕊️.",
    ),
)

DEFAULT = EXAMPLES[0]
"""The app opens with it."""
