"""One token through one layer: the layer's parts at it, and what they mean for a word."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from bertcore.analysis.mixing.layer_parts import LayerParts, parts_of_rows, require_same_run
from bertcore.analysis.shared.inputs import best_pieces, require_finite, usual_position
from bertcore.analysis.words.head_steps import require_token
from bertcore.analysis.words.logit_attribution import (
    LogitAttribution,
    logit_attribution,
    pushed_words,
)
from bertcore.model.bert import Bert, with_parts
from bertcore.model.model import Model
from bertcore.model.trace import Trace

NUM_WORDS = 4
NUM_NEURONS = 6


@dataclass(frozen=True, slots=True)
class Neuron:
    """A neuron at one token."""

    neuron: int
    activation: float
    share: float | None
    """Of the word's logit; None without a masked-word head."""
    words: tuple[str, ...]
    """Whose logits it raised most."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenInLayer:
    """One token through one layer."""

    layer: int
    is_last: bool
    """Whether it is the last layer."""
    tokens: tuple[str, ...]
    """Of the input, [T]."""
    position: int
    """Of the token."""
    activation: str
    """The neurons' activation function, as in config.json."""
    parts: LayerParts
    """At this token: N = 1."""
    shares: LogitAttribution | None
    """Of a word's logit; None without a masked-word head."""
    predictions: Mapping[str, tuple[tuple[str, float], ...]]
    """The words that the masked-word head would predict from the layer's `hidden`,
    `attention_state` and `output`, with their probabilities; empty without such a head."""
    neurons: tuple[Neuron, ...]
    """Those with the largest share; without a head, those that write most."""


def token_in_layer(
    bert: Model,
    trace: Trace,
    layer: int = 0,
    position: int | None = None,
    word: str | None = None,
    against: str | None = None,
) -> TokenInLayer:
    """Return what a layer computes at one token, and how it contributes to a word's logit there.

    Arguments and ValueError as for `layer_parts` and `logit_attribution`.
    """
    model = with_parts(bert)
    position = usual_position(bert, trace) if position is None else position
    require_token(trace, position)
    require_finite(trace.hidden_states, "hidden states")
    rows = slice(position, position + 1)
    hidden = trace.hidden_states[layer, rows].float()
    with torch.no_grad():
        parts = parts_of_rows(model.module.layers[layer], trace, layer, hidden, rows)
    require_same_run(parts.output, trace.hidden_states[layer + 1, rows])
    is_last = layer + 1 == bert.config.num_hidden_layers
    shares, predictions = None, {}
    if "mlm" in bert.capabilities:
        shares = logit_attribution(bert, trace, position, word, against)
        # ModernBERT normalises its last state, which has been read then.
        is_read = is_last and parts.gates is not None
        predictions = {
            "hidden": _predicted(model, parts.hidden),
            "attention_state": _predicted(model, parts.attention_state),
            "output": _predicted(model, parts.output, is_normalized=is_read),
        }
    return TokenInLayer(
        layer=layer,
        is_last=is_last,
        tokens=tuple(trace.tokens),
        position=position,
        activation=bert.config.hidden_act,
        parts=parts,
        shares=shares,
        predictions=predictions,
        neurons=_neurons(model, trace, layer, position, parts.activations[0], shares),
    )


@torch.inference_mode()
def _predicted(
    bert: Bert, state: Tensor, *, is_normalized: bool = False
) -> tuple[tuple[str, float], ...]:
    """Return the words that the head would predict from a state [1, D], normalised or not."""
    read = state[0].to(bert.device, bert.dtype)
    if not is_normalized:
        read = bert.module.read_early(torch.stack([read, read]))[0]
    log_p = bert.module.mlm_logits(read).float().log_softmax(-1)
    return best_pieces(bert, log_p, NUM_WORDS)


def _neurons(
    bert: Bert,
    trace: Trace,
    layer: int,
    position: int,
    active: Tensor,
    shares: LogitAttribution | None,
) -> tuple[Neuron, ...]:
    if shares is None:
        columns = bert.module.layers[layer].feed_forward.output.weight
        written = active.abs() * columns.detach().float().cpu().norm(dim=0)
        best = written.topk(min(NUM_NEURONS, len(written))).indices.tolist()
        return tuple(Neuron(neuron, float(active[neuron]), None, ()) for neuron in best)
    of_layer = shares.neurons[layer]
    best = of_layer.abs().topk(min(NUM_NEURONS, len(of_layer))).indices.tolist()
    return tuple(
        Neuron(pushed.neuron, float(active[pushed.neuron]), float(share), pushed.words)
        for pushed, share in zip(
            pushed_words(bert, trace, position, layer, best), of_layer[best], strict=True
        )
    )
