"""Comparison of two checkpoints on many texts: similarity of layers, answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from bertcore.analysis.compare.before_after import check_finite
from bertcore.analysis.compare.checkpoints import Question, with_mask_of
from bertcore.analysis.compare.cka import LayerSimilarity, layer_similarity
from bertcore.analysis.compare.decision import LayerDecisions, layer_decisions
from bertcore.analysis.compare.shared_units import shared_units
from bertcore.analysis.shared.collect import Progress
from bertcore.data.texts import Sentence
from bertcore.model import Model
from bertcore.trace import Trace

MAX_SENTENCES = 500
"""Maximum number of texts compared; the result states how many were left out."""
MAX_EXAMPLES = 1000
"""Total number of tokens for CKA: each text contributes an equal share, drawn at random if it has
more."""
KINDS = ("class", "labels", "score", "next")
"""Questions asked about every text: those about the text as a whole."""

NO_LABEL = "no label"
"""The answer of a text that has none of several labels."""


@dataclass(frozen=True, slots=True)
class TextAnswers:
    """The answers of both checkpoints to one question about one text."""

    sentence: Sentence
    kind: str
    """Of KINDS."""
    answers: tuple[str, str]
    """"" if one does not answer; for a score the number, for labels those that the text has."""
    probabilities: tuple[float, float]
    """Probability of each one's answer (for a score the score, for labels that of the least certain
    one); NaN if one does not answer."""
    distance: float
    """Half the sum of the differences of all probabilities, 0 to 1 (total variation); for a score
    the difference, for labels the mean over them. NaN if they cannot be compared."""

    @property
    def is_changed(self) -> bool:
        """Whether both answer but differ; a score never counts."""
        return self.kind != "score" and all(self.answers) and self.answers[0] != self.answers[1]


@dataclass(frozen=True, slots=True, eq=False)
class TextsComparison:
    """Two checkpoints over many texts."""

    similarity: LayerSimilarity
    """CKA of the tokens (or words) of all texts, without [CLS] and [SEP]."""
    are_tokens: bool
    """Whether all texts were tokenised alike; otherwise words were compared where they were not."""
    answers: tuple[TextAnswers, ...]
    """For each text and each question of KINDS that it poses."""
    num_sentences: int
    num_left_out: int
    """Number of texts beyond MAX_SENTENCES."""
    num_cut: int
    """Number of texts longer than one of the checkpoints reads."""


def compare_texts(
    first: Model,
    second: Model,
    sentences: Sequence[Sentence],
    all_questions: Sequence[Question],
    *,
    max_examples: int = MAX_EXAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> TextsComparison:
    """Compare two checkpoints over many texts, in one pass through each.

    Args:
        sentences: At least one; those beyond MAX_SENTENCES are left out.
        all_questions: From `compare.questions`; those in KINDS are used.
        max_examples: Number of tokens for CKA, at least 2.
        progress: Called with the fraction done after each text; an exception in it ends the pass.

    ValueError if there is no text, fewer than two tokens in all, or a run holds NaN.
    """
    if not sentences:
        raise ValueError("there is no text to compare on. Give at least one.")
    kept = list(sentences[:MAX_SENTENCES])
    each = max(1, max_examples // len(kept))
    vectors: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
    answers: list[TextAnswers] = []
    are_tokens, num_cut = True, 0
    for number, sentence in enumerate(kept):
        traces = tuple(_trace(bert, sentence) for bert in (first, second))
        for trace in traces:
            check_finite(trace)
        units = shared_units(traces[0], traces[1])
        are_tokens = are_tokens and units.are_tokens
        num_cut += any(trace.truncation is not None for trace in traces)
        text_units = [i for i, unit in enumerate(units.units) if not unit.is_special]
        if len(text_units) > each:
            generator = np.random.default_rng([seed, number])
            text_units = sorted(generator.choice(text_units, each, replace=False).tolist())
        for side, trace in enumerate(traces):
            merged = units.merged_vectors(trace.hidden_states, side)
            vectors[side].append(merged[:, text_units].clone())
        for question in (question for question in all_questions if question.kind in KINDS):
            answer = _answers((first, second), (traces[0], traces[1]), sentence, question)
            if answer is not None:
                answers.append(answer)
        if progress:
            progress((number + 1) / len(kept), f"{number + 1:,} of {len(kept):,} texts read")
    one, two = (torch.cat(parts, dim=1) for parts in vectors)
    return TextsComparison(
        similarity=layer_similarity(one, two),
        are_tokens=are_tokens,
        answers=tuple(answers),
        num_sentences=len(kept),
        num_left_out=len(sentences) - len(kept),
        num_cut=num_cut,
    )


def _trace(bert: Model, sentence: Sentence) -> Trace:
    pair = sentence.text_pair
    return bert.trace(
        with_mask_of(bert, sentence.text), None if pair is None else with_mask_of(bert, pair)
    )


def _answers(
    berts: tuple[Model, Model], traces: tuple[Trace, Trace], sentence: Sentence, question: Question
) -> TextAnswers | None:
    """Return both answers; None if the text does not pose the question."""
    names, values, rows = ["", ""], [np.nan, np.nan], []
    for side, (decision, trace) in enumerate(zip(question.decisions, traces, strict=True)):
        if decision is None or not decision.applies_to(trace):
            continue
        owner = berts[1 - side] if question.borrower == side else berts[side]
        read = layer_decisions(decision, trace, owner.device)
        final = read.probabilities[-1]  # [P, C]
        rows.append(final)
        values[side] = float(final.max(-1).min())
        names[side] = _name(read)
    if not rows:
        return None
    distance = np.nan
    if len(rows) == 2 and question.same_answers:
        halves = 1.0 if question.kind == "score" else 0.5
        distance = halves * float(np.abs(rows[0] - rows[1]).sum(-1).mean())
    return TextAnswers(
        sentence, question.kind, (names[0], names[1]), (values[0], values[1]), distance
    )


def _name(read: LayerDecisions) -> str:
    """Return a checkpoint's answer to a whole text, in words."""
    if read.kind == "score":
        return f"{read.probabilities[-1, 0, 0]:.4g}"
    if read.kind != "labels":
        return read.final[0]
    given = [label for label, said in zip(read.labels, read.final, strict=True) if said == "yes"]
    return ", ".join(given) or NO_LABEL
