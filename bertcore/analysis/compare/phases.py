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
from bertcore.model.architecture.objectives import MASKED_LM_PROB
from bertcore.model.loading import load
from bertcore.model.objectives.row import ACTIONS, Actions
from bertcore.training.tasks import LabelAnswer, SpanAnswers, open_task_model


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
    finetuned: str
    """The second network."""
    tokens: tuple[str, ...]
    """What it reads: the document's first sentence, or a question and the document."""
    answer: LabelAnswer | SpanAnswers
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
    question: str = "",
) -> TwoPhases:
    """Return the answers of a pretrained network and of a fine-tuned one that began as its copy.

    Args:
        text, others, seed, masked_lm_prob, actions: As for `training_example`.
        pretrained, finetuned: Checkpoints, as for `bertcore.load`.
        question: What a network for "qa" is asked about the text; "" for a classifier.

    ValueError as `training_example`, or if the second is neither, or is not asked as it must be.
    """
    bert = load(pretrained)
    options: dict[str, Any] = {"masked_lm_prob": masked_lm_prob, "actions": actions}
    example = training_example(bert, text, others, seed=seed, **options)
    model = open_task_model(finetuned)
    source = task_input(model, *((question, text) if question else (example.sentences[0].text,)))
    answered = answer(model, source)
    if not isinstance(answered, LabelAnswer | SpanAnswers) or (model.task.name == "qa") != bool(
        question
    ):
        raise ValueError(
            f"{finetuned} is for the task {model.task.name!r}. Give one for classify without a "
            "question, or one for qa with a question."
        )
    drift = weight_drift(bert, load(finetuned))
    return TwoPhases(
        example,
        finetuned,
        tuple(source.encoding.tokens),
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
