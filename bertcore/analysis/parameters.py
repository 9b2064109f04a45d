"""Where a network's parameters are."""

from __future__ import annotations

from collections import Counter

from bertcore.bert import Bert

_PARTS = (
    ("embeddings.word_embeddings", "token table"),
    ("embeddings.position_embeddings", "position table"),
    ("embeddings.token_type_embeddings", "segment table"),
    ("embeddings.norm", "LayerNorm of the embeddings"),
    ("layers.", ""),
    ("pooler", "pooler"),
    ("mlm", "masked-word head"),
    ("nsp", "next-sentence head"),
)


def count_parameters(bert: Bert) -> dict[str, int]:
    """Return the number of parameters of each part, in the network's order; each counts once.

    The decoder of the masked-word head is the token table and is not counted again.
    """
    counts: Counter[str] = Counter()
    for name, parameter in bert.module.named_parameters():
        part = next(label for prefix, label in _PARTS if name.startswith(prefix))
        if not part:
            part = "attention, all layers" if ".attention." in name else "feed-forward, all layers"
        counts[part] += parameter.numel()
    return dict(counts)
