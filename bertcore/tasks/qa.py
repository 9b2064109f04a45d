"""Extractive question answering ("qa"): the answer to a question as a span of a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import QuestionExample
from bertcore.data.files import BadRows
from bertcore.data.read_rows import read_questions
from bertcore.distillation import soft_target_loss
from bertcore.evaluation.answer_notes import Inputs
from bertcore.evaluation.metrics import Metrics, Scores, best_threshold, mean_metrics, score_answer
from bertcore.tasks.answers import Goal, SpanTarget, TaskAnswer
from bertcore.tasks.inputs import TaskInput
from bertcore.tasks.judged import (
    NO_SENTENCES,
    ExampleBlock,
    FileJudge,
    Judged,
    JudgedAnswers,
    MetricTable,
    Outputs,
    Scored,
    WrongAnswer,
)
from bertcore.tasks.questions import (
    MAX_ANSWER_TOKENS,
    Answer,
    Questions,
    find_answers,
    question_rows,
)
from bertcore.tasks.rows import Batch
from bertcore.tasks.task import Task
from bertcore.tasks.task_data import TaskData
from bertcore.tokenizer import Tokenizer

NO_ANSWER = "(no answer)"
_NEVER = -1e9
"""Logit of a token that is padding."""


@dataclass(frozen=True, slots=True)
class SpanAnswer:
    """A span of the text as an answer."""

    text: str
    start: int
    """Its first token."""
    end: int
    """Its last token."""
    probability: float
    """p(start) p(end)."""


@dataclass(frozen=True, slots=True)
class SpanAnswers(TaskAnswer):
    """The most probable answers to a question."""

    spans: tuple[SpanAnswer, ...]
    """The best first; () if the text has no token that could be an answer."""
    no_answer: float
    """p(start) p(end) of [CLS], which SQuAD 2.0 takes as "no answer"."""

    @property
    def best(self) -> SpanAnswer | None:
        """The most probable span; None if "no answer" is more probable, or there is no span."""
        best = self.spans[0] if self.spans else None
        return None if best is None or self.no_answer > best.probability else best

    def target(self, source: TaskInput, word: int = 1) -> SpanTarget:
        """Return the best answer as target."""
        if not self.spans:
            raise ValueError("the text has no token that could be an answer. Give a longer text.")
        return SpanTarget(self.spans[0].start, self.spans[0].end)

    def goal(
        self, source: TaskInput, *, word: int | None, label: int | None, score_change: float
    ) -> Goal:
        """Return the goal of a different best answer, including "no answer".

        The words of this one are not swapped.
        """
        return _OtherSpan(self, source)


class _OtherSpan(Goal):
    def __init__(self, first: SpanAnswers, source: TaskInput) -> None:
        self.first, best = first, first.best
        if best is not None:
            start, end = best.start, best.end
            self.fixed = frozenset(
                i for i, word in enumerate(source.words) if word.start <= end and word.end > start
            )

    def is_reached(self, answer: SpanAnswers) -> bool:
        return _text_of_best(answer) != _text_of_best(self.first)

    def target(self, source: TaskInput) -> SpanTarget:
        if self.first.spans and self.first.best is None:
            return SpanTarget(source.encoding.cls_place, source.encoding.cls_place)
        if not self.fixed:
            return self.first.target(source)
        first, last = min(self.fixed), max(self.fixed)
        return SpanTarget(source.words[first].start, source.words[last].end - 1)


def _text_of_best(answer: SpanAnswers) -> str | None:
    return None if answer.best is None else answer.best.text


class Extract(Task):
    """The answer to a question as a span of a text."""

    name = "qa"
    kind = "span"
    metrics = ("f1", "exact_match")
    has_labels = False
    default_length = 384
    answers_each_token = True
    decision = "span"
    hub_form = "squad"

    def num_outputs(self, labels: Sequence[str]) -> int:
        """Return 2: start and end."""
        return 2

    def read(
        self, path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
    ) -> Iterator[QuestionExample]:
        """Yield the questions of a SQuAD file; it has no columns to choose."""
        return read_questions(path, bad_rows=bad_rows)

    def rows(
        self,
        examples: Iterable[QuestionExample],
        tokenizer: Tokenizer,
        *,
        max_length: int,
        labels: Sequence[str] | None,
        doc_stride: int = 128,
        is_train: bool = True,
    ) -> TaskData:
        """Split each text into windows after its question; see `question_rows`."""
        rows, questions = question_rows(
            examples,
            tokenizer,
            max_length=max_length,
            doc_stride=doc_stride,
            is_train=is_train,
        )
        return TaskData(rows=rows, labels=(), num_examples=questions.num, questions=questions)

    def reduced_loss(
        self, logits: Tensor, targets: Tensor, class_weights: Tensor | None, reduction: str
    ) -> Tensor:
        """Return the mean of the cross-entropies of start and end.

        Padding is included in the places, as in transformers, so a row's loss depends slightly on
        the longest row of its batch; scores on files leave it out.
        """
        # A start or end beyond the row does not occur: windows point at [CLS] instead.
        start, end = logits.unbind(-1)
        ends = F.cross_entropy(start, targets[:, 0], reduction=reduction)
        return (ends + F.cross_entropy(end, targets[:, 1], reduction=reduction)) / 2

    def loss_weight(
        self, targets: NDArray[np.generic], class_weights: Tensor | None = None
    ) -> float:
        return float(len(targets))

    def soft_loss(self, logits: Tensor, wanted: Tensor, batch: Batch, temperature: float) -> Tensor:
        """Return the sum over rows of the mean of start and end, of logits [B, T, 2]."""
        if batch.attention_mask is not None:
            padding = ~batch.attention_mask[..., None]
            logits = logits.float().masked_fill(padding, _NEVER)
            wanted = wanted.float().masked_fill(padding, _NEVER)
        ends = zip(logits.unbind(-1), wanted.unbind(-1), strict=True)
        losses = [soft_target_loss(a, b, temperature).sum() for a, b in ends]
        return torch.stack(losses).sum() / 2

    def score(self, outputs: Iterable[Outputs], data: TaskData, *, in_full: bool) -> Scored:
        """Return exact match and F1 of SQuAD; if some questions have no answer, those of 2.0."""
        questions = data.questions
        assert questions is not None
        logits: list[NDArray[np.float32]] = [np.empty((0, 2), dtype=np.float32)] * len(data.rows)
        lengths = data.rows.lengths
        loss = 0.0
        for out in outputs:
            for place, row in enumerate(out.examples):
                logits[row] = out.logits[place, : lengths[row]]
            loss += out.loss * len(out.examples)
        # Where every question has an answer, none is withheld.
        may_be_none = any(not example.answers for example in questions.examples)
        answers, golds, texts, values = _found(questions, logits, may_be_none=may_be_none)
        metrics, intervals = mean_metrics(
            {"f1": values[:, 1], "exact_match": values[:, 0]}, with_intervals=in_full
        )
        notes = Inputs.of(data.rows.hashes).notes() if in_full else []
        if may_be_none:
            metrics |= _metrics_of_2_0(answers, golds, values)
            notes.append(
                f"The best F1, {metrics['best_f1']:.3f}, is reached with the null threshold "
                f"{metrics['best_f1_threshold']:.3f}; it was chosen on these questions themselves."
            )
        scores = Scores(
            num_examples=questions.num,
            loss=loss / len(data.rows),
            metrics=metrics,
            intervals=intervals,
            notes=tuple(notes),
        )
        predictions = [
            {
                "id": example.id,
                "gold": gold,
                "predicted": text,
                "null_difference": round(answer.null_difference, 6),
            }
            for example, gold, text, answer in zip(
                questions.examples, golds, texts, answers, strict=True
            )
        ]
        return Scored(scores, predictions)

    def wrong_answer(
        self, example: QuestionExample, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return an answer that does not match; the fewer words it shares, the more severe."""
        exact_match, f1 = score_answer(prediction["predicted"], prediction["gold"])
        if exact_match:
            return None
        gold = prediction["gold"][0] if prediction["gold"] else NO_ANSWER
        predicted = prediction["predicted"] or NO_ANSWER
        return WrongAnswer(number, example.question, example.context, gold, predicted, 1 - f1)

    def check_input(self, source: TaskInput) -> None:
        """Reject a question without a text."""
        if source.text_pair is None:
            raise ValueError("a question needs a text to look in. Give it as the second text.")

    def answer(
        self, source: TaskInput, logits: Tensor, labels: tuple[str, ...], *, num_spans: int = 5
    ) -> SpanAnswers:
        """Return the most probable answers in text B, and the probability of no answer.

        Starts and ends are normalised over all tokens of the row, as the model was trained; an
        answer is in text B and has at most 30 tokens.

        Source: Devlin et al. 2019, section 4.2.
        """
        starts, ends = torch.softmax(logits.float(), 0).unbind(-1)
        inside = torch.tensor([text == 1 for text in source.encoding.text_ids])
        table = starts[:, None] * ends
        length = torch.arange(len(starts)) - torch.arange(len(starts))[:, None]
        allowed = inside[:, None] & inside & (length >= 0) & (length < MAX_ANSWER_TOKENS)
        table = table.masked_fill(~allowed, -1.0)
        count = min(num_spans, int(allowed.sum()))
        values, places = table.flatten().topk(count)
        spans = []
        for value, place in zip(values.tolist(), places.tolist(), strict=True):
            start, end = divmod(place, len(starts))
            offsets = source.encoding.offsets
            text = (source.text_pair or "")[offsets[start][0] : offsets[end][1]]
            spans.append(SpanAnswer(text, start, end, value))
        null = source.encoding.cls_place
        return SpanAnswers(tuple(spans), float(starts[null] * ends[null]))

    def file_judge(self, path: Path, labels: Sequence[str]) -> FileJudge:
        """Return the judge that scores answers as SQuAD does.

        The file is scanned first: if a question has no answer, "none" is allowed, as in SQuAD 2.0.
        """
        examples = read_questions(path, bad_rows=BadRows(skip=True))
        may_be_none = any(not one.answers for one in examples)
        return partial(self.judge, labels, may_be_none=may_be_none)

    def judge(
        self,
        labels: Sequence[str],
        part: ExampleBlock,
        logits: Sequence[NDArray[np.float32]],
        *,
        may_be_none: bool = True,
    ) -> Judged:
        """Score answers as SQuAD does; none is withheld unless `may_be_none`."""
        questions = part.data.questions
        assert questions is not None
        answers, golds, texts, values = _found(questions, logits, may_be_none=may_be_none)
        scores = [
            one.score if text else one.null_score for one, text in zip(answers, texts, strict=True)
        ]
        confidence = np.exp(np.array(scores) - _log_normalizers(questions, logits))
        judged = JudgedAnswers(
            gold=np.array([bool(gold) for gold in golds]).astype(np.int32),
            predicted=np.array([bool(text) for text in texts]).astype(np.int32),
            confidence=confidence.clip(0, 1).astype(np.float32),
            quality=values[:, 1].astype(np.float32),
            right=values[:, 0] > 0,
            lengths=np.array([len(one) for one in questions.offsets], dtype=np.int32),
            sentences=NO_SENTENCES,
        )
        errors = []
        for number in np.flatnonzero(values[:, 0] == 0).tolist():
            example = questions.examples[number]
            errors.append(
                WrongAnswer(
                    part.first + number + 1,
                    example.question,
                    example.context,
                    golds[number][0] if golds[number] else NO_ANSWER,
                    texts[number] or NO_ANSWER,
                    float(confidence[number]),
                )
            )
        return Judged(judged, errors)

    def file_metrics(
        self, answers: JudgedAnswers, labels: Sequence[str], *, with_intervals: bool = True
    ) -> MetricTable:
        """Return F1 and exact match."""
        values = {
            "f1": answers.quality.astype(np.float64),
            "exact_match": answers.right.astype(np.float64),
        }
        return MetricTable(*mean_metrics(values, with_intervals=with_intervals))

    def slice_names(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Return names of questions without and with an answer."""
        return ("has no answer", "has an answer")


def _found(
    questions: Questions,
    logits: Sequence[NDArray[np.float32]],
    *,
    may_be_none: bool,
) -> tuple[list[Answer], list[list[str]], list[str], NDArray[np.float64]]:
    """Return answers, right answers, texts ("": none), and exact match and F1 of each, [N, 2].

    Args:
        questions: N of them, with their windows.
        logits: Of each window, [T, 2].
        may_be_none: Whether "none" is answered where it leads.
    """
    answers = find_answers(questions, logits)
    golds = [[text for text, _ in example.answers] for example in questions.examples]
    texts = ["" if may_be_none and a.null_difference > 0 else a.text for a in answers]
    values = np.array([score_answer(text, g) for text, g in zip(texts, golds, strict=True)])
    return answers, golds, texts, values


def _metrics_of_2_0(
    answers: Sequence[Answer], golds: Sequence[list[str]], values: NDArray[np.float64]
) -> Metrics:
    """Return the further metrics of SQuAD 2.0.

    Args:
        answers: Answer to each question.
        golds: Right answers of each; [] if there is none.
        values: Exact match and F1 of each, [N, 2].
    """
    metrics: Metrics = {}
    none = np.array([not gold for gold in golds])
    for name, chosen in (("has_answer", ~none), ("no_answer", none)):
        if chosen.any():
            metrics[f"{name}_f1"] = float(values[chosen, 1].mean())
            metrics[f"{name}_exact_match"] = float(values[chosen, 0].mean())
    free = [score_answer(a.text, g)[1] for a, g in zip(answers, golds, strict=True)]
    best, threshold = best_threshold([a.null_difference for a in answers], free, none.tolist())
    return metrics | {"best_f1": best, "best_f1_threshold": threshold}


def _log_normalizers(
    questions: Questions, logits: Sequence[NDArray[np.float32]]
) -> NDArray[np.float64]:
    """Return ln of the normalizer of start times end of each question, over all its windows."""
    sums = np.full((questions.num, 2), -np.inf)
    for window, values in zip(questions.windows, logits, strict=True):
        of_window = np.logaddexp.reduce(values.astype(np.float64), axis=0)
        sums[window.question] = np.logaddexp(sums[window.question], of_window)
    total: NDArray[np.float64] = sums.sum(1)
    return total
