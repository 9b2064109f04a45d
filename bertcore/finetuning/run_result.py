"""The result of a run, and the order of results."""

import math
from dataclasses import dataclass
from typing import Any

from bertcore.configs import FinetuneConfig
from bertcore.evaluation.metrics import Scores

ADVICE = "Lower the learning rate, or check the data."


class DivergedError(RuntimeError):
    """A run's loss became NaN or infinite, so the run has no model to keep."""


def rank(value: float, loss: float = 0.0) -> float:
    """Return the value by which evaluations and runs are compared; the worst value if diverged.

    NaN itself compares as neither better nor worse.

    Args:
        value: Value of the metric.
        loss: The loss on the same data.
    """
    return value if math.isfinite(value) and math.isfinite(loss) else -math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run: scores, metrics, checkpoint."""

    config: FinetuneConfig
    scores: Scores
    """On the dev data, at the best step."""
    best_step: int
    num_steps: int
    """Steps made; fewer than planned if it was stopped early."""
    num_examples_seen: int
    seconds: float
    """Of training; evaluations and saves not counted."""
    history: list[dict[str, Any]]
    """The lines of metrics.jsonl."""
    share_padding: float
    """Of the tokens in the batches of the first epoch."""

    @property
    def examples_per_second(self) -> float:
        """Training examples per second."""
        return self.num_examples_seen / max(self.seconds, 1e-9)
