"""Mapping of a hidden state for every token, live in the network or folded into weights.

A map is x -> weight x + bias of one hidden state, such as the erasure of an attribute. Live, the
map follows the module that outputs the state, so that traces, batches and heads all read mapped
states. Folded, the same answers come from changed weights alone, if that is exact.
"""

import copy
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor, nn

from bertcore.network import Network


class StateMap(NamedTuple):
    """The affine map x -> weight x + bias of a hidden state."""

    state: int
    """0 is the embeddings' output, L the last."""
    weight: Tensor
    """float64, [D, D]."""
    bias: Tensor
    """float64, [D]."""

    def __call__(self, hidden: Tensor) -> Tensor:
        """Return mapped states, [..., D], in their own dtype."""
        weight, bias = (each.to(hidden) for each in (self.weight, self.bias))
        return nn.functional.linear(hidden, weight, bias)


def map_state(network: Network, change: StateMap) -> Network:
    """Return a network whose hidden state is mapped; it shares all weights with the given one.

    Args:
        network: The network, in evaluation mode; it is not changed.

    ValueError if there is no such state, or the map has another width.
    """
    _check(network, change)
    shared = {id(each): each for each in chain(network.parameters(), network.buffers())}
    mapped: Network = copy.deepcopy(network, dict(shared))

    def behind(module: nn.Module, inputs: object, output: Tensor) -> Tensor:
        return change(output)

    if change.state == 0:
        embeddings = mapped.embeddings
        last = embeddings.norm if embeddings.projection is None else embeddings.projection
        last.register_forward_hook(behind)
    else:
        index = change.state - 1
        # ALBERT's layers are one object: the map follows only one of its passes.
        layer = copy.deepcopy(network.layers[index], dict(shared))
        layer.feed_forward.register_forward_hook(behind)
        mapped.layers[index] = layer  # type: ignore[index]  # a ModuleList, typed by its content
    return mapped


def why_not_folded(network: Network, change: StateMap) -> str | None:
    """Return why weights alone cannot give the answers of `map_state`; None if they can.

    The last hidden state is read only by linear maps: the first matrix of the masked-word head, of
    the replaced-token head, and of the pooler. State 0 comes from a linear map if a matrix from E
    to D follows the embeddings (ALBERT, ELECTRA). Every other state comes from a LayerNorm or a
    sum, which have no matrix to fold into, and the next layer reads it twice: by its projections,
    and by the residual connection, which has no weights. ValueError if there is no such state, or
    the map has another width.
    """
    _check(network, change)
    last = network.config.num_hidden_layers
    if change.state == 0 and network.embeddings.projection is not None:
        return None
    if change.state != last:
        return (
            f"the map of hidden state {change.state} cannot be folded into weights: layer "
            f"{change.state + 1} reads the state by its queries, keys and values, and also by the "
            "residual connection, which has no weights. Only the last hidden state "
            f"({last}) can be folded, into the heads that read it."
        )
    readers = _readers(network)
    if not readers:
        return "this checkpoint has neither a head nor a pooler into which the map could be folded."
    moves = bool(change.bias.abs().max() > 0)
    if moves and any(reader.bias is None for reader in readers):
        return (
            "the map of the last hidden state adds a vector, and a head that reads the state has "
            "no bias to hold it, so the map cannot be folded into weights."
        )
    return None


@torch.no_grad()
def fold_map(network: Network, change: StateMap) -> Network:
    """Return a network with a map in its weights, whose heads answer like those of `map_state`.

    At the last hidden state the heads and the pooler read mapped states, while the state itself is
    unchanged: a new head on it, or a probe, still reads all of it. ValueError if that cannot be
    exact; the message states why (`why_not_folded`).
    """
    reason = why_not_folded(network, change)
    if reason is not None:
        raise ValueError(reason)
    folded = copy.deepcopy(network)
    weight, bias = (each.to(folded.token_table.device) for each in (change.weight, change.bias))
    if change.state == 0:
        linear = folded.embeddings.projection
        assert linear is not None  # why_not_folded
        linear.bias.copy_((weight @ linear.bias.double() + bias).to(linear.bias))
        linear.weight.copy_((weight @ linear.weight.double()).to(linear.weight))
        return folded
    for reader in _readers(folded):
        if reader.bias is not None:
            reader.bias.copy_(
                (reader.bias.double() + reader.weight.double() @ bias).to(reader.bias)
            )
        reader.weight.copy_((reader.weight.double() @ weight).to(reader.weight))
    return folded


def _readers(network: Network) -> list[nn.Linear]:
    """Return the linear maps that read the last hidden state."""
    heads = (network.mlm, network.pooler, network.replaced)
    return [head.dense for head in heads if head is not None]


def _check(network: Network, change: StateMap) -> None:
    last, width = network.config.num_hidden_layers, network.config.hidden_size
    if not 0 <= change.state <= last:
        raise ValueError(
            f"there is no hidden state {change.state}; this checkpoint has 0 (the embeddings' "
            f"output) to {last} (the last)."
        )
    if change.weight.shape != (width, width) or change.bias.shape != (width,):
        raise ValueError(
            f"the map has shapes {tuple(change.weight.shape)} and {tuple(change.bias.shape)}; the "
            f"hidden states are {width} wide. Fit it on vectors of this checkpoint."
        )
