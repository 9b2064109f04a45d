"""A training run on disk: its settings, its metrics, its checkpoints, each verified when opened."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import torch
from safetensors import SafetensorError
from torch import Tensor

from bertcore.base.json_data import plain_data, with_nan
from bertcore.base.whole_files import to_disk, whole_file, write_whole
from bertcore.checkpoints import save
from bertcore.loading import load_bert
from bertcore.network import Network
from bertcore.tokenizer import Tokenizer
from bertcore.training.run_lock import LOCK_FILE, lock_run

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


SaveModel = Callable[[Network, Tokenizer, Path], object]
"""Writes a network and its tokenizer into a new folder."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run: config.json, metrics.jsonl, data/, checkpoints/step-N/."""

    path: Path

    @property
    def config_file(self) -> Path:
        """The resolved settings."""
        return self.path / "config.json"

    @property
    def metrics_file(self) -> Path:
        """One JSON object per line."""
        return self.path / "metrics.jsonl"

    @property
    def data(self) -> Path:
        """The packed corpora."""
        return self.path / "data"

    @property
    def average(self) -> Path:
        """The checkpoint with the mean of the weights, if the run keeps one."""
        return self.path / "averaged"

    def checkpoints(self) -> list[Path]:
        """Return the complete checkpoints, the oldest first."""
        folders = (self.path / "checkpoints").glob("step-*")
        return sorted(filter(is_whole, folders), key=step_of)

    def best_checkpoint(self) -> Path | None:
        """Return the checkpoint with the lowest loss on held-out text.

        Only checkpoints that were scored at their step count; of equal ones, the older is returned.
        The losses are stored in the checkpoints themselves, so a kill cannot leave a wrong answer.
        """
        scored = [(loss, f) for f in self.checkpoints() if (loss := held_out_loss(f)) is not None]
        return min(scored, key=lambda pair: pair[0])[1] if scored else None

    def check_is_new(self) -> None:
        """Reject a folder that is not empty.

        ValueError if the folder already contains a run or other files, or is a file.
        """
        if self.path.is_dir() and any(self.path.iterdir()):
            advice = "Add --resume to continue it, or" if self.config_file.is_file() else "Please"
            raise ValueError(f"{str(self.path)!r} is not empty. {advice} name a new folder.")
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{str(self.path)!r} is a file. Please name a new folder.")

    @contextmanager
    def building(self) -> "Iterator[RunFolder]":
        """Yield a hidden folder to fill, which gets this one's name on success.

        A run folder exists completely or not at all: an error deletes the hidden folder, and the
        next start removes what a kill left. It is locked meanwhile. ValueError as `check_is_new`,
        or if another process is filling it. RuntimeError if the disk is full.
        """
        self.check_is_new()
        partial = RunFolder(self.path.with_name(f".{self.path.name}.partial"))
        partial.path.mkdir(parents=True, exist_ok=True)
        with self.explaining_full_disk(), lock_run(partial.path):
            try:
                _empty(partial.path)
                yield partial
                if self.path.exists():
                    self.path.rmdir()  # empty, as checked above
                os.replace(partial.path, self.path)
            finally:
                shutil.rmtree(partial.path, ignore_errors=True)

    @contextmanager
    def explaining_full_disk(self) -> Iterator[None]:
        """Turn the system's error on a full disk into a message with what to do.

        Raises:
            RuntimeError: Instead of an OSError for a full disk.
        """
        try:
            yield
        except OSError as error:
            if error.errno not in FULL:
                raise
            reason = why_not_written(error, self.path)
            raise RuntimeError(
                f"the run cannot continue: {reason} {self._how_to_go_on()}"
            ) from error

    def write_config(self, values: dict[str, Any]) -> None:
        """Write the settings of a new run."""
        write_whole(self.config_file, json.dumps(values, indent=2) + "\n")

    def read_config(self) -> dict[str, Any]:
        """Return the settings of an existing run.

        ValueError if there is no run, or its settings cannot be read.
        """
        try:
            values: dict[str, Any] = json.loads(self.config_file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{str(self.path)!r} is not a training run that can be resumed ({error}). "
                + (
                    "Put its config.json back, or start another run in a new folder (--out)."
                    if any(self.path.glob("*"))
                    else "Start it without --resume."
                )
            ) from error
        return values

    def append_metrics(self, values: dict[str, Any]) -> None:
        """Add one line of metrics, completely or not at all.

        RuntimeError if it cannot be written, such as on a full disk.
        """
        try:
            append_line(self.metrics_file, values)
        except OSError as error:
            reason = why_not_written(error, self.path)
            raise RuntimeError(
                f"the metrics of step {values.get('step')} could not be written: {reason} "
                f"{self._how_to_go_on()}"
            ) from error

    def forget_metrics_after(self, step: int) -> None:
        """Drop the lines of steps that a resumed run will repeat, and a line cut off by a kill."""
        forget_lines_after(self.metrics_file, step)

    def save_checkpoint(
        self,
        step: int,
        network: Network,
        tokenizer: Tokenizer,
        state: dict[str, Any],
        *,
        keep: int,
        valid_loss: float | None = None,
        save_model: SaveModel = save,
    ) -> Path:
        """Write checkpoints/step-N completely or not at all; then delete old ones.

        Args:
            step: N; a checkpoint of that step is replaced.
            tokenizer: Copied into the checkpoint.
            state: Returned by `load_checkpoint` with the weights: tensors and plain values.
            keep: How many of the newest to keep, besides the best one (`best_checkpoint`).
            valid_loss: Loss on held-out text, if the network was scored at this step.
            save_model: Writes network and tokenizer into a new folder.

        RuntimeError if it cannot be written, such as on a full disk. The others are kept.
        """
        folder = self.path / "checkpoints" / f"step-{step}"
        try:
            write_checkpoint(
                folder,
                lambda place: save_model(network, tokenizer, place),
                state,
                valid_loss=valid_loss,
            )
        except RuntimeError as error:
            raise RuntimeError(f"{error} {self._how_to_go_on()}") from error
        self.delete_old_checkpoints(keep=keep)
        return folder

    def save_average(self, save_model: Callable[[Path], object]) -> None:
        """Write the checkpoint with the mean of the weights, completely or not at all.

        Args:
            save_model: Writes it into a new folder.
        """
        partial = self.average.with_name(".averaged.partial")
        for leftover in (partial, self.average):
            shutil.rmtree(leftover, ignore_errors=True)
        save_model(partial)
        os.replace(partial, self.average)

    def delete_old_checkpoints(self, *, keep: int) -> None:
        """Delete all checkpoints except the newest `keep` and the best."""
        best = self.best_checkpoint()
        for old in self.checkpoints()[:-keep]:
            if old != best:
                # Renamed first, so that a kill leaves no partial one under its own name.
                hidden = old.with_name(f".{old.name}.old")
                os.replace(old, hidden)
                shutil.rmtree(hidden)

    def load_checkpoint(
        self,
        *,
        read_model: ReadModel = bert_weights,
        on_damage: Callable[[DamagedCheckpoint], None] | None = None,
    ) -> dict[str, Any] | None:
        """Return the newest complete checkpoint's training state with its weights as "network".

        None if there is no checkpoint.

        Args:
            read_model: Returns the weights in a checkpoint's folder.
            on_damage: Called with each damaged checkpoint that was skipped.

        RuntimeError if there are checkpoints and all are damaged.
        """
        checkpoints = self.checkpoints()
        damaged = []
        for folder in reversed(checkpoints):
            state = read_checkpoint(folder, read_model)
            if isinstance(state, dict):
                return state
            damaged.append(state)
            if on_damage is not None and folder != checkpoints[0]:
                on_damage(state)
        if not damaged:
            return None
        raise RuntimeError(
            f"all {len(damaged)} checkpoints of {str(self.path)!r} are damaged (the newest, "
            f"{damaged[0].folder.name}: {damaged[0].reason}). Restore one from a copy, or delete "
            f"{str(self.path / 'checkpoints')!r} to start again from the beginning."
        )

    def tidy_checkpoints(self, *, step: int, keep: int) -> None:
        """Reset the folder to a run at `step`: remove partial and damaged files.

        Checkpoints of later steps, which are damaged, are renamed to damaged-step-N.
        """
        for leftover in (self.path / "checkpoints").glob(".*"):
            shutil.rmtree(leftover, ignore_errors=True)
        for folder in self.checkpoints():
            if step_of(folder) > step:
                kept = folder.with_name(f"damaged-{folder.name}")
                shutil.rmtree(kept, ignore_errors=True)
                os.replace(folder, kept)
        self.delete_old_checkpoints(keep=keep)

    def _how_to_go_on(self) -> str:
        if checkpoints := self.checkpoints():
            return f"{checkpoints[-1].name} is kept: continue from there with --resume."
        if self.config_file.is_file():
            return "There is no checkpoint yet, so --resume starts from the beginning."
        return "No part of the run is left: start it again."


def _empty(folder: Path) -> None:
    """Delete everything in a folder except its lock."""
    for entry in folder.iterdir():
        if entry.name != LOCK_FILE:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def json_line(values: dict[str, Any]) -> str:
    """Return a line of the file, with NaN as null."""
    return json.dumps(plain_data(values), allow_nan=False) + "\n"


def append_line(path: Path, values: dict[str, Any]) -> None:
    """Add one line, completely or not at all; other processes see it at once.

    OSError if it cannot be written, such as on a full disk.
    """
    left = json_line(values).encode()
    with path.open("ab", buffering=0) as lines:
        length = lines.seek(0, os.SEEK_END)
        try:
            while left:
                left = left[lines.write(left) :]
        except OSError:
            with suppress(OSError):
                lines.truncate(length)
            raise


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of metrics, with NaN for null; none if there is no file.

    A line that a kill cut off, maybe in a character's middle, is left out.
    """
    lines: list[dict[str, Any]] = []
    for text in path.read_bytes().decode("utf-8", "replace").splitlines() if path.is_file() else ():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and isinstance(line.get("step"), int):
            lines.append(with_nan(line))
    return lines


def forget_lines_after(path: Path, step: int) -> None:
    """Drop the lines of steps after `step`, and a line cut off by a kill."""
    if path.is_file():
        write_whole(path, "".join(json_line(x) for x in read_lines(path) if x["step"] <= step))
