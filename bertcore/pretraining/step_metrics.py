"""The logged metrics of one step, also of a step that diverged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bertcore.pretraining.data.batches import Totals
from bertcore.training.progress import TrainingProgress

OF_TEACHER = ("soft_loss", "cosine_loss", "layer_loss")
"""Metrics of runs with a teacher only."""


def step_metrics(
    values: Mapping[str, float], totals: Totals, *, step: int, rate: float
) -> dict[str, Any]:
    """Return the metrics of a step.

    Args:
        values: From TrainStep, of the whole batch.
        totals: Of the whole batch. Without pairs, next sentences have no numbers.
        step: Its number, from 1.
        rate: Fraction of the peak learning rate.
    """
    pairs = {}
    if totals.num_pairs:
        pairs = {
            "nsp_loss": values["nsp_loss"],
            "nsp_accuracy": values["nsp_correct"] / totals.num_pairs,
        }
    return {
        "step": step,
        "loss": values["loss"],
        "mlm_loss": values["mlm_loss"],
        "mlm_top1": values["mlm_correct"] / values["num_masked"],
        **pairs,
        **{name: values[name] for name in OF_TEACHER if name in values},
        "learning_rate_share": rate,
        "gradient_norm": values["gradient_norm"],
    }


def has_diverged(values: Mapping[str, float]) -> bool:
    """Return whether loss or gradient is not finite."""
    return not (math.isfinite(values["loss"]) and math.isfinite(values["gradient_norm"]))


def divergence_note(values: Mapping[str, float], progress: TrainingProgress) -> dict[str, Any]:
    """Return the line of metrics of a step that diverged; JSON has no NaN, so as text.

    Args:
        values: From TrainStep.
        progress: Before that step.
    """
    return {
        "step": progress.step + 1,
        "diverged": f"loss {values['loss']}, gradient norm {values['gradient_norm']}",
        "seconds": round(progress.elapsed_seconds, 3),
        "num_tokens": progress.num_tokens,
    }
