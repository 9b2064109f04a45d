"""Processes that share one network make steps, and compare them with those of one process.

Run by test_pretraining_sharding.py. The processes are forked, so that torch is imported once.

    python -m tests.support.sharded_steps NUM_PROCESSES FOLDER OPTIMIZER
"""

import os
import sys
import traceback
from copy import deepcopy
from pathlib import Path

import torch
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from torch.optim import Optimizer

from bertcore.network import Network
from bertcore.pretraining import OptimizerConfig
from bertcore.training.muon import StackedMuon
from bertcore.training.optimizer import build_optimizers, clip_gradients
from bertcore.training.sharding import (
    describe_shards,
    own_part,
    shard,
    whole,
    whole_network,
    whole_state,
)
from tests.support.tiny import tiny_config, tiny_network

RATE = 0.01
TOLERANCE = {"muon": 0.08, "adamw": 1e-4}
"""Share of the way that a weight went. Muon rounds to bfloat16 and then makes a gradient's weakest
directions as long as its strongest; `compare_muon` is the strict test of it."""
NO_GRADIENT = "key.bias"
"""Attention does not notice it, so that its gradient is rounding, which AdamW makes large."""


def losses(network: Network, num_rows: int) -> Tensor:
    """Losses [N] of rows of random tokens that use every weight, the token table at both ends."""
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(5, network.config.vocab_size, (num_rows, 12), generator=generator)
    hidden = network(ids, ids % 2)
    words = network.mlm_logits(hidden).logsumexp(-1).mean(1)
    return words + network.nsp_logits(hidden).square().sum(1)


def make_step(
    network: Network, optimizers: list[Optimizer], rows: slice, num_rows: int
) -> tuple[float, float]:
    """One step on some of the rows; return their loss and the norm of all gradients."""
    loss = losses(network, num_rows)[rows].mean()
    loss.backward()
    norm = clip_gradients(network, 1.0)
    for optimizer in optimizers:
        optimizer.step()
    network.zero_grad(set_to_none=True)
    return loss.item(), norm.item()


def compare(rank: int, num: int, name: str) -> None:
    """Two steps alone, then two sharded, beside four alone."""
    config = tiny_config(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    network = tiny_network(config).train()
    alone = deepcopy(network)
    settings = OptimizerConfig(
        optimizer=name, learning_rate=RATE, muon_learning_rate=RATE, weight_decay=0.1
    )
    optimizers = build_optimizers(network, settings)
    optimizers_alone = build_optimizers(alone, settings)
    num_rows = 2 * num
    everything = slice(num_rows)
    own = slice(2 * rank, 2 * rank + 2)
    for _ in range(2):
        make_step(network, optimizers, everything, num_rows)
        make_step(alone, optimizers_alone, everything, num_rows)
    before = {key: value.clone() for key, value in network.state_dict().items()}
    if rank > 0:  # the main process's weights count
        with torch.no_grad():
            network.embeddings.word_embeddings.weight.zero_()
    shard(network, optimizers, torch.device("cpu"))
    for key, value in whole_network(network).state_dict().items():
        assert torch.equal(value, before[key]), key
    largest = max(network.parameters(), key=lambda p: p.numel())
    assert len(own_part(largest)) in (len(largest) // num, -(-len(largest) // num))
    counted = torch.tensor(sum(own_part(p).numel() for p in network.parameters()))
    assert f"{int(counted):,}" in describe_shards(network)
    torch.distributed.all_reduce(counted)
    assert int(counted) == sum(p.numel() for p in alone.parameters())

    for _ in range(2):
        loss, norm = make_step(network, optimizers, own, num_rows)
        loss_alone, norm_alone = make_step(alone, optimizers_alone, everything, num_rows)
        mean = torch.tensor(loss)
        torch.distributed.all_reduce(mean)
        assert abs(float(mean) / num - loss_alone) < 1e-4 * abs(loss_alone)
        assert abs(norm - norm_alone) < 1e-3 * norm_alone
    ours = whole_network(network)
    assert ours is not network
    for (key, mine), other in zip(
        ours.state_dict().items(), alone.state_dict().values(), strict=True
    ):
        assert mine.shape == other.shape, key
        moved = (other - before[key]).norm()
        assert moved > 0, key
        if not key.endswith(NO_GRADIENT):
            assert (mine - other).norm() < TOLERANCE[name] * moved, key
    for optimizer, other in zip(optimizers, optimizers_alone, strict=True):
        state, expected = whole_state(optimizer), other.state_dict()
        assert state["param_groups"] == expected["param_groups"]
        assert state["state"].keys() == expected["state"].keys()
        for number, values in expected["state"].items():
            for key, value in values.items():
                mine = state["state"][number][key]
                assert type(mine) is type(value), key
                torch.testing.assert_close(mine, value, rtol=1e-2, atol=1e-4)
        other.load_state_dict(state)  # what one process goes on from
    assert whole_network(alone) is alone


def compare_muon() -> None:
    """Steps of sharded matrices, whose rows do not divide evenly, beside those of whole ones."""
    mesh = init_device_mesh("cpu", (torch.distributed.get_world_size(),))
    shapes = [(16, 16), (16, 16), (5, 3), (32, 8), (2, 7)]
    generator = torch.Generator().manual_seed(4)
    plain = [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in shapes]
    parts = [
        torch.nn.Parameter(distribute_tensor(p.detach().clone(), mesh, [Shard(0)])) for p in plain
    ]
    optimizers = [StackedMuon(p, lr=0.1, weight_decay=0.1) for p in (plain, parts)]
    for _ in range(3):
        for whole_one, part in zip(plain, parts, strict=True):
            whole_one.grad = torch.randn(whole_one.shape, generator=generator)
            part.grad = distribute_tensor(whole_one.grad, mesh, [Shard(0)])
        for optimizer in optimizers:
            optimizer.step()
    for whole_one, part in zip(plain, parts, strict=True):
        assert torch.equal(whole_one, whole(part)), whole_one.shape


def run(rank: int, num: int, folder: Path, name: str) -> None:
    """Be one of the processes."""
    code = 1
    try:
        torch.set_num_threads(1)
        store = torch.distributed.FileStore(str(folder / "store"), num)
        torch.distributed.init_process_group("gloo", rank=rank, world_size=num, store=store)
        if name == "muon":
            compare_muon()
        compare(rank, num, name)
        torch.distributed.barrier()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def main() -> None:
    """Fork the processes and wait; leave with 1 if one failed."""
    num, folder, name = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    children = []
    for rank in range(num):
        child = os.fork()
        if child == 0:
            run(rank, num, folder, name)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.exit(int(any(codes)))


if __name__ == "__main__":
    main()
