"""The feed-forward block of a layer."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.config import BertConfig


def activate(x: Tensor, name: str, *, in_place: bool = False) -> Tensor:
    """Apply the activation `name` of a config to x of any shape; `in_place` without gradients."""
    if name == "relu":
        return F.relu(x, inplace=in_place)
    approximate = {"gelu": "none", "gelu_new": "tanh"}[name]
    if in_place:
        result: Tensor = torch.ops.aten.gelu_(x, approximate=approximate)  # F.gelu has no such form
        return result
    return F.gelu(x, approximate=approximate)


class FeedForward(nn.Module):
    """LayerNorm(hidden + W2 act(W1 hidden)), each token by itself.

    Source: Vaswani et al. 2017, section 3.3; post-LN as in Devlin et al. 2019.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        d, f = config.hidden_size, config.intermediate_size
        self.intermediate_weight = nn.Parameter(torch.empty(f, d))
        self.intermediate_bias = nn.Parameter(torch.zeros(f))
        self.output_weight = nn.Parameter(torch.empty(d, f))
        self.output_bias = nn.Parameter(torch.zeros(d))
        self.norm_weight = nn.Parameter(torch.ones(d))
        self.norm_bias = nn.Parameter(torch.zeros(d))
        self.eps = config.layer_norm_eps
        self.dropout = config.hidden_dropout_prob
        self.activation = config.hidden_act

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the block's output, [B, T, D], of hidden [B, T, D]."""
        inner = F.linear(hidden, self.intermediate_weight, self.intermediate_bias)  # [B, T, F]
        # The largest tensor of a layer: in its place where nobody needs it for gradients.
        inner = activate(inner, self.activation, in_place=not torch.is_grad_enabled())
        out = F.linear(inner, self.output_weight, self.output_bias)
        out = F.dropout(out, self.dropout, self.training)
        norm = (hidden.shape[-1],)
        return F.layer_norm(out + hidden, norm, self.norm_weight, self.norm_bias, self.eps)
