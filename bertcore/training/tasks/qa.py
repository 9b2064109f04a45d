"""Extractive question answering ("qa"): the answer to a question as a span of a text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.distillation import soft_target_loss
from bertcore.training.evaluation.metrics import Metrics, best_threshold, mean_metrics, score_answer
from bertcore.training.tasks.answers import Goal, SpanTarget, TaskAnswer
from bertcore.training.tasks.inputs import TaskInput
from bertcore.training.tasks.judged import (
    JudgedAnswers,
    Logits,
    MetricTable,
    Outputs,
    Predicted,
    Scored,
    WrongAnswer,
)
from bertcore.training.tasks.questions import (
    MAX_ANSWER_TOKENS,
    Questions,
    find_answers,
    question_rows,
)
from bertcore.training.tasks.rows import Batch
from bertcore.training.tasks.task import RowForm, Task
from bertcore.training.tasks.task_data import TaskData

NO_ANSWER = "(no answer)"
NUM_SPANS = 5
"""Most probable answers that are returned."""
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
    logits: NDArray[np.float32]
    """s · h and e · h of each token's vector h, to which the head adds a bias, [T, 2]."""
    null: int
    """Place of [CLS]."""

    def score(self, start: int, end: int) -> float:
        """Return the sum of a start's and an end's logit; that of `null` twice is no answer's."""
        return float(self.logits[start, 0] + self.logits[end, 1])

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

    def goal(self, source: TaskInput, word: int | None, label: int | None, change: float) -> Goal:
        """Return the goal of a different best answer, including "no answer".

        The words of this one are not swapped.
        """
        best, words = self.best, list(enumerate(source.words))
        inside = [i for i, w in words if best and w.start <= best.end and w.end > best.start]

        def target(other: TaskInput) -> SpanTarget:
            if self.spans and best is None:
                return SpanTarget(other.encoding.cls_place, other.encoding.cls_place)
            if not inside:
                return self.target(other)
            return SpanTarget(other.words[inside[0]].start, other.words[inside[-1]].end - 1)

        def text(answer: SpanAnswers) -> str | None:
            return None if answer.best is None else answer.best.text

        return Goal(lambda answer: text(answer) != text(self), target, frozenset(inside))


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
        self, examples: Iterable[QuestionExample], tokenizer: Tokenizer, form: RowForm
    ) -> TaskData:
        """Split each text into windows after its question; see `question_rows`."""
        rows, questions = question_rows(
            examples,
            tokenizer,
            max_length=form.max_length,
            doc_stride=form.doc_stride,
            is_train=form.is_train,
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

    def soft_loss(self, logits: Tensor, wanted: Tensor, batch: Batch, temperature: float) -> Tensor:
        """Return the sum over rows of the mean of start and end, of logits [B, T, 2]."""
        if batch.attention_mask is not None:
            padding = ~batch.attention_mask[..., None]
            logits = logits.float().masked_fill(padding, _NEVER)
            wanted = wanted.float().masked_fill(padding, _NEVER)
        ends = zip(logits.unbind(-1), wanted.unbind(-1), strict=True)
        losses = [soft_target_loss(a, b, temperature).sum() for a, b in ends]
        return torch.stack(losses).sum() / 2

    def convention(self, data: TaskData, logits: Logits) -> bool:
        """Return whether "no answer" may be one, as in SQuAD 2.0: some question has none."""
        assert data.questions is not None
        return any(not example.answers for example in data.questions.examples)

    def file_convention(self, path: Path) -> bool:
        """Return the same of a whole file."""
        return any(not e.answers for e in read_questions(path, bad_rows=BadRows(skip=True)))

    def judged(self, data: TaskData, logits: Logits, convention: bool) -> Predicted:
        """Score answers as SQuAD does."""
        questions = data.questions
        assert questions is not None
        answers = find_answers(questions, logits)
        golds = [[text for text, _ in example.answers] for example in questions.examples]
        texts = ["" if convention and a.null_difference > 0 else a.text for a in answers]
        values = np.array([score_answer(text, g) for text, g in zip(texts, golds, strict=True)])
        scores = [a.score if text else a.null_score for a, text in zip(answers, texts, strict=True)]
        confidence = np.exp(np.array(scores) - _log_normalizers(questions, logits)).clip(0, 1)
        judged = JudgedAnswers(
            gold=np.array(list(map(bool, golds))).astype(np.int32),
            predicted=np.array(list(map(bool, texts))).astype(np.int32),
            confidence=confidence.astype(np.float32),
            quality=values[:, 1].astype(np.float32),
            right=values[:, 0] > 0,
            lengths=np.array(list(map(len, questions.offsets)), dtype=np.int32),
        )
        predictions = [
            {
                "id": example.id,
                "gold": gold,
                "predicted": text,
                "best_span": answer.text,
                "null_difference": round(answer.null_difference, 6),
                "confidence": round(float(sure), 6),
            }
            for example, gold, text, answer, sure in zip(
                questions.examples, golds, texts, answers, confidence, strict=True
            )
        ]
        return judged, predictions

    def score(self, outputs: Iterable[Outputs], data: TaskData, *, in_full: bool) -> Scored:
        """Return exact match and F1 of SQuAD; if some questions have no answer, those of 2.0."""
        scores, predictions = super().score(outputs, data, in_full=in_full)
        if not all(said["gold"] for said in predictions):
            more = _metrics_of_2_0(predictions)
            note = (
                f"The best F1, {more['best_f1']:.3f}, is reached with the null threshold "
                f"{more['best_f1_threshold']:.3f}; it was chosen on these questions themselves."
            )
            metrics, notes = scores.metrics | more, (*scores.notes, note)
            scores = replace(scores, metrics=metrics, notes=notes)
        return Scored(scores, predictions)

    def wrong_answer(
        self, example: QuestionExample, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return an answer that does not match; the higher its confidence, the more severe."""
        exact_match, _ = score_answer(prediction["predicted"], prediction["gold"])
        if exact_match:
            return None
        gold = prediction["gold"][0] if prediction["gold"] else NO_ANSWER
        predicted = prediction["predicted"] or NO_ANSWER
        severity = float(prediction["confidence"])
        return WrongAnswer(number, example.question, example.context, gold, predicted, severity)

    def check_input(self, source: TaskInput) -> None:
        """Reject a question without a text."""
        if source.text_pair is None:
            raise ValueError("a question needs a text to look in. Give it as the second text.")

    def answer(self, source: TaskInput, logits: Tensor, labels: tuple[str, ...]) -> SpanAnswers:
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
        count = min(NUM_SPANS, int(allowed.sum()))
        values, places = table.flatten().topk(count)
        spans = []
        for value, place in zip(values.tolist(), places.tolist(), strict=True):
            start, end = divmod(place, len(starts))
            offsets = source.encoding.offsets
            text = (source.text_pair or "")[offsets[start][0] : offsets[end][1]]
            spans.append(SpanAnswer(text, start, end, value))
        null = source.encoding.cls_place
        no_answer = float(starts[null] * ends[null])
        return SpanAnswers(tuple(spans), no_answer, logits.float().numpy(), null)

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


def _metrics_of_2_0(predictions: Sequence[Mapping[str, Any]]) -> Metrics:
    """Return the further metrics of SQuAD 2.0, of the predictions of `Extract.judged`."""
    metrics: Metrics = {}
    values = np.array([score_answer(said["predicted"], said["gold"]) for said in predictions])
    none = np.array([not said["gold"] for said in predictions])
    for name, chosen in (("has_answer", ~none), ("no_answer", none)):
        if chosen.any():
            metrics[f"{name}_f1"] = float(values[chosen, 1].mean())
            metrics[f"{name}_exact_match"] = float(values[chosen, 0].mean())
    free = [score_answer(said["best_span"], said["gold"])[1] for said in predictions]
    differences = [said["null_difference"] for said in predictions]
    best, threshold = best_threshold(differences, free, none.tolist())
    return metrics | {"best_f1": best, "best_f1_threshold": threshold}


def _log_normalizers(questions: Questions, logits: Logits) -> NDArray[np.float64]:
    """Return ln of the normalizer of start times end of each question, over all its windows."""
    sums = np.full((questions.num, 2), -np.inf)
    for window, values in zip(questions.windows, logits, strict=True):
        of_window = np.logaddexp.reduce(values.astype(np.float64), axis=0)
        sums[window.question] = np.logaddexp(sums[window.question], of_window)
    total: NDArray[np.float64] = sums.sum(1)
    return total
