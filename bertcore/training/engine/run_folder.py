"""A training run on disk: its settings, its metrics, its checkpoints, each verified when opened."""

import errno
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
from bertcore.model.loading import load_bert
from bertcore.training.engine.provenance import hash_file
from bertcore.training.engine.run_lock import LOCK_FILE, lock_run

STATE_FILE = "training_state.pt"
"""Optimisers, position, random state."""
SUMMARY_FILE = "checkpoint.json"
"""File with the step, its held-out loss and the hashes of all other files; not in old runs."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The system's error codes for a full disk."""
_LEAST_FREE_BYTES = 2**16

ReadModel = Callable[[Path], dict[str, Tensor]]
"""Returns the weights in a checkpoint's folder, on the CPU; a damaged one may raise anything."""


def step_of(folder: Path) -> int:
    """Return N for a folder step-N."""
    return int(folder.name[5:])


def bert_weights(folder: Path) -> dict[str, Tensor]:
    """Return the weights of a BERT checkpoint on the CPU; a damaged one may raise anything."""
    return load_bert(folder, device="cpu").module.state_dict()


def read_checkpoint(folder: Path, read_model: ReadModel = bert_weights) -> dict[str, Any]:
    """Return the training state with the weights as "network", all on the CPU.

    ValueError with what is wrong if a file is damaged or missing.
    """
    try:
        _check_hashes(folder)
        return {**read_state(folder / STATE_FILE), "network": read_model(folder)}
    except Exception as error:  # a damaged file may raise anything
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from error


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write a training state under another name, flush it to the disk, and rename it.

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


def _check_hashes(folder: Path) -> None:
    """Compare the files with the hashes in the summary; old checkpoints have none."""
    summary = folder / SUMMARY_FILE
    if not summary.is_file():
        return
    for name, expected in json.loads(summary.read_text(encoding="utf-8"))["sha256"].items():
        if not (folder / name).is_file():
            raise ValueError(f"{name} is missing")
        if hash_file(folder / name) != expected:
            raise ValueError(f"{name} is not as it was written")


def _held_out_loss(folder: Path) -> float | None:
    """Return the held-out loss of a checkpoint; None if it was not scored at its step."""
    try:
        summary = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
        # Runs of version 0.1.0 call it "valid_mlm_loss".
        loss = summary["valid_loss"] if "valid_loss" in summary else summary["valid_mlm_loss"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return loss if isinstance(loss, float) else None


def flush(folder: Path) -> None:
    """Flush all files in a folder, and their names, to the disk."""
    for path in (*sorted(folder.rglob("*")), folder):
        to_disk(path)


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
        states = (self.path / "checkpoints").glob(f"step-*/{STATE_FILE}")
        folders = (state.parent for state in states if state.is_file())
        return sorted((f for f in folders if f.name[5:].isdigit()), key=step_of)

    def best_checkpoint(self) -> Path | None:
        """Return the checkpoint with the lowest loss on held-out text.

        Only checkpoints that were scored at their step count; of equal ones, the older is returned.
        The losses are stored in the checkpoints themselves, so a kill cannot leave a wrong answer.
        """
        scored = [(loss, f) for f in self.checkpoints() if (loss := _held_out_loss(f)) is not None]
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
        """Turn the system's OSError on a full disk into a RuntimeError with what to do."""
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
            reason = "it has no config.json" if isinstance(error, FileNotFoundError) else error
            raise ValueError(
                f"{str(self.path)!r} is not a training run that can be resumed ({reason}). "
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
        if self.metrics_file.is_file():
            kept = (line for line in read_lines(self.metrics_file) if line["step"] <= step)
            write_whole(self.metrics_file, "".join(map(json_line, kept)))

    def save_checkpoint(
        self,
        step: int,
        save_model: Callable[[Path], object],
        state: dict[str, Any],
        *,
        keep: int,
        valid_loss: float | None = None,
    ) -> Path:
        """Write checkpoints/step-N completely or not at all; then delete old ones.

        It is written to a hidden folder, whose files are flushed to the disk before it gets its
        name.

        Args:
            save_model: Writes weights, config and tokenizer into a new folder.
            keep: How many of the newest to keep, besides the best one (`best_checkpoint`).
            valid_loss: Loss on held-out text, if the network was scored at this step.

        RuntimeError if it cannot be written, such as on a full disk. The others are kept.
        """
        folder = self.path / "checkpoints" / f"step-{step}"
        partial = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)  # left by a kill
        try:
            save_model(partial)
            write_state(partial / STATE_FILE, state)
            files = sorted(file for file in partial.rglob("*") if file.is_file())
            hashes = {file.relative_to(partial).as_posix(): hash_file(file) for file in files}
            summary = {"step": step, "valid_loss": valid_loss, "sha256": hashes}
            text = json.dumps(summary, indent=2) + "\n"
            (partial / SUMMARY_FILE).write_text(text, encoding="utf-8")
            flush(partial)
            shutil.rmtree(folder, ignore_errors=True)
            os.replace(partial, folder)
            to_disk(folder.parent)
        except (OSError, RuntimeError, SafetensorError) as error:
            reason = why_not_written(error, folder.parent)
            raise RuntimeError(
                f"checkpoint {folder.name} could not be saved: {reason} {self._how_to_go_on()}"
            ) from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        self.delete_old_checkpoints(keep=keep)
        return folder

    def save_average(self, save_model: Callable[[Path], object]) -> None:
        """Write the checkpoint with the mean of the weights, completely or not at all."""
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
        on_damage: Callable[[Path, str], None] = lambda folder, reason: None,
    ) -> dict[str, Any] | None:
        """Return the newest complete checkpoint's training state with its weights as "network".

        None if there is no checkpoint. `on_damage` is called with each damaged one that is passed
        over, and why. RuntimeError if there are checkpoints and all are damaged.
        """
        damaged: list[tuple[Path, str]] = []
        for folder in reversed(self.checkpoints()):
            try:
                state = read_checkpoint(folder, read_model)
            except ValueError as error:
                damaged.append((folder, str(error)))
                continue
            for each in damaged:
                on_damage(*each)
            return state
        if not damaged:
            return None
        newest, reason = damaged[0]
        raise RuntimeError(
            f"all {len(damaged)} checkpoints of {str(self.path)!r} are damaged (the newest, "
            f"{newest.name}: {reason}). Restore one from a copy, or delete "
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
