"""The task a checkpoint was fine-tuned for, from config.json and its tensor names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertcore.checkpoints.report import Shape, TaskFacts
from bertcore.checkpoints.weights import OpenWeights

_KINDS = {
    "ForSequenceClassification": "a class or a number for a text or pair",
    "ForTokenClassification": "a tag for each token",
    "ForQuestionAnswering": "start and end of an answer",
    "ForMultipleChoice": "one of several choices",
    "AlbertForPreTraining": "masked words and the order of two texts",
    "ElectraForPreTraining": "which tokens were replaced",
    "ForPreTraining": "masked words and next sentences",
    "ForMaskedLM": "masked words",
    "ForNextSentencePrediction": "next sentences",
    "XLNetLMHeadModel": "words in a drawn order",
    "LMHeadModel": "the next token",
    "ForCausalLM": "the next token",
    "ForConditionalGeneration": "the text that its decoder writes",
    "Model": "nothing by itself: it is an encoder without heads",
}
"""Endings of the classes of `transformers`, and what they predict; the first match is used."""
_LAST_MATRICES = (
    "classifier.out_proj.weight",
    "classifier.weight",
    "qa_outputs.weight",
    "classification_head.out_proj.weight",
    "score.weight",
    "logits_proj.weight",
)
"""Names of the last matrix of a task head."""
_MOST_OUTPUTS = 100_000
"""Longer biases are not checked."""


def read_task(values: Mapping[str, Any], task_heads: Mapping[str, Shape]) -> TaskFacts:
    """Return the head as config.json describes it, checked against the tensors.

    Args:
        values: The content of config.json; anything in it may be wrong or strange.
        task_heads: Tensors that are neither encoder nor pretraining head.
    """
    architectures = values.get("architectures")
    named = architectures[0] if isinstance(architectures, list) and architectures else None
    architecture = named if isinstance(named, str) else None
    return TaskFacts(
        architecture=architecture,
        task=_task(architecture, task_heads),
        label_names=_label_names(values),
        num_outputs=_num_outputs(task_heads),
    )


def fresh_heads(weights: OpenWeights, task_heads: Mapping[str, Shape]) -> tuple[str, ...]:
    """Return the biases of task heads that are exactly 0: one step of training moves them.

    Source: ours; `transformers` starts the biases of new heads at 0.
    """
    fresh = []
    for name, shape in task_heads.items():
        is_small = len(shape) == 1 and 0 < shape[0] <= _MOST_OUTPUTS
        if name.endswith(".bias") and is_small and weights.stored[name].is_float:
            fresh += [] if bool(weights.read(name).any()) else [name]
    return tuple(fresh)


def _task(architecture: str | None, task_heads: Mapping[str, Shape]) -> str | None:
    for ending, meaning in _KINDS.items():
        if architecture is not None and architecture.endswith(ending):
            return meaning
    if any(name.startswith("qa_outputs.") for name in task_heads):
        return _KINDS["ForQuestionAnswering"]
    return "a classifier" if any("classifier" in name for name in task_heads) else None


def _label_names(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of `id2label` in the order of their ids; none if they are not 0, 1, 2 ..."""
    names = values.get("id2label")
    if not isinstance(names, dict):
        return ()
    try:
        ordered = sorted((int(number), str(name)) for number, name in names.items())
    except (TypeError, ValueError):
        return ()
    if [number for number, _ in ordered] != list(range(len(ordered))):
        return ()
    return tuple(name for _, name in ordered)


def _num_outputs(task_heads: Mapping[str, Shape]) -> int | None:
    """Return the number of outputs of a task head, or None without one."""
    for ending in _LAST_MATRICES:
        for name, shape in task_heads.items():
            if name.endswith(ending) and len(shape) == 2:
                return shape[0]
    return None
