"""The effect of removing each head, and what its measures are called."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.heads.importance import HeadImportance

from ..plots import theme
from ..plots.before_after import head_grid
from ..plots.figure import Figure

_MEASURES = {
    "word": "the word",
    "divergence": "all words",
    "next_sentence": "next sentence",
    "hidden": "last layer",
}
_LABELS = {"classes": "the class", "labels": "the label", "score": "the score"}
_ANSWERS = {
    "classes": "all classes",
    "labels": "all labels",
    "tags": "the tags",
    "span": "the answer",
}
_UNITS = {
    "word": "change of ln p",
    "divergence": "KL, nats",
    "label": "change of p",
    "answer": "KL, nats",
    "next_sentence": "change of p",
    "hidden": "1 - cosine",
}
SIGNED = ("word", "label", "next_sentence")
"""Effects that may go either way."""


def measure_name(measure: str, task: str | None) -> str:
    """Return what a measure of the ranking is called; `task` is the kind of the task head."""
    if measure == "label":
        return _LABELS[task or ""]
    return _ANSWERS[task or ""] if measure == "answer" else _MEASURES[measure]


def unit(measure: str, task: str | None) -> str:
    """Return the unit of a measure of the ranking."""
    return "change of the score" if (measure, task) == ("label", "score") else _UNITS[measure]


def effect_grid(importance: HeadImportance, measure: str, *, is_dark: bool = False) -> Figure:
    """Draw the effect of removing each head; a cross marks heads that were off already."""
    effect: NDArray[np.float32] = getattr(importance, measure)
    largest = max(1e-9, float(np.nanmax(np.abs(effect), initial=0.0)))
    is_signed = measure in SIGNED
    counted = unit(measure, importance.task)
    diverging = theme.diverging(is_dark)
    scale = diverging if is_signed else theme.SEQUENTIAL
    colours = {"colorscale": scale, "zmin": -largest if is_signed else 0, "zmax": largest}
    off = {(int(layer), int(head)) for layer, head in np.argwhere(np.isnan(effect))}
    sign = "%{z:+.4f}" if is_signed else "%{z:.4f}"
    return head_grid(effect, off, f"{sign} ({counted})", colours, counted)
