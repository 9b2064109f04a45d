"""Scores by number of labels: a line for what learned, with the least and the most over seeds."""

from collections.abc import Iterable

import pandas as pd

from .lines import Lines


def label_table(scores: Iterable[tuple[str, int, float]]) -> pd.DataFrame:
    """Return a row for each line and number of labels: the median, the least and the most.

    Args:
        scores: What learned, from how many labels, and its score, one for each seed.
    """
    table = pd.DataFrame(scores, columns=["learned", "labels", "score"])
    by = table.groupby(["learned", "labels"], sort=False)["score"]
    found = by.agg(score="median", score_low="min", score_high="max", seeds="count")
    return found.reset_index().sort_values("labels", kind="stable", ignore_index=True)


LABEL_CURVE = Lines(
    table=label_table,
    x="labels",
    y="score",
    by="learned",
    hover=("{name}, %{x:,} labels: %{y:.3f}<br>median of %{customdata} seeds",),
    detail="seeds",
    is_log=True,
    x_title="labels to learn from",
    y_title="score on the dev data",
)
