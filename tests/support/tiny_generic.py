"""Tiny checkpoints of encoders that are in no table of ours, written by `transformers`."""

from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel

from tests.support.made_once import made_once
from tests.support.tiny import tiny_tokenizer
from tests.support.tiny_families import byte_level_bpe, save_fast

_SHAPE = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
SHAPES: dict[str, dict[str, Any]] = {
    "roformer": {**_SHAPE, "embedding_size": 16},
    "nystromformer": _SHAPE,
    "big_bird": {**_SHAPE, "pad_token_id": 0},
    "squeezebert": {**_SHAPE, "embedding_size": 32},
    "convbert": {**_SHAPE, "embedding_size": 16, "head_ratio": 2},
    "nomic_bert": _SHAPE,
    "gte": _SHAPE,
    "layoutlm": _SHAPE,
    "megatron-bert": _SHAPE,
    "rembert": {**_SHAPE, "input_embedding_size": 16, "output_embedding_size": 24},
    "data2vec-text": {**_SHAPE, "type_vocab_size": 1, "pad_token_id": 1},
    "ernie": _SHAPE,
    "fnet": {**_SHAPE, "tpu_short_seq_length": 64},
    "longformer": {**_SHAPE, "attention_window": 4, "pad_token_id": 1},
    "xlm-roberta-xl": {**_SHAPE, "type_vocab_size": 1, "pad_token_id": 1},
    "luke": {**_SHAPE, "pad_token_id": 1},
    "canine": {**_SHAPE, "num_hash_buckets": 16},
}
"""By `model_type`."""
PREFIXES = {
    "roformer": "RoFormer",
    "nystromformer": "Nystromformer",
    "big_bird": "BigBird",
    "squeezebert": "SqueezeBert",
    "convbert": "ConvBert",
    "nomic_bert": "NomicBert",
    "gte": "Gte",
    "layoutlm": "LayoutLM",
    "megatron-bert": "MegatronBert",
    "rembert": "RemBert",
    "data2vec-text": "Data2VecText",
    "ernie": "Ernie",
    "fnet": "FNet",
    "longformer": "Longformer",
    "xlm-roberta-xl": "XLMRobertaXL",
    "luke": "Luke",
    "canine": "Canine",
}
"""What their classes in `transformers` begin with."""


@made_once
def make_generic(
    folder: Path,
    model_type: str,
    ending: str = "ForMaskedLM",
    labels: tuple[str, ...] = ("bad", "good", "so-so"),
    **changes: Any,
) -> PreTrainedModel:
    """Write a checkpoint with every weight random, tokenizer included, and return its model.

    Args:
        folder: To write to.
        model_type: A key of SHAPES.
        ending: Of the class's name: "Model", "ForMaskedLM", "ForSequenceClassification" ...
        labels: Of a task head.
        changes: Of the config.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if SHAPES[model_type].get("pad_token_id") == 1:
        fast = byte_level_bpe()
        save_fast(fast, folder)
        size = fast.get_vocab_size()
    else:
        tokenizer = tiny_tokenizer()
        tokenizer.save(folder)
        size = tokenizer.vocab_size
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        model_type,
        vocab_size=size,
        attn_implementation="eager",
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
        **{**SHAPES[model_type], **changes},
    )
    model: PreTrainedModel = getattr(transformers, f"{PREFIXES[model_type]}{ending}")(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_head = "classifier" in name or "qa_outputs" in name
            parameter.add_(torch.randn(parameter.shape), alpha=0.3 if is_head else 0.1)
    model.save_pretrained(folder)
    return model
