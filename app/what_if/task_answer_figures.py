"""Figures of a task head's answers before and after: classes, tags, a span, a score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bertcore.analysis.compare.before_after import WordShift
from bertcore.analysis.compare.task_shift import TaskShift

from ..plots import theme
from ..plots.before_after import AFTER, BEFORE, pair_bars
from ..plots.figure import Figure, bar
from ..plots.formats import shorten

TOP_CHOICES = {"classes": 5, "labels": 5, "tags": 2, "span": 4}
"""Best choices of each run that are shown, by kind."""
MAX_ANSWERS = 5
"""Words whose tags are shown: those whose tags moved most."""
_TITLES = {"start": "Start of the answer", "end": "End of the answer"}


def task_figure(task: TaskShift) -> Figure:
    """Draw a task head's answers before and after: bars of probabilities, or of the score."""
    if task.kind == "score":
        return score_bars([task.before.item(), task.after.item()])
    return task_bars(task)


def task_bars(task: TaskShift, names: tuple[str, str] = ("before", "after")) -> Figure:
    """Draw a task head's answers before (grey) and after (blue) as pairs of bars.

    Args:
        task: With at least one answer, and not of the kind "score".
        names: Names of the two runs.
    """
    answers = shown_answers(task)
    return pair_bars([_shift(task, i) for i in answers], [_title(task, i) for i in answers], names)


def task_table(task: TaskShift) -> pd.DataFrame:
    """Return a row for each answer and choice of a task head."""
    value = "score" if task.kind == "score" else "p"
    return pd.DataFrame(
        [
            {
                "answer": name,
                "position": task.positions[i] if task.positions else None,
                "choice": choice,
                "choice_number": j,
                f"{value}_before": float(task.before[i, j]),
                f"{value}_after": float(task.after[i, j]),
            }
            for i, name in enumerate(task.names)
            for j, choice in enumerate(task.choices)
        ]
    )


def shown_answers(task: TaskShift) -> list[int]:
    """Return the answers that are drawn: those that moved most, in the order of the text."""
    order = np.argsort(-task.divergence, kind="stable")[:MAX_ANSWERS]
    return sorted(order.tolist())


def _shift(task: TaskShift, answer: int) -> WordShift:
    before, after = task.before[answer], task.after[answer]
    count = TOP_CHOICES[task.kind]
    best = [np.argsort(-values, kind="stable")[:count].tolist() for values in (before, after)]
    ids = list(dict.fromkeys([*best[0], *best[1]]))
    words = [task.choices[i] for i in ids]
    if task.kind == "span":  # the same token may be there twice
        words = [f"{shorten(word, 18)} ({i})" for word, i in zip(words, ids, strict=True)]
    divergence = float(task.divergence[answer])
    position = task.positions[answer] if task.positions else 0
    return WordShift(position, tuple(words), before[ids], after[ids], divergence)


def _title(task: TaskShift, answer: int) -> str:
    name = task.names[answer]
    divergence = f"KL {task.divergence[answer]:.3g} nats"
    if task.kind == "tags":
        return f"<b>{theme.escape(shorten(name, 24))}</b> at {task.positions[answer]}: {divergence}"
    if task.kind == "span":
        return f"{_TITLES[name]}: {divergence}"
    return f"{'Class' if task.kind == 'classes' else 'Labels'}: {divergence}"


def score_bars(scores: Sequence[float], names: tuple[str, str] = ("before", "after")) -> Figure:
    """Draw the score of a regression in two runs as bars from 0."""
    change = scores[1] - scores[0]
    texts = [f"{scores[0]:.4g}", f"<b>{scores[1]:.4g}</b>  ({change:+.3g})"]
    fig = Figure(
        bar(
            x=list(scores),
            y=list(names),
            orientation="h",
            marker={"color": [BEFORE, AFTER], "line_width": 0},
            text=texts,
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:.6g}<extra></extra>",
        )
    )
    theme.plot_layout(fig, "", "score", "", 150)
    low, high = min(0.0, *scores), max(0.0, *scores)
    room = 0.3 * max(high - low, 1e-6)  # for the numbers at the ends
    fig.update_xaxes(range=[low - (room if low < 0 else 0), high + room])
    fig.update_yaxes(autorange="reversed", showgrid=False)
    return fig
