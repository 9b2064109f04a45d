"""What the page Inspect computes: the fine-tuned model of a checkpoint, its answer and why.

The model shares its encoder's tensors with the opened checkpoint. Long work runs as jobs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.attribution import (
    PARTS,
    Attribution,
    Faithfulness,
    LabelTarget,
    Search,
    Target,
    TaskAnswer,
    TaskInput,
    answer,
    can_differentiate,
    can_follow_layers,
    faithfulness,
    find_counterfactuals,
    gradient_x_input,
    integrated_gradients,
    layer_conductance,
    occlusion,
    random_faithfulness,
    task_input,
)
from bertcore.model import Model
from bertcore.tasks.model import TaskModel, open_task_model

from ..shell import Work, background, cache
from .inputs import Inputs

Array = NDArray[np.float32]


class Query(NamedTuple):
    """What is explained and how; small and hashable."""

    texts: Inputs
    target: Target
    baseline: str
    """One of BASELINES."""
    steps: int
    occlusion: str
    """One of OCCLUSIONS."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Attribution of an answer to each word, by method, and the faithfulness of each method."""

    words: dict[str, Array]
    """By method, [W]; [CLS] and [SEP] are 0 or NaN if a method leaves them alone."""
    faithfulness: dict[str, Faithfulness]
    random: list[Faithfulness]
    value: float
    """The target's value for the text as it is."""
    baseline: float | None
    """The same at the baseline of integrated gradients; None without gradients."""
    delta: float | None
    """Convergence delta of integrated gradients."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Conductance of each layer by word, and the faithfulness of each layer's order of words."""

    words: Array
    """[L, W]"""
    deltas: Array
    """[L]"""
    change: float
    """What all words of a layer should sum to."""
    faithfulness: list[Faithfulness]
    random: list[Faithfulness]


def has_head(bert: Model) -> bool:
    """Return whether a checkpoint has a head for a task."""
    return bert.report is not None and bool(bert.report.task_heads)


def model(key: cache.BertKey) -> TaskModel:
    """Return the fine-tuned model of a checkpoint.

    ValueError if it has no head for a task. RuntimeError if its head is damaged.
    """
    task_model: TaskModel = cache.call(_model, key, key.place, key.allow_pickle)
    return task_model


def stand_ins(key: cache.BertKey) -> tuple[str, str]:
    """Return the tokens that stand for a word that is taken away: mask and padding."""
    tokenizer = model(key).tokenizer
    return tokenizer.mask_token, tokenizer.id_to_token(tokenizer.pad_id)


def source(texts: Inputs) -> TaskInput:
    """Return the texts as the model reads them."""
    return task_input(model(texts.key), texts.text_a, texts.text_b, choices=texts.choices)


def answered(texts: Inputs) -> TaskAnswer:
    """Return the model's answer."""
    task_answer: TaskAnswer = cache.call(_answer, texts.key, texts)
    return task_answer


def can_drop(key: cache.BertKey) -> bool:
    """Return whether words can be left out, and not only masked."""
    return not model(key).task.answers_each_token


def can_explain_by_gradients(key: cache.BertKey) -> bool:
    """Return whether gradients reach the embeddings."""
    return can_differentiate(model(key))


def has_layers(key: cache.BertKey) -> bool:
    """Return whether gradients can be followed through its layers."""
    return can_follow_layers(model(key))


def word_at(texts: Inputs, character: int) -> int:
    """Return the word of text A that contains a character, or -1."""
    read = source(texts)
    for place, word in enumerate(read.words):
        last = read.encoding.offsets[word.end - 1][1]
        if word.text_id == 0 and read.encoding.offsets[word.start][0] <= character < last:
            return place
    return -1


def explain(query: Query) -> Work:
    """Return the work that attributes the answer to words; its result is an Explanation."""
    return Work(("inspect-words", query), lambda progress: _explain(query, progress))


def explain_by_part(query: Query) -> Work:
    """Return the work for each of the three embeddings; its result is an Attribution."""

    def work(progress: background.Progress) -> Attribution:
        progress(0.1, "Integrated gradients of the three embeddings")
        return integrated_gradients(
            model(query.texts.key),
            source(query.texts),
            query.target,
            parts=PARTS,
            baseline=query.baseline,
            steps=query.steps,
        )

    return Work(("inspect-parts", query), work)


def explain_by_layer(query: Query) -> Work:
    """Return the work for the conductance of all layers; its result is a Layers."""
    return Work(("inspect-layers", query), lambda progress: _layers(query, progress))


def proposer(key: cache.BertKey) -> tuple[Model, bool]:
    """Return the checkpoint that proposes words for a model, and whether it is the model's own."""
    opened = cache.opened(key)
    if "mlm" in opened.capabilities:
        return opened, True
    return cache.bert("default", key.device, key.dtype), False


def asked_label(query: Query) -> int | None:
    """Return the label whose yes or no is explained; None if a text has one answer."""
    return query.target.label if isinstance(query.target, LabelTarget) else None


def search_counterfactuals(query: Query, *, word: int | None, score_change: float) -> Work:
    """Return the work that looks for another answer; its result is a Search."""
    texts, label = query.texts, asked_label(query)

    def work(progress: background.Progress) -> Search:
        return find_counterfactuals(
            model(texts.key),
            proposer(texts.key)[0],
            texts.text_a,
            texts.text_b,
            choices=texts.choices,
            word=word,
            label=label,
            score_change=score_change,
            on_fraction=lambda fraction: progress(fraction, "Trying other words"),
        )

    return Work(("inspect-swaps", texts, word, label, score_change), work)


def _model(bert: Model, path: str, allow_pickle: bool) -> TaskModel:
    return open_task_model(path, bert=bert, allow_pickle=allow_pickle)


def _answer(bert: Model, texts: Inputs) -> TaskAnswer:
    return answer(model(texts.key), source(texts))


def _explain(query: Query, progress: background.Progress) -> Explanation:
    task_model, read, target = model(query.texts.key), source(query.texts), query.target
    words: dict[str, Array] = {}
    baseline = delta = None
    if can_differentiate(task_model):
        progress(0.05, "Integrated gradients")
        gradients = integrated_gradients(
            task_model, read, target, baseline=query.baseline, steps=query.steps
        )
        baseline, delta = gradients.baseline, gradients.delta
        words["ig"] = read.merge(gradients.parts["token"])
        progress(0.4, "Gradient × input")
        words["gradient"] = read.merge(gradient_x_input(task_model, read, target).parts["token"])
    progress(0.5, "Occlusion of each word")
    occluded = occlusion(task_model, read, target, how=query.occlusion)
    words["occlusion"] = occluded.importance
    progress(0.7, "Faithfulness of each method")
    return Explanation(
        words=words,
        faithfulness=faithfulness(task_model, read, target, words, how=query.occlusion),
        random=random_faithfulness(task_model, read, target, how=query.occlusion),
        value=occluded.value,
        baseline=baseline,
        delta=delta,
    )


def _layers(query: Query, progress: background.Progress) -> Layers:
    task_model, read, target = model(query.texts.key), source(query.texts), query.target
    conducted = layer_conductance(
        task_model,
        read,
        target,
        baseline=query.baseline,
        steps=query.steps,
        on_fraction=lambda fraction: progress(0.9 * fraction, "Conductance, layer by layer"),
    )
    words = read.merge(conducted.layers)
    named = {str(layer): values for layer, values in enumerate(words)}
    true = faithfulness(task_model, read, target, named, how=query.occlusion)
    random = random_faithfulness(task_model, read, target, how=query.occlusion)
    change = conducted.value - conducted.baseline
    return Layers(words, conducted.deltas, change, [true[name] for name in named], random)
