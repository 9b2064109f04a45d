"""A model's answer to a text and its attribution to words, as one result each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.attribution.counterfactual import answer
from bertcore.analysis.attribution.faithfulness_scores import (
    Faithfulness,
    OrderScore,
    faithfulness,
    order_scores,
    random_faithfulness,
)
from bertcore.analysis.attribution.gradients import (
    BASELINES,
    STEPS,
    can_differentiate,
    gradient_x_input,
    integrated_gradients,
    layer_conductance,
)
from bertcore.analysis.attribution.task_input import OCCLUSIONS, occlusion, task_input
from bertcore.training.tasks import TaskAnswer, TaskInput
from bertcore.training.tasks.answers import Target
from bertcore.training.tasks.model import TaskModel

OnFraction = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class AnsweredText:
    """A text as a model reads it, and the model's answer."""

    source: TaskInput
    answer: TaskAnswer


@dataclass(frozen=True, slots=True)
class Explanation:
    """Attribution of an answer to each word, by method, and the faithfulness of each method."""

    source: TaskInput
    target: Target
    words: dict[str, NDArray[np.float32]]
    """By method, [W]: "ig" (integrated gradients) and "gradient" (gradient x input) where gradients
    reach the words, and "occlusion"; [CLS] and [SEP] are 0 or NaN if a method leaves them alone."""
    faithfulness: dict[str, Faithfulness]
    """By method; empty if they were not compared."""
    random: list[Faithfulness]
    """That of words in random order."""
    value: float
    """The target's value for the text as it is."""
    baseline: float | None
    """The same at the baseline of integrated gradients; None without gradients."""
    delta: float | None
    """Convergence delta of integrated gradients."""

    @property
    def orders(self) -> list[OrderScore]:
        """Both measures of faithfulness by each method, and in random order; [] if not compared."""
        by_method = {name: [of] for name, of in self.faithfulness.items()}
        return order_scores({**by_method, "random": self.random}) if by_method else []


@dataclass(frozen=True, slots=True)
class LayerExplanation:
    """Conductance of each layer by word."""

    source: TaskInput
    target: Target
    words: NDArray[np.float32]
    """[L, W]"""
    deltas: NDArray[np.float32]
    """Convergence delta of each layer, [L]."""
    change: float
    """What all words of a layer should sum to."""


def answer_text(
    model: TaskModel, text: str, text_pair: str | None = None, *, choices: Sequence[str] = ()
) -> AnsweredText:
    """Return the answer to a text, a pair, or a text with choices.

    ValueError as `answer`.
    """
    source = task_input(model, text, text_pair, choices=choices)
    return AnsweredText(source, answer(model, source))


def explain_text(
    model: TaskModel,
    text: str,
    text_pair: str | None = None,
    *,
    choices: Sequence[str] = (),
    target: Target | None = None,
    baseline: str = BASELINES[0],
    steps: int = STEPS,
    how: str = OCCLUSIONS[0],
    compare: bool = True,
    on_fraction: OnFraction = lambda fraction: None,
) -> Explanation:
    """Attribute an answer to words, by each method that the model allows.

    Args:
        target: What is explained; None: the given answer, of a tagger that of the first word.
        baseline, steps: As for `integrated_gradients`.
        compare: Whether to test how faithful the methods are, which takes as long again.

    ValueError as `answer`, `integrated_gradients` and `occlusion`.
    """
    source = task_input(model, text, text_pair, choices=choices)
    target = answer(model, source).target(source) if target is None else target
    words: dict[str, NDArray[np.float32]] = {}
    first = delta = None
    if can_differentiate(model):
        gradients = integrated_gradients(model, source, target, baseline=baseline, steps=steps)
        first, delta = gradients.baseline, gradients.delta
        words["ig"] = source.merge(gradients.tokens)
        on_fraction(0.6)
        words["gradient"] = source.merge(gradient_x_input(model, source, target).tokens)
    on_fraction(0.7)
    occluded = occlusion(model, source, target, how=how)
    words["occlusion"] = occluded.importance
    return Explanation(
        source=source,
        target=target,
        words=words,
        faithfulness=faithfulness(model, source, target, words, how=how) if compare else {},
        random=random_faithfulness(model, source, target, how=how) if compare else [],
        value=occluded.value,
        baseline=first,
        delta=delta,
    )


def explain_layers(
    model: TaskModel,
    text: str,
    text_pair: str | None = None,
    *,
    choices: Sequence[str] = (),
    target: Target | None = None,
    baseline: str = BASELINES[0],
    steps: int = STEPS,
    on_fraction: OnFraction = lambda fraction: None,
) -> LayerExplanation:
    """Return the conductance of all layers by word; arguments and errors as of `explain_text`."""
    source = task_input(model, text, text_pair, choices=choices)
    target = answer(model, source).target(source) if target is None else target
    conducted = layer_conductance(
        model, source, target, baseline=baseline, steps=steps, on_fraction=on_fraction
    )
    change = conducted.value - conducted.baseline
    merged = source.merge(conducted.layers)
    return LayerExplanation(source, target, merged, conducted.deltas, change)
