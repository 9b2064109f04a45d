"""Tiny fine-tuned checkpoints, written by `transformers` with random weights."""

from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel

from tests.support.made_once import made_once
from tests.support.tiny_families import MODERNBERT, SHAPE, TOKENIZERS

LABELS = ("bad", "good", "so-so")
_DISTILBERT = {
    "dim": 32,
    "n_layers": 3,
    "n_heads": 4,
    "hidden_dim": 64,
    "max_position_embeddings": 64,
}
SHAPES: dict[str, dict[str, Any]] = {
    "bert": SHAPE,
    "distilbert": _DISTILBERT,
    "roberta": {**SHAPE, "type_vocab_size": 1},
    "xlm-roberta": {**SHAPE, "type_vocab_size": 1},
    "electra": {**SHAPE, "embedding_size": 16},
    "albert": {**SHAPE, "embedding_size": 16},
    "modernbert": MODERNBERT,
}
PREFIXES = {
    "bert": "Bert",
    "distilbert": "DistilBert",
    "roberta": "Roberta",
    "xlm-roberta": "XLMRoberta",
    "electra": "Electra",
    "albert": "Albert",
    "modernbert": "ModernBert",
}
"""Of the class names of `transformers`."""


@made_once
def make_task(
    folder: Path,
    task: str = "SequenceClassification",
    model_type: str = "bert",
    labels: tuple[str, ...] = LABELS,
    **changes: Any,
) -> PreTrainedModel:
    """Write a checkpoint with a task head and return its model, in evaluation mode.

    Args:
        folder: To write to, tokenizer included.
        task: What follows "For" in the class of `transformers`.
        model_type: A key of SHAPES.
        labels: Their names; one for a regression.
        changes: Of the config, such as problem_type.
    """
    size = TOKENIZERS[model_type](folder)
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(
        model_type,
        vocab_size=size,
        attn_implementation="eager",
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
        **{**SHAPES[model_type], **changes},
    )
    kind = getattr(transformers, f"{PREFIXES[model_type]}For{task}")
    model: PreTrainedModel = kind(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_head = "classifier" in name or "qa_outputs" in name
            # A large head, so that small differences of the states show in its answers.
            parameter.add_(torch.randn(parameter.shape), alpha=0.3 if is_head else 0.1)
    model.save_pretrained(folder)
    return model


@torch.no_grad()
def zero_heads(model: PreTrainedModel, heads: list[tuple[int, int]]) -> None:
    """Set the output projection's columns of some heads to 0 in a model of `transformers`."""
    kind = model.config.model_type
    width = 32 // 4
    encoder = model.base_model
    for layer, head in heads:
        columns = slice(head * width, (head + 1) * width)
        if kind == "distilbert":
            weight = encoder.transformer.layer[layer].attention.out_lin.weight
        elif kind == "modernbert":
            weight = encoder.layers[layer].attn.Wo.weight
        elif kind == "albert":
            group = encoder.encoder.albert_layer_groups[0].albert_layers[0]
            weight = group.attention.dense.weight  # of every layer: they share it
        else:
            weight = encoder.encoder.layer[layer].attention.output.dense.weight
        weight[:, columns] = 0
