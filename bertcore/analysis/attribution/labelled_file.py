"""A labelled file run through a fine-tuned model: each answer, how sure it was, and the worst."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax

from bertcore.analysis.attribution.task_answers import check_task
from bertcore.analysis.attribution.task_input import require_finite_logits
from bertcore.evaluation.calibration import Calibration, calibration
from bertcore.evaluation.metrics import (
    Metrics,
    class_metrics,
    entity_metrics,
    mean_metrics,
    score_metrics,
)
from bertcore.evaluation.slices import Slice, by_label, by_length
from bertcore.evaluation.squad_metrics import score_answer
from bertcore.finetuning.data.example_stream import ROWS_AT_ONCE, Part, stream_examples
from bertcore.finetuning.data.examples import QuestionExample, TaggedExample, TextExample
from bertcore.finetuning.data.files import BadRows
from bertcore.finetuning.data.questions import find_answers
from bertcore.finetuning.data.read_questions import read_questions
from bertcore.finetuning.data.read_tags import are_entities
from bertcore.finetuning.data.read_texts import USUAL, Columns
from bertcore.finetuning.data.rows import IGNORED, ordered_batches
from bertcore.finetuning.model import TaskModel

NUM_ERRORS = 200
"""Wrong answers that are kept with their texts."""
NO_ANSWER = "(no answer)"
_BATCH = 64
_LONGEST_TEXT = 20_000
"""Characters of an error's text that are kept."""

OnRows = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """One wrong answer with its text."""

    row: int
    """Of the file, from 1: its row; of tags the line where the sentence begins."""
    text: str
    text_pair: str | None
    gold: str
    predicted: str
    severity: float
    """Confidence of the wrong answer; of a regression its distance."""
    word: int | None = None
    """Of tags: which word of the sentence, from 0; the most confident wrong one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRun:
    """What a model said to a file of N answers: a text's, or with tags a word's."""

    task: str
    labels: tuple[str, ...]
    num_examples: int
    """Texts, sentences or questions that were run."""
    gold: NDArray[np.float32] | NDArray[np.int32]
    """Class or score of each answer, [N]; of "qa" 1 where there is an answer, else 0."""
    predicted: NDArray[np.float32] | NDArray[np.int32]
    """[N]; of "qa" 1 where one was given."""
    confidence: NDArray[np.float32]
    """Probability of what was answered, [N]; NaN of a regression."""
    quality: NDArray[np.float32]
    """[N]: 1 for right, 0 for wrong; of "qa" the F1; of a regression the distance."""
    right: NDArray[np.bool_]
    """[N]; of "qa" whether it matches exactly; of a regression all False."""
    lengths: NDArray[np.int32]
    """Tokens of each answer's text or sentence, special ones included, [N]."""
    sentences: NDArray[np.int32]
    """Words of each sentence of "tag", [num_examples]; else empty."""
    errors: tuple[WrongAnswer, ...]
    """At most NUM_ERRORS, the most severe first."""
    num_errors: int
    """All wrong answers; of tags the sentences with one."""
    is_whole: bool
    """Whether the file was run to its end."""
    notes: tuple[str, ...]

    def metrics(
        self,
    ) -> tuple[Metrics, dict[str, tuple[float, float]], NDArray[np.int64] | None]:
        """Return metrics, 95% intervals, and the confusion matrix [C, C] (gold by row) or None.

        The same as those of `bertscope evaluate`.
        """
        if self.task == "regress":
            return (*score_metrics(self.gold.astype(np.float32), self._scores), None)
        if self.task == "qa":
            values = {"f1": self.quality, "exact_match": self.right}
            asked = {name: one.astype(np.float64) for name, one in values.items()}
            return (*mean_metrics(asked), None)
        gold, predicted = self.gold.astype(np.int64), self.predicted.astype(np.int64)
        metrics, intervals, matrix = class_metrics(gold, predicted, len(self.labels))
        if self.task == "tag" and are_entities(self.labels):
            names, ends = np.array(self.labels, dtype=object), np.cumsum(self.sentences)[:-1]
            tags = ([list(one) for one in np.split(names[ids], ends)] for ids in (gold, predicted))
            metrics, intervals, _ = entity_metrics(*tags)
        elif self.task == "tag":
            names_of = {"macro_f1": "f1", "accuracy": "accuracy"}
            metrics = {new: metrics[old] for old, new in names_of.items()}
            intervals = {new: intervals[old] for old, new in names_of.items()}
        return metrics, intervals, matrix

    def calibration(self) -> Calibration | None:
        """Return how often confident answers are right; None of a regression."""
        if self.task == "regress":
            return None
        return calibration(self.confidence, self.right.astype(np.float64))

    def slices_by_length(self) -> list[Slice]:
        """Return the mean quality by length."""
        return by_length(self.quality, self.lengths)

    def slices_by_label(self) -> list[Slice]:
        """Return the mean quality by true label; of "qa" by whether there is an answer."""
        if self.task == "regress":
            return []
        names = ("has no answer", "has an answer") if self.task == "qa" else self.labels
        return by_label(self.quality, self.gold.astype(np.int64), names)

    @property
    def _scores(self) -> NDArray[np.float32]:
        return self.predicted.astype(np.float32)


def run_file(
    model: TaskModel,
    path: Path,
    *,
    columns: Columns = USUAL,
    skip_bad_rows: bool = False,
    max_length: int | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
    on_rows: OnRows = lambda number: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> FileRun:
    """Run a labelled file through a model, some thousands of rows at a time.

    Args:
        model: For a task of INSPECTED.
        path, columns, skip_bad_rows: As for `read_task_data`.
        max_length: Longest input in tokens; None takes that of the fine-tuning.
        rows_at_once: Rows between two looks at `should_stop`.
        on_rows: Told after each batch how many examples are done.
        should_stop: Whether to end here and return what there is.

    Raises:
        ValueError: If the file cannot be read, no row can be used, the model is for another task,
            or it answers NaN.
    """
    check_task(model)
    usual = model.max_seq_length or (384 if model.task.name == "qa" else 128)
    length = min(usual, model.max_length) if max_length is None else max_length
    bad = BadRows(skip=skip_bad_rows)
    gathered = _Gathered(model, model.task.name == "qa" and _has_impossible(path))
    is_whole = True
    for part in stream_examples(
        path,
        model.task,
        model.tokenizer,
        max_length=length,
        labels=model.labels,
        columns=columns,
        bad_rows=bad,
        rows_at_once=rows_at_once,
    ):
        # Looked at where there is more to do: what was stopped after its last row is whole.
        if gathered.num_examples and should_stop():
            is_whole = False
            break
        gathered.take(part, on_rows)
    if not gathered.num_examples:
        reason = f" {bad.first}" if bad.first else " Check the file."
        raise ValueError(f"{str(path)!r} has no example to use (0 rows).{reason}")
    notes = [bad.sentence()]
    if gathered.num_cut:
        notes.append(f"{gathered.num_cut:,} texts were cut at {length} tokens.")
    return gathered.finish(is_whole, tuple(note for note in notes if note))


def _has_impossible(path: Path) -> bool:
    """Return whether a question has no answer; then none is forced, as in SQuAD 2.0."""
    return any(not one.answers for one in read_questions(path, bad_rows=BadRows(skip=True)))


@dataclass(slots=True)
class _Gathered:
    model: TaskModel
    may_be_none: bool
    """Of "qa": whether some question has no answer, so that the model may say so too."""
    num_examples: int = 0
    num_cut: int = 0
    num_errors: int = 0
    _columns: dict[str, list[NDArray[np.generic]]] = field(default_factory=dict)
    _worst: list[tuple[float, int, WrongAnswer]] = field(default_factory=list)

    def take(self, part: Part, on_rows: OnRows) -> None:
        """Run a part and keep its numbers."""
        judge = {"tag": self._tags, "qa": self._answers}.get(self.model.task.name, self._texts)
        logits = self._run(part, on_rows)
        judge(part, logits)
        self.num_examples += len(part.examples)
        self.num_cut += part.data.rows.num_cut

    def finish(self, is_whole: bool, notes: tuple[str, ...]) -> FileRun:
        """Return all of it."""
        columns = {
            name: np.concatenate(parts)
            for name, parts in (
                {"sentences": [np.empty(0, dtype=np.int32)]} | self._columns
            ).items()
        }
        return FileRun(
            task=self.model.task.name,
            labels=self.model.labels,
            num_examples=self.num_examples,
            errors=tuple(one for *_, one in sorted(self._worst, key=lambda e: (-e[0], -e[1]))),
            num_errors=self.num_errors,
            is_whole=is_whole,
            notes=notes,
            **columns,
        )

    @torch.inference_mode()
    def _run(self, part: Part, on_rows: OnRows) -> list[NDArray[np.float32]]:
        """Return the logits of each row, [C] or [T, C]."""
        rows, module = part.data.rows, self.model.module
        found: list[NDArray[np.float32]] = [np.empty(0, dtype=np.float32)] * len(rows)
        done = 0
        for numbers in ordered_batches(rows, _BATCH):
            batch = rows.batch(numbers).to(module.head.weight.device)
            logits = module(batch.input_ids, batch.segment_ids, batch.attention_mask).float().cpu()
            for place, number in enumerate(numbers):
                one = logits[place]
                found[number] = (one[: rows.lengths[number]] if one.ndim == 2 else one).numpy()
            require_finite_logits([torch.from_numpy(found[number]) for number in numbers])
            done += len(numbers)
            # A long text may be several rows.
            on_rows(self.num_examples + int(len(part.examples) * done / len(rows)))
        return found

    def _keep(self, **columns: NDArray[np.generic]) -> None:
        for name, values in columns.items():
            self._columns.setdefault(name, []).append(values)

    def _texts(self, part: Part, logits: Sequence[NDArray[np.float32]]) -> None:
        table, lengths = np.stack(logits), part.data.rows.lengths.astype(np.int32)
        if self.model.task.name == "regress":
            gold, predicted = part.data.rows.targets.astype(np.float32), table[:, 0]
            distance = np.abs(gold - predicted)
            nothing = np.full(len(gold), np.nan, dtype=np.float32)
            wrong = np.zeros(len(gold), dtype=np.bool_)
            self._keep(gold=gold, predicted=predicted, confidence=nothing, quality=distance)
            self._keep(right=wrong, lengths=lengths)
            for number in range(len(gold)):
                self._note(part, number, f"{gold[number]:g}", f"{predicted[number]:.3f}", distance)
            return
        gold_ids = part.data.rows.targets.astype(np.int32)
        best = table.argmax(1).astype(np.int32)
        sure = softmax(table, axis=-1)[np.arange(len(best)), best]
        right = gold_ids == best
        self._keep(gold=gold_ids, predicted=best, confidence=sure, lengths=lengths)
        self._keep(right=right, quality=right.astype(np.float32))
        labels = self.model.labels
        for place in np.flatnonzero(~right).tolist():
            gold_name, given = labels[gold_ids[place]], labels[best[place]]
            self._note(part, place, gold_name, given, sure)

    def _tags(self, part: Part, logits: Sequence[NDArray[np.float32]]) -> None:
        rows, counts = part.data.rows, part.data.sentence_lengths
        assert counts is not None
        targets = rows.targets
        shares = softmax(np.concatenate(list(logits)), axis=-1)[targets != IGNORED]
        gold = targets[targets != IGNORED].astype(np.int32)
        best = shares.argmax(1).astype(np.int32)
        sure = shares[np.arange(len(best)), best]
        right = gold == best
        sentence = np.repeat(np.arange(len(counts)), counts)
        # Tokens of the sentence: of all its rows.
        kept = np.repeat(np.arange(len(rows)), np.diff(rows.starts))[targets != IGNORED]
        row_tokens = rows.lengths[kept].astype(np.int32)
        self._keep(gold=gold, predicted=best, confidence=sure, lengths=row_tokens)
        self._keep(right=right, quality=right.astype(np.float32))
        self._keep(sentences=counts.astype(np.int32))
        starts, labels = np.cumsum(counts) - counts, self.model.labels
        for number in np.unique(sentence[~right]).tolist():
            mine = np.flatnonzero((sentence == number) & ~right)
            worst = int(mine[sure[mine].argmax()])
            word = worst - int(starts[number])
            example = part.examples[number]
            assert isinstance(example, TaggedExample)
            self._add(
                WrongAnswer(
                    example.row,
                    " ".join(example.words)[:_LONGEST_TEXT],
                    None,
                    f"{example.words[word]}: {labels[gold[worst]]}",
                    labels[best[worst]],
                    float(sure[worst]),
                    word,
                )
            )

    def _answers(self, part: Part, logits: Sequence[NDArray[np.float32]]) -> None:
        questions = part.data.questions
        assert questions is not None
        answers = find_answers(questions, logits)
        sums = np.full((questions.num, 2), -np.inf)
        for window, values in zip(questions.windows, logits, strict=True):
            # Starts and ends are normalised over all windows of a question together.
            one = np.logaddexp.reduce(values.astype(np.float64), axis=0)
            sums[window.question] = np.logaddexp(sums[window.question], one)
        lengths = np.array([len(one) for one in questions.offsets], dtype=np.int32)
        golds = [[text for text, _ in example.answers] for example in questions.examples]
        has = np.array([bool(gold) for gold in golds])
        withheld = [self.may_be_none and one.null_difference > 0 for one in answers]
        texts = ["" if gone else a.text for a, gone in zip(answers, withheld, strict=True)]
        scores = [
            a.null_score if gone else a.score for a, gone in zip(answers, withheld, strict=True)
        ]
        given = np.array([bool(text) for text in texts])
        values = np.array([score_answer(text, g) for text, g in zip(texts, golds, strict=True)])
        sure = np.exp(np.array(scores) - sums.sum(1))
        self._keep(
            gold=has.astype(np.int32),
            predicted=given.astype(np.int32),
            confidence=sure.clip(0, 1).astype(np.float32),
            quality=values[:, 1].astype(np.float32),
            right=values[:, 0] > 0,
            lengths=lengths,
        )
        for number in np.flatnonzero(values[:, 0] == 0):
            gold = golds[number][0] if golds[number] else NO_ANSWER
            self._note(part, int(number), gold, texts[number] or NO_ANSWER, sure)

    def _note(
        self, part: Part, number: int, gold: str, predicted: str, severity: NDArray[np.floating]
    ) -> None:
        example = part.examples[number]
        if isinstance(example, TextExample):
            row, text, pair = example.row, example.text, example.text_pair
        else:
            assert isinstance(example, QuestionExample)
            row, text, pair = self.num_examples + number + 1, example.question, example.context
        pair = None if pair is None else pair[:_LONGEST_TEXT]
        worst = float(severity[number])
        self._add(WrongAnswer(row, text[:_LONGEST_TEXT], pair, gold, predicted, worst))

    def _add(self, error: WrongAnswer) -> None:
        self.num_errors += 1
        entry = (error.severity, -self.num_errors, error)  # the number: errors have no order
        if len(self._worst) < NUM_ERRORS:
            heapq.heappush(self._worst, entry)
        else:
            heapq.heappushpop(self._worst, entry)
