"""The shape of any member of the family, from a config.json or from a size."""

from collections.abc import Mapping
from typing import Any

from bertcore.architecture.config import WITH_OFFSET, BertConfig
from bertcore.architecture.families import FAMILIES
from bertcore.architecture.modern_config import ModernBertConfig


def shape_from_hf(values: Mapping[str, Any], *, model_type: str | None = None) -> BertConfig:
    """Return the shape that a Hugging Face config.json describes.

    Args:
        values: The content.
        model_type: A key of FAMILIES, instead of the one in config.json.

    ValueError as `BertConfig.from_hf_dict`.
    """
    chosen = values.get("model_type") if model_type is None else model_type
    kind = ModernBertConfig if chosen == "modernbert" else BertConfig
    return kind.from_hf_dict(values, model_type=model_type)


def shape_of(
    family: str,
    *,
    vocab_size: int,
    num_hidden_layers: int,
    hidden_size: int,
    num_attention_heads: int | None = None,
    pad_token_id: int = 0,
) -> BertConfig:
    """Return a shape of any size: 512 positions, heads 64 wide, otherwise the family's defaults.

    Args:
        family: A key of FAMILIES.
        vocab_size, num_hidden_layers, hidden_size, num_attention_heads: As `bert_of`.
        pad_token_id: The tokenizer's padding id.

    ValueError if there is no such family, or a number is out of range.
    """
    if family not in FAMILIES:
        raise ValueError(f"family is {family!r}; expected one of {', '.join(FAMILIES)}.")
    # ModernBERT's own ratio: with a gate, three matrices of D x 1.5 D, where others have two of D x
    # 4 D.
    inner = 3 * hidden_size // 2 if family == "modernbert" else 4 * hidden_size
    values: dict[str, Any] = {
        "vocab_size": vocab_size,
        "num_hidden_layers": num_hidden_layers,
        "hidden_size": hidden_size,
        "num_attention_heads": num_attention_heads or max(1, hidden_size // 64),
        "intermediate_size": inner,
        "pad_token_id": pad_token_id,
        "max_position_embeddings": 512 + (pad_token_id + 1) * (family in WITH_OFFSET),
        "type_vocab_size": 1 if family in WITH_OFFSET else 2,
    }
    names = FAMILIES[family].fields
    return shape_from_hf(
        {names.get(name, name): value for name, value in values.items()}, model_type=family
    )
