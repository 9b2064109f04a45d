"""The runs in a folder: the state, progress and scores of each, whole or not."""

import json
import math
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bertcore.model.checkpoints.folder import is_checkpoint
from bertcore.training.engine.run_folder import read_lines
from bertcore.training.engine.run_lock import lock_holder
from bertcore.training.finetuning.label_curve import CURVE_FILE, LabelCurve, read_label_curve
from bertcore.training.finetuning.settings import (
    BEST_FOLDER,
    METRICS_FILE,
    RESULT_FILE,
    RUNS_FOLDER,
    SETTINGS_FILE,
    run_name,
)
from bertcore.training.finetuning.state import ERRORS_FILE, DevErrors, read_dev_errors

from ...server import training
from ...shell import cache
from . import process, queue

MAX_RUNS = 200  # most runs of a folder that are listed, the newest
Line = Mapping[str, Any]
STATES: dict[str, tuple[str, Literal["green", "blue", "orange", "red"], str]] = {
    "running": ("running", "green", ":material/play_circle:"),
    "preparing": ("preparing", "blue", ":material/hourglass_top:"),
    "stopped": ("stopped", "orange", ":material/pause_circle:"),
    "finished": ("finished", "blue", ":material/check_circle:"),
    "damaged": ("damaged", "red", ":material/error:"),
    "not started": ("did not start", "red", ":material/error:"),
}
"""Words, colour and icon of each state."""
NEVER_BEGAN = "its process ended before it had begun, or its folder was deleted"


@dataclass(frozen=True, slots=True)
class Trial:
    """One learning rate and seed of a fine-tuning."""

    path: Path
    fraction_done: float
    """0 to 1."""
    epoch: float
    lines: Sequence[Line]
    """Lines of its metrics."""


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
    """Time spent training; 0 if it is not known, as of a series."""
    num_tokens: int = 0
    scores: Line | None = None
    """The last line with held-out scores."""
    config: Mapping[str, Any] = field(default_factory=dict)
    pid: int | None = None
    """The process on this machine that trains or prepares it."""
    kind: process.Kind = "pretrain"
    """The command that makes it."""
    num_examples: int = 0
    """Examples that a fine-tuning learns from; 0 if not known."""
    trials: tuple[Trial, ...] = ()
    """Learning rates and seeds of a fine-tuning run, in the order in which they are tried."""
    curve: LabelCurve | None = None
    """The scores of a series by number of labels."""

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
    def current_trial(self) -> Trial:
        """The trial of a fine-tuning that is being made, or the last one made."""
        begun = [trial for trial in self.trials if trial.lines]
        return begun[-1] if begun else self.trials[0]

    @property
    def checkpoint(self) -> Path | None:
        """The best one of a fine-tuning so far: its own, or that of the trial in work; or None."""
        if is_checkpoint(self.path):
            return self.path
        best = self.current_trial.path / BEST_FOLDER
        return best if is_checkpoint(best) else None


class NoRoomError(ValueError):
    """Too many runs are active, or waited for."""


def default_folder() -> Path:
    """Return the default folder of runs: `runs` in the working directory, else in the home."""
    here = Path.cwd() / "runs"
    return here if here.is_dir() else Path.home() / "bertscope" / "runs"


def kind_of(folder: Path) -> process.Kind | None:
    """Return the kind of run, whole or not, that a folder holds; None if it is none."""
    if (folder / SETTINGS_FILE).is_file():
        return "finetune"
    if (folder / CURVE_FILE).is_file():
        return "label-curve"
    if any((folder / name).exists() for name in ("metrics.jsonl", "checkpoints")):
        return "pretrain"
    # A checkpoint beside the runs has a config.json as well.
    has_config = (folder / "config.json").exists() and not is_checkpoint(folder)
    return "pretrain" if has_config else None


def all_runs(folder: Path) -> list[Run]:
    """Return the runs in a folder, the newest first.

    OSError if the folder is there and cannot be read.
    """
    if not folder.is_dir():
        return []
    entries = {path.name: path for path in folder.iterdir()}
    names = {name for name, path in entries.items() if path.is_dir() and kind_of(path)}
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
        runs: Those of the folder; this server's runs in other folders count as well, and visitors
            who wait to start one.

    NoRoomError if there are too many.
    """
    active = [run.name for run in runs if run.is_active]
    count, ahead = max(len(active), process.num_alive()), queue.ahead()
    if count + ahead >= process.MAX_RUNNING:
        names = f" ({', '.join(active)})" if active else ""
        waiting = f", {ahead} more are waited for" if ahead else ""
        raise NoRoomError(
            f"{count} runs are already active{names}{waiting}, and more would only slow each other "
            f"down. {'Try again later.' if ahead else 'Stop one first.'}"
        )


def read_run(path: Path) -> Run:
    """Return a run read from its folder; never raises for the folder's content."""
    kind = kind_of(path)
    if kind is None:
        return _before_the_folder(path)
    readers: Mapping[process.Kind, Callable[[Path], Run]] = {
        "finetune": _read_finetuning,
        "label-curve": _read_series,
        "pretrain": _read_pretraining,
    }
    try:
        return readers[kind](path)
    except Exception as error:  # a damaged file may raise anything
        return Run(path, "damaged", " ".join(str(error).split()), kind=kind)


def metrics(folder: Path) -> Sequence[Line]:
    """Return the lines of metrics in a folder, without a last line cut by a kill."""
    return cache.of_file(read_lines, folder / METRICS_FILE)


def dev_errors(trial: Trial) -> DevErrors | None:
    """Return the wrong dev examples of the last evaluation; None if none were kept."""
    try:
        return cache.of_file(read_dev_errors, trial.path / ERRORS_FILE)
    except (OSError, ValueError):  # of an older version, or before the first evaluation
        return None


def _read_pretraining(path: Path) -> Run:
    config = cache.of_file(_settings, path / "config.json", "train")
    working = _worker(path, path)  # first: what it writes before it ends is then read
    lines = metrics(path)
    trained = next((line for line in reversed(lines) if "loss" in line), {})
    seconds, step = float(trained.get("seconds", 0.0)), int(trained.get("step", 0))
    fraction_done = _fraction_done(config["train"], step, seconds)
    held_out = {"valid_mlm_loss", "valid_loss"}  # all but BERT's own objectives have the second
    state, detail = _state_of(path, working, is_done=fraction_done >= 1)
    failed = next((line["diverged"] for line in reversed(lines) if "diverged" in line), None)
    return Run(
        path,
        state,
        f"diverged: {failed}" if failed and state == "stopped" else detail,
        step=step,
        fraction_done=fraction_done,
        seconds=seconds,
        num_tokens=int(trained.get("num_tokens", 0)),
        scores=next((line for line in reversed(lines) if held_out & line.keys()), None),
        config=config,
        pid=working[0],
    )


def _read_finetuning(path: Path) -> Run:
    wanted = ("task", "config", "learning_rates", "seeds")
    settings = cache.of_file(_settings, path / SETTINGS_FILE, *wanted)
    epochs = int(settings["config"]["epochs"])
    working = _worker(path, path)  # first: what it writes before it ends is then read
    trials = tuple(
        _read_trial(path / RUNS_FOLDER / run_name(rate, seed), epochs)
        for rate in settings["learning_rates"]
        for seed in settings["seeds"]
    )
    lines = [line for trial in trials for line in trial.lines]
    last = [trial.lines[-1] for trial in trials if trial.lines]
    is_done = all((trial.path / RESULT_FILE).is_file() for trial in trials)
    return Run(
        path,
        *_state_of(path, working, is_done=is_done),
        step=sum(line["step"] for line in last),
        fraction_done=sum(trial.fraction_done for trial in trials) / len(trials),
        seconds=sum(float(line.get("seconds", 0)) for line in last),
        scores=next((line for line in reversed(lines) if "dev_loss" in line), None),
        config=settings,
        pid=working[0],
        kind="finetune",
        num_examples=int(settings.get("data", {}).get("num_train", 0)),
        trials=trials,
    )


def _read_trial(path: Path, epochs: int) -> Trial:
    lines = metrics(path)
    epoch = float(lines[-1].get("epoch", 0)) if lines else 0.0
    is_done = (path / RESULT_FILE).is_file()
    return Trial(path, 1.0 if is_done else min(1.0, epoch / epochs), epoch, lines)


def _read_series(path: Path) -> Run:
    curve = cache.of_file(_read_curve, path / CURVE_FILE)
    working = _worker(path, path)
    fraction_done = len(curve.points) / curve.num_planned
    return Run(
        path,
        *_state_of(path, working, is_done=fraction_done >= 1),
        step=sum(point.num_steps for point in curve.points),
        fraction_done=fraction_done,
        pid=working[0],
        kind="label-curve",
        curve=curve,
    )


def _read_curve(path: Path) -> LabelCurve:
    return read_label_curve(path.parent)


def _settings(path: Path, *wanted: str) -> dict[str, Any]:
    settings = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(settings, dict) or not {*wanted} <= settings.keys():
        raise ValueError(f"{str(path)!r} does not contain the settings of a run")
    return settings


def _fraction_done(train: Mapping[str, Any], step: int, seconds: float) -> float:
    if train.get("steps") is not None:
        return min(1.0, step / float(train["steps"]))
    fraction_done = seconds / (60 * float(train["minutes"]))
    if not math.isfinite(fraction_done):
        raise ValueError("its length in config.json is not a number")
    return min(1.0, fraction_done)


def _before_the_folder(path: Path) -> Run:
    """Return a run whose folder does not exist yet, was never made, or was deleted."""
    pid, name = _worker(path, path.with_name(f".{path.name}.partial"))
    kind = process.kind_of(path)
    if name:
        return Run(path, "preparing", "", pid=pid, kind=kind)
    reason = process.why_ended(path) or NEVER_BEGAN
    return Run(path, "not started", reason, kind=kind)


def _worker(run: Path, locked: Path) -> tuple[int | None, str]:
    """Return the process here that works on a run, and its name, by the lock of a folder."""
    holder = lock_holder(locked)
    if holder is not None:
        is_here = holder.pid and holder.host == socket.gethostname()
        return holder.pid if is_here else None, str(holder)
    # In its first seconds, and without locks, only the server that started it knows of it.
    child = process.pid_of(run)
    return child, "" if child is None else f"process {child}"


def _state_of(run: Path, working: tuple[int | None, str], *, is_done: bool) -> tuple[str, str]:
    """Return the state of a run that has a folder, and its detail."""
    pid, name = working
    if name:
        return "running", "" if pid else f"by {name}"
    return ("finished", "") if is_done else ("stopped", process.why_ended(run))


def _started(folder: Path, name: str) -> float:
    began = (SETTINGS_FILE, CURVE_FILE, "config.json")
    for path in (*(folder / name / file for file in began), folder / f"{name}.log", folder / name):
        try:
            return path.stat().st_mtime
        except OSError:
            continue
    return math.inf  # preparing
