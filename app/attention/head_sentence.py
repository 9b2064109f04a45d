"""What a head does, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..plots.special_tokens import BERT, Marks, own

_KINDS = {
    "to_previous": "the token before",
    "to_next": "the token after",
    "to_self": "the same token",
    "to_first": "[CLS]",
    "to_separator": "[SEP]",
}
_MOSTLY, _OFTEN, _BROAD = 0.5, 0.25, 0.8


def head_sentence(
    measures: Mapping[str, float],
    layer: int,
    heads: Sequence[int],
    num_tokens: int,
    marks: Marks = BERT,
) -> str:
    """Return the strongest habit of a head, with its number.

    Args:
        measures: From `HeadMeasures.of`.
        layer, heads: Which; several heads are spoken of as their mean, none as all heads.
        num_tokens: T.
        marks: What the checkpoint calls [CLS] and [SEP].

    The words are ours: "mostly" from 50% on, "often" from 25% on; "broadly" where the entropy is
    above 80% of its largest value, ln T.
    """
    name = _name(layer, heads)
    kinds = {kind: own(said, marks) for kind, said in _KINDS.items()}
    shares = {kind: measures[kind] for kind in _KINDS if not math.isnan(measures[kind])}
    if not shares and num_tokens > 1:
        return f"{name} gives weights that are not numbers (NaN): there is nothing to say of it."
    if not shares:
        return f"{name} has only one token to look at."
    order = sorted(shares, key=lambda kind: shares[kind], reverse=True)
    best, second = order[0], order[1] if len(order) > 1 else None
    rest = ""
    # Kinds overlap ([CLS] looking at itself is both), so two may exceed 1: then one must do.
    if second is not None and shares[second] >= 0.1 and shares[best] + shares[second] <= 1:
        rest = f", and {shares[second]:.0%} to {kinds[second]}"
    share = f"{shares[best]:.0%} of its attention goes there{rest}."
    if shares[best] >= _MOSTLY:
        return f"{name} looks mostly at {kinds[best]}: {share}"
    if shares[best] >= _OFTEN:
        return f"{name} often looks at {kinds[best]}: {share}"
    # The mean of several heads' entropies says nothing about their mean.
    if len(heads) == 1 and measures["entropy"] > _BROAD * math.log(num_tokens):
        return (
            f"{name} looks broadly: entropy {measures['entropy']:.2f} nats of at most "
            f"{math.log(num_tokens):.2f}, and only {shares[best]:.0%} goes to {kinds[best]}."
        )
    return (
        f"{name} has no single habit of place: the most goes to {kinds[best]} "
        f"({shares[best]:.0%}); hover the tokens to see what it picks."
    )


def _name(layer: int, heads: Sequence[int]) -> str:
    if len(heads) == 1:
        return f"Layer {layer} head {heads[0]}"
    if not heads:
        return f"Layer {layer}, the mean of all heads,"
    return f"Layer {layer}, the mean of heads {', '.join(str(head) for head in heads)},"
