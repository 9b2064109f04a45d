"""The shape of another architecture, in the fields that BERT has too."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from bertcore.architecture.config import MOST_LAYERS, BertConfig, check_positions
from bertcore.architecture.families import Family
from bertcore.base.json_data import named_values
from bertcore.others.families import OTHERS, OtherFamily

NO_LIMIT = 512
"""Longest input in tokens if the architecture itself has no limit (T5, XLNet)."""
_RELATIVE = ("xlnet", "t5")


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherConfig(BertConfig):
    """The shape of a checkpoint of another architecture, with the interface of `BertConfig`.

    Without a position table, `max_position_embeddings` is the longest input that is read.
    """

    other: OtherFamily
    """How it predicts words, and what this checkpoint lacks."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """All fields of config.json, as `transformers` read them."""

    def __post_init__(self) -> None:
        """Check nothing: `transformers` has already built a network from it."""

    @property
    def family(self) -> Family:
        return self.other

    def to_hf_dict(self) -> dict[str, Any]:
        return dict(self.values)


def transformers_config(model_type: str, values: Mapping[str, Any]) -> Any:
    """Return the configuration of `transformers` for the content of a config.json.

    No code of a checkpoint is run: the class is looked up by `model_type`, and is handed only the
    fields that it declares, since it makes an attribute of any other: a method of its own, a
    quantizer, the name of a file of weights.

    ValueError if `transformers` rejects the values, or they are absurd.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config_class = CONFIG_MAPPING[model_type]
    if "position_embedding_type" not in (f.name for f in fields(config_class)):
        check_positions(values)
    declared = {*(f.name for f in fields(config_class)), *config_class.attribute_map, *_OLDER}
    known = {key: value for key, value in values.items() if key in declared - _NEVER}
    _check_numbers(known)
    try:
        config = config_class(**known)
        width, depth, heads, vocabulary = (
            config.hidden_size,
            config.num_hidden_layers,
            config.num_attention_heads,
            config.vocab_size,
        )
    except Exception as error:  # its checks raise errors of many kinds, one from the hub's library
        reason = " ".join(str(error).split())[:300]
        raise ValueError(f"transformers rejects it ({reason})") from error
    decoder_layers = [
        getattr(config, name, None) or 1 for name in ("decoder_layers", "num_decoder_layers")
    ]
    sizes = (width, depth, heads, vocabulary, *decoder_layers)
    if any(not isinstance(size, int) or isinstance(size, bool) or size < 1 for size in sizes):
        raise ValueError(
            f"its width, layers, heads, vocabulary and decoder layers are {sizes}; expected whole "
            "numbers of at least 1"
        )
    config._attn_implementation = "eager"  # the others do not return their weights
    return config


def read_config(
    config: Any, *, heads: frozenset[str], family: OtherFamily | None = None
) -> OtherConfig:
    """Return the shape of a configuration of `transformers`.

    Args:
        config: A configuration of the family.
        heads: The heads of the checkpoint: "mlm", "next", "nsp".
        family: The checkpoint's family; None: the one in OTHERS.
    """
    model_type = config.model_type
    family = family or OTHERS[model_type]
    absent = dict(family.absent)
    if model_type.startswith("deberta"):
        if config.position_biased_input:
            absent.pop("positions")
        if config.type_vocab_size:
            absent.pop("segments")
    if model_type == "mobilebert" and config.normalization_type == "no_norm":
        absent["norm"] = (
            "MobileBERT has no LayerNorm: each number is multiplied by a weight and gets a bias."
        )
    if "nsp" in heads:
        absent.pop("nsp")
    positions = getattr(config, "max_position_embeddings", None)
    if model_type in _RELATIVE or not isinstance(positions, int):
        positions = NO_LIMIT
    segments = {"xlnet": 3}.get(model_type, 0)
    if family.is_generic or model_type.startswith("deberta") or model_type == "mobilebert":
        segments = getattr(config, "type_vocab_size", 0) or 0
    if family.is_generic and getattr(config, "attention_type", "") == "original_full":
        positions = min(positions, NO_LIMIT)  # BigBird would leave out weights of longer texts
    pad = config.pad_token_id
    return OtherConfig(
        vocab_size=config.vocab_size,
        hidden_size=config.hidden_size,
        num_hidden_layers=config.num_hidden_layers,
        num_attention_heads=config.num_attention_heads,
        intermediate_size=_feed_forward(config),
        hidden_act=str(getattr(config, family.fields.get("hidden_act", "hidden_act"), "gelu")),
        max_position_embeddings=positions,
        type_vocab_size=segments,
        position_offset=family.position_offset,
        initializer_range=float(getattr(config, "initializer_range", None) or 0.02),
        pad_token_id=pad if isinstance(pad, int) and pad >= 0 else 0,
        model_type=model_type,
        other=replace(family, absent=absent),
        values=config.to_dict(),
    )


_NEVER = {"model_type", "dtype", "output_hidden_states", "return_dict"}
"""Declared fields that are decided here."""
_OLDER = (
    *("attention_head_size", "attention_windows", "cls_dropout", "conv_act", "conv_groups"),
    *("conv_kernel_size", "embedding_size", "head_dim", "is_decoder", "layerdrop"),
    *("max_relative_positions", "norm_rel_ebd", "num_labels", "pad_token_id"),
    *("partial_rotary_factor", "pooler_hidden_size", "position_biased_input", "position_buckets"),
    *("position_embedding_type", "pre_norm", "relative_attention", "rope_scaling", "rope_theta"),
    *("share_att_key", "summary_activation", "summary_type", "talking_head"),
    *("tie_word_embeddings", "bos_token_id", "cls_token_id", "decoder_start_token_id"),
    *("eos_token_id", "mask_token_id", "sep_token_id", "vocab_size", "hidden_dropout"),
    *("summary_use_proj", "summary_proj_to_labels", "summary_first_dropout"),
    *("summary_last_dropout", "classifier_dropout", "num_attention_heads"),
)
"""Fields that the classes read without declaring them."""
_MOST_VALUES = 200_000
"""Values in a config.json, most of them names of labels."""
_MOST: Mapping[str, int] = {
    "num_labels": 100_000,
    "layers": MOST_LAYERS,
    "n_layer": MOST_LAYERS,
    "position_embeddings": 1_000_000,
    "n_positions": 1_000_000,
}
"""End of a field's name -> the largest number: the classes make lists or loops of that length."""


def _check_numbers(values: Mapping[str, Any]) -> None:
    """Check numbers before `transformers` makes lists and tables of that length.

    ValueError if one is too large, or there are too many.
    """
    for number, (name, value) in enumerate(named_values(values), start=-1):  # the first is all
        if number > _MOST_VALUES:
            raise ValueError(f"it has more than {_MOST_VALUES:,} values")
        most = next((most for end, most in _MOST.items() if name.endswith(end)), math.inf)
        if isinstance(value, int) and value > most:
            raise ValueError(f"its {name} is {str(value)[:20]}; at most {most:,} are allowed")


def _feed_forward(config: Any) -> int:
    for name in ("intermediate_size", "d_ff", "d_inner", "encoder_ffn_dim", "n_inner"):
        value = getattr(config, name, None)
        if isinstance(value, int):
            return value
    return 4 * int(config.hidden_size)
