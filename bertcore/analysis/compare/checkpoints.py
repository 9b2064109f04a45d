"""Comparison of two checkpoints on one text: their answers, heads and vectors.

For instance a checkpoint before and after fine-tuning, or two steps of a training run.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.compare.before_after import check_finite
from bertcore.analysis.compare.decision import (
    KINDS,
    Decision,
    Decisions,
    LayerDecisions,
    layer_decisions,
    open_decisions,
)
from bertcore.analysis.compare.shared_units import SharedUnits, head_divergence, shared_units
from bertcore.analysis.compare.weight_drift import vocabulary
from bertcore.base.states import state_name
from bertcore.data.labels import label_name
from bertcore.model.model import Model
from bertcore.model.trace import Trace

MASKS = ("[MASK]", "<mask>")
"""Spellings of the mask token in the families."""
MOST_ANSWERS = 8
"""Maximum number of answers compared at a place."""
NO_QUESTION = (
    "neither checkpoint has a question to answer on this text. Write [MASK] in it to compare "
    "words, or make it a pair to compare the next-sentence answer"
)
Sides = tuple[LayerDecisions | None, LayerDecisions | None]
"""The answers of both checkpoints to one question; None if one has none."""


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

    def asked(self, kind: str = "") -> tuple[Question, Sides]:
        """Return a question by a key of `decision.KINDS`, or the first, and both answers to it.

        ValueError if the text does not pose it.
        """
        by_kind = {question.kind: (question, (one, two)) for question, one, two in self.answers}
        if not by_kind:
            raise ValueError(f"{NO_QUESTION}.")
        kind = kind or next(iter(by_kind))
        if kind not in by_kind:
            raise ValueError(f"there is no question {kind!r}; expected one of {[*by_kind]}.")
        return by_kind[kind]

    def places(self, kind: str = "") -> list["Place"]:
        """Return where both decide on a question; a tagger at the first piece of each word."""
        question, sides = self.asked(kind)
        if question.kind == "span":
            return [Place("start of the answer", (0, 0)), Place("end of the answer", (1, 1))]
        if question.kind == "tag":
            units = [unit for unit in self.units.units if not unit.is_special]
            return [Place(unit.name, (unit.first[0], unit.second[0])) for unit in units]
        answering = [side for side in sides if side is not None]
        one, two = answering[0], answering[-1]
        if question.kind == "labels":
            shared = [label for label in one.labels if label in two.labels]
            return [Place(n, (one.labels.index(n), two.labels.index(n))) for n in shared]
        count = min(len(one.places), len(two.places))
        return [Place(f"number {n + 1}", (n, n)) for n in range(count)]

    def compared(self, kind: str = "", place: int = 0) -> "ComparedAnswers":
        """Return both answers at one place; see `compare_answers`."""
        question, sides = self.asked(kind)
        places = self.places(kind)
        if not 0 <= place < len(places):
            raise ValueError(
                f"there is no place {place} to decide on; this text has {len(places)} for the "
                f"question {question.kind!r}."
            )
        name, both = places[place]
        followed = _usual_answer(question, sides, both)
        return ComparedAnswers(
            kind=question.kind,
            place=name,
            rows=_rows(sides, both),
            followed=followed,
            layers=tuple(_by_layer(sides, both, followed)),
        )


class Place(NamedTuple):
    """Where both checkpoints decide on a question."""

    name: str
    """A token, word or label, as written; or its number."""
    both: tuple[int, int]
    """Its number in `LayerDecisions.places` of either."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer with both probabilities, of yes for a label, or with both scores."""

    answer: str
    p_first: float
    """NaN if a checkpoint has no such answer."""
    p_second: float

    @property
    def difference(self) -> float:
        """The second less the first."""
        return self.p_second - self.p_first


@dataclass(frozen=True, slots=True)
class AnswerAtLayer:
    """What a checkpoint's head answers if the network ended at a layer."""

    checkpoint: str
    """"first" or "second"."""
    state: int
    """hidden_states[state], 0 the input."""
    answer: str
    p_followed: float
    """Probability of the answer that is followed; NaN if the checkpoint has no such answer."""
    settled: int | None
    """First hidden state from which on the answer is the final one; None for a score."""

    @property
    def after(self) -> str:
        """The name of the hidden state."""
        return state_name(self.state)

    @property
    def settled_after(self) -> str | None:
        """The name of the hidden state from which on it is settled."""
        return None if self.settled is None else state_name(self.settled)


@dataclass(frozen=True, slots=True)
class ComparedAnswers:
    """The answers of two checkpoints to one question, at one place of a text."""

    kind: str
    """Of the question, a key of `decision.KINDS`."""
    place: str
    """Name of the place."""
    rows: tuple[AnswerRow, ...]
    """The most probable answers of both, the highest probability first."""
    followed: str
    """The answer that is followed through the layers: the final one of the checkpoint whose head it
    is, or of the surer one."""
    layers: tuple[AnswerAtLayer, ...]

    @property
    def names(self) -> list[str]:
        """The answers of `rows` in a sentence: a label that is a number is "label 1"."""
        are_labels = self.kind in ("class", "labels")
        return [label_name(row.answer) if are_labels else row.answer for row in self.rows]


def limits(first: Model, second: Model) -> list[str]:
    """Return sentences on what cannot be compared between two checkpoints; [] if everything can."""
    one, two = first.config, second.config
    sentences = []
    if one.family.name != two.family.name:
        sentences.append(
            f"The first is of the family {one.family.name}, the second of {two.family.name}: "
            "parts that only one of them has are left out."
        )
    ours, theirs = vocabulary(first), vocabulary(second)
    if ours != theirs:
        sentences.append(
            f"Their vocabularies differ ({len(ours):,} and {len(theirs):,} pieces, "
            f"{len({*ours} & {*theirs}):,} in both): token tables are compared over the shared "
            "pieces, and where the two split a text differently, words are compared."
        )
    if one.hidden_size != two.hidden_size:
        sentences.append(
            f"Their vectors have {one.hidden_size} and {two.hidden_size} numbers, so their "
            "matrices cannot be subtracted; CKA still compares their layers, but neither can be "
            "read with the other's head."
        )
    shapes = [(c.num_hidden_layers, c.num_attention_heads) for c in (one, two)]
    if shapes[0] != shapes[1]:
        sentences.append(
            "They have {} layers of {} heads and {} of {}, so their heads do not correspond and "
            "are not compared; layers are matched by their number.".format(*shapes[0], *shapes[1])
        )
    return sentences


def questions(
    first: Model, second: Model, decisions: tuple[Decisions, Decisions] | None = None
) -> tuple[Question, ...]:
    """Return the questions that either can answer, in the order of KINDS.

    A checkpoint without a head for a question is read with the other's pooler and head if width and
    vocabulary are the same: the answer that head would give if only the encoder were different.
    """
    if decisions is None:
        decisions = open_decisions(first), open_decisions(second)
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


def compare_answers(
    first: Model,
    second: Model,
    text: str,
    text_b: str | None = None,
    *,
    question: str = "",
    place: int = 0,
) -> ComparedAnswers:
    """Compare the answers of two checkpoints to one question about a text, layer by layer.

    Args:
        text, text_b: With [MASK] or <mask> for each checkpoint's own mask token.
        question: A key of `decision.KINDS`; "" for the first that the text poses.
        place: Number of the mask, word, label, or end of a span.

    ValueError if the text does not pose the question or has no such place, or a run holds NaN.
    """
    traces = run_both(first, second, text, text_b)
    comparison = compare_text(first, second, traces, questions(first, second))
    return comparison.compared(question, place)


def compare_heads(
    first: Model, second: Model, text: str, text_b: str | None = None
) -> NDArray[np.float32]:
    """Return how differently each head attends to a text in two checkpoints, bits, [L, H].

    See `head_divergence`. ValueError if they have different numbers of layers or heads, or a run
    holds NaN.
    """
    divergence = compare_text(first, second, run_both(first, second, text, text_b), ()).divergence
    if divergence is None:
        raise ValueError(
            "the two have different numbers of layers or heads, so no head of one corresponds to "
            "a head of the other. Compare their layers."
        )
    return divergence


@dataclass(frozen=True, slots=True, eq=False)
class HeadInBoth:
    """The attention of one head in two checkpoints."""

    layer: int
    head: int
    tokens: tuple[tuple[str, ...], tuple[str, ...]]
    weights: tuple[NDArray[np.float32], NDArray[np.float32]]
    """[T, T] each; a row is the attending token."""

    @classmethod
    def of(cls, traces: tuple[Trace, Trace], layer: int, head: int) -> "HeadInBoth":
        """Return a head of two runs."""
        one, two = (trace.attentions[layer, head].float().numpy() for trace in traces)
        return cls(layer, head, (tuple(traces[0].tokens), tuple(traces[1].tokens)), (one, two))


def head_in_both(
    first: Model,
    second: Model,
    text: str,
    text_b: str | None = None,
    *,
    layer: int = 0,
    head: int = 0,
) -> HeadInBoth:
    """Return the attention of one head of two checkpoints to the same text.

    IndexError if one of them has no such head; ValueError if a run holds NaN.
    """
    return HeadInBoth.of(run_both(first, second, text, text_b), layer, head)


def compare_text(
    first: Model, second: Model, traces: tuple[Trace, Trace], all_questions: Sequence[Question]
) -> TextComparison:
    """Compare the runs of one text through two checkpoints.

    `all_questions` that the text does not pose are left out. ValueError if a run holds NaN.
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


def _rows(sides: Sides, both: tuple[int, int]) -> tuple[AnswerRow, ...]:
    """Return the most probable answers of both at a place, half each side's own unless all fit."""
    tops = [_most_probable(side, place) for side, place in zip(sides, both, strict=True)]
    names = dict.fromkeys(name for top in tops for name in top)
    if len(names) > MOST_ANSWERS:
        names = dict.fromkeys(name for top in tops for name in top[: MOST_ANSWERS // 2])
    rows = [
        AnswerRow(name, *(_final(side, at, name) for side, at in zip(sides, both, strict=True)))
        for name in names
    ]
    return tuple(sorted(rows, key=lambda row: -np.nanmax([row.p_first, row.p_second])))


def _most_probable(side: LayerDecisions | None, place: int) -> list[str]:
    """Return the answers of a side, the most probable one first."""
    if side is None:
        return []
    names, p = _named(side, place)
    # A full sort of a vocabulary, for each mask and edit, would take longer than the network.
    count = min(MOST_ANSWERS, len(p))
    top = np.argpartition(-p, count - 1)[:count]
    return [names[i] for i in sorted(top.tolist(), key=lambda i: (-p[i], i))]


def _named(side: LayerDecisions, place: int) -> tuple[Sequence[str], NDArray[np.float32]]:
    """Return the names of the final answers and their probabilities; of labels, those of yes."""
    if side.kind == "labels":
        return side.labels, side.probabilities[-1, :, 1]
    return side.names, side.probabilities[-1, place]


def _final(side: LayerDecisions | None, place: int, name: str) -> float:
    if side is None:
        return math.nan
    names, p = _named(side, place)
    return float(p[names.index(name)]) if name in names else math.nan


def _usual_answer(question: Question, sides: Sides, both: tuple[int, int]) -> str:
    """Return the final answer of the side whose head it is; if both have one, the surer one's."""
    answers = [
        (number != question.borrower, float(side.probabilities[-1, at].max()), side.final[at])
        for number, (side, at) in enumerate(zip(sides, both, strict=True))
        if side is not None
    ]
    return max(answers, key=lambda answer: answer[:2])[-1]


def _by_layer(sides: Sides, both: tuple[int, int], followed: str) -> list[AnswerAtLayer]:
    rows = []
    for name, side, at in zip(("first", "second"), sides, both, strict=True):
        if side is None:
            continue
        column = side.names.index(followed) if followed in side.names else None
        for state, p in enumerate(side.probabilities[:, at]):
            best = side.names[side.answers[state, at]]
            p_followed = math.nan if column is None else float(p[column])
            rows.append(AnswerAtLayer(name, state, best, p_followed, side.settled[at]))
    return rows


def run_both(
    first: Model, second: Model, text: str, text_b: str | None = None
) -> tuple[Trace, Trace]:
    """Return the runs of a text or pair through two checkpoints, each with its own mask token.

    ValueError if a run holds NaN.
    """
    one, two = (
        bert.trace(with_mask_of(bert, text), None if text_b is None else with_mask_of(bert, text_b))
        for bert in (first, second)
    )
    for trace in (one, two):
        check_finite(trace)
    return one, two


def with_mask_of(bert: Model, text: str) -> str:
    """Return a text with [MASK] and <mask> replaced by the checkpoint's mask token."""
    mask_token = bert.tokenizer.mask_token
    for mask in MASKS:
        text = text.replace(mask, mask_token) if mask != mask_token else text
    return text
