"""The feed-forward block of a layer."""

from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.model.architecture.config import BertConfig
from bertcore.model.network.empty import empty_linear


def activate(x: Tensor, name: str, *, in_place: bool = False) -> Tensor:
    """Apply an activation to x of any shape: one of ACTIVATIONS.

    Use `in_place` only without gradients. `transformers` computes the rare ones.
    """
    if name == "relu":
        return F.relu(x, inplace=in_place)
    if name == "tanh":
        return x.tanh_() if in_place else x.tanh()
    approximate = {"gelu": "none", "gelu_new": "tanh"}.get(name)
    if approximate is None:
        out: Tensor = _rare(name)(x)
        return out
    if in_place:
        return F.gelu(x, approximate=approximate, out=x)  # type: ignore[call-arg]  # not in the stubs
    return F.gelu(x, approximate=approximate)


@cache
def _rare(name: str) -> nn.Module:
    from transformers.activations import ACT2FN

    function: nn.Module = ACT2FN[name]
    return function


class FeedForward(nn.Module):
    """LayerNorm(hidden + W2 act(W1 hidden)), for each token by itself.

    Source: Vaswani et al. 2017, section 3.3; post-LN as in Devlin et al. 2019.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        d, f = config.hidden_size, config.intermediate_size
        self.intermediate = empty_linear(d, f)
        self.output = empty_linear(f, d)
        self.norm = nn.LayerNorm(d, config.layer_norm_eps)
        self.dropout = config.hidden_dropout_prob
        self.activation = config.hidden_act

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the block's output, [B, T, D], of hidden [B, T, D]."""
        return self.add(self.write(hidden), hidden)

    def write(self, hidden: Tensor) -> Tensor:
        """Return the block's contribution, [B, T, D], from hidden [B, T, D]."""
        out: Tensor = self.output(self.neurons(hidden))
        return F.dropout(out, self.dropout) if self.training else out

    def neurons(self, hidden: Tensor) -> Tensor:
        """Return the activations of the neurons, [B, T, F]."""
        # The largest tensor of a layer: in place if gradients do not need it.
        in_place = not torch.is_grad_enabled()
        return activate(self.intermediate(hidden), self.activation, in_place=in_place)

    def add(self, written: Tensor, hidden: Tensor) -> Tensor:
        """Add the block's contribution to its input, and normalise: [B, T, D]."""
        normalized: Tensor = self.norm(written + hidden)
        return normalized
