"""Tiny fine-tuned checkpoints, written by `transformers` with random weights."""

from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel

from tests.support.made_once import made_once, prefix_of, write_random
from tests.support.tiny_families import DISTILBERT, MODERNBERT, SHAPE, TOKENIZERS

LABELS = ("bad", "good", "so-so")
SHAPES: dict[str, dict[str, Any]] = {
    "bert": SHAPE,
    "distilbert": DISTILBERT,
    "roberta": {**SHAPE, "type_vocab_size": 1},
    "xlm-roberta": {**SHAPE, "type_vocab_size": 1},
    "electra": {**SHAPE, "embedding_size": 16},
    "albert": {**SHAPE, "embedding_size": 16},
    "modernbert": MODERNBERT,
}


@made_once
def make_task(
    folder: Path,
    task: str = "SequenceClassification",
    model_type: str = "bert",
    labels: tuple[str, ...] = LABELS,
    **changes: Any,
) -> PreTrainedModel:
    """Write a checkpoint with a task head; return its model, in evaluation mode.

    Arguments as for `make_other_task`; `model_type` is a key of SHAPES.
    """
    config = {"vocab_size": TOKENIZERS[model_type](folder), **SHAPES[model_type], **changes}
    name = f"{prefix_of(model_type)}For{task}"
    return write_random(folder, name, model_type, labels=labels, seed=1, **config)


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
