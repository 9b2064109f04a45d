"""What the page Inspect computes: the fine-tuned model of a checkpoint, its answer and why.

The model shares its encoder's tensors with the opened checkpoint. Long work runs as jobs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.attribution import (
    Faithfulness,
    Target,
    TaskInput,
    can_differentiate,
    faithfulness,
    gradient_x_input,
    integrated_gradients,
    layer_conductance,
    occlusion,
    random_faithfulness,
    task_input,
)
from bertcore.base.memory import out_of_memory
from bertcore.model import Model
from bertcore.network.task_reader import TaskReader
from bertcore.tasks import read_task_head
from bertcore.tasks.model import TaskModel, open_task_model

from ..shell import Progress, cache, frame
from ..shell.cache import BertKey

Array = NDArray[np.float32]


class TaskKey(NamedTuple):
    """The key of a fine-tuned model; small and hashable."""

    key: BertKey

    @property
    def stands_for(self) -> TaskModel:
        """The model, as of `model`."""
        return model(self.key)


class Inputs(NamedTuple):
    """A text, a pair, or a text with choices, and the checkpoint; small and hashable."""

    key: BertKey
    text_a: str
    text_b: str | None
    choices: tuple[str, ...] = ()

    @property
    def stands_for(self) -> TaskInput:
        """The texts as the model reads them."""
        return self.read_by(model(self.key))

    def read_by(self, opened: TaskModel) -> TaskInput:
        """Return the texts as the model reads them."""
        return task_input(opened, self.text_a, self.text_b, choices=self.choices)


@dataclass(frozen=True, slots=True)
class TaskPage:
    """A page, its fine-tuned model and the texts that this reads, made once in a run of the page.

    It holds the model, so nothing that outlives the run, such as a callback, may hold it.
    """

    page: frame.Page
    model: TaskModel
    texts: Inputs
    source: TaskInput
    """The texts as the model reads them."""

    @property
    def key(self) -> TaskKey:
        """The key of the model."""
        return TaskKey(self.texts.key)

    @property
    def stand_ins(self) -> tuple[str, str]:
        """The tokens that stand for a word that is taken away: mask and padding."""
        tokenizer = self.model.tokenizer
        return tokenizer.mask_token, tokenizer.id_to_token(tokenizer.pad_id)

    def setup(self, target: Target | None = None) -> str:
        """Return Python that opens the model and reads the texts: `model`, `source`, `target`."""
        texts, used = self.texts, "answer" if target is None else type(target).__name__
        second = f"{texts.text_b!r}"
        if texts.choices:
            second = f"choices=[{', '.join(map(repr, texts.choices))}]"
        return (
            f"from bertcore.analysis.attribution import {used}, task_input\n"
            "from bertcore.tasks import open_task_model\n\n"
            f"model = open_task_model({texts.key.source!r})\n"
            f"source = task_input(model, {texts.text_a!r}, {second})\n"
            + ("" if target is None else f"target = {target}\n")
        )


class How(NamedTuple):
    """What is explained and how; small and hashable."""

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


class Layers(NamedTuple):
    """Conductance of each layer by word."""

    words: Array
    """[L, W]"""
    deltas: Array
    """[L]"""
    change: float
    """What all words of a layer should sum to."""


def has_head(bert: Model) -> bool:
    """Return whether a checkpoint has a head for a task."""
    return bert.report is not None and bool(bert.report.task_heads)


def model(key: BertKey) -> TaskModel:
    """Return the fine-tuned model of a checkpoint.

    ValueError if it has no head for a task. RuntimeError if its head is damaged.
    """
    return cache.computed(open_task_model, key.place, bert=key, allow_pickle=key.allow_pickle)


def proposer(key: BertKey) -> BertKey:
    """Return the checkpoint that proposes words for a model: its own if it has the head."""
    if "mlm" in cache.opened(key).capabilities:
        return key
    return cache.bert_key("default", key.device, key.dtype)


def explain(model: TaskModel, source: TaskInput, how: How, *, progress: Progress) -> Explanation:
    """Attribute the answer to words, by each method that the model allows."""
    words: dict[str, Array] = {}
    baseline = delta = None
    if can_differentiate(model):
        progress(0.05, "Integrated gradients")
        gradients = integrated_gradients(
            model, source, how.target, baseline=how.baseline, steps=how.steps
        )
        baseline, delta = gradients.baseline, gradients.delta
        words["ig"] = source.merge(gradients.parts["token"])
        progress(0.4, "Gradient × input")
        words["gradient"] = source.merge(gradient_x_input(model, source, how.target).parts["token"])
    progress(0.5, "Occlusion of each word")
    occluded = occlusion(model, source, how.target, how=how.occlusion)
    words["occlusion"] = occluded.importance
    progress(0.7, "Faithfulness of each method")
    return Explanation(
        words=words,
        faithfulness=faithfulness(model, source, how.target, words, how=how.occlusion),
        random=random_faithfulness(model, source, how.target, how=how.occlusion),
        value=occluded.value,
        baseline=baseline,
        delta=delta,
    )


def explain_by_layer(
    model: TaskModel, source: TaskInput, how: How, *, progress: Progress
) -> Layers:
    """Return the conductance of all layers."""
    conducted = layer_conductance(
        model,
        source,
        how.target,
        baseline=how.baseline,
        steps=how.steps,
        on_fraction=lambda fraction: progress(fraction, "Conductance, layer by layer"),
    )
    change = conducted.value - conducted.baseline
    return Layers(source.merge(conducted.layers), conducted.deltas, change)


def task_head(key: BertKey) -> TaskReader | None:
    """Return the checkpoint's task head, or None if there is none.

    ValueError or RuntimeError if there is one that cannot be read.
    """
    return cache.computed(read_task_head, key)


def readable_task_head(key: BertKey) -> TaskReader | None:
    """Return the checkpoint's task head if there is one that can be read."""
    try:
        return task_head(key)
    except (ValueError, RuntimeError) as error:
        if out_of_memory(error):
            raise
        return None  # the page says why, where the answers are


ANSWER_CODE = """
answer(model, source)
"""
"""Code of a Picture that shows the answer to a text; follows `TaskPage.setup`."""
FILE_CODE = """from pathlib import Path

from bertcore.analysis.attribution import run_file
from bertcore.configs import Columns
from bertcore.tasks import open_task_model

model = open_task_model({path!r})
run = run_file(model, Path("my-file"), columns={columns}, skip_bad_rows={skip})
run.metrics(), run.calibration(), run.slices_by_length(), run.slices_by_label(), run.errors
"""
"""Code of a Picture that shows the run of a labelled file; follows nothing."""
