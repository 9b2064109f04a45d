"""The runs in a folder: the state, progress and scores of each."""

from __future__ import annotations

import json
import math
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bertcore.pretraining import RunFolder
from bertcore.training.run_lock import lock_holder

from ..access import training
from ..shell import cache
from . import process

Line = Mapping[str, Any]

MAX_RUNS = 200
"""Runs of a folder that are listed, the newest."""

STATES: dict[str, tuple[str, Literal["green", "blue", "orange", "red"], str]] = {
    "running": ("running", "green", ":material/play_circle:"),
    "preparing": ("preparing", "blue", ":material/hourglass_top:"),
    "stopped": ("stopped", "orange", ":material/pause_circle:"),
    "finished": ("finished", "blue", ":material/check_circle:"),
    "damaged": ("damaged", "red", ":material/error:"),
    "not started": ("did not start", "red", ":material/error:"),
}
"""Words, colour and icon of each state."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run, read from its folder."""

    path: Path
    state: str
    """A key of STATES."""
    detail: str = ""
    """What went wrong, or on which other machine it runs."""
    step: int = 0
    fraction_done: float = 0.0
    """0 to 1."""
    seconds: float = 0.0
    """Time spent training."""
    num_tokens: int = 0
    scores: Line | None = None
    """The last line with held-out scores."""
    config: Mapping[str, Any] = field(default_factory=dict)
    pid: int | None = None
    """The process on this machine that trains or prepares it."""

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def is_active(self) -> bool:
        """Whether a process is active on it."""
        return self.state in ("running", "preparing")

    @property
    def seconds_left(self) -> float | None:
        """Time to its end at the pace so far; None if that is not known."""
        if not 0 < self.fraction_done <= 1:
            return None
        return self.seconds * (1 - self.fraction_done) / self.fraction_done

    @property
    def unigram_entropy(self) -> float | None:
        """Of the training text, nats; None for a run of an older version."""
        report = self.config.get("data_report", {}).get("train", {})
        entropy = report.get("unigram_entropy")
        return None if entropy is None else float(entropy)


def default_folder() -> Path:
    """Return the default folder of runs: `runs` in the working directory, else in the home."""
    here = Path.cwd() / "runs"
    return here if here.is_dir() else Path.home() / "bertscope" / "runs"


def list_runs(folder: Path) -> list[Run]:
    """Return the runs in a folder, the newest first.

    Raises:
        OSError: If the folder is there and cannot be read.
    """
    if not folder.is_dir():
        return []
    entries = {path.name: path for path in folder.iterdir()}
    names = {name for name, path in entries.items() if is_run(path)}
    names |= {
        match[1]
        for name in entries
        if (match := re.fullmatch(r"\.(.+)\.partial", name)) and lock_holder(entries[name])
    }
    names |= {name.removesuffix(".log") for name in entries if name.endswith(".log")}
    names = {name for name in names if training.shows(folder / name)}
    ordered = sorted(names, key=lambda name: _started(folder, name), reverse=True)
    return [read_run(folder / name) for name in ordered[:MAX_RUNS]]


def check_room(runs: Sequence[Run]) -> None:
    """Refuse another run if too many are active.

    Args:
        runs: Those of the folder; this server's runs in other folders count as well.

    Raises:
        ValueError: If there are too many.
    """
    active = [run.name for run in runs if run.is_active]
    count = max(len(active), process.num_alive())
    if count >= process.MAX_RUNNING:
        names = f" ({', '.join(active)})" if active else ""
        raise ValueError(
            f"{count} runs are at work already{names}, and more would only slow each other down. "
            "Stop one first."
        )


def is_run(path: Path) -> bool:
    """Return whether a folder is that of a pretraining run, complete or not."""
    return (
        path.is_dir()
        and not (path / "finetune.json").exists()
        and any((path / name).exists() for name in ("config.json", "metrics.jsonl", "checkpoints"))
    )


def read_run(path: Path) -> Run:
    """Return a run read from its folder; never raises for the folder's content."""
    if not is_run(path):
        return _before_the_folder(path)
    try:
        config = cache.of_file(_read_config, path / "config.json")
        lines = metrics(path)
        pid, where = _worker(path, path)
        trained = next((line for line in reversed(lines) if "loss" in line), {})
        seconds = float(trained.get("seconds", 0.0))
        step = int(trained.get("step", 0))
        fraction_done = _fraction_done(config, step, seconds)
        scores = next((line for line in reversed(lines) if "valid_mlm_loss" in line), None)
        state = "running" if where is not None else "finished" if fraction_done >= 1 else "stopped"
        detail = "" if pid or where is None else f"by {where}"
        failed = next((line["diverged"] for line in reversed(lines) if "diverged" in line), None)
        if state == "stopped":
            detail = f"diverged: {failed}" if failed else process.last_error(path)
        tokens = int(trained.get("num_tokens", 0))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return Run(path, "damaged", " ".join(str(error).split()))
    return Run(path, state, detail, step, fraction_done, seconds, tokens, scores, config, pid)


def metrics(path: Path) -> list[Line]:
    """Return the lines of a run's metrics, without a last line cut by a kill."""
    return cache.of_file(_read_metrics, path / "metrics.jsonl")


def checkpoints(path: Path) -> list[Path]:
    """Return the checkpoints of a run, the oldest first."""
    return RunFolder(path).checkpoints()


def best_checkpoint(path: Path) -> Path | None:
    """Return the checkpoint with the lowest held-out loss; None if none was scored."""
    return RunFolder(path).best_checkpoint()


def _before_the_folder(path: Path) -> Run:
    """Return a run whose folder does not exist yet, or was never made."""
    pid, where = _worker(path, path.with_name(f".{path.name}.partial"))
    if where is not None:
        return Run(path, "preparing", "", pid=pid)
    error = process.last_error(path) or "its process ended before it had begun"
    return Run(path, "not started", error)


def _worker(run: Path, locked: Path) -> tuple[int | None, str | None]:
    """Return the process that works on a run if it is on this machine, and who it is; or None.

    Args:
        run: The run's folder.
        locked: The folder whose lock it holds: that, or the hidden one that is being filled.
    """
    holder = lock_holder(locked)
    if holder is not None:
        here = holder.pid if holder.pid and holder.host == socket.gethostname() else None
        return here, str(holder)
    # In its first seconds, and without locks, only the server that started it knows of it.
    child = process.pid_of(run)
    return child, None if child is None else f"process {child}"


def _read_config(path: Path) -> dict[str, Any]:
    config = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(config, dict) or not isinstance(config.get("train"), dict):
        raise ValueError(f"{str(path)!r} does not hold the settings of a run")
    return config


def _read_metrics(path: Path) -> list[Line]:
    if not path.is_file():
        return []
    lines: list[Line] = []
    # A kill may cut the last line in a character's middle.
    for text in path.read_bytes().decode("utf-8", "replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and isinstance(line.get("step"), int):
            lines.append(line)
    return lines


def _fraction_done(config: Mapping[str, Any], step: int, seconds: float) -> float:
    train = config["train"]
    if train.get("steps") is not None:
        return min(1.0, step / float(train["steps"]))
    fraction_done = seconds / (60 * float(train["minutes"]))
    if not math.isfinite(fraction_done):
        raise ValueError("its length in config.json is no number")
    return min(1.0, fraction_done)


def _started(folder: Path, name: str) -> float:
    for path in (folder / name / "config.json", folder / f"{name}.log", folder / name):
        try:
            return path.stat().st_mtime
        except OSError:
            continue
    return math.inf  # preparing
