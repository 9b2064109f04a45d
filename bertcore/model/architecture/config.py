"""The shape of a BERT or ModernBERT: checked numbers, and their round trip to config.json."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from bertcore.model.architecture.families import CAUSAL_BERT, FAMILIES, MODERNBERT, POOLINGS, Family

ACTIVATIONS = (
    *("gelu", "gelu_python", "gelu_new", "gelu_fast", "gelu_accurate", "gelu_pytorch_tanh"),
    *("gelu_python_tanh", "gelu_10", "quick_gelu", "relu", "relu2", "relu6", "leaky_relu"),
    *("silu", "swish", "mish", "hardswish", "tanh", "sigmoid", "laplace", "sqrtsoftplus", "linear"),
)
"""All of `transformers` that have no weights.

`gelu` is the erf form of Hugging Face; `gelu_new` the tanh approximation of Google's code.
"""
_WITH_WEIGHTS = ("prelu", "xielu")
"""Activations of `transformers` that are trained."""
POSITION_EMBEDDINGS = ("learned", "sinusoidal", "rotary")
"""`sinusoidal`: the position table contains sines and cosines and is not trained; `rotary`: there
is no table, queries and keys are rotated (ModernBERT)."""

MOST_LAYERS = 1000
"""Maximum number of layers in a config.json: a billion would fill the memory."""


class NotComputedError(ValueError):
    """A shape has a value that our network does not compute, but that of `transformers` may."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BertConfig:
    """The shape of one BERT, with Hugging Face's field names.

    ValueError if a number is out of range or `num_attention_heads` does not divide `hidden_size`.

    Source: Devlin et al. 2019; google-research/bert modeling.py (defaults of the released files).
    """

    vocab_size: int
    """V: number of word pieces, at least 1."""
    hidden_size: int
    """D: width of a token's vector, a multiple of `num_attention_heads`."""
    num_hidden_layers: int
    """L: number of encoder layers, at least 1."""
    num_attention_heads: int
    """H: attention heads of a layer."""
    intermediate_size: int
    """F: width inside the feed-forward block, usually 4 x D."""
    hidden_act: str = "gelu"
    """Activation of the feed-forward block and of the masked-word head: one of ACTIVATIONS."""
    hidden_dropout_prob: float = 0.1
    """Fraction of activations dropped after embeddings and blocks, in training, 0 <= p < 1."""
    attention_probs_dropout_prob: float = 0.1
    """Fraction of attention weights dropped in training, 0 <= p < 1."""
    classifier_dropout: float | None = None
    """Dropout of a task head, 0 <= p < 1; None: `hidden_dropout_prob`."""
    max_position_embeddings: int = 512
    """Rows of the position table; see `max_length` for the longest input."""
    type_vocab_size: int = 2
    """Rows of the segment table; 0: there is none."""
    initializer_range: float = 0.02
    """Standard deviation of the initial weights."""
    layer_norm_eps: float = 1e-12
    """Added to the variance inside LayerNorm."""
    pad_token_id: int = 0
    """Id of the padding token."""
    model_type: str = "bert"
    """Member of the family, a key of FAMILIES: how files name tensors and fields."""
    embedding_size: int | None = None
    """E: width of the embeddings if a matrix projects them to D; None: they are D wide. ALBERT
    always has the matrix: None becomes D."""
    share_layers: bool = False
    """Whether all layers are one shared layer, run L times, as always in ALBERT."""
    position_offset: int = 0
    """Position id of the first token; rows before it are for padding."""
    position_embedding: str = "learned"
    """One of POSITION_EMBEDDINGS."""
    is_decoder: bool = False
    """Whether a token attends only to itself and the tokens before it; for BERT itself only."""
    tie_word_embeddings: bool = True
    """Whether the masked-word head's decoder is the token table."""

    def __post_init__(self) -> None:
        _check_choice("model_type", self.model_type, tuple(FAMILIES))
        if not isinstance(self.is_decoder, bool) or (self.is_decoder and self.model_type != "bert"):
            raise ValueError(
                f"is_decoder is {self.is_decoder!r} with model_type {self.model_type!r}; expected "
                "false: only BERT itself is supported with causal attention."
            )
        if self.model_type == "albert":  # its files allow nothing else
            object.__setattr__(self, "share_layers", True)
            if self.embedding_size is None:
                object.__setattr__(self, "embedding_size", self.hidden_size)
        for name in _COUNTS:
            value, least = getattr(self, name), _LEAST.get(name, 1)
            if name == "embedding_size" and value is None:
                continue
            _check(name, value, _is_whole(value, least), f"a whole number of at least {least}")
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} is not divisible by num_attention_heads "
                f"{self.num_attention_heads}. Choose a width that is a multiple of the heads."
            )
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout"):
            value = getattr(self, name)
            is_usual = name == "classifier_dropout" and value is None
            is_right = is_usual or (_is_number(value) and 0 <= value < 1)
            _check(name, value, is_right, "a number from 0 up to below 1")
        for name in ("initializer_range", "layer_norm_eps"):
            value = getattr(self, name)
            is_right = _is_number(value) and 0 <= value < 1e6
            _check(name, value, is_right, "a number from 0 (and finite)")
        is_tied, pad = self.tie_word_embeddings, self.pad_token_id
        _check("tie_word_embeddings", is_tied, isinstance(is_tied, bool), "true or false")
        is_id = _is_whole(pad, 0) and pad < self.vocab_size
        _check("pad_token_id", pad, is_id, f"an id below {self.vocab_size}")
        check_activation("hidden_act", self.hidden_act)
        _check_choice("position_embedding", self.position_embedding, POSITION_EMBEDDINGS)
        if self.max_length < 1:
            raise ValueError(
                f"max_position_embeddings is {self.max_position_embeddings}, but the first "
                f"token has position {self.position_offset}. Use at least one more row."
            )

    @property
    def family(self) -> Family:
        """The names that this member of the family uses, and what it lacks."""
        return CAUSAL_BERT if self.is_decoder else FAMILIES[self.model_type]

    @property
    def max_length(self) -> int:
        """The longest input in tokens: the rows of the position table without those before it."""
        return self.max_position_embeddings - self.position_offset

    @property
    def embedding_width(self) -> int:
        """E: width of token, segment and position vectors; D unless `embedding_size` is set."""
        return self.embedding_size or self.hidden_size

    @property
    def mlm_act(self) -> str:
        """Activation of the masked-word head."""
        usual = "gelu" if self.family.has_gelu_head else self.hidden_act
        return str(getattr(self, "classifier_activation", usual))

    def has_bias(self, field: str) -> bool:
        """Return whether some layers have biases.

        `field` is of ModernBertConfig, such as "norm_bias"; other members have all biases.
        """
        return bool(getattr(self, field, True))

    @property
    def head_size(self) -> int:
        """K: width of one attention head."""
        return self.hidden_size // self.num_attention_heads

    @property
    def num_parameters(self) -> int:
        """Parameters of encoder, pooler and both pretraining heads (the tied decoder counts once).

        >>> bert_base().num_parameters
        110106428
        """
        d, f, v, e = self.hidden_size, self.intermediate_size, self.vocab_size, self.embedding_width
        embeddings = (v + self.max_position_embeddings + self.type_vocab_size) * e + 2 * e
        projection = 0 if self.embedding_size is None else e * d + d
        layer = 4 * (d * d + d) + (d * f + f) + (f * d + d) + 4 * d
        heads = (d * d + d) + (d * e + e + 2 * e + v) + (2 * d + 2)
        num_layers = 1 if self.share_layers else self.num_hidden_layers
        return embeddings + projection + num_layers * layer + heads

    def to_hf_dict(self) -> dict[str, Any]:
        """Return the fields under their names in Hugging Face's config.json of this family."""
        family, values = self.family, asdict(self)
        for name in (*_OURS, *family.fixed):
            values.pop(name, None)
        if not self.is_decoder:
            del values["is_decoder"]
        values = {family.fields.get(name, name): value for name, value in values.items()}
        if "embedding_size" in family.defaults:
            values["embedding_size"] = self.embedding_width
        if self.classifier_dropout is None:
            name = family.fields.get("classifier_dropout", "classifier_dropout")
            if "classifier_dropout" in family.defaults:
                values[name] = self.hidden_dropout_prob  # there a number is needed
            else:
                del values[name]
        if self.model_type == "distilbert":
            values["sinusoidal_pos_embds"] = self.position_embedding == "sinusoidal"
        return {
            "model_type": self.model_type,
            "position_embedding_type": "absolute",
            **family.constants,
            **values,
        }

    @staticmethod
    def from_hf_dict(values: Mapping[str, Any], *, model_type: str | None = None) -> "BertConfig":
        """Build from the content of a Hugging Face config.json, in the class of its family.

        Keys that do not shape the network (labels, versions, generation defaults) are ignored;
        `model_type` overrides that of the file.

        ValueError if the model is not of the BERT family, a field is missing or a value is wrong.
        """
        model_type = values.get("model_type", "bert") if model_type is None else model_type
        if not isinstance(model_type, str) or model_type not in FAMILIES:
            raise ValueError(
                f"config.json has model_type {model_type!r}; this version supports "
                f"{', '.join(FAMILIES)}. Choose a checkpoint of the BERT family."
            )
        family = FAMILIES[model_type]
        check_positions(values)
        must_be = {**_MUST_BE, **family.constants}
        if model_type == "bert":
            del must_be["is_decoder"]  # causal attention, which BERT itself may have
        for key, wanted in must_be.items():
            if values.get(key, wanted) not in (wanted, None):
                raise (NotComputedError if key in family.constants else ValueError)(
                    f"config.json has {key} = {values[key]!r}; {family.name} as in the paper has "
                    f"{wanted!r}."
                )
        known = _FIELDS - set(_OURS) | {"embedding_size"}
        stored = {name: values.get(family.fields.get(name, name)) for name in known}
        given = {name: value for name, value in stored.items() if value is not None}
        given = {**family.defaults, **given, **family.fixed, "model_type": model_type}
        missing = [family.fields.get(name, name) for name in _REQUIRED if name not in given]
        if missing:
            raise ValueError(
                f"config.json lacks {', '.join(missing)}. "
                "Copy the complete config.json of the checkpoint."
            )
        num_layers = given["num_hidden_layers"]
        if isinstance(num_layers, int) and num_layers > MOST_LAYERS:
            raise ValueError(
                f"config.json asks for {num_layers:,} layers; at most {MOST_LAYERS:,} are read."
            )
        if family.counts_after_padding and isinstance(given["pad_token_id"], int):
            given["position_offset"] = given["pad_token_id"] + 1
        if model_type == "electra" and given["embedding_size"] == given["hidden_size"]:
            del given["embedding_size"]  # then it has no matrix between them
        if values.get("sinusoidal_pos_embds") and model_type == "distilbert":
            given["position_embedding"] = "sinusoidal"
        if "embedding_size" not in family.defaults:
            given.pop("embedding_size", None)
        if family is MODERNBERT:
            return ModernBertConfig(**given, **_modern_fields(values, num_layers))
        return BertConfig(**given)


_FIELDS = {field.name for field in fields(BertConfig)}
_OURS = ("model_type", "embedding_size", "share_layers", "position_offset", "position_embedding")
"""Fields for which config.json has no key, or only in some families."""
_LEAST = {"type_vocab_size": 0, "position_offset": 0}

_COUNTS = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
    "embedding_size",
    "position_offset",
)
_REQUIRED = _COUNTS[:5]
_MUST_BE = {"is_decoder": False, "add_cross_attention": False}


def check_positions(values: Mapping[str, Any]) -> None:
    """Reject relative positions, which `transformers` 5 ignores without a word; ValueError.

    Source: huggingface/transformers#41170, which removed them from 18 architectures.
    """
    kind = values.get("position_embedding_type", "absolute")
    if kind not in ("absolute", None):
        raise ValueError(
            f"config.json has position_embedding_type {str(kind)[:50]!r}; expected 'absolute'. "
            "transformers 5 reads the checkpoint without its relative positions, so its numbers "
            "would be wrong too; transformers 4.57 was the last to compute them. Open a checkpoint "
            "with absolute positions."
        )


def check_activation(field: str, name: object) -> None:
    """Reject an activation that is not one of ACTIVATIONS.

    NotComputedError if it is one of `transformers` that has weights, else ValueError.
    """
    if name not in ACTIVATIONS:
        raise (NotComputedError if name in _WITH_WEIGHTS else ValueError)(
            f"{field} is {name!r}; expected one of {', '.join(ACTIVATIONS)}."
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _check(field: str, value: object, is_right: bool, expected: str) -> None:
    if not is_right:
        raise ValueError(f"{field} is {value!r}; expected {expected}.")


def _check_choice(field: str, value: object, choices: Sequence[str]) -> None:
    _check(field, value, value in choices, f"one of {', '.join(choices)}")


LAYER_TYPES = ("full_attention", "sliding_attention")
"""A layer in which each token attends to all others, or only to those near it."""


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
        width = self.local_attention
        _check("local_attention", width, _is_whole(width, 2), "a whole number of at least 2")
        for name in ("full_rope_theta", "sliding_rope_theta"):
            value = getattr(self, name)
            _check(name, value, _is_number(value) and value > 1, "a number above 1")
        check_activation("classifier_activation", self.classifier_activation)
        _check_choice("classifier_pooling", self.classifier_pooling, POOLINGS)

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


def _modern_fields(values: Mapping[str, Any], num_layers: object) -> dict[str, Any]:
    """Return the fields that only ModernBERT has, of a config.json in its old or new form."""
    own = {field.name for field in fields(ModernBertConfig)} - _FIELDS
    return {name: values[name] for name in own if values.get(name) is not None} | {
        "layer_types": _layer_types(values, num_layers),
        "full_rope_theta": _theta(values, LAYER_TYPES[0], "global_rope_theta", 160_000.0),
        "sliding_rope_theta": _theta(values, LAYER_TYPES[1], "local_rope_theta", 10_000.0),
    }


def _layer_types(values: Mapping[str, Any], num_layers: object) -> tuple[str, ...]:
    types = values.get("layer_types")
    if isinstance(types, Sequence) and not isinstance(types, str):
        return tuple(map(str, types))
    every = values.get("global_attn_every_n_layers", 3)
    is_right = _is_whole(every, 1)
    _check("global_attn_every_n_layers", every, is_right, "a whole number of at least 1")
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


def bert_base(vocab_size: int = 30522) -> BertConfig:
    """Return the shape of BERT-base: 12 layers, 768 wide, 12 heads."""
    return bert_of(vocab_size=vocab_size, num_hidden_layers=12, hidden_size=768)


def bert_mini(vocab_size: int = 30522) -> BertConfig:
    """Return the shape of BERT-Mini (Turc et al. 2019): 4 layers, 256 wide, 4 heads."""
    return bert_of(vocab_size=vocab_size, num_hidden_layers=4, hidden_size=256)


def bert_of(*, vocab_size: int, num_hidden_layers: int, hidden_size: int) -> BertConfig:
    """Return a BERT of any size in the usual proportions: heads 64 wide, feed-forward 4 x D."""
    return BertConfig(
        vocab_size=vocab_size,
        num_hidden_layers=num_hidden_layers,
        hidden_size=hidden_size,
        num_attention_heads=max(1, hidden_size // 64),
        intermediate_size=4 * hidden_size,
    )


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

    ValueError if there is no such family, or a number is out of range.
    """
    _check_choice("family", family, tuple(FAMILIES))
    member = FAMILIES[family]
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
        "max_position_embeddings": 512 + (pad_token_id + 1) * member.counts_after_padding,
        "type_vocab_size": 1 if member.counts_after_padding else 2,
    }
    values = {member.fields.get(name, name): value for name, value in values.items()}
    return BertConfig.from_hf_dict(values, model_type=family)
