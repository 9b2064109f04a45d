"""The shape of a BERT: checked numbers, and their round trip to a Hugging Face config.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from bertcore.architecture.families import CAUSAL_BERT, FAMILIES, Family

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
        if self.model_type not in FAMILIES:
            raise ValueError(
                f"model_type is {self.model_type!r}; expected one of {', '.join(FAMILIES)}."
            )
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
            value = getattr(self, name)
            least = _LEAST.get(name, 1)
            if name == "embedding_size" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(
                    f"{name} is {value!r}; expected a whole number of at least {least}."
                )
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} is not divisible by num_attention_heads "
                f"{self.num_attention_heads}. Choose a width that is a multiple of the heads."
            )
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout"):
            value = getattr(self, name)
            if name == "classifier_dropout" and value is None:
                continue
            if not _is_number(value) or not 0 <= value < 1:
                raise ValueError(f"{name} is {value!r}; expected a number from 0 up to below 1.")
        for name in ("initializer_range", "layer_norm_eps"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 <= value < 1e6:
                raise ValueError(f"{name} is {value!r}; expected a number from 0 (and finite).")
        if not isinstance(self.tie_word_embeddings, bool):
            raise ValueError(
                f"tie_word_embeddings is {self.tie_word_embeddings!r}; expected true or false."
            )
        pad = self.pad_token_id
        if not isinstance(pad, int) or isinstance(pad, bool) or not 0 <= pad < self.vocab_size:
            raise ValueError(f"pad_token_id is {pad!r}; expected an id below {self.vocab_size}.")
        check_activation("hidden_act", self.hidden_act)
        if self.position_embedding not in POSITION_EMBEDDINGS:
            raise ValueError(
                f"position_embedding is {self.position_embedding!r}; expected one of "
                f"{', '.join(POSITION_EMBEDDINGS)}."
            )
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
        """Activation of the masked-word head.

        RoBERTa's and ELECTRA's code always uses the erf GELU there, regardless of config.json.
        """
        usual = "gelu" if self.model_type in _GELU_HEADS else self.hidden_act
        return str(getattr(self, "classifier_activation", usual))

    def has_bias(self, field: str) -> bool:
        """Return whether some layers have biases.

        Args:
            field: A field of ModernBertConfig, such as "norm_bias"; other members have all biases.
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

    @classmethod
    def from_hf_dict(
        cls, values: Mapping[str, Any], *, model_type: str | None = None
    ) -> BertConfig:
        """Build from the content of a Hugging Face config.json.

        Keys that do not shape the network (labels, versions, generation defaults) are ignored.

        Args:
            model_type: A key of FAMILIES, instead of the one in config.json.

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
        known = {field.name for field in fields(BertConfig)} - set(_OURS) | {"embedding_size"}
        stored = {name: values.get(family.fields.get(name, name)) for name in known}
        chosen = {name: value for name, value in stored.items() if value is not None}
        chosen = {**family.defaults, **chosen, **family.fixed, "model_type": model_type}
        missing = [family.fields.get(name, name) for name in _REQUIRED if name not in chosen]
        if missing:
            raise ValueError(
                f"config.json lacks {', '.join(missing)}. "
                "Copy the complete config.json of the checkpoint."
            )
        num_layers = chosen["num_hidden_layers"]
        if isinstance(num_layers, int) and num_layers > MOST_LAYERS:
            raise ValueError(
                f"config.json asks for {num_layers:,} layers; at most {MOST_LAYERS:,} are read."
            )
        if model_type in WITH_OFFSET and isinstance(chosen["pad_token_id"], int):
            chosen["position_offset"] = chosen["pad_token_id"] + 1
        if model_type == "electra" and chosen["embedding_size"] == chosen["hidden_size"]:
            del chosen["embedding_size"]  # then it has no matrix between them
        if values.get("sinusoidal_pos_embds") and model_type == "distilbert":
            chosen["position_embedding"] = "sinusoidal"
        if "embedding_size" not in family.defaults:
            chosen.pop("embedding_size", None)
        return cls.from_hf_fields(chosen, values)

    @classmethod
    def from_hf_fields(cls, chosen: dict[str, Any], values: Mapping[str, Any]) -> BertConfig:
        """Build from the fields found in a config.json and from its whole content."""
        return cls(**chosen)


_OURS = (
    "model_type",
    "embedding_size",
    "share_layers",
    "position_offset",
    "position_embedding",
)
"""Fields for which config.json has no key, or only in some families."""
_GELU_HEADS = ("roberta", "xlm-roberta", "electra")
WITH_OFFSET = ("roberta", "xlm-roberta")
"""Members whose position ids begin after that of padding."""
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
    """Reject relative positions, which `transformers` 5 ignores without a word.

    Args:
        values: The content of config.json.

    ValueError if it asks for any but absolute positions.

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

    Raises:
        NotComputedError: If it is one of `transformers` that has weights.
        ValueError: If it is none.
    """
    if name not in ACTIVATIONS:
        raise (NotComputedError if name in _WITH_WEIGHTS else ValueError)(
            f"{field} is {name!r}; expected one of {', '.join(ACTIVATIONS)}."
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def bert_base(vocab_size: int = 30522) -> BertConfig:
    """Return the shape of BERT-base: 12 layers, 768 wide, 12 heads."""
    return bert_of(vocab_size=vocab_size, num_hidden_layers=12, hidden_size=768)


def bert_mini(vocab_size: int = 30522) -> BertConfig:
    """Return the shape of BERT-Mini (Turc et al. 2019): 4 layers, 256 wide, 4 heads."""
    return bert_of(vocab_size=vocab_size, num_hidden_layers=4, hidden_size=256)


def bert_of(
    *,
    vocab_size: int,
    num_hidden_layers: int,
    hidden_size: int,
    num_attention_heads: int | None = None,
    max_position_embeddings: int = 512,
) -> BertConfig:
    """Return a BERT of any size in the usual proportions: heads 64 wide, feed-forward 4 x D."""
    return BertConfig(
        vocab_size=vocab_size,
        num_hidden_layers=num_hidden_layers,
        hidden_size=hidden_size,
        num_attention_heads=num_attention_heads or max(1, hidden_size // 64),
        intermediate_size=4 * hidden_size,
        max_position_embeddings=max_position_embeddings,
    )
