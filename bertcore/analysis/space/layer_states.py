"""States inside the layers that a trace does not keep."""

import torch
from torch import Tensor

from bertcore.bert import with_parts
from bertcore.model import Model
from bertcore.network import attention_fused


@torch.no_grad()
def attention_outputs(model: Model, hidden_states: Tensor) -> Tensor:
    """Return the state between a layer's two halves, float32 [L, T, D].

    That is LayerNorm(x + attention(x)), the input of the layer's feed-forward block.

    Args:
        model: A model whose layers can be read (capability "parts").
        hidden_states: Of its trace, [L+1, T, D].

    ValueError if the layers of the architecture cannot be read.
    """
    bert = with_parts(model)
    inputs = hidden_states[:-1].to(bert.device, bert.dtype)
    halves = [
        layer.attention(state[None], None, attention_fused)[0]
        for layer, state in zip(bert.module.layers, inputs, strict=True)
    ]
    return torch.stack(halves).float().cpu()
