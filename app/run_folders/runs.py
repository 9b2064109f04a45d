"""The runs in a folder: the state, progress and scores of each."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bertcore.checkpoints.folder import is_checkpoint
from bertcore.pretraining import RunFolder
from bertcore.training.run_lock import lock_holder

from ..access import training
from ..shell import cache
from . import finetune_runs, process, queue
from .run import Line, Run, before_the_folder, metrics_of, state_of, worker

_DAMAGES = (
    OSError,
    RuntimeError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
)
"""What reading a damaged folder raises."""
MAX_RUNS = 200  # most runs of a folder that are listed, the newest


def default_folder() -> Path:
    """Return the default folder of runs: `runs` in the working directory, else in the home."""
    here = Path.cwd() / "runs"
    return here if here.is_dir() else Path.home() / "bertscope" / "runs"


def is_any_run(path: Path) -> bool:
    """Return whether a folder is that of a run of any kind."""
    return is_run(path) or finetune_runs.is_run(path) or finetune_runs.is_series(path)


def list_runs(folder: Path) -> list[Run]:
    """Return the pretraining runs in a folder, the newest first.

    OSError if the folder is there and cannot be read.
    """
    return [run for run in _list(folder, is_run) if run.kind == "pretrain"]


def all_runs(folder: Path) -> list[Run]:
    """Return the runs in a folder, fine-tunings too, the newest first.

    OSError if the folder is there and cannot be read.
    """
    return _list(folder, is_any_run)


def _list(folder: Path, is_wanted: Callable[[Path], bool]) -> list[Run]:
    if not folder.is_dir():
        return []
    entries = {path.name: path for path in folder.iterdir()}
    names = {name for name, path in entries.items() if is_wanted(path)}
    names |= {
        match[1]
        for name in entries
        if (match := re.fullmatch(r"\.(.+)\.partial", name)) and lock_holder(entries[name])
    }
    names |= {name.removesuffix(".log") for name in entries if name.endswith(".log")}
    names = {name for name in names if training.shows(folder / name)}
    ordered = sorted(names, key=lambda name: _started(folder, name), reverse=True)
    return [read_run(folder / name) for name in ordered[:MAX_RUNS]]


class NoRoomError(ValueError):
    """Too many runs are active, or waited for."""


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


def is_run(path: Path) -> bool:
    """Return whether a folder is that of a pretraining run, complete or not."""
    if not path.is_dir() or (path / "finetune.json").exists():
        return False
    if any((path / name).exists() for name in ("metrics.jsonl", "checkpoints")):
        return True
    # A checkpoint beside the runs has a config.json as well.
    return (path / "config.json").exists() and not is_checkpoint(path)


def read_run(path: Path) -> Run:
    """Return a run read from its folder; never raises for the folder's content."""
    kinds: dict[process.Kind, tuple[Callable[[Path], bool], Callable[[Path], Run]]] = {
        "finetune": (finetune_runs.is_run, finetune_runs.read_run),
        "label-curve": (finetune_runs.is_series, finetune_runs.read_series),
        "pretrain": (is_run, _read_pretraining),
    }
    for kind, (is_of_kind, read) in kinds.items():
        if is_of_kind(path):
            try:
                return read(path)
            except _DAMAGES as error:
                return Run(path, "damaged", " ".join(str(error).split()), kind=kind)
    return before_the_folder(path)


def _read_pretraining(path: Path) -> Run:
    config = cache.of_file(_read_config, path / "config.json")
    holder = worker(path, path)  # first: what it writes before it ends is then read
    lines = metrics(path)
    trained = next((line for line in reversed(lines) if "loss" in line), {})
    seconds, step = float(trained.get("seconds", 0.0)), int(trained.get("step", 0))
    fraction_done = _fraction_done(config, step, seconds)
    held_out = {"valid_mlm_loss", "valid_loss"}  # all but BERT's own objectives have the second
    state, detail = state_of(path, holder, is_done=fraction_done >= 1)
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
        pid=holder.pid,
    )


def metrics(path: Path) -> Sequence[Line]:
    """Return the lines of a run's metrics, without a last line cut by a kill."""
    return metrics_of(path / "metrics.jsonl")


def checkpoints(path: Path) -> list[Path]:
    """Return the checkpoints of a run, the oldest first."""
    return RunFolder(path).checkpoints()


def best_checkpoint(path: Path) -> Path | None:
    """Return the checkpoint with the lowest held-out loss; None if none was scored."""
    return RunFolder(path).best_checkpoint()


def _read_config(path: Path) -> dict[str, Any]:
    config = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(config, dict) or not isinstance(config.get("train"), dict):
        raise ValueError(f"{str(path)!r} does not contain the settings of a run")
    return config


def _fraction_done(config: Mapping[str, Any], step: int, seconds: float) -> float:
    train = config["train"]
    if train.get("steps") is not None:
        return min(1.0, step / float(train["steps"]))
    fraction_done = seconds / (60 * float(train["minutes"]))
    if not math.isfinite(fraction_done):
        raise ValueError("its length in config.json is not a number")
    return min(1.0, fraction_done)


def _started(folder: Path, name: str) -> float:
    began = ("finetune.json", "label_curve.json", "config.json")
    for path in (*(folder / name / file for file in began), folder / f"{name}.log", folder / name):
        try:
            return path.stat().st_mtime
        except OSError:
            continue
    return math.inf  # preparing
