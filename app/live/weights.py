"""A BERT as one message for the browser: settings, vocabulary, and weights in a chosen form."""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore import Bert, lowlevel
from bertcore.checkpoints.save import hf_config, hf_state_dict
from bertcore.tokenizer import Tokenizer
from bertcore.tokenizer.tokenizer import MAX_WORD_LENGTH

from ..canvas.shared.transport import pack
from .characters import character_tables

Stored = Literal["float32", "float16", "int8"]
FORMS: tuple[Stored, ...] = ("int8", "float16", "float32")
GROUP = 64
"""Weights of a row that share a scale in int8."""
MOST_LAYERS, MOST_TOKENS = 12, 512
_HEADS = (
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "bert.pooler.dense",
    "cls.seq_relationship",
)


def pack_weights(bert: Bert, stored: Stored = "int8") -> bytes:
    """Return the message that `network/weights.ts` reads.

    Args:
        bert: A BERT, with or without its pretraining heads.
        stored: Form of the matrices; vectors stay in float32.

    Raises:
        ValueError: If the network or the tokenizer is of another kind than the browser computes.
    """
    config, tensors = hf_config(bert.module), hf_state_dict(bert.module)
    lowlevel.check(tensors, config)
    if config["num_hidden_layers"] > MOST_LAYERS:
        raise ValueError(
            f"the checkpoint has {config['num_hidden_layers']} layers; a browser computes up to "
            f"{MOST_LAYERS} in good time. Choose a smaller checkpoint."
        )
    read = _read(config)
    blocks: list[NDArray[Any]] = []
    listed = []
    for name, tensor in tensors.items():
        if name.startswith("bert.encoder.") or name in read:
            form: Stored = stored if tensor.ndim == 2 else "float32"
            parts = _stored(tensor.detach().cpu().float(), form)
            numbers = [*range(len(blocks), len(blocks) + len(parts))]
            listed.append(
                {"name": name, "shape": [*tensor.shape], "stored": form, "blocks": numbers}
            )
            blocks += parts
    header = {
        "name": bert.name,
        "config": {name: config[name] for name in _FIELDS},
        "tokenizer": tokenizer_settings(bert.tokenizer),
        "characters": character_tables(),
        "tensors": listed,
    }
    return pack(header, *blocks)


_FIELDS = ("hidden_size", "num_hidden_layers", "num_attention_heads", "layer_norm_eps")


def _read(config: dict[str, Any]) -> set[str]:
    """Return the names of the tensors outside the layers that the browser reads."""
    tables = {f"bert.embeddings.{table}.weight" for table in lowlevel.TABLES}
    parts = {
        f"{name}.{part}"
        for name in ("bert.embeddings.LayerNorm", *_HEADS)
        for part in ("weight", "bias")
    }
    decoder = (
        set() if config.get("tie_word_embeddings", True) else {"cls.predictions.decoder.weight"}
    )
    return tables | parts | decoder | {"cls.predictions.bias"}


def _stored(tensor: Tensor, form: Stored) -> list[NDArray[Any]]:
    if form == "float32":
        return [tensor.numpy()]
    if form == "float16":
        return [tensor.half().numpy()]
    # -127 to 127 times a scale for each group of a row: GROUP weights, if they divide it.
    width = tensor.shape[1]
    groups = tensor.reshape(-1, GROUP if width % GROUP == 0 else width)
    scales = groups.abs().amax(1).clamp(min=torch.finfo(torch.float32).tiny) / 127
    codes = (groups / scales[:, None]).round().clamp(-127, 127).to(torch.int8)
    return [codes.numpy(), scales.numpy()]


def tokenizer_settings(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return what `network/wordpiece.ts` reads.

    Raises:
        ValueError: If it is not BERT's WordPiece.
    """
    if not tokenizer.is_berts:
        raise ValueError(
            f"the tokenizer is {tokenizer.kind}, or not set up as BERT's; the browser splits texts "
            "as BERT's WordPiece only. Choose a checkpoint with that tokenizer."
        )
    normalized = [token.content for token in tokenizer.added_tokens if token.normalized]
    if normalized:
        raise ValueError(
            f"the tokenizer has the added token {normalized[0]!r}, which it looks for in the "
            "normalised text; the browser looks for added tokens as typed. Remove it, or save it "
            "with normalized=False."
        )
    strip = tokenizer.strip_accents
    return {
        "vocab": list(tokenizer.vocab),
        "do_lower_case": tokenizer.do_lower_case,
        "strip_accents": tokenizer.do_lower_case if strip is None else strip,
        "tokenize_chinese_chars": tokenizer.tokenize_chinese_chars,
        "added": _added(tokenizer),
        "ids": {
            "unk": tokenizer.unk_id,
            "cls": tokenizer.cls_id,
            "sep": tokenizer.sep_id,
            "mask": tokenizer.mask_id,
        },
        "max_word_length": MAX_WORD_LENGTH,
        "max_length": min(tokenizer.model_max_length, MOST_TOKENS),
    }


def _added(tokenizer: Tokenizer) -> Sequence[dict[str, Any]]:
    flags = ("content", "single_word", "lstrip", "rstrip")
    return [
        {
            **{flag: getattr(token, flag) for flag in flags},
            "id": tokenizer.token_to_id(token.content),
        }
        for token in tokenizer.added_tokens
    ]
