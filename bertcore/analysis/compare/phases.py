"""Pretraining and fine-tuning of one network beside each other: figure 1 of the BERT paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bertcore.analysis.attribution.counterfactual import answer
from bertcore.analysis.attribution.task_input import task_input
from bertcore.analysis.compare.weight_drift import (
    Drift,
    WeightDrift,
    part_of,
    relative_change,
    weight_drift,
)
from bertcore.analysis.words.training_example import TrainingExample, training_example
from bertcore.configs.data import MASKED_LM_PROB
from bertcore.loading import load
from bertcore.objectives.row import ACTIONS, Actions
from bertcore.tasks import LabelAnswer, open_task_model


@dataclass(frozen=True, slots=True)
class MovedPart:
    """A part that was copied from the first network to the second, and trained further."""

    part: str
    relative_change: float
    """Norm of the difference of its weights, divided by that of the first."""
    num_weights: int


@dataclass(frozen=True, slots=True)
class TwoPhases:
    """Both phases on one document."""

    example: TrainingExample
    """Of the pretrained network."""
    sentence: str
    """What the fine-tuned network reads: the first of the document."""
    answer: LabelAnswer
    heads: tuple[str, ...]
    """Parts that the pretrained network alone has."""
    parts: tuple[MovedPart, ...]
    """From the input up."""
    relative_change: float
    """Of all parts taken as one vector."""


def two_phases(
    text: str,
    others: Sequence[str] = (),
    *,
    seed: int = 0,
    masked_lm_prob: float = MASKED_LM_PROB,
    actions: Actions = ACTIONS,
    pretrained: str = "default",
    finetuned: str = "sentiment",
) -> TwoPhases:
    """Return the answers of a pretrained network and of a classifier that began as its copy.

    Args:
        text, others, seed, masked_lm_prob, actions: As for `training_example`.
        pretrained, finetuned: Checkpoints, as for `bertcore.load`.

    ValueError as `training_example`, or if the second is no classifier.
    """
    bert = load(pretrained)
    options: dict[str, Any] = {"masked_lm_prob": masked_lm_prob, "actions": actions}
    example = training_example(bert, text, others, seed=seed, **options)
    sentence = example.sentences[0].text
    model = open_task_model(finetuned)
    answered = answer(model, task_input(model, sentence))
    if not isinstance(answered, LabelAnswer):
        raise ValueError(f"{finetuned} is no classifier. Give one that has labels.")
    drift = weight_drift(bert, load(finetuned))
    return TwoPhases(
        example,
        sentence,
        answered,
        heads=tuple(dict.fromkeys(part_of(name)[1] for name in drift.only_first)),
        parts=tuple(
            MovedPart(name, relative_change(moved), sum(each.num_weights for each in moved))
            for name, moved in _parts(drift).items()
        ),
        relative_change=relative_change([*drift.layers.values(), *drift.others.values()]),
    )


def _parts(drift: WeightDrift) -> dict[str, list[Drift]]:
    """Return what both networks have in common, from the input up, with its tensors' drifts."""
    parts: dict[str, list[Drift]] = {
        "embeddings": [moved for name, moved in drift.others.items() if name != "pooler"]
    }
    for (layer, _), moved in drift.layers.items():
        parts.setdefault(f"layer {layer}", []).append(moved)
    if "pooler" in drift.others:
        parts["pooler"] = [drift.others["pooler"]]
    return parts
