"""The direction from which a loss keeps hidden states away."""

import math
from dataclasses import dataclass

from bertcore.configs.debias import DebiasConfig
from bertcore.debiasing.swap_words import Pair
from bertcore.debiasing.word_sets import pairs_of_direction


@dataclass(frozen=True, slots=True)
class PenalisedDirection:
    """The words of a direction and the weight of its loss; stored with the run.

    ValueError if the weight is not above 0.
    """

    name: str
    """Name of a shipped set, or the file that was read."""
    weight: float
    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        if not 0 < self.weight < math.inf:
            raise ValueError(f"direction_penalty is {self.weight}; expected above 0.")

    @classmethod
    def chosen(cls, config: DebiasConfig) -> "PenalisedDirection | None":
        """Return the chosen penalty; None if there is none.

        ValueError if there are no such words, or the weight is not above 0.
        """
        if config.direction_penalty is None:
            return None
        words = config.direction_words
        return cls(words, config.direction_penalty, pairs_of_direction(words))
