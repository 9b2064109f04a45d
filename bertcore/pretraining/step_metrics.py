"""The logged metrics of one step, including a step that diverged."""

import math
from collections.abc import Mapping
from typing import Any

from bertcore.training.progress import TrainingProgress

OF_SOME_RUNS = ("soft_loss", "cosine_loss", "layer_loss", "direction_penalty")
"""Metrics only of runs with a teacher, or with a penalty on a direction."""


def step_metrics(
    values: Mapping[str, float], own: Mapping[str, float], *, step: int, rate: float
) -> dict[str, Any]:
    """Return the metrics of a step.

    Args:
        values: From TrainStep, for the whole batch.
        own: The objective's metrics of them.
        step: The step, from 1.
        rate: Fraction of the peak learning rate.
    """
    return {
        "step": step,
        **own,
        **{name: values[name] for name in OF_SOME_RUNS if name in values},
        "learning_rate_share": rate,
        "gradient_norm": values["gradient_norm"],
    }


def has_diverged(values: Mapping[str, float]) -> bool:
    """Return whether loss or gradient is not finite."""
    return not (math.isfinite(values["loss"]) and math.isfinite(values["gradient_norm"]))


def divergence_note(values: Mapping[str, float], progress: TrainingProgress) -> dict[str, Any]:
    """Return the line of metrics of a diverged step, with NaN written as text, as JSON has none.

    Args:
        values: From TrainStep.
        progress: The progress before that step.
    """
    return {
        "step": progress.step + 1,
        "diverged": f"loss {values['loss']}, gradient norm {values['gradient_norm']}",
        "seconds": round(progress.elapsed_seconds, 3),
        "num_tokens": progress.num_tokens,
    }
