"""A BERT as one message for the browser: settings, vocabulary, and weights in a chosen form."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bertcore import Bert, lowlevel
from bertcore.checkpoints.save import hf_config, hf_state_dict
from bertcore.tokenizer import Tokenizer
from bertcore.tokenizer.tokenizer import MAX_WORD_LENGTH

from ..canvas.shared.transport import Deflated, pack
from .characters import character_tables

Stored = Literal["float32", "float16", "rounded"]
FORMS: tuple[Stored, ...] = ("rounded", "float16", "float32")
STEPS = 92
"""Steps of a rounded matrix in the root mean square of its weights. A weight then takes 8.6 bits:
of codes that are frequent near zero, a file needs fewer than of the same codes with a scale for
each few weights, and at equal size the answers change half as much."""
_LOW_BITS = 3
_MOST = 127 << _LOW_BITS
MOST_LAYERS, MOST_TOKENS = 12, 512
_HEADS = (
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "bert.pooler.dense",
    "cls.seq_relationship",
)


def pack_weights(bert: Bert, stored: Stored = "rounded") -> bytes:
    """Return the message that `network/weights.ts` reads.

    Args:
        bert: A BERT, with or without its pretraining heads.
        stored: Form of the matrices; vectors stay in float32.

    Raises:
        ValueError: If the network or the tokenizer is of another kind than the browser computes,
            or a weight is not a number.
    """
    config, tensors = hf_config(bert.module), hf_state_dict(bert.module)
    lowlevel.check(tensors, config)
    if config["num_hidden_layers"] > MOST_LAYERS:
        raise ValueError(
            f"the checkpoint has {config['num_hidden_layers']} layers; a browser computes up to "
            f"{MOST_LAYERS} in good time. Choose a smaller checkpoint."
        )
    broken = [name for name, tensor in tensors.items() if not tensor.isfinite().all()]
    if broken:
        raise ValueError(
            f"{broken[0]} has weights that are not numbers; a file cannot show such a checkpoint. "
            "`bertscope` opens it and marks what is NaN."
        )
    read = _read(config)
    blocks: list[NDArray[Any] | Deflated] = []
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


def _stored(tensor: Tensor, form: Stored) -> list[NDArray[Any] | Deflated]:
    if form == "float32":
        return [tensor.numpy()]
    if form == "float16":
        return [tensor.half().numpy()]
    # Multiples of one step: the lowest bits, which are like noise, and the others, which deflate.
    weights = tensor.numpy()
    size, largest = np.sqrt(np.mean(weights**2)), np.abs(weights).max()
    step = np.float32(max(size / STEPS, largest / _MOST, np.finfo(np.float32).tiny))
    codes = np.rint(weights / step).astype(np.int16)
    low = [np.packbits(codes.ravel() >> bit & 1) for bit in range(_LOW_BITS)]
    return [Deflated((codes >> _LOW_BITS).astype(np.int8)), np.concatenate(low), np.array([step])]


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
        "special_ids": tokenizer.special_ids,
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
