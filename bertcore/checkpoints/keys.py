"""The names of the tensors: ours, Hugging Face's, and how to mend those of other programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bertcore.network import ALL_HEADS

_EMBEDDINGS = (
    ("embeddings.word_embeddings", "bert.embeddings.word_embeddings.weight"),
    ("embeddings.position_embeddings", "bert.embeddings.position_embeddings.weight"),
    ("embeddings.token_type_embeddings", "bert.embeddings.token_type_embeddings.weight"),
    ("embeddings.norm_weight", "bert.embeddings.LayerNorm.weight"),
    ("embeddings.norm_bias", "bert.embeddings.LayerNorm.bias"),
)
_LAYER = (
    ("attention.query", "attention.self.query."),
    ("attention.key", "attention.self.key."),
    ("attention.value", "attention.self.value."),
    ("attention.output", "attention.output.dense."),
    ("attention.norm", "attention.output.LayerNorm."),
    ("feed_forward.intermediate", "intermediate.dense."),
    ("feed_forward.output", "output.dense."),
    ("feed_forward.norm", "output.LayerNorm."),
)
_HEADS = {
    "pooler": (
        ("pooler.weight", "bert.pooler.dense.weight"),
        ("pooler.bias", "bert.pooler.dense.bias"),
    ),
    "mlm": (
        ("mlm.decoder_bias", "cls.predictions.bias"),
        ("mlm.transform_weight", "cls.predictions.transform.dense.weight"),
        ("mlm.transform_bias", "cls.predictions.transform.dense.bias"),
        ("mlm.norm_weight", "cls.predictions.transform.LayerNorm.weight"),
        ("mlm.norm_bias", "cls.predictions.transform.LayerNorm.bias"),
    ),
    "nsp": (
        ("nsp.weight", "cls.seq_relationship.weight"),
        ("nsp.bias", "cls.seq_relationship.bias"),
    ),
}

DECODER_WEIGHT = "cls.predictions.decoder.weight"
"""A copy of the token table in some files; BERT ties the two, so we hold no parameter for it."""
DECODER_BIAS = "cls.predictions.decoder.bias"
"""A copy of `cls.predictions.bias`."""
TOKEN_TABLE = "bert.embeddings.word_embeddings.weight"
"""The rows of the vocabulary, [V, D]."""
POSITION_IDS = "bert.embeddings.position_ids"
"""0, 1, 2, ...: a buffer that old versions of transformers stored. No weight."""

_BARE_TABLE = "embeddings.word_embeddings.weight"
_PARTS = ("embeddings.", "encoder.", "pooler.")
_LAYER_KEY = re.compile(r"bert\.encoder\.layer\.(\d{1,9})\.")


def head_keys(head: str) -> dict[str, str]:
    """Return our name -> Hugging Face's key of one head: "pooler", "mlm" or "nsp"."""
    return dict(_HEADS[head])


def key_table(num_layers: int, heads: Iterable[str] = ALL_HEADS) -> dict[str, str]:
    """Return our parameter name -> Hugging Face's key, in the order of the network.

    >>> key_table(1)["layers.0.attention.query_weight"]
    'bert.encoder.layer.0.attention.self.query.weight'
    """
    chosen = frozenset(heads)
    return dict(_pairs(num_layers, chosen))


def _pairs(num_layers: int, heads: frozenset[str]) -> Iterator[tuple[str, str]]:
    yield from _EMBEDDINGS
    for layer in range(num_layers):
        for ours, theirs in _LAYER:
            for kind in ("weight", "bias"):
                yield f"layers.{layer}.{ours}_{kind}", f"bert.encoder.layer.{layer}.{theirs}{kind}"
    for head, pairs in _HEADS.items():
        if head in heads:
            yield from pairs


@dataclass(frozen=True, slots=True)
class MendedKeys:
    """Stored names brought into Hugging Face's form."""

    stored: dict[str, str]
    """Hugging Face's key -> the name in the file."""
    prefix: str | None
    """What stood before `embeddings.` in place of `bert.`; None where nothing was mended."""
    num_renamed: int
    """LayerNorm tensors called gamma and beta, as in conversions from TensorFlow."""
    doubled: list[str]
    """Stored names whose mended form another tensor has already; not used."""


def mend_keys(names: Iterable[str]) -> MendedKeys:
    """Find the encoder's prefix, make it `bert.`, and rename gamma and beta.

    Whatever stands before the token table is taken as the prefix, so that files written by
    data-parallel wrappers (`module.`), trainers (`model.`) or bare encoders (none) open too.

    Source: ours. gamma and beta: google-research/bert's variable names.
    """
    names = sorted(names)
    tables = [name for name in names if f".{name}".endswith(f".{_BARE_TABLE}")]

    def distance(name: str) -> tuple[bool, int]:
        return not name.startswith("bert."), name.count(".")

    # With several encoders in one file the one nearest to the top is meant.
    table = min(tables, key=distance, default="")
    prefix = table.removesuffix(_BARE_TABLE) if table else "bert."
    stored: dict[str, str] = {}
    doubled: list[str] = []
    num_renamed = 0
    mended_names = {name: _mend(name, prefix) for name in names}
    for name in sorted(names, key=lambda name: (mended_names[name] != name, name)):
        mended = mended_names[name]
        if mended in stored:
            doubled.append(name)
            continue
        stored[mended] = name
        num_renamed += name.endswith((".gamma", ".beta"))
    return MendedKeys(
        stored=stored,
        prefix=None if prefix == "bert." else prefix,
        num_renamed=num_renamed,
        doubled=doubled,
    )


def _mend(name: str, prefix: str) -> str:
    outer = prefix.removesuffix("bert.")
    mended = name
    if name.startswith(prefix) and name[len(prefix) :].startswith(_PARTS):
        mended = "bert." + name[len(prefix) :]
    elif outer and name.startswith(outer):
        mended = name[len(outer) :]
    if mended.endswith(".LayerNorm.gamma"):
        return mended.removesuffix("gamma") + "weight"
    if mended.endswith(".LayerNorm.beta"):
        return mended.removesuffix("beta") + "bias"
    return mended


def count_layers(keys: Iterable[str]) -> int:
    """Return the number of encoder layers that Hugging Face keys speak of."""
    found = (_LAYER_KEY.match(key) for key in keys)
    return len({match.group(1) for match in found if match})
