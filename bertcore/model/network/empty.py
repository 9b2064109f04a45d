"""PyTorch's modules with empty weights: `initialize` or a checkpoint fills them.

PyTorch's constructors draw random weights, which takes seconds for a large network and changes the
global random state.
"""

import torch
from torch import nn

from bertcore.model.architecture.config import BertConfig


def empty_linear(num_inputs: int, num_outputs: int, *, bias: bool = True) -> nn.Linear:
    """Return a linear layer with an empty weight [num_outputs, num_inputs] and a bias of 0."""
    linear = nn.Linear(num_inputs, num_outputs, bias=bias, device="meta")
    device = torch.get_default_device()
    if device.type != "meta":  # to_empty would needlessly import sympy
        linear.to_empty(device=device)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


def empty_embedding(num_rows: int, width: int) -> nn.Embedding:
    """Return an empty table, [num_rows, width]."""
    # On the meta device, random initialization would import the compiler: 0.5 seconds and 75 MB.
    empty = torch.empty(num_rows, width)
    table: nn.Embedding = nn.Embedding.from_pretrained(empty, freeze=False)  # type: ignore[no-untyped-call]
    return table


def layer_norm(config: BertConfig, width: int) -> nn.LayerNorm:
    """Return a LayerNorm with the config's settings."""
    return nn.LayerNorm(width, config.layer_norm_eps, bias=config.has_bias("norm_bias"))
