"""Features of a frozen encoder: computed once, used in every epoch."""

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.model.network.attention import AttentionFunction, attention_fused
from bertcore.model.network.task_module import TaskModule
from bertcore.training.tasks.rows import Rows, ordered_batches

IN_MEMORY_BYTES = 512 * 2**20
"""Larger features are kept in a file."""
_SPARE_BYTES = 512 * 2**20
"""Bytes left free on the disk, for checkpoints."""
_AT_ONCE = 64


class StoppedEarly(Exception):  # noqa: N818 - no error
    """The user stopped before the end; nothing is kept."""


@dataclass(frozen=True, slots=True)
class Features:
    """Hidden states of the rows of a data set, as returned by `TaskModule.encode`."""

    values: NDArray[np.float32]
    """[R, D] where the top reads [CLS] alone; else of all tokens in a row, [N, D]."""
    rows: Rows

    def batch(self, examples: NDArray[np.int64]) -> Tensor:
        """Return the states of these examples on the CPU: [R, 1, D], or [R, T, D] with padding."""
        chosen = self.rows.rows_of(examples)
        if len(self.values) == len(self.rows.starts) - 1:
            return torch.from_numpy(self.values[chosen][:, None])
        starts = self.rows.starts
        lengths = starts[chosen + 1] - starts[chosen]
        states = np.zeros((len(chosen), int(lengths.max()), self.values.shape[1]), dtype=np.float32)
        for place, row in enumerate(chosen):
            states[place, : lengths[place]] = self.values[starts[row] : starts[row + 1]]
        return torch.from_numpy(states)


@torch.no_grad()
def compute_features(
    module: TaskModule,
    rows: Rows,
    folder: Path,
    *,
    dtype: str = "float32",
    attention: AttentionFunction = attention_fused,
    on_fraction: Callable[[float], None] = lambda fraction: None,
    should_stop: Callable[[], bool] = lambda: False,
    in_memory_bytes: int = IN_MEMORY_BYTES,
) -> Features | None:
    """Run the encoder once over all rows; None if neither memory nor disk has room.

    Args:
        module: The module; its encoder runs without dropout, and its mode is restored.
        folder: The folder for a file if the states need more than `in_memory_bytes`. The open file
            has no name there, so a killed process leaves nothing behind.
        dtype: "bfloat16" (autocast) or "float32"; float32 is kept.

    StoppedEarly if stopped.
    """
    device = module.device
    one_a_row = module.reads_one_state
    num = len(rows.starts) - 1 if one_a_row else len(rows.ids)
    values = _room_for((num, module.state_width), folder, in_memory_bytes)
    if values is None:
        return None
    was_training = module.network.training
    module.network.eval()
    try:
        done = 0
        for examples in ordered_batches(rows, _AT_ONCE):
            batch = rows.batch(examples).to(device)
            with torch.autocast(device.type, torch.bfloat16, enabled=dtype == "bfloat16"):
                hidden = module.encode(
                    batch.input_ids, batch.segment_ids, batch.attention_mask, attention=attention
                )
            states, chosen = hidden.float().cpu().numpy(), rows.rows_of(examples)
            if one_a_row:
                values[chosen] = states[:, 0]
            else:
                for place, row in enumerate(chosen):
                    first, end = rows.starts[row], rows.starts[row + 1]
                    values[first:end] = states[place, : end - first]
            done += len(examples)
            on_fraction(done / len(rows))
            if should_stop():
                raise StoppedEarly
    finally:
        module.network.train(was_training)
    return Features(values, rows)


def _room_for(
    shape: tuple[int, int], folder: Path, in_memory_bytes: int
) -> NDArray[np.float32] | None:
    """Return an array in memory or, if it is large, in a file; None if the disk is too small."""
    size = 4 * shape[0] * shape[1]
    if size <= in_memory_bytes:
        return np.empty(shape, dtype=np.float32)
    if shutil.disk_usage(folder).free < size + _SPARE_BYTES:
        return None
    # A file without a name: each of several processes has its own, and a killed one leaves nothing
    # behind.
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            if hasattr(os, "posix_fallocate"):  # else a disk that fills up later kills the process
                os.posix_fallocate(file.fileno(), 0, size)
            values: NDArray[np.float32] = np.memmap(file, np.float32, "r+", shape=shape)
        except OSError:
            return None
    return values
