"""The toys that ship: tiny checkpoints, each of a pretraining objective that no larger one has."""

import json
from dataclasses import dataclass
from pathlib import Path

TOYS = {
    "toy-rtd": "replaced tokens",
    "toy-plm": "words in a random order",
    "toy-unilm": "UniLM's four masks",
    "toy-t5": "T5's spans",
    "toy-bart": "BART's noise",
    "toy-mass": "MASS's fragment",
}
"""What each answers, by the name that opens it."""
FOLDER = Path(__file__).parent / "toys"
FILE = "toy.json"


@dataclass(frozen=True, slots=True)
class Toy:
    """How a toy was trained, and how good it is."""

    objective: str
    """As for `pretrain --objective`."""
    steps: int
    """Of training."""
    accuracy: float
    """On held-out text, 0 to 1."""
    fraction_of: str
    """What that is a fraction of."""
    guessing: float
    """The accuracy of the best answer that does not look at the text."""
    guess: str
    """That answer."""


def read_toy(name: str) -> Toy:
    """Return what is recorded of a toy.

    Args:
        name: One of TOYS.
    """
    return Toy(**json.loads((FOLDER / name / FILE).read_text(encoding="utf-8")))
