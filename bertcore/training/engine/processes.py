"""Distributed training: one process, or several started by torchrun or accelerate."""

import importlib.util
import os
import shutil
import sysconfig
import time
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from bertcore.base.device import choose_device


class Processes:
    """The rank and number of processes launched together, and their collective operations.

    `torchrun` and `accelerate launch` set each process's rank in the environment. A single process
    does none of this. Only process 0, the main one, writes. On GPUs each process gets its own.

    ValueError if the device does not exist, or is one GPU for several processes.
    """

    def __init__(self, device: str) -> None:
        self.rank = launched_rank()
        self.num = int(os.environ.get("WORLD_SIZE", "1"))
        self.device = choose_device(device)
        self._joined: list[weakref.ref[DistributedDataParallel]] = []
        if self.num > 1 and self.device.type != "cpu":
            index: int | None = self.device.index  # torch's type leaves None out
            if index is not None:
                raise ValueError(
                    f"device is {device!r}, but each of {self.num} processes needs its own. "
                    "Leave --device out."
                )
            self.device = torch.device(self.device.type, int(os.environ.get("LOCAL_RANK", "0")))

    @property
    def is_main(self) -> bool:
        """Whether this process writes files."""
        return self.rank == 0

    def rows(self, batch_size: int, num_parts: int) -> list[slice]:
        """Return this process's rows of a batch, in `num_parts` parts to process in turn.

        ValueError if the batch cannot be divided evenly.
        """
        size, left = divmod(batch_size, self.num * num_parts)
        if left or not size:
            raise ValueError(
                f"batch_size is {batch_size}; expected a multiple of {self.num * num_parts}: "
                f"processes ({self.num}) times accumulated parts per process ({num_parts})."
            )
        first = self.rank * num_parts
        return [slice(i * size, (i + 1) * size) for i in range(first, first + num_parts)]

    def join(self, module: nn.Module) -> nn.Module:
        """Wait for the others and return the module with synchronised weights and gradients.

        The weights become those of the main process. Gradients are the means over the processes.
        """
        if self.num == 1:
            return module
        devices = None
        if self.device.type != "cpu":
            devices = [self.device]
            torch.accelerator.set_device_index(self.device)
        if not torch.distributed.is_initialized():
            backend = torch.distributed.get_default_backend_for_device(self.device)
            torch.distributed.init_process_group(backend)
        joined = DistributedDataParallel(module, device_ids=devices, gradient_as_bucket_view=True)
        self._joined.append(weakref.ref(joined))
        return joined

    def without_sync(self, module: nn.Module) -> AbstractContextManager[None]:
        """Do not synchronise gradients until a later part of the batch."""
        if not isinstance(module, DistributedDataParallel):
            return nullcontext()
        context: AbstractContextManager[None] = module.no_sync()
        return context

    def sum(self, values: Sequence[float]) -> list[float]:
        """Return the sums of numbers over all processes."""
        if not self._joined:
            return list(values)
        sums = torch.tensor(values, dtype=torch.float64, device=self.device)
        torch.distributed.all_reduce(sums)
        totals: list[float] = sums.tolist()
        return totals

    def of_main(self, value: float) -> float:
        """Return the main process's number, so that all processes decide alike."""
        return self.sum([value if self.is_main else 0.0])[0]

    def any(self, flag: bool) -> bool:
        """Return True if `flag` is True in any process (all-reduce)."""
        return self.sum([float(flag)])[0] > 0

    def leave(self) -> None:
        """Leave the process group, whose threads end; joined modules are unusable afterwards."""
        if not self._joined:
            return
        # With a barrier, since the main process may still write the last checkpoint.
        torch.distributed.barrier()
        for reference in self._joined:
            module = reference()
            if module is not None:
                # Its reducer must not be the group's last owner: it would free it while holding
                # Python's global lock and wait for a Gloo thread that may wait for that lock.
                del module.reducer, module.logger, module.process_group
        self._joined.clear()
        torch.distributed.destroy_process_group()


def launched_rank() -> int:
    """Return the rank of this process among those launched together; 0 if it is alone."""
    return int(os.environ.get("RANK", "0"))


def wait_for_file(path: Path) -> None:
    """Wait until the main process has written a file; if it fails, the launcher ends this one."""
    while not path.is_file():
        time.sleep(0.2)


AUTO_MINUTES = 10.0
""""auto" compiles runs of at least this many minutes ..."""
AUTO_STEPS = 10_000
"""... or of at least this many steps."""


def missing_for_compile(device: torch.device) -> str | None:
    """Return what is missing for torch.compile on this machine, as part of a sentence, or None."""
    if device.type == "cuda":
        if importlib.util.find_spec("triton") is None:
            return "the Python package triton is not installed"
        return None
    if device.type != "cpu":
        return f"there is no tested compiler for {device.type!r}"
    chosen = os.environ.get("CXX")
    names = [chosen] if chosen else ["g++", "clang++", "c++", "cl"]
    if not any(shutil.which(name) for name in names):
        return f"no C++ compiler was found (looked for {', '.join(names)})"
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        return "Python's header files (Python.h) are not installed"
    return None


def choose_compile(
    choice: str, device: torch.device, *, steps: int | None, minutes: float | None
) -> tuple[bool, str | None]:
    """Return whether to compile, and a notice if that was wanted but is not possible.

    "auto" compiles if the run is long enough to pay for it. ValueError if it is "on" and something
    is missing.
    """
    long_enough = (minutes or 0) >= AUTO_MINUTES or (steps or 0) >= AUTO_STEPS
    if choice == "off" or (choice == "auto" and not long_enough):
        return False, None
    missing = missing_for_compile(device)
    if missing is None:
        return True, None
    if choice == "on":
        raise ValueError(f'compile = "on" cannot work: {missing}. Install it, or leave it to auto.')
    return False, f"not compiled, so training is slower: {missing}."
