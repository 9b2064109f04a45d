"""Save and restore the training state of a run, random sources included: all except the weights."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.training.loop import TrainingProgress
from bertcore.training.processes import Processes


def seed_random(seed: int) -> None:
    """Seed all random sources with one number, 0 or more."""
    torch.manual_seed(seed)  # seeds each device too
    np.random.seed(seed % 2**32)
    random.seed(seed)


def random_state() -> dict[str, Any]:
    """Return the states of torch (CPU and each GPU), numpy and Python, for `torch.save`.

    Only tensors and plain values, so that `torch.load` can read them with `weights_only`.
    """
    version, numbers, gauss = random.getstate()
    of_numpy: Any = np.random.get_state(legacy=False)
    key = torch.from_numpy(of_numpy["state"]["key"].astype(np.int64))
    state: dict[str, Any] = {
        "torch": torch.get_rng_state(),
        "numpy": {**of_numpy, "state": {**of_numpy["state"], "key": key}},
        "python": [version, list(numbers), gauss],
    }
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state_all()
    if torch.backends.mps.is_available():
        state["mps"] = torch.mps.get_rng_state()
    return state


def set_random_state(state: dict[str, Any] | Tensor) -> None:
    """Restore the states returned by `random_state`.

    The state of a missing device is skipped: on another device, a run gets other numbers. A tensor
    is torch's state alone, as saved by earlier versions.
    """
    if isinstance(state, Tensor):
        torch.set_rng_state(state)
        return
    torch.set_rng_state(state["torch"])
    inner = state["numpy"]["state"]
    key = inner["key"].numpy().astype(np.uint32)
    np.random.set_state({**state["numpy"], "state": {**inner, "key": key}})
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    if len(state.get("cuda", ())) == torch.cuda.device_count() > 0:
        torch.cuda.set_rng_state_all(state["cuda"])
    if "mps" in state and torch.backends.mps.is_available():
        torch.mps.set_rng_state(state["mps"])


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
