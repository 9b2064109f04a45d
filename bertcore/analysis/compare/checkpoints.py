"""Comparison of two checkpoints on one text: their answers, heads and vectors.

For instance a checkpoint before and after fine-tuning, or two steps of a training run.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.compare.before_after import check_finite
from bertcore.analysis.compare.decision import (
    KINDS,
    Decision,
    Decisions,
    LayerDecisions,
    layer_decisions,
)
from bertcore.analysis.compare.shared_units import SharedUnits, head_divergence, shared_units
from bertcore.analysis.compare.weight_drift import vocabulary
from bertcore.model import Model
from bertcore.trace import Trace

MASKS = ("[MASK]", "<mask>")
"""Spellings of the mask token in the families."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """One question for both checkpoints."""

    kind: str
    """A key of `decision.KINDS`."""
    decisions: tuple[Decision | None, Decision | None]
    """Decisions of the first and the second checkpoint; None if one has no head for it and cannot
    use the other's."""
    borrower: int | None
    """0 or 1: the checkpoint without such a head, whose encoder is read with the other's pooler
    and head; None if there is none."""
    same_answers: bool
    """Whether both choose from the same answers in the same order."""


@dataclass(frozen=True, slots=True, eq=False)
class TextComparison:
    """One text run through two checkpoints."""

    units: SharedUnits
    """The U units that both share: tokens, or words where they split the text differently."""
    answers: tuple[tuple[Question, LayerDecisions | None, LayerDecisions | None], ...]
    """Each question that the text poses, and both answers layer by layer."""
    divergence: NDArray[np.float32] | None
    """Jensen-Shannon divergence of each head in bits, [L, H]; None if the shapes differ."""


def limits(first: Model, second: Model) -> list[str]:
    """Return sentences on what cannot be compared between two checkpoints; [] if everything can."""
    sentences = []
    one, two = first.config, second.config
    if one.family.name != two.family.name:
        sentences.append(
            f"The first is of the family {one.family.name}, the second of {two.family.name}: "
            "parts that only one of them has are left out."
        )
    if vocabulary(first) != vocabulary(second):
        shared = len(set(vocabulary(first)) & set(vocabulary(second)))
        sentences.append(
            f"Their vocabularies differ ({first.tokenizer.vocab_size:,} and "
            f"{second.tokenizer.vocab_size:,} pieces, {shared:,} in both): the token tables are "
            "compared over the shared pieces, and where they split a text differently, words are "
            "compared instead of pieces."
        )
    if one.hidden_size != two.hidden_size:
        sentences.append(
            f"Their vectors have {one.hidden_size} and {two.hidden_size} numbers, so their "
            "matrices cannot be subtracted; CKA still compares their layers, but neither can be "
            "read with the other's head."
        )
    shapes = [(c.num_hidden_layers, c.num_attention_heads) for c in (one, two)]
    if shapes[0] != shapes[1]:
        (layers_1, heads_1), (layers_2, heads_2) = shapes
        sentences.append(
            f"They have {layers_1} layers of {heads_1} heads and {layers_2} of {heads_2}, so "
            "their heads do not correspond and are not compared."
            + (
                " Layers are matched by their number as far as both have them."
                if one.hidden_size == two.hidden_size and layers_1 != layers_2
                else ""
            )
        )
    return sentences


def questions(
    first: Model, second: Model, decisions: tuple[Decisions, Decisions]
) -> tuple[Question, ...]:
    """Return the questions that either can answer, in the order of KINDS.

    A checkpoint without a head for a question is read with the other's pooler and head if width and
    vocabulary are the same: the answer that head would give if only the encoder were different.

    Args:
        decisions: Of both, from `open_decisions`.
    """
    can_borrow = first.config.hidden_size == second.config.hidden_size
    can_borrow = can_borrow and vocabulary(first) == vocabulary(second)
    all_questions = []
    for kind in KINDS:
        both = (decisions[0].of(kind), decisions[1].of(kind))
        if both == (None, None):
            continue
        borrower = both.index(None) if None in both else None
        same = borrower is None and both[0] is not None and both[1] is not None
        same = same and both[0].labels == both[1].labels  # type: ignore[union-attr]
        if borrower is not None and can_borrow:
            both, same = (both[0] or both[1], both[1] or both[0]), True
        all_questions.append(Question(kind, both, borrower if same else None, bool(same)))
    return tuple(all_questions)


def compare_text(
    first: Model,
    second: Model,
    traces: tuple[Trace, Trace],
    all_questions: Sequence[Question],
) -> TextComparison:
    """Compare the runs of one text through two checkpoints.

    Args:
        traces: Of the same text or pair (`with_mask_of` writes it for each).
        all_questions: From `questions`; those that the text does not pose are left out.

    ValueError if a run holds NaN.
    """
    for trace in traces:
        check_finite(trace)
    units = shared_units(*traces)
    answers = []
    for question in all_questions:
        sides: list[LayerDecisions | None] = []
        for side, (bert, trace) in enumerate(zip((first, second), traces, strict=True)):
            decision = question.decisions[side]
            if decision is None or not decision.applies_to(trace):
                sides.append(None)
                continue
            owner = (first, second)[1 - side] if question.borrower == side else bert
            sides.append(layer_decisions(decision, trace, owner.device))
        if sides != [None, None]:
            answers.append((question, sides[0], sides[1]))
    same_heads = traces[0].attentions.shape[:2] == traces[1].attentions.shape[:2]
    divergence = head_divergence(*traces, units) if same_heads else None
    return TextComparison(units, tuple(answers), divergence)


def with_mask_of(bert: Model, text: str) -> str:
    """Return a text with [MASK] and <mask> replaced by the checkpoint's mask token."""
    mask_token = bert.tokenizer.mask_token
    for mask in MASKS:
        text = text.replace(mask, mask_token) if mask != mask_token else text
    return text
