"""The shape of another architecture, in the fields that BERT has too."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from bertcore.model.architecture.config import MOST_LAYERS, BertConfig, check_positions
from bertcore.model.architecture.families import Family
from bertcore.model.others.families import MASKED, OtherFamily, family_name

NO_LIMIT = 512
"""Longest input in tokens if the architecture itself has no limit (T5, XLNet)."""
_ACTIVATIONS = ("hidden_act", "activation_function", "ff_activation", "dense_act_fn")
_FEED_FORWARD = ("intermediate_size", "d_ff", "d_inner", "encoder_ffn_dim", "n_inner")
_NEVER = {"model_type", "dtype", "output_hidden_states", "return_dict"}
"""Declared fields that are decided here."""
_OLDER = set(
    "attention_head_size attention_windows cls_dropout conv_act conv_groups conv_kernel_size "
    "embedding_size head_dim is_decoder layerdrop max_relative_positions norm_rel_ebd num_labels "
    "pad_token_id partial_rotary_factor pooler_hidden_size position_biased_input position_buckets "
    "position_embedding_type pre_norm relative_attention rope_scaling rope_theta share_att_key "
    "summary_activation summary_type talking_head tie_word_embeddings bos_token_id cls_token_id "
    "decoder_start_token_id eos_token_id mask_token_id sep_token_id vocab_size hidden_dropout "
    "summary_use_proj summary_proj_to_labels summary_first_dropout summary_last_dropout "
    "classifier_dropout num_attention_heads".split()
)
"""Fields that the classes read without declaring them."""
_MOST = {"layers": MOST_LAYERS, "n_layer": MOST_LAYERS, "num_labels": 100_000}
_MOST |= {"position_embeddings": 1_000_000, "n_positions": 1_000_000}
"""End of a field's name -> the largest number: the classes make lists of that length."""


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

    ValueError if `transformers` rejects the values.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config_class = CONFIG_MAPPING[model_type]
    declared = {f.name for f in fields(config_class)}
    if "position_embedding_type" not in declared:
        check_positions(values)
    allowed = (declared | set(config_class.attribute_map) | _OLDER) - _NEVER
    known = {key: value for key, value in values.items() if key in allowed}
    for name, value in known.items():
        most = next((most for end, most in _MOST.items() if name.endswith(end)), None)
        if most is not None and isinstance(value, int) and value > most:
            raise ValueError(f"its {name} is {str(value)[:20]}; at most {most:,} are allowed")
    try:
        config = config_class(**known)
        _ = config.hidden_size, config.num_attention_heads, config.vocab_size
    except Exception as error:  # its checks raise errors of many kinds, one from the hub's library
        reason = " ".join(str(error).split())[:300]
        raise ValueError(f"transformers rejects it ({reason})") from error
    config._attn_implementation = "eager"  # the others do not return their weights
    return config


def settle(config: Any, family: OtherFamily) -> None:
    """Choose how a network of this configuration attends, so that it returns its weights.

    ValueError if it has a decoder, unlike its architecture.
    """
    name = family_name(config.model_type)
    if family.words == MASKED and getattr(config, "is_encoder_decoder", False):
        raise ValueError(f"{name} has a decoder after its encoder; only encoders are supported")
    if family.words == MASKED and getattr(config, "is_decoder", False):
        raise ValueError(
            f"is_decoder is true: a token of this {name} attends only to those before it; only "
            "encoders are supported"
        )
    if getattr(config, "attention_type", None) == "block_sparse":
        # BigBird itself attends to all of a text up to 704 tokens, and we read at most 512.
        config.attention_type = "original_full"


def read_config(config: Any, *, heads: frozenset[str], family: OtherFamily) -> OtherConfig:
    """Return the shape of a configuration of `transformers`, with the checkpoint's heads."""

    def first(names: tuple[str, ...], default: Any) -> Any:
        stated = (getattr(config, name, None) for name in names)
        return next((value for value in stated if isinstance(value, type(default))), default)

    absent = {key: text for key, text in family.absent.items() if key != "nsp" or key not in heads}
    positions = first(("max_position_embeddings",), NO_LIMIT)
    if positions < 1 or getattr(config, "attention_type", "") == "original_full":
        positions = NO_LIMIT  # BigBird would leave out weights of longer texts
    segments = getattr(config, "type_vocab_size", 3 * (config.model_type == "xlnet"))
    stated = {key: str(value) for key, value in type(config).attribute_map.items()}
    return OtherConfig(
        vocab_size=config.vocab_size,
        hidden_size=config.hidden_size,
        num_hidden_layers=config.num_hidden_layers,
        num_attention_heads=config.num_attention_heads,
        intermediate_size=first(_FEED_FORWARD, 0) or 4 * config.hidden_size,
        hidden_act=first(_ACTIVATIONS, "gelu"),
        max_position_embeddings=positions,
        type_vocab_size=segments or 0,
        initializer_range=float(getattr(config, "initializer_range", None) or 0.02),
        pad_token_id=max(0, first(("pad_token_id",), 0)),
        model_type=config.model_type,
        other=replace(family, absent=absent, fields=stated),
        values=config.to_dict(),
    )
