"""How far a run is: steps, seconds and tokens, and which share of its length that makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bertcore.configs import TrainConfig


@dataclass(slots=True)
class Position:
    """Where a run is. Saved with each checkpoint."""

    step: int = 0
    elapsed_seconds: float = 0.0
    num_tokens: int = 0

    def share(self, config: TrainConfig) -> float:
        """Return the part of the run that is done: 0 at its start, 1 or a little more at its end.

        >>> Position(step=25, elapsed_seconds=90.0).share(TrainConfig(steps=100))
        0.25
        >>> Position(step=25, elapsed_seconds=90.0).share(TrainConfig(minutes=3))
        0.5
        """
        if config.steps is not None:
            return self.step / config.steps
        assert config.minutes is not None  # TrainConfig has one of both
        return self.elapsed_seconds / (60 * config.minutes)


@dataclass(frozen=True, slots=True)
class Progress:
    """What the loop tells after each step."""

    step: int
    share: float
    """Part of the run that is done, 0 to 1."""
    metrics: dict[str, Any]
    """Of this step; with held-out scores (`valid_...`) when there are new ones."""
