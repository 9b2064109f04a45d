"""What the pictures of a change show, as tables for CSV."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.compare.before_after import BeforeAfter, WordShift
from bertcore.analysis.compare.task_shift import TaskShift


def word_table(shifts: Sequence[WordShift]) -> pd.DataFrame:
    """Return a row for each mask and word."""
    return pd.DataFrame(
        [
            {"position": s.position, "piece": word, "p_before": float(p), "p_after": float(q)}
            for s in shifts
            for word, p, q in zip(s.words, s.before, s.after, strict=True)
        ]
    )


def answer_table(is_next: Sequence[float]) -> pd.DataFrame:
    """Return the next-sentence probability before and after."""
    return pd.DataFrame({"run": ["before", "after"], "p_is_next": list(is_next)})


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


def hidden_table(found: BeforeAfter, tokens: Sequence[str]) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and token."""
    return pd.DataFrame(
        [
            {"layer": layer, "position": i, "token": token, "one_minus_cosine": float(value)}
            for layer, row in enumerate(found.hidden_change)
            for i, (token, value) in enumerate(zip(tokens, row, strict=True))
        ]
    )


def head_table(values: dict[str, NDArray[np.float32]]) -> pd.DataFrame:
    """Return a row for each head, with a column for each named array [L, H]."""
    shape = next(iter(values.values())).shape
    return pd.DataFrame(
        [
            {"layer": la, "head": he, **{name: float(v[la, he]) for name, v in values.items()}}
            for la, he in np.ndindex(*shape)
        ]
    )
