"""Python that makes the maps of every measure; the code of each picture follows it."""

from __future__ import annotations

from ..shell import frame
from . import measures
from .measures import Choice

_ALL_MEASURES = """
from bertcore.analysis.mixing.attention_gradients import (
    NextSentenceLogit,
    attention_gradients,
    best_word,
)
from bertcore.analysis.mixing.flow import attention_flow
from bertcore.analysis.mixing.maps import normalize_rows
from bertcore.analysis.mixing.norm_weighted import block_norms, weighted_norms
from bertcore.analysis.mixing.rollout import attention_rollout, rollout
from bertcore.analysis.mixing.value_zeroing import value_zeroing

layer, head, token = {layer}, {head}, {token}
gradients = attention_gradients(bert, trace, {target})
zeroing = normalize_rows(value_zeroing(bert, trace))
maps = {{
    "weights": trace.attentions[layer].{heads},
    "norms": {norms},
    "block": block_norms(bert, trace).normalized[layer],
    "zeroing": zeroing[layer],
    "gradient": gradients.product(layer).abs().{heads},
    "rollout": attention_rollout(trace.attentions, head=head)[layer],
    "flow": attention_flow(trace.attentions[: layer + 1], head=head).values,
    "zeroing_rollout": rollout(zeroing)[layer],
}}
"""
_ATTENTION_ALONE = """
from bertcore.analysis.mixing.flow import attention_flow
from bertcore.analysis.mixing.maps import normalize_rows
from bertcore.analysis.mixing.rollout import attention_rollout

layer, head, token = {layer}, {head}, {token}
maps = {{
    "weights": trace.attentions[layer].{heads},
    "rollout": attention_rollout(trace.attentions, head=head)[layer],
    "flow": attention_flow(trace.attentions[: layer + 1], head=head).values,
}}
"""


def maps_code(page: frame.Page, choice: Choice) -> str:
    """Return Python from opening the checkpoint to `maps`, the numbers of each measure."""
    values = {
        "layer": choice.layer,
        "head": choice.head,
        "token": choice.token,
        "heads": "mean(0)" if choice.head is None else f"select(0, {choice.head})",
    }
    if "norms" not in measures.measures(page.bert):
        return page.setup_code + _ATTENTION_ALONE.format(**values)
    target = {
        "word": f"best_word(bert, trace, {choice.token})",
        "next": "NextSentenceLogit()",
        None: "lambda bert, hidden: hidden[0, 0, 0]  # no head: any number of the last layer",
    }[choice.target]
    norms = (
        "block_norms(bert, trace).summed[layer]"
        if choice.head is None
        else f"weighted_norms(bert, trace)[layer, {choice.head}]"
    )
    return page.setup_code + _ALL_MEASURES.format(**values, target=target, norms=norms)
