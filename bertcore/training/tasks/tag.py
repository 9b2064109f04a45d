"""Tagging: a label for each word of a sentence, read at its first word piece."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import TaggedExample
from bertcore.data.files import BadRows
from bertcore.data.read_tags import read_tags
from bertcore.data.tag_schemes import OUTSIDE, scheme_of
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.distillation import soft_target_loss
from bertcore.training.evaluation.answer_notes import Inputs, class_notes
from bertcore.training.evaluation.metrics import class_metrics, entity_metrics
from bertcore.training.tasks.answers import Goal, TagTarget, TaskAnswer
from bertcore.training.tasks.inputs import TaskInput
from bertcore.training.tasks.judged import (
    ROWS_AT_ONCE,
    JudgedAnswers,
    Logits,
    MetricTable,
    Predicted,
    WrongAnswer,
)
from bertcore.training.tasks.rows import IGNORED, Batch, RowBuilder
from bertcore.training.tasks.task import RowForm, Task
from bertcore.training.tasks.task_data import LabelNumbers, TaskData

_TAG_METRICS = {"macro_f1": "f1", "accuracy": "accuracy"}
"""Class metrics that judge tags without entities, by our name for them."""
_MOST_STARTS = 9
"""Entities that begin with I- for each that begins with B-, above which answers are IOB1."""


@dataclass(frozen=True, slots=True)
class TagAnswer(TaskAnswer):
    """A distribution over the tags of each word."""

    labels: tuple[str, ...]
    """C names."""
    probabilities: NDArray[np.float32]
    """Of each word's first token, [W, C]."""

    def tag(self, word: int) -> int:
        """Return the most probable tag of a word."""
        return int(self.probabilities[word].argmax())

    def target(self, source: TaskInput, word: int = 1) -> TagTarget:
        """Return the most probable tag of a word as target."""
        return TagTarget(source.words[word].start, self.tag(word))

    def goal(self, source: TaskInput, word: int | None, label: int | None, change: float) -> Goal:
        """Return the goal of another tag of the word, which is not swapped itself."""
        if word is None:
            raise ValueError(
                "a tagger answers for each word. Name the word whose tag should change."
            )
        first = self.tag(word)
        return Goal(
            lambda answer: answer.tag(word) != first,
            lambda other: self.target(other, word),
            frozenset({word}),
        )


class Tag(Task):
    """A label for each word."""

    name = "tag"
    kind = "token"
    metrics = ("f1", "accuracy")
    answers_each_token = True
    decision: ClassVar[str | None] = "tag"

    def with_features(self, features: str) -> Tag:
        return _on_features(features)

    def read(
        self, path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
    ) -> Iterator[TaggedExample]:
        """Yield tagged sentences; see `read_tags`."""
        return read_tags(path, columns=columns, bad_rows=bad_rows)

    def rows(
        self, examples: Iterable[TaggedExample], tokenizer: Tokenizer, form: RowForm
    ) -> TaskData:
        """Tokenize sentences word by word; a long one becomes several rows."""
        builder = RowBuilder(tokenizer, form.max_length)
        template = tokenizer.template(is_pair=False)
        room = form.max_length - template.num_special
        classes = LabelNumbers(form.labels)
        targets, lengths = array("i"), array("q")
        for sentence in examples:
            numbers = [classes.number(tag) for tag in sentence.tags]
            lengths.append(len(sentence.words))
            pieces = tokenizer.encode_words(sentence.words)
            for words in _fitting(pieces, room):
                row: list[int] = []
                of_row = [IGNORED] * len(template.before)
                for word in words:
                    # A word of characters that the tokenizer drops still has a place and a tag.
                    ids = (pieces[word] or [tokenizer.unk_id])[:room]
                    row += ids
                    of_row += [numbers[word], *[IGNORED] * (len(ids) - 1)]
                builder.add(row)
                targets.extend(of_row + [IGNORED] * len(template.after))
        names, numbered = classes.finish(targets)
        return TaskData(
            rows=builder.build(numbered),
            labels=names,
            num_examples=len(lengths),
            sentence_lengths=np.array(lengths, dtype=np.int64),
        )

    def num_targets(self, targets: Tensor | NDArray[np.generic]) -> float:
        return float((targets != IGNORED).sum())

    def soft_loss(self, logits: Tensor, wanted: Tensor, batch: Batch, temperature: float) -> Tensor:
        """Return the loss at the first pieces of words, as only these have tags."""
        kept = batch.targets != IGNORED
        return soft_target_loss(logits[kept], wanted[kept], temperature).sum()

    def convention(self, data: TaskData, logits: Logits) -> bool:
        """Return whether answers are in IOB1, as true tags then have to be."""
        assert data.sentence_lengths is not None
        first = data.sentence_lengths[:ROWS_AT_ONCE]
        best = np.concatenate([values.argmax(-1) for values in logits])
        best = best[data.rows.targets != IGNORED][: first.sum()]
        return _are_iob1(best, first, data.labels)

    def judged(self, data: TaskData, logits: Logits, convention: bool) -> Predicted:
        """Compare the tag of each word with the true one."""
        rows, counts = data.rows, data.sentence_lengths
        assert counts is not None
        is_word = rows.targets != IGNORED
        probabilities = softmax(np.concatenate(list(logits)), axis=-1)[is_word]
        best, sure = probabilities.argmax(1), probabilities.max(1)
        gold = rows.targets[is_word].astype(np.int64)
        if convention:
            gold = _as_iob1(gold, counts, data.labels)
        right = gold == best
        # The row of each word, whose tokens are counted.
        row = np.repeat(np.arange(len(rows)), np.diff(rows.starts))[is_word]
        answers = JudgedAnswers(
            gold=gold.astype(np.int32),
            predicted=best.astype(np.int32),
            confidence=sure,
            quality=right.astype(np.float32),
            right=right,
            lengths=rows.lengths[row].astype(np.int32),
            sentences=counts.astype(np.int32),
        )
        ends = np.cumsum(counts)[:-1]
        predictions = [
            {"gold": true, "predicted": given, "confidence": of_words.round(6).tolist()}
            for true, given, of_words in zip(
                _tags_by_sentence(gold, counts, data.labels),
                _tags_by_sentence(best, counts, data.labels),
                np.split(sure.astype(np.float64), ends),
                strict=True,
            )
        ]
        return answers, predictions

    def wrong_answer(
        self, example: TaggedExample, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return the most confident wrong tag of a sentence."""
        said = zip(
            *(prediction[name] for name in ("confidence", "gold", "predicted")),
            range(len(example.words)),
            strict=True,
        )
        wrong = [answer for answer in said if answer[1] != answer[2]]
        if not wrong:
            return None
        sure, gold, predicted, word = max(wrong, key=itemgetter(0))
        text, true = " ".join(example.words), f"{example.words[word]}: {gold}"
        return WrongAnswer(example.row, text, None, true, predicted, sure, word)

    def answer(self, source: TaskInput, logits: Tensor, labels: tuple[str, ...]) -> TagAnswer:
        """Return the probability of each tag of each word, read at its first token."""
        firsts = logits[[word.start for word in source.words]]
        return TagAnswer(labels, torch.softmax(firsts, -1).numpy())

    def file_metrics(
        self, answers: JudgedAnswers, labels: Sequence[str], *, with_intervals: bool = True
    ) -> MetricTable:
        """Return F1 of entities, or the mean F1 of tags without entities."""
        gold, predicted = answers.gold.astype(np.int64), answers.predicted.astype(np.int64)
        metrics, intervals, matrix = class_metrics(
            gold, predicted, len(labels), with_intervals=with_intervals
        )
        scheme = scheme_of(labels)
        if scheme is not None:
            plain = list(map(scheme.plain, labels))
            tags = (_tags_by_sentence(ids, answers.sentences, plain) for ids in (gold, predicted))
            metrics, intervals, by_type = entity_metrics(*tags, with_intervals=with_intervals)
            return MetricTable(metrics, intervals, matrix, by_type)
        metrics = {ours: metrics[name] for name, ours in _TAG_METRICS.items()}
        intervals = {
            ours: intervals[name] for name, ours in _TAG_METRICS.items() if name in intervals
        }
        return MetricTable(metrics, intervals, matrix)

    def file_notes(
        self, answers: JudgedAnswers, labels: Sequence[str], inputs: Inputs
    ) -> list[str]:
        scheme = scheme_of(labels)
        kinds = [scheme.plain(label)[2:] or OUTSIDE for label in labels] if scheme else labels
        return class_notes(answers.gold, answers.predicted, kinds, inputs)


class FeatureTag(Tag):
    """Tagging by a BiLSTM over frozen layers: `transformers` opens only the encoder."""

    kind = "features"
    decision = None
    why_no_decision = "the states of frozen layers, by a BiLSTM"

    def __init__(self, features: str) -> None:
        self.features = features


_on_features = cache(FeatureTag)


def _fitting(pieces: Sequence[Sequence[int]], room: int) -> Iterator[range]:
    """Yield the words of each row; a long sentence is split between words."""
    start, used = 0, 0
    for word, ids in enumerate(pieces):
        size = min(max(1, len(ids)), room)
        if used + size > room:
            yield range(start, word)
            start, used = word, 0
        used += size
    yield range(start, len(pieces))


class _PlainTags(NamedTuple):
    """The tags of a checkpoint that are IOB, by class."""

    letters: NDArray[np.str_]
    """[C]; O, B or I."""
    kinds: NDArray[np.str_]
    """Types of entities, [C]."""

    def begins(self, ids: NDArray[np.integer], sentences: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which words, [N], are of another type than the word before."""
        before = self.kinds[np.roll(ids, 1)]
        before[np.cumsum(sentences) - sentences] = ""
        return np.asarray((self.letters[ids] != OUTSIDE) & (self.kinds[ids] != before))


def _plain_tags(labels: Sequence[str]) -> _PlainTags | None:
    scheme = scheme_of(labels)
    if scheme is None or scheme.letters != "BI":
        return None
    plain = list(map(scheme.plain, labels))
    return _PlainTags(np.array([tag[0] for tag in plain]), np.array([tag[2:] for tag in plain]))


def _are_iob1(
    predicted: NDArray[np.integer], sentences: NDArray[np.integer], labels: Sequence[str]
) -> bool:
    """Return whether answers are IOB1, in which B- stands only between neighbours of one type."""
    tags = _plain_tags(labels)
    if tags is None or not len(predicted):
        return False
    starts = tags.letters[predicted[tags.begins(predicted, sentences)]]
    return bool((starts == "I").sum() > _MOST_STARTS * (starts == "B").sum())


def _as_iob1(
    gold: NDArray[np.int64], sentences: NDArray[np.integer], labels: Sequence[str]
) -> NDArray[np.int64]:
    """Return true classes of IOB2, [N], in IOB1, as `_are_iob1` has it."""
    tags = _plain_tags(labels)
    assert tags is not None
    inside = {kind: i for i, (letter, kind) in enumerate(zip(*tags, strict=True)) if letter == "I"}
    moved = np.array([inside.get(kind, i) for i, kind in enumerate(tags.kinds)])
    return np.where(tags.begins(gold, sentences), moved[gold], gold)


def _tags_by_sentence(
    ids: NDArray[np.int64], sentences: NDArray[np.integer], labels: Sequence[str]
) -> list[list[str]]:
    """Return the tags of each sentence from the classes of all words in order, [N]."""
    names = np.array(labels, dtype=object)
    return [list(tags) for tags in np.split(names[ids], np.cumsum(sentences)[:-1])]
