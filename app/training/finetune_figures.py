"""Figures and tables of a fine-tuning: its curves, and the dev examples that it gets wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from bertcore.analysis.attribution import WrongAnswer

from ..plots.figure import Figure
from ..plots.metric_names import METRIC_NAMES
from .curve_figures import Panel, draw_panels


def finetuning_table(lines: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a row for each line of metrics: losses, scores on the dev data, learning rate."""
    return pd.DataFrame(lines)


def finetuning_curves(table: pd.DataFrame, metric: str, loss: str) -> Figure:
    """Draw the loss, and below it the metric, by step: training as a line, dev data as points.

    Args:
        table: From `finetuning_table`.
        metric: Metric by which checkpoints are compared, such as "accuracy".
        loss: Name of the loss, with its unit.
    """
    name = METRIC_NAMES.get(metric, metric)
    panels: tuple[Panel, ...] = (
        (f"Loss, {loss}", "loss", "dev_loss", False),
        (f"{name} on the dev data", "", f"dev_{metric}", True),
    )
    return draw_panels(table, panels, names=("training data", "dev data"), columns=1)


def wrong_table(errors: Sequence[WrongAnswer], severity: str) -> pd.DataFrame:
    """Return a row for each wrong example; second texts only if there are any.

    Args:
        errors: The most severe first.
        severity: Name of that column.
    """
    rows = [
        {
            "text": error.text,
            "second text": error.text_pair,
            "true": error.gold,
            "predicted": error.predicted,
            severity: error.severity,
        }
        for error in errors
    ]
    table = pd.DataFrame(rows)
    return table.drop(columns="second text") if table["second text"].isna().all() else table
