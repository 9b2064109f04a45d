"""Fill an empty network with initial weights."""

import torch
from torch import Generator, nn

from bertcore.model.network.embeddings import sinusoids
from bertcore.model.network.encoder import Network


@torch.no_grad()
def initialize(network: Network, generator: Generator) -> Network:
    """Draw all matrices from a normal distribution truncated at two standard deviations.

    Biases become 0 and LayerNorm weights 1; a position table that is not trained gets sinusoids.
    The standard deviation is the config's `initializer_range`.

    Source: google-research/bert modeling.py, create_initializer.
    """
    std = network.config.initializer_range
    for name, parameter in network.named_parameters():
        if name == "embeddings.position_embeddings.weight" and not parameter.requires_grad:
            parameter.copy_(sinusoids(*parameter.shape))
        elif name.endswith("norm.weight"):
            nn.init.ones_(parameter)
        elif parameter.dim() == 1:
            nn.init.zeros_(parameter)
        else:
            nn.init.trunc_normal_(parameter, 0.0, std, -2 * std, 2 * std, generator=generator)
    return network
