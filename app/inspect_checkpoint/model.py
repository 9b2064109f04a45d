"""What the page Inspect computes: the fine-tuned model of a checkpoint, its answer and why.

The model shares its encoder's tensors with the opened checkpoint. Long work runs as jobs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.shell import background, cache
from app.shell.background import Work
from bertcore import Bert
from bertcore.analysis.attribution import gradients as attribution
from bertcore.analysis.attribution.counterfactual import Search, find_counterfactuals, may_propose
from bertcore.analysis.attribution.faithfulness_scores import (
    Faithfulness,
    faithfulness,
    random_faithfulness,
)
from bertcore.analysis.attribution.word_occlusion import erasure
from bertcore.analysis.attribution.task_answers import TaskAnswer, answer, check_task, usual_target
from bertcore.analysis.attribution.task_input import PLACE_KINDS, TaskInput, task_input
from bertcore.analysis.attribution.task_target import ClassTarget, SpanTarget, TagTarget, Target
from bertcore.finetuning.model import TaskModel, open_task_model

METHODS = {
    "ig": "Integrated gradients",
    "gradient": "Gradient × input",
    "erasure": "Erasure",
}
"""Methods that give a number to each word."""

Array = NDArray[np.float32]


class Texts(NamedTuple):
    """What the model reads; small and hashable."""

    key: cache.BertKey
    text_a: str
    text_b: str | None


class Asked(NamedTuple):
    """What is explained and how; small and hashable."""

    texts: Texts
    target: Target
    baseline: str
    """Of `attribution.BASELINES`."""
    steps: int
    erase: str
    """Of `task_input.ERASURES`."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Each word's share in an answer, by method, and how true each method is."""

    words: dict[str, Array]
    """By method, [W]; [CLS] and [SEP] are 0 or NaN where a method leaves them alone."""
    faithfulness: dict[str, Faithfulness]
    random: list[Faithfulness]
    value: float
    """What is explained, of the text as it is."""
    baseline: float | None
    """The same where integrated gradients begin; None without gradients."""
    delta: float | None
    """Convergence delta of integrated gradients."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Conductance of each layer by word, and how true each layer's order of words is."""

    words: Array
    """[L, W]"""
    deltas: Array
    """[L]"""
    change: float
    """What all words of a layer should sum to."""
    faithfulness: list[Faithfulness]
    random: list[Faithfulness]


def has_head(bert: Bert) -> bool:
    """Return whether a checkpoint holds a head for a task."""
    return bert.report is not None and bool(bert.report.task_heads)


def model(key: cache.BertKey) -> TaskModel:
    """Return the fine-tuned model of a checkpoint.

    Raises:
        ValueError: If it has no head for a task that can be looked at one text at a time.
        RuntimeError: If its head is damaged.
    """
    return cache.call(_model, key, key.source, key.allow_pickle)


def source(texts: Texts) -> TaskInput:
    """Return the texts as the model reads them."""
    return task_input(model(texts.key), texts.text_a, texts.text_b)


def answered(texts: Texts) -> TaskAnswer:
    """Return what the model says."""
    return cache.call(_answer, texts.key, texts)


def target(texts: Texts, *, label: int, word: int, number: int) -> Target:
    """Return what is explained.

    Args:
        texts: The input.
        label: Of a classifier or tagger; -1 for the one that was given.
        word: Of a tagger: place in `TaskInput.words`.
        number: Of "qa": which of the best answers.

    Raises:
        ValueError: If there is no answer to explain.
    """
    found, read = answered(texts), source(texts)
    if found.spans:
        span = found.spans[min(number, len(found.spans) - 1)]
        return SpanTarget(span.start, span.end)
    if label >= 0 and found.task == "tag":
        return TagTarget(read.words[word].start, label)
    if label >= 0 and found.labels:
        return ClassTarget(label)
    return usual_target(found, read, word)


def can_drop(key: cache.BertKey) -> bool:
    """Return whether words can be left out, and not only masked."""
    return model(key).task.kind not in PLACE_KINDS


def can_explain_by_gradients(key: cache.BertKey) -> bool:
    """Return whether gradients reach the embeddings."""
    return attribution.can_differentiate(model(key))


def word_at(texts: Texts, character: int) -> int:
    """Return the word of text A that holds a character, or -1."""
    read = source(texts)
    for place, word in enumerate(read.words):
        last = read.encoding.offsets[word.end - 1][1]
        if word.text_id == 0 and read.encoding.offsets[word.start][0] <= character < last:
            return place
    return -1


def explain(asked: Asked) -> Work:
    """Return the work that gives each word its share; its result is an Explanation."""
    return Work(("inspect-words", asked), lambda progress: _explain(asked, progress))


def take_apart(asked: Asked) -> Work:
    """Return the work for the three embeddings apart; its result is an Attribution."""

    def work(progress: background.Progress) -> attribution.Attribution:
        progress(0.1, "Integrated gradients of the three embeddings")
        found, read = model(asked.texts.key), source(asked.texts)
        more = {"baseline": asked.baseline, "steps": asked.steps}
        return attribution.integrated_gradients(
            found, read, asked.target, parts=attribution.PARTS, **more
        )

    return Work(("inspect-parts", asked), work)


def follow_layers(asked: Asked) -> Work:
    """Return the work for the conductance of all layers; its result is a Layers."""
    return Work(("inspect-layers", asked), lambda progress: _layers(asked, progress))


def proposer(key: cache.BertKey) -> tuple[Bert, bool]:
    """Return who proposes words for a model, and whether that is its own checkpoint.

    Raises:
        ValueError: If neither it nor the shipped checkpoint can.
    """
    own = cache.opened(key)
    if own.module.mlm is not None:
        return own, True
    shipped = cache.bert("default", key.device, key.dtype)
    may_propose(shipped, model(key))
    return shipped, False


def change_mind(asked: Asked, *, word: int | None, score_change: float) -> Work:
    """Return the work that looks for another answer; its result is a Search."""
    texts = asked.texts

    def work(progress: background.Progress) -> Search:
        return find_counterfactuals(
            model(texts.key),
            proposer(texts.key)[0],
            texts.text_a,
            texts.text_b,
            word=word,
            score_change=score_change,
            on_share=lambda share: progress(share, "Trying other words"),
        )

    return Work(("inspect-swaps", texts, word, score_change), work)


def _model(bert: Bert, path: str, allow_pickle: bool) -> TaskModel:
    found = open_task_model(path, bert=bert, allow_pickle=allow_pickle)
    check_task(found)
    return found


def _answer(bert: Bert, texts: Texts) -> TaskAnswer:
    return answer(model(texts.key), source(texts))


def _explain(asked: Asked, progress: background.Progress) -> Explanation:
    found, read = model(asked.texts.key), source(asked.texts)
    words: dict[str, Array] = {}
    first = delta = None
    if attribution.can_differentiate(found):
        progress(0.05, "Integrated gradients")
        more = {"baseline": asked.baseline, "steps": asked.steps}
        gradients = attribution.integrated_gradients(found, read, asked.target, **more)
        first, delta = gradients.baseline, gradients.delta
        words["ig"] = read.merge(gradients.parts["token"])
        progress(0.4, "Gradient × input")
        simple = attribution.gradient_x_input(found, read, asked.target)
        words["gradient"] = read.merge(simple.parts["token"])
    progress(0.5, "Taking away each word")
    erased = erasure(found, read, asked.target, how=asked.erase)
    words["erasure"] = erased.importance
    progress(0.7, "How true each method is")
    how = {"how": asked.erase}
    return Explanation(
        words=words,
        faithfulness=faithfulness(found, read, asked.target, words, **how),
        random=random_faithfulness(found, read, asked.target, **how),
        value=erased.value,
        baseline=first,
        delta=delta,
    )


def _layers(asked: Asked, progress: background.Progress) -> Layers:
    found, read = model(asked.texts.key), source(asked.texts)
    conducted = attribution.layer_conductance(
        found,
        read,
        asked.target,
        baseline=asked.baseline,
        steps=asked.steps,
        on_share=lambda share: progress(0.9 * share, "Conductance, layer by layer"),
    )
    words = read.merge(conducted.layers)
    named = {str(layer): values for layer, values in enumerate(words)}
    true = faithfulness(found, read, asked.target, named, how=asked.erase)
    random = random_faithfulness(found, read, asked.target, how=asked.erase)
    change = conducted.value - conducted.baseline
    return Layers(words, conducted.deltas, change, [true[name] for name in named], random)
