"""Sharding (FSDP): each process keeps a part of every weight, gradient and optimiser state.

A layer's weights are gathered from all processes just before it computes and freed after it;
gradients are reduced so that each process gets those of its part. The rows of each tensor are
divided evenly, the first rows to the main process.

torch's modules for it are imported where they are used: they take a second to load.

Source: Zhao et al. 2023, "PyTorch FSDP"; torch.distributed.fsdp.fully_shard ("FSDP2").
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.network import FAMILY_HEADS, Network

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

_UNSUPPORTED = {
    "FSDP_OFFLOAD_PARAMS": "weights on the CPU (--fsdp_offload_params)",
    "FSDP_ACTIVATION_CHECKPOINTING": "activation checkpointing (--fsdp_activation_checkpointing)",
}


def launcher_shards() -> bool:
    """Return whether the launcher asks for sharding, as `accelerate launch --use_fsdp` does.

    Raises:
        ValueError: If it asks for an unsupported kind of sharding.
    """
    if not _is_on("ACCELERATE_USE_FSDP"):
        return False
    version = os.environ.get("FSDP_VERSION", "1")
    if version != "2":
        raise ValueError(
            f"the launcher asks for FSDP version {version}, but only version 2 is supported. "
            "Give accelerate --fsdp_version 2, or set FSDP_VERSION=2."
        )
    for name, what in _UNSUPPORTED.items():
        if _is_on(name):
            raise ValueError(f"the launcher asks for {what}, which is not supported. Turn it off.")
    return True


def shard(network: Network, optimizers: Sequence[Optimizer], device: torch.device) -> None:
    """Keep only this process's part of the weights and of the optimisers' state.

    Every process calls this, with the same values; the weights become the main process's. The token
    table, which embeds and decodes, stays gathered from its first use to its last, as does
    everything outside the layers.

    Args:
        network: The whole network, on the device.
        optimizers: The optimisers of its parameters.
        device: The device of this process.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    before = list(network.parameters())
    for parameter in before:
        torch.distributed.broadcast(parameter.data, src=0)
    mesh = init_device_mesh(device.type, (torch.distributed.get_world_size(),))
    again = os.environ.get("FSDP_RESHARD_AFTER_FORWARD", "true").lower() != "false"
    for layer in network.layers:
        fully_shard(layer, mesh=mesh, reshard_after_forward=again)
    fully_shard(network, mesh=mesh, reshard_after_forward=False)
    parts: dict[Tensor, nn.Parameter] = dict(zip(before, network.parameters(), strict=True))
    for optimizer in optimizers:
        _shard_optimizer(optimizer, parts)


def _shard_optimizer(optimizer: Optimizer, parts: dict[Tensor, nn.Parameter]) -> None:
    """Replace an optimiser's parameters and state by this process's parts."""
    from torch.distributed.tensor import DTensor, distribute_tensor

    for group in optimizer.param_groups:
        group["params"] = [parts[parameter] for parameter in group["params"]]
    states = {parts[parameter]: state for parameter, state in optimizer.state.items()}
    optimizer.state.clear()
    for part, state in states.items():
        assert isinstance(part, DTensor)
        for name, value in state.items():
            if isinstance(value, Tensor) and value.shape == part.shape:
                spread = distribute_tensor(
                    value, part.device_mesh, part.placements, src_data_rank=None
                )
                state[name] = spread.clone()  # a view would keep the whole tensor alive
        optimizer.state[part] = state


def describe_shards(network: Network) -> str:
    """Return a sentence for the user on how much of a sharded network this process has."""
    num_all = sum(parameter.numel() for parameter in network.parameters())
    num_own = sum(own_part(parameter).numel() for parameter in network.parameters())
    return (
        f"sharded (FSDP): {num_all:,} weights over {torch.distributed.get_world_size()} "
        f"processes; this one keeps {num_own:,}."
    )


def is_sharded(tensor: Tensor) -> TypeGuard[DTensor]:
    """Return whether a tensor is sharded, so that this process has a part (a DTensor)."""
    return hasattr(tensor, "full_tensor")


def own_part(tensor: Tensor) -> Tensor:
    """Return this process's rows, as a view of the tensor."""
    return tensor.to_local() if is_sharded(tensor) else tensor


def whole(tensor: Tensor) -> Tensor:
    """Return a tensor, gathered if it is sharded; every process must then call this."""
    return tensor.full_tensor() if is_sharded(tensor) else tensor


@torch.no_grad()
def change_whole(tensor: Tensor, change: Callable[[Tensor], object]) -> None:
    """Apply a function to a tensor in place; if it is sharded, to the whole tensor.

    Every process must then call this, and the function must do the same in each.
    """
    if not is_sharded(tensor):
        change(tensor)
        return
    from torch.distributed.tensor import distribute_tensor

    full = whole(tensor).clone()
    change(full)
    spread = distribute_tensor(full, tensor.device_mesh, tensor.placements, src_data_rank=None)
    own_part(tensor).copy_(own_part(spread))


def on_whole_matrices(like: Tensor, parts: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply a function to sharded matrices, each gathered in one of the processes.

    The matrices are divided among the n processes, and the results are returned as parts. Gathering
    all matrices in every process would send n / 2 times as much, and compute n times as much.

    Args:
        like: A sharded tensor, [R, C]: one of the matrices.
        parts: This process's rows of N matrices of that shape, [N, R', C].
        function: Maps matrices [n, R, C] to matrices of the same shape; n may be 0.

    Returns:
        This process's rows of the results, [N, R', C].
    """
    from torch.distributed.tensor import DTensor, Shard

    assert isinstance(like, DTensor)
    shape = torch.Size((len(parts), *like.shape))
    stride = (shape[1] * shape[2], shape[2], 1)

    def moved(values: Tensor, from_axis: int, to_axis: int) -> Tensor:
        spread = DTensor.from_local(
            values.contiguous(),
            like.device_mesh,
            [Shard(from_axis)],
            run_check=False,
            shape=shape,
            stride=stride,
        )
        local: Tensor = spread.redistribute(placements=[Shard(to_axis)]).to_local()
        return local

    return moved(function(moved(parts, 1, 0)), 0, 1)


def whole_network(network: Network) -> Network:
    """Return the network itself, or a copy with all its weights if it is sharded.

    If it is sharded, every process must call this. The copy takes the memory of all weights until
    it is freed.
    """
    if not any(is_sharded(parameter) for parameter in network.parameters()):
        return network
    with torch.device("meta"):
        heads = frozenset(name for name in FAMILY_HEADS if getattr(network, name) is not None)
        copy = Network(network.config, heads)
    with torch.no_grad():
        weights = {name: whole(tensor) for name, tensor in network.state_dict().items()}
    copy.load_state_dict(weights, assign=True)
    return copy.train(network.training)


def whole_state(optimizer: Optimizer) -> dict[str, Any]:
    """Return an optimiser's state in the form of a single process.

    If it is sharded, every process must call this.
    """
    values = optimizer.state_dict()
    values["state"] = {
        number: {
            name: whole(value) if isinstance(value, Tensor) else value
            for name, value in state.items()
        }
        for number, state in values["state"].items()
    }
    return values


def _is_on(name: str) -> bool:
    return os.environ.get(name, "false").lower() in ("true", "1", "yes")
