"""Answers as pairs of bars: the probability of each, before and after."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from . import theme
from .before_after import AFTER, BEFORE, add_pairs, difference, lay_out_pairs
from .figure import Figure
from .formats import percent, shorten, signed
from .untrusted_text import label_name

COLOURS = (BEFORE, AFTER)  # of the first and the second checkpoint, in every picture of the page
_ROW = 34


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Some answers at one place, with both probabilities."""

    names: tuple[str, ...]
    """[R]"""
    values: tuple[NDArray[np.float64], NDArray[np.float64]]
    """Of the first and the second, each [R]; NaN if a checkpoint has no such answer."""
    num_more: int
    """Answers that are left out."""


def answer_bars(rows: AnswerRows, names: tuple[str, str], kind: str) -> Figure:
    """Draw the answers as pairs of bars: the first checkpoint grey, the second blue.

    Args:
        rows: From `answer_rows`.
        names: Of the checkpoints; any text.
        kind: Of the question; the numbers of a "score" are not probabilities.
    """
    is_score = kind == "score"
    is_label = kind in ("class", "labels")
    named = [label_name(name) for name in rows.names] if is_label else rows.names
    labels = [theme.escape(shorten(name, 26)) for name in named]
    first, second = rows.values
    text = [_change(p, q, is_score=is_score) for p, q in zip(first, second, strict=True)]
    hover = f", {{name}}: {'%{x:.4g}' if is_score else '%{x:.3%}'}"
    runs = (theme.escape(names[0]), theme.escape(names[1]))
    fig = Figure()
    add_pairs(fig, rows.values, labels, text, runs, hover)
    low = min(0.0, float(np.nanmin(np.stack(rows.values), initial=0.0)))
    top = float(np.nanmax(np.abs(np.stack(rows.values)), initial=1e-6))
    lay_out_pairs(fig, _ROW * len(labels) + 44, 32, [1.1 * low, top * 1.75])
    return fig


def _change(first: float, second: float, *, is_score: bool) -> str:
    if is_score:
        texts = ["–" if math.isnan(value) else f"{value:.3g}" for value in (first, second)]
        moved = "" if math.isnan(first + second) else f"  {signed(second - first)}"
        return f"  {texts[0]} → <b>{texts[1]}</b>{moved}"
    texts = ["–" if math.isnan(value) else percent(value) for value in (first, second)]
    both = not math.isnan(first + second)
    return f"  {texts[0]} → <b>{texts[1]}</b>  {difference(first, second) if both else ''}"


def answer_table(rows: AnswerRows) -> pd.DataFrame:
    """Return the answers as a table."""
    first, second = rows.values
    return pd.DataFrame(
        {"answer": rows.names, "first": first, "second": second, "difference": second - first}
    )
