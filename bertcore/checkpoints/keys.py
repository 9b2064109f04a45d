"""Tensor names: ours, Hugging Face's, and the renaming of those of other programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from bertcore.architecture.families import BERT, Family
from bertcore.network import ALL_HEADS

POSITION_IDS = "embeddings.position_ids"
"""0, 1, 2, ...: a buffer that old versions of transformers stored; not a weight."""


def token_table(family: Family) -> str:
    """Return Hugging Face's key of the token table, [V, E]."""
    return family.prefix + family.embeddings[0][1]


def key_table(
    num_layers: int,
    heads: Iterable[str] = ALL_HEADS,
    *,
    family: Family = BERT,
    is_tied: bool = True,
) -> dict[str, str]:
    """Return our parameter name -> Hugging Face's key, in the order of the network.

    A network without segments, or without a matrix from E to D, has fewer of them. An untied
    decoder comes last.

    >>> key_table(1)["layers.0.attention.query.weight"]
    'bert.encoder.layer.0.attention.self.query.weight'
    """
    chosen = frozenset(heads)
    table = dict(_pairs(num_layers, chosen, family))
    if "mlm" in chosen and not is_tied:
        table["mlm.decoder.weight"] = family.decoder_weight
    return table


def _pairs(num_layers: int, heads: frozenset[str], family: Family) -> Iterator[tuple[str, str]]:
    for ours, theirs in (*family.embeddings, *family.projection):
        yield ours, family.prefix + theirs
    num_distinct = num_layers if "{}" in family.layer_prefix else 1
    for layer in range(num_distinct):
        place = family.prefix + family.layer_prefix.format(layer)
        for ours, theirs in family.layer:
            for kind in ("weight", "bias"):
                yield f"layers.{layer}.{ours}.{kind}", f"{place}{theirs}{kind}"
    for ours, theirs in family.last:
        yield ours, family.prefix + theirs
    for head, pairs in family.heads.items():
        if head in heads:
            yield from pairs


@dataclass(frozen=True, slots=True)
class MendedKeys:
    """Stored names converted to Hugging Face's form."""

    stored: dict[str, str]
    """Hugging Face's key -> the name in the file."""
    prefix: str | None
    """The prefix before `embeddings.` instead of the family's (`bert.`); None if it was right."""
    num_renamed: int
    """LayerNorm tensors called gamma and beta, as in conversions from TensorFlow."""
    doubled: list[str]
    """Stored names whose corrected form is already taken by another tensor; not used."""
    others: list[str]
    """The prefixes of further encoders in the file; their tensors are not used."""

    def is_of_other(self, key: str, family: Family) -> bool:
        """Return whether a key belongs to one of these encoders."""
        starts = (prefix for prefix in self.others if key.startswith(prefix))
        return any(key[len(prefix) :].startswith(family.parts) for prefix in starts)


def mend_keys(names: Iterable[str], family: Family = BERT, encoder: str = "") -> MendedKeys:
    """Find the encoder's prefix, make it the family's (`bert.`), and rename gamma and beta.

    Everything before the name of the token table is the prefix, so that files written by
    data-parallel wrappers (`module.`), trainers (`model.`) or bare encoders (none) open too.

    Args:
        names: The stored names.
        family: Of the encoder.
        encoder: Start of the prefix of the encoder to read, if there are several in the file;
            without one, the nearest to the top is read, by the alphabet if several are.

    Source: ours. gamma and beta: google-research/bert's variable names.
    """
    names = sorted(names)
    bare = family.embeddings[0][1]
    tables = [name for name in names if f".{name}".endswith(f".{bare}")]

    def distance(name: str) -> tuple[bool, bool, int]:
        is_wanted = bool(encoder) and name.startswith(encoder)
        return not is_wanted, not name.startswith(family.prefix), name.count(".")

    table = min(tables, key=distance, default="")
    prefix = table.removesuffix(bare) if table else family.prefix
    stored: dict[str, str] = {}
    doubled: list[str] = []
    num_renamed = 0
    mended_names = {name: _mend(name, prefix, family) for name in names}
    for name in sorted(names, key=lambda name: (mended_names[name] != name, name)):
        mended = mended_names[name]
        if mended in stored:
            doubled.append(name)
            continue
        stored[mended] = name
        num_renamed += name.endswith((".gamma", ".beta"))
    return MendedKeys(
        stored=stored,
        prefix=None if prefix == family.prefix else prefix,
        num_renamed=num_renamed,
        doubled=doubled,
        others=[one.removesuffix(bare) for one in tables if one != table],
    )


def _mend(name: str, prefix: str, family: Family) -> str:
    outer = prefix.removesuffix(family.prefix)
    mended = name
    if name.startswith(prefix) and name[len(prefix) :].startswith(family.parts):
        mended = family.prefix + name[len(prefix) :]
    elif outer and name.startswith(outer):
        mended = name[len(outer) :]
    if mended.endswith(".LayerNorm.gamma"):
        return mended.removesuffix("gamma") + "weight"
    if mended.endswith(".LayerNorm.beta"):
        return mended.removesuffix("beta") + "bias"
    return mended


_EARLIER = (
    (r"_embeddings\.weight$", "_embeddings"),
    (r"(pooler\.)dense\.|((?:nsp|sop|replaced|head)\.)classifier\.", r"\1\2"),
    (r"(mlm|replaced)\.dense\.", r"\1.transform_"),
    (
        r"\.(query|key|value|output|intermediate|norm|projection|decoder)\.(?=weight$|bias$)",
        r".\1_",
    ),
)


def earlier_name(name: str) -> str:
    """Return a parameter's name from before the network used `nn.Linear` and similar modules.

    Fingerprints hash these names, and fine-tuning states from that time contain them.

    >>> earlier_name("layers.0.attention.query.weight"), earlier_name("nsp.classifier.bias")
    ('layers.0.attention.query_weight', 'nsp.bias')
    """
    for pattern, earlier in _EARLIER:
        name = re.sub(pattern, earlier, name)
    return name


def current_names(tensors: Mapping[str, Tensor], module: nn.Module) -> dict[str, Tensor]:
    """Return a state dict under the current names of the parameters of `module`."""
    now = {earlier_name(name): name for name in module.state_dict()}
    return {now.get(name, name): tensor for name, tensor in tensors.items()}


def count_layers(keys: Iterable[str], family: Family = BERT) -> int:
    """Return the number of encoder layers in Hugging Face keys."""
    place = re.escape(family.prefix + family.layer_prefix).replace(r"\{\}", r"(?P<layer>\d{1,9})")
    matches = (re.match(place, key) for key in keys)
    return len({match.groupdict().get("layer") for match in matches if match})
