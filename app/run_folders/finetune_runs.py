"""Fine-tunings and series of them in a folder of runs: their state, progress and scores."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertcore.checkpoints.folder import is_checkpoint
from bertcore.finetuning.label_curve import CURVE_FILE, LabelCurve, read_label_curve
from bertcore.finetuning.settings import (
    BEST_FOLDER,
    METRICS_FILE,
    RESULT_FILE,
    RUNS_FOLDER,
    SETTINGS_FILE,
    run_name,
)
from bertcore.finetuning.state import ERRORS_FILE, DevErrors, read_dev_errors

from ..shell import cache
from .run import Run, Trial, metrics_of, state_of, worker


def is_run(path: Path) -> bool:
    """Return whether a folder is that of a fine-tuning, complete or not."""
    return (path / SETTINGS_FILE).is_file()


def read_run(path: Path) -> Run:
    """Return a fine-tuning read from its folder.

    OSError, ValueError or another error of reading, if the folder is damaged.
    """
    settings = cache.of_file(_read_settings, path / SETTINGS_FILE)
    epochs = int(settings["config"]["epochs"])
    holder = worker(path, path)  # first: what it writes before it ends is then read
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
        *state_of(path, holder, is_done=is_done),
        step=sum(line["step"] for line in last),
        fraction_done=sum(trial.fraction_done for trial in trials) / len(trials),
        seconds=sum(float(line.get("seconds", 0)) for line in last),
        scores=next((line for line in reversed(lines) if "dev_loss" in line), None),
        config=settings,
        pid=holder.pid,
        kind="finetune",
        num_examples=int(settings.get("data", {}).get("num_train", 0)),
        trials=trials,
    )


def is_series(path: Path) -> bool:
    """Return whether a folder is that of a series by number of labels."""
    return (path / CURVE_FILE).is_file()


def read_series(path: Path) -> Run:
    """Return a series read from its folder; errors as `read_run`."""
    curve = cache.of_file(_read_curve, path / CURVE_FILE)
    holder = worker(path, path)
    fraction_done = len(curve.points) / curve.num_planned
    return Run(
        path,
        *state_of(path, holder, is_done=fraction_done >= 1),
        step=sum(point.num_steps for point in curve.points),
        fraction_done=fraction_done,
        pid=holder.pid,
        kind="label-curve",
        curve=curve,
    )


def _read_curve(path: Path) -> LabelCurve:
    return read_label_curve(path.parent)


def current_trial(run: Run) -> Trial:
    """Return the trial that is being made, or the last one made."""
    begun = [trial for trial in run.trials if trial.lines]
    return begun[-1] if begun else run.trials[0]


def checkpoint_of(run: Run) -> Path | None:
    """Return the best checkpoint so far: the run's own, or that of the trial in work; or None."""
    if is_checkpoint(run.path):
        return run.path
    best = current_trial(run).path / BEST_FOLDER
    return best if is_checkpoint(best) else None


def dev_errors(trial: Trial) -> DevErrors | None:
    """Return the wrong dev examples of the last evaluation; None if none were kept."""
    try:
        return cache.of_file(read_dev_errors, trial.path / ERRORS_FILE)
    except (OSError, ValueError):  # of an older version, or before the first evaluation
        return None


def _read_trial(path: Path, epochs: int) -> Trial:
    lines = metrics_of(path / METRICS_FILE)
    epoch = float(lines[-1].get("epoch", 0)) if lines else 0.0
    is_done = (path / RESULT_FILE).is_file()
    return Trial(path, 1.0 if is_done else min(1.0, epoch / epochs), epoch, lines)


def _read_settings(path: Path) -> Mapping[str, Any]:
    settings = json.loads(path.read_text(encoding="utf-8"))
    wanted = {"task", "config", "learning_rates", "seeds"}
    if not isinstance(settings, dict) or not wanted <= settings.keys():
        raise ValueError(f"{str(path)!r} does not contain the settings of a fine-tuning run")
    return settings
