"""Save and restore the state of every random source of a process."""

import random
from typing import Any

import numpy as np
import torch
from torch import Tensor


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
