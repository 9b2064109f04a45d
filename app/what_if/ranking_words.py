"""What the numbers of a ranking of heads mean, and what its Python is filled with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bertcore.analysis.heads.importance import HeadImportance
from bertcore.interventions.what_if import Changes

from ..plots.untrusted_text import plain, shorten

CAPTIONS = {
    "word": (
        "Change of ln p of **{word}** at token {position} without the head. Orange, below 0: "
        "the head supports this word. Blue: it supports others."
    ),
    "divergence": "How far the words at token {position} move without the head: KL, in nats.",
    "label_classes": (
        "Change of the probability of **{label}** without the head. Orange, below 0: the head "
        "supports this class. Blue: it supports others."
    ),
    "label_labels": (
        "Change of the probability of **{label}** without the head. Orange, below 0: the head "
        "supports this label. Blue: it opposes it."
    ),
    "label_score": "Change of the score without the head.",
    "answer_classes": (
        "How far the probabilities of all classes move without the head: KL, in nats."
    ),
    "answer_labels": (
        "How far the labels' probabilities move without the head: KL, in nats, summed over the "
        "labels."
    ),
    "answer_tags": (
        "How far the tags move without the head: KL, in nats, the mean over the words."
    ),
    "answer_span": (
        "How far start and end of the answer move without the head: KL, in nats, the sum of both."
    ),
    "next_sentence": "Change of the probability that B follows A without the head.",
    "hidden": ("How much the last layer's vectors turn without the head: the mean of 1 − cosine."),
}
"""What a number means, by measure and, where it is about the task head, kind of the task."""


def ranking_caption(found: HeadImportance, measure: str) -> str:
    """Return what a number of the measure means, as Markdown; any word and label is escaped."""
    kind = f"_{found.task}" if measure in ("label", "answer") else ""
    names = {"word": found.chosen or "", "label": found.chosen_label or ""}
    shown = {name: plain(shorten(text)) for name, text in names.items()}
    return CAPTIONS[measure + kind].format(**shown, position=found.position)


def code_values(
    found: HeadImportance, measure: str, masked: Sequence[int], changes: Changes
) -> dict[str, Any]:
    """Return what fills the braces of the ranking's Python.

    Args:
        found: The ranking.
        measure: The effect that is shown.
        masked: Positions that are hidden.
        changes: In force in all runs.
    """
    return {
        "masked": tuple(masked),
        "changes": changes,
        "position": found.position,
        "word": found.chosen,
        "task": "None" if found.task is None else "read_task_head(bert)",
        "label": found.chosen_label,
        "measure": measure,
    }
