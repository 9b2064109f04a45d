"""The steps to an attention weight: query times key element by element, scaling, softmax."""

from dataclasses import dataclass

import torch
from torch import Tensor

from bertcore.model.bert import with_parts
from bertcore.model.model import Model
from bertcore.model.network import additive_mask, attention_scores
from bertcore.model.trace import Trace


@dataclass(frozen=True, slots=True)
class HeadNeurons:
    """The steps of one head from queries and keys to weights, float32."""

    queries: Tensor
    """[T, K]"""
    keys: Tensor
    """[T, K]"""
    scores: Tensor
    """queries . keys / sqrt(K), [T, T]; row = query token. The mask is not included."""
    allowed: Tensor | None
    """True = may be attended to, bool [T, T]; None: no mask."""
    weights: Tensor
    """softmax(scores + mask), [T, T]: rows sum to 1."""


def allowed_keys(bert: Model, layer: int, num_tokens: int) -> Tensor | None:
    """Return which keys each query of a layer may attend to in a plain trace, bool [T, T].

    No later ones if attention is causal, none outside the window if the layer has one. None: every
    token may attend to all. ValueError if the layers of the checkpoint cannot be read.
    """
    allowed = with_parts(bert).module.layers[layer].attention.allowed(num_tokens)
    return None if allowed is None else allowed.cpu()


@torch.no_grad()
def head_neurons(trace: Trace, layer: int, head: int, allowed: Tensor | None = None) -> HeadNeurons:
    """Return queries, keys, scores and weights of one head, float32.

    They end in `trace.attentions[layer, head]` within rounding: 1e-6 for a float32 trace, more
    where the network ran in a lower precision. `allowed` is the mask of the trace: True = may be
    attended to, [T] or [T, T]; of a plain one `allowed_keys`; None: every token.

    Source: Vaswani et al. 2017, equation 1; the view is from Vig 2019, section 3.3.
    """
    queries = trace.queries[layer, head].float()
    keys = trace.keys[layer, head].float()
    scores = attention_scores(queries, keys)
    if allowed is None:
        return HeadNeurons(queries, keys, scores, None, torch.softmax(scores, dim=-1))
    mask = additive_mask(allowed[None], scores.dtype)[0, 0]  # [1 or T, T]
    weights = torch.softmax(scores + mask, dim=-1)
    return HeadNeurons(queries, keys, scores, allowed.bool().expand(scores.shape), weights)
