"""The shape of a ModernBERT, and its round trip to a Hugging Face config.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from bertcore.architecture.config import BertConfig, NotComputedError, check_activation

LAYER_TYPES = ("full_attention", "sliding_attention")
"""A layer in which each token attends to all others, or only to those near it."""
POOLINGS = ("cls", "mean")


@dataclass(frozen=True, kw_only=True, slots=True)
class ModernBertConfig(BertConfig):
    """The shape of one ModernBERT: a BERT without position and segment tables.

    LayerNorm comes before each block, positions are rotations of queries and keys, most layers
    attend within a window, and a gate multiplies the inner vector of the feed-forward block.

    ValueError if a value is out of range.

    Source: Warner et al. 2024 (ModernBERT); the fields of `transformers`' ModernBertConfig.
    """

    model_type: str = "modernbert"
    type_vocab_size: int = 0
    layer_norm_eps: float = 1e-5
    position_embedding: str = "rotary"
    max_position_embeddings: int = 8192
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    layer_types: tuple[str, ...] = ()
    """One of LAYER_TYPES for each layer; (): every third layer from the first is full."""
    bos_token_id: int | None = None
    """Ids of special tokens, as in config.json; the network does not use them."""
    eos_token_id: int | None = None
    cls_token_id: int | None = None
    sep_token_id: int | None = None
    local_attention: int = 128
    """Width of the window in tokens, half of it to each side."""
    full_rope_theta: float = 160_000.0
    """Base of the rotations' frequencies in layers of full attention."""
    sliding_rope_theta: float = 10_000.0
    """Base of the rotations' frequencies in layers with a window."""
    norm_bias: bool = False
    """Whether LayerNorms have biases."""
    attention_bias: bool = False
    """Whether queries, keys, values and their projection have biases."""
    mlp_bias: bool = False
    """Whether the feed-forward block has biases."""
    decoder_bias: bool = True
    """Whether the masked-word head has a bias for each word."""
    classifier_bias: bool = False
    """Whether the layer before the decoder or classifier has a bias."""
    classifier_activation: str = "gelu"
    """Activation of that layer: one of ACTIVATIONS."""
    classifier_pooling: str = "cls"
    """Input of a head on a whole text: the first token ("cls") or the mean of all ("mean")."""

    def __post_init__(self) -> None:
        if not self.layer_types:
            types = tuple(LAYER_TYPES[i % 3 > 0] for i in range(self.num_hidden_layers))
            object.__setattr__(self, "layer_types", types)
        BertConfig.__post_init__(self)
        unknown = sorted(set(map(str, self.layer_types)) - set(LAYER_TYPES))
        if unknown or len(self.layer_types) != self.num_hidden_layers:
            raise ValueError(
                f"layer_types has {len(self.layer_types)} entries"
                f"{' and ' + repr(unknown[0]) + ' among them' if unknown else ''}; expected "
                f"{self.num_hidden_layers} of {', '.join(LAYER_TYPES)}."
            )
        if self.head_size % 2:
            raise ValueError(
                f"a head is {self.head_size} wide, but rotary positions rotate pairs of numbers. "
                "Choose an even width."
            )
        if not isinstance(self.local_attention, int) or self.local_attention < 2:
            raise ValueError(f"local_attention is {self.local_attention!r}; expected 2 or more.")
        for name in ("full_rope_theta", "sliding_rope_theta"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 1:
                raise ValueError(f"{name} is {value!r}; expected a number above 1.")
        check_activation("classifier_activation", self.classifier_activation)
        if self.classifier_pooling not in POOLINGS:
            raise ValueError(
                f"classifier_pooling is {self.classifier_pooling!r}; expected one of "
                f"{', '.join(POOLINGS)}."
            )

    def window(self, layer: int) -> int | None:
        """Return how far apart tokens that attend to each other may be; None: any distance."""
        is_full = self.layer_types[layer] == LAYER_TYPES[0]
        return None if is_full else self.local_attention // 2

    def rope_theta(self, layer: int) -> float:
        """Return the base of a layer's rotations."""
        is_full = self.layer_types[layer] == LAYER_TYPES[0]
        return self.full_rope_theta if is_full else self.sliding_rope_theta

    def to_hf_dict(self) -> dict[str, Any]:
        """Return the fields under their names in config.json of `transformers`."""
        values = BertConfig.to_hf_dict(self)
        for name in ("position_embedding_type", "full_rope_theta", "sliding_rope_theta"):
            values.pop(name, None)
        thetas = (self.full_rope_theta, self.sliding_rope_theta)
        values["rope_parameters"] = {
            kind: {"rope_type": "default", "rope_theta": theta}
            for kind, theta in zip(LAYER_TYPES, thetas, strict=True)
        }
        values["layer_types"] = list(self.layer_types)
        values["embedding_dropout"] = self.hidden_dropout_prob
        return values

    @classmethod
    def from_hf_fields(cls, chosen: dict[str, Any], values: Mapping[str, Any]) -> ModernBertConfig:
        """Build from the common fields and the content of config.json, in its old or new form.

        Args:
            chosen: The fields of BertConfig.
            values: The content; fields that only ModernBERT has are read from it.

        ValueError if a value is wrong, or asks for another type of rotation.
        """
        own = {field.name for field in fields(cls)} - {field.name for field in fields(BertConfig)}
        own -= {"layer_types", "full_rope_theta", "sliding_rope_theta"}
        found = {name: values[name] for name in own if values.get(name) is not None}
        return cls(
            **chosen,
            **found,
            layer_types=_layer_types(values, chosen["num_hidden_layers"]),
            full_rope_theta=_theta(values, LAYER_TYPES[0], "global_rope_theta", 160_000.0),
            sliding_rope_theta=_theta(values, LAYER_TYPES[1], "local_rope_theta", 10_000.0),
        )


def _layer_types(values: Mapping[str, Any], num_layers: object) -> tuple[str, ...]:
    types = values.get("layer_types")
    if isinstance(types, Sequence) and not isinstance(types, str):
        return tuple(map(str, types))
    every = values.get("global_attn_every_n_layers", 3)
    if not isinstance(every, int) or isinstance(every, bool) or every < 1:
        raise ValueError(
            f"global_attn_every_n_layers is {every!r}; expected a whole number of at least 1."
        )
    count = num_layers if isinstance(num_layers, int) else 0
    return tuple(LAYER_TYPES[i % every > 0] for i in range(count))


def _theta(values: Mapping[str, Any], kind: str, older: str, usual: float) -> float:
    """Return the base of a kind of layer from `rope_parameters`, or from the older field."""
    parameters = values.get("rope_parameters")
    of_kind = parameters.get(kind) if isinstance(parameters, Mapping) else None
    of_kind = of_kind if isinstance(of_kind, Mapping) else {}
    scaling = values.get("rope_scaling")
    form = (
        of_kind.get("rope_type")
        or of_kind.get("type")  # as older versions of transformers wrote it
        or (scaling.get("rope_type", "default") if isinstance(scaling, Mapping) else "default")
    )
    if form != "default":
        raise NotComputedError(
            f"config.json asks for rotary positions of the type {form!r}; this version supports "
            "'default'."
        )
    theta = of_kind.get("rope_theta", values.get(older, usual))
    return usual if theta is None else theta
