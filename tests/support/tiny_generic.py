"""Tiny checkpoints of encoders that are in no table of ours, written by `transformers`."""

from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

from tests.support.made_once import made_once, prefix_of, write_random
from tests.support.tiny_families import SHAPE, byte_level_bpe, save_fast, save_wordpiece

SHAPES: dict[str, dict[str, Any]] = {
    "roformer": {**SHAPE, "embedding_size": 16},
    "nystromformer": SHAPE,
    "big_bird": {**SHAPE, "pad_token_id": 0},
    "squeezebert": {**SHAPE, "embedding_size": 32},
    "convbert": {**SHAPE, "embedding_size": 16, "head_ratio": 2},
    "nomic_bert": SHAPE,
    "gte": SHAPE,
    "layoutlm": SHAPE,
    "megatron-bert": SHAPE,
    "rembert": {**SHAPE, "input_embedding_size": 16, "output_embedding_size": 24},
    "data2vec-text": {**SHAPE, "type_vocab_size": 1, "pad_token_id": 1},
    "ernie": SHAPE,
    "fnet": {**SHAPE, "tpu_short_seq_length": 64},
    "longformer": {**SHAPE, "attention_window": 4, "pad_token_id": 1},
    "xlm-roberta-xl": {**SHAPE, "type_vocab_size": 1, "pad_token_id": 1},
    "luke": {**SHAPE, "pad_token_id": 1},
    "canine": {**SHAPE, "num_hash_buckets": 16},
}
"""By `model_type`."""


@made_once
def make_generic(
    folder: Path,
    model_type: str,
    ending: str = "ForMaskedLM",
    labels: tuple[str, ...] = ("bad", "good", "so-so"),
    **changes: Any,
) -> PreTrainedModel:
    """Write a checkpoint with every weight random, tokenizer included, and return its model.

    `model_type` is a key of SHAPES, `ending` of the class's name: "Model", "ForMaskedLM",
    "ForSequenceClassification" ...; `changes` are of the config.
    """
    folder.mkdir(parents=True, exist_ok=True)
    is_of_roberta = SHAPES[model_type].get("pad_token_id") == 1
    size = save_fast(byte_level_bpe(), folder) if is_of_roberta else save_wordpiece(folder)
    config = {"vocab_size": size, **SHAPES[model_type], **changes}
    labels = labels if ending not in ("Model", "ForMaskedLM") else ()
    return write_random(
        folder, f"{prefix_of(model_type)}{ending}", model_type, labels=labels, **config
    )
