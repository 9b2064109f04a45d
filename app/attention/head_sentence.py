"""What a head does, in one sentence."""

import math
from collections.abc import Mapping, Sequence

from ..plots.special_tokens import BERT, Marks, own_text

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
        layer, heads: Several heads are described by their mean; no head means all heads.
        num_tokens: T.
        marks: What the checkpoint calls [CLS] and [SEP].

    The words are ours: "mostly" from 50% on, "often" from 25% on; "broadly" if the entropy is
    above 80% of its largest value, ln T.
    """
    name = _name(layer, heads)
    kinds = {kind: own_text(target, marks) for kind, target in _KINDS.items()}
    fractions = {kind: measures[kind] for kind in _KINDS if not math.isnan(measures[kind])}
    if not fractions and num_tokens > 1:
        return f"{name} gives weights that are not numbers (NaN), so it has no habit."
    if not fractions:
        return f"{name} has only one token to attend to."
    order = sorted(fractions, key=lambda kind: fractions[kind], reverse=True)
    best, second = order[0], order[1] if len(order) > 1 else None
    rest = ""
    # Kinds overlap ([CLS] attending to itself is both), so two may exceed 1: then name one.
    if second is not None and fractions[second] >= 0.1 and fractions[best] + fractions[second] <= 1:
        rest = f", and {fractions[second]:.0%} to {kinds[second]}"
    amount = f"{fractions[best]:.0%} of its attention goes there{rest}."
    if fractions[best] >= _MOSTLY:
        return f"{name} attends mostly to {kinds[best]}: {amount}"
    if fractions[best] >= _OFTEN:
        return f"{name} often attends to {kinds[best]}: {amount}"
    # The mean of several heads' entropies says nothing about the entropy of their mean.
    if len(heads) == 1 and measures["entropy"] > _BROAD * math.log(num_tokens):
        return (
            f"{name} attends broadly: entropy {measures['entropy']:.2f} nats of at most "
            f"{math.log(num_tokens):.2f}, and only {fractions[best]:.0%} goes to {kinds[best]}."
        )
    return (
        f"{name} has no single positional habit: the largest share goes to {kinds[best]} "
        f"({fractions[best]:.0%}); hover over the tokens to see what it picks."
    )


def _name(layer: int, heads: Sequence[int]) -> str:
    if len(heads) == 1:
        return f"Layer {layer} head {heads[0]}"
    if not heads:
        return f"Layer {layer}, the mean of all heads,"
    return f"Layer {layer}, the mean of heads {', '.join(str(head) for head in heads)},"
