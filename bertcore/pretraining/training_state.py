"""What a run needs beside its weights to go on: taken from it, and given back to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from bertcore.network import Network
from bertcore.pretraining.data.sequence_length_schedule import Phases
from bertcore.pretraining.training_progress import Position
from bertcore.training.processes import Processes
from bertcore.training.random_state import random_state, seed_random, set_random_state
from bertcore.training.sharding import whole_state


def training_state(
    position: Position, optimizers: Sequence[Optimizer], phases: Phases
) -> dict[str, Any]:
    """Return the state of a run as tensors and plain values, for a checkpoint.

    Of a sharded one, every process must call this; the optimisers' state is gathered.
    """
    return {
        "position": asdict(position),
        "optimizers": [whole_state(optimizer) for optimizer in optimizers],
        "random_state": random_state(),
        "data_fingerprint": phases.short.corpus.fingerprint,
        "data_place": phases.state(),
    }


def restore_state(
    state: dict[str, Any],
    network: Network,
    optimizers: Sequence[Optimizer],
    *,
    seed: int,
    processes: Processes,
    fingerprint: str,
) -> Position:
    """Give weights, optimisers and random sources the state of a checkpoint; return its position.

    Args:
        state: From `training_state`, with the weights as "network".
        network, optimizers: To be changed.
        seed: Of the run.
        processes: Of which the main one alone gets the random state itself.
        fingerprint: Of the training corpus.

    Raises:
        ValueError: If the run was trained on another corpus.
    """
    expected = state["data_fingerprint"]
    if expected != fingerprint:
        raise ValueError(
            "the packed corpus is another than the one this run was trained on "
            f"(fingerprint {fingerprint}, expected {expected}). "
            "Restore the run's data folder, or start a new run."
        )
    network.load_state_dict(state["network"])
    for optimizer, values in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(values)
    position = Position(**state["position"])
    restore_random(state["random_state"], seed, processes=processes, step=position.step)
    return position


def restore_random(
    state: dict[str, Any] | Tensor, seed: int, *, processes: Processes, step: int
) -> None:
    """Give random sources the state of a checkpoint; each process drops other numbers out.

    Args:
        state: Of `random_state` in the main process, which alone gets it.
        seed: Of the run.
        processes: That train together.
        step: At which the state was saved.
    """
    set_random_state(state)
    if not processes.is_main:
        torch.manual_seed(_own_seed(seed, processes, step))


def seed_process(seed: int, processes: Processes) -> None:
    """Seed the random sources of a process at the start of a run."""
    seed_random(_own_seed(seed, processes))


def _own_seed(seed: int, processes: Processes, step: int = 0) -> int:
    """Return a seed for dropout; the main process has the run's own."""
    return seed if processes.is_main else hash((seed, processes.rank, step)) % 2**63
