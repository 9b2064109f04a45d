"""Save and restore the training state of a run: everything except the weights."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from bertcore.training.processes import Processes
from bertcore.training.progress import TrainingProgress
from bertcore.training.random_state import random_state, seed_random, set_random_state


def training_state(
    progress: TrainingProgress,
    optimizers: Sequence[Optimizer],
    *,
    companion: nn.Module | None = None,
) -> dict[str, Any]:
    """Return the state of a run as tensors and plain values, for a checkpoint.

    Args:
        companion: A module trained beside the network, such as the projection of TinyBERT's losses.
    """
    state = {
        "position": progress.to_state(),
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
        "random_state": random_state(),
    }
    if companion is not None:
        state["companion"] = companion.state_dict()
    return state


def restore_state(
    state: dict[str, Any],
    optimizers: Sequence[Optimizer],
    *,
    seed: int,
    processes: Processes,
    companion: nn.Module | None = None,
) -> TrainingProgress:
    """Give optimisers and random sources the state of a checkpoint; return its progress.

    Args:
        state: From `training_state`; runs of version 0.1.0 call a companion "projection", and their
            fine-tunings the random state "random".
        optimizers, companion: Changed in place; the network already has the checkpoint's weights.
        processes: The main process gets the random state itself; each of the others has its own
            dropout.
    """
    for optimizer, values in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(values)
    if companion is not None:
        companion.load_state_dict(state["companion" if "companion" in state else "projection"])
    progress = TrainingProgress.from_state(state["position"])
    set_random_state(state["random_state"] if "random_state" in state else state["random"])
    if not processes.is_main:
        torch.manual_seed(_own_seed(seed, processes, progress.step))
    return progress


def seed_process(seed: int, processes: Processes) -> None:
    """Seed the random sources of a process at the start of a run."""
    seed_random(_own_seed(seed, processes))


def _own_seed(seed: int, processes: Processes, step: int = 0) -> int:
    """Return a seed for dropout; the main process has the run's own."""
    return seed if processes.is_main else hash((seed, processes.rank, step)) % 2**63
