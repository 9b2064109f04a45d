"""The shape of a BERT: its numbers, checked, and their round trip to a Hugging Face config.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

ACTIVATIONS = ("gelu", "gelu_new", "relu")
"""`gelu` is the erf form of Hugging Face; `gelu_new` the tanh approximation of Google's code."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BertConfig:
    """The shape of one BERT, with Hugging Face's field names.

    Raises:
        ValueError: If a number is out of range or `num_attention_heads` does not divide
            `hidden_size`.

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
    """Share of activations dropped after embeddings and blocks, in training, 0 <= p < 1."""
    attention_probs_dropout_prob: float = 0.1
    """Share of attention weights dropped in training, 0 <= p < 1."""
    max_position_embeddings: int = 512
    """Rows of the position table: the longest input in tokens."""
    type_vocab_size: int = 2
    """Rows of the segment table."""
    initializer_range: float = 0.02
    """Standard deviation of the initial weights."""
    layer_norm_eps: float = 1e-12
    """Added to the variance inside LayerNorm."""
    pad_token_id: int = 0
    """Id of the padding token."""

    def __post_init__(self) -> None:
        for name in _COUNTS:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} is {value!r}; expected a whole number of at least 1.")
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} is not divisible by num_attention_heads "
                f"{self.num_attention_heads}. Choose a width that is a multiple of the heads."
            )
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 <= value < 1:
                raise ValueError(f"{name} is {value!r}; expected a number from 0 up to below 1.")
        for name in ("initializer_range", "layer_norm_eps"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 < value < 1e6:
                raise ValueError(f"{name} is {value!r}; expected a number above 0 (and finite).")
        pad = self.pad_token_id
        if not isinstance(pad, int) or isinstance(pad, bool) or not 0 <= pad < self.vocab_size:
            raise ValueError(f"pad_token_id is {pad!r}; expected an id below {self.vocab_size}.")
        if self.hidden_act not in ACTIVATIONS:
            raise ValueError(
                f"hidden_act is {self.hidden_act!r}; expected one of {', '.join(ACTIVATIONS)}."
            )

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
        d, f, v = self.hidden_size, self.intermediate_size, self.vocab_size
        embeddings = (v + self.max_position_embeddings + self.type_vocab_size) * d + 2 * d
        layer = 4 * (d * d + d) + (d * f + f) + (f * d + d) + 4 * d
        heads = (d * d + d) + (d * d + d + 2 * d + v) + (2 * d + 2)
        return embeddings + self.num_hidden_layers * layer + heads

    def to_hf_dict(self) -> dict[str, Any]:
        """Return the fields as Hugging Face's config.json writes them."""
        return {"model_type": "bert", "position_embedding_type": "absolute", **asdict(self)}

    @classmethod
    def from_hf_dict(cls, values: Mapping[str, Any]) -> BertConfig:
        """Build from the content of a Hugging Face config.json.

        Keys that do not shape the network (labels, versions, generation defaults) are ignored.

        Raises:
            ValueError: If the model is not a BERT encoder, a field is missing or a value is wrong.
        """
        model_type = values.get("model_type", "bert")
        if model_type != "bert":
            raise ValueError(
                f"config.json says model_type {model_type!r}; this version reads 'bert'. "
                "Choose a BERT checkpoint."
            )
        for key, wanted in _MUST_BE.items():
            if values.get(key, wanted) not in (wanted, None):
                raise ValueError(
                    f"config.json has {key} = {values[key]!r}; BERT as in the paper has {wanted!r}."
                )
        missing = [name for name in _REQUIRED if name not in values]
        if missing:
            raise ValueError(
                f"config.json lacks {', '.join(missing)}. "
                "Copy the complete config.json of the checkpoint."
            )
        known = {field.name for field in fields(cls)}
        chosen = {k: v for k, v in values.items() if k in known and v is not None}
        return cls(**chosen)


_COUNTS = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)
_REQUIRED = _COUNTS[:5]
_MUST_BE = {
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}


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
