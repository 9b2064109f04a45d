"""One checkpoint of a run: written atomically, and verified when it is opened."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import torch
from safetensors import SafetensorError
from torch import Tensor

from bertcore.base.whole_files import to_disk, whole_file
from bertcore.loading import load_bert

STATE_FILE = "training_state.pt"
"""Optimisers, position, random state."""
SUMMARY_FILE = "checkpoint.json"
"""File with the step, its held-out loss and the hashes of all other files; not in old runs."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The system's error codes for a full disk."""
_LEAST_FREE_BYTES = 2**16

ReadModel = Callable[[Path], dict[str, Tensor]]
"""Returns the weights in a checkpoint's folder, on the CPU."""


@dataclass(frozen=True, slots=True)
class DamagedCheckpoint:
    """A checkpoint that could not be opened, and why."""

    folder: Path
    reason: str


def is_whole(folder: Path) -> bool:
    """Return whether a folder has the name and the state of a checkpoint; it is not opened."""
    return folder.name[5:].isdigit() and (folder / STATE_FILE).is_file()


def step_of(folder: Path) -> int:
    """Return N for a folder step-N."""
    return int(folder.name[5:])


def held_out_loss(folder: Path) -> float | None:
    """Return the held-out loss used to compare checkpoints; None if it was not scored.

    Runs of version 0.1.0 call it "valid_mlm_loss".
    """
    try:
        summary = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
        loss = summary["valid_loss"] if "valid_loss" in summary else summary["valid_mlm_loss"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return loss if isinstance(loss, float) else None


def write_checkpoint(
    folder: Path,
    save_model: Callable[[Path], object],
    state: dict[str, Any],
    *,
    valid_loss: float | None,
) -> None:
    """Write a checkpoint to a hidden folder beside its place, then rename it.

    The files are flushed to the disk before the folder gets its name.

    Args:
        folder: Folder of the checkpoint, step-N.
        save_model: Writes weights, config and tokenizer into a new folder.
        state: Tensors and plain values.
        valid_loss: Loss on held-out text, if it was scored at this step.

    RuntimeError if it cannot be written, such as on a full disk. No part of it is left.
    """
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # left by a kill
    try:
        save_model(partial)
        write_state(partial / STATE_FILE, state)
        summary = {
            "step": step_of(folder),
            "valid_loss": valid_loss,
            "sha256": {
                str(file.relative_to(partial).as_posix()): _hash(file)
                for file in sorted(partial.rglob("*"))
                if file.is_file()
            },
        }
        (partial / SUMMARY_FILE).write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
        flush(partial)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(partial, folder)
        to_disk(folder.parent)
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = why_not_written(error, folder.parent)
        raise RuntimeError(f"checkpoint {folder.name} could not be saved: {reason}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def bert_weights(folder: Path) -> dict[str, Tensor]:
    """Return the weights of a BERT checkpoint on the CPU; a damaged one may raise anything."""
    return load_bert(folder, device="cpu").module.state_dict()


def read_checkpoint(
    folder: Path, read_model: ReadModel = bert_weights
) -> dict[str, Any] | DamagedCheckpoint:
    """Return the training state with the weights as "network", all on the CPU, or what is wrong.

    Args:
        folder: From `write_checkpoint`.
        read_model: Returns the weights in a checkpoint's folder.
    """
    try:
        damage = _find_damage(folder)
        if damage is not None:
            return DamagedCheckpoint(folder, damage)
        state = read_state(folder / STATE_FILE)
        state["network"] = read_model(folder)
    except Exception as error:  # a damaged file may raise anything
        return DamagedCheckpoint(folder, " ".join(str(error).split()) or type(error).__name__)
    return state


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write a training state under another name, flush it to the disk, and rename it.

    Args:
        path: Path of the file; an older one is replaced.
        state: Tensors and plain values.

    OSError or RuntimeError if it cannot be written; an older one is kept.
    """
    with whole_file(path) as partial, partial.open("wb") as file:
        recorder = _Recorder(file)
        try:
            torch.save(state, recorder)  # type: ignore[arg-type]
        except RuntimeError as error:
            raise (recorder.error or error) from error
        file.flush()
        os.fsync(file.fileno())


def read_state(path: Path) -> dict[str, Any]:
    """Return a training state on the CPU; a damaged file may raise anything."""
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state


def why_not_written(error: Exception, place: Path) -> str:
    """Return a sentence on why a file could not be written, with what to do.

    Libraries that write hide the system's error, so the free space is checked as well.
    """
    try:
        free = shutil.disk_usage(place).free
    except OSError:
        free = _LEAST_FREE_BYTES
    is_full = isinstance(error, OSError) and error.errno in FULL
    hidden = any(f"os error {number}" in str(error) for number in FULL)
    if is_full or hidden or free < _LEAST_FREE_BYTES:
        return f"the disk of {str(place)!r} is full. Free some space."
    return f"{' '.join(str(error).split())}. Check the disk of {str(place)!r}."


class _Recorder:
    """A file that remembers a write error, which torch does not report."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        self._file.flush()


def _find_damage(folder: Path) -> str | None:
    """Compare the files with the hashes in the summary; return None if all match."""
    summary = folder / SUMMARY_FILE
    if not summary.is_file():
        return None
    for name, expected in json.loads(summary.read_text(encoding="utf-8"))["sha256"].items():
        if not (folder / name).is_file():
            return f"{name} is missing"
        if _hash(folder / name) != expected:
            return f"{name} is not as it was written"
    return None


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def flush(folder: Path) -> None:
    """Flush all files in a folder, and their names, to the disk."""
    for path in (*sorted(folder.rglob("*")), folder):
        to_disk(path)
