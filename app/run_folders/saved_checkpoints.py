"""The checkpoints of runs in a folder: steps of pretraining, kept epochs of fine-tuning."""

import re
from pathlib import Path

from bertcore.finetuning.settings import EPOCHS_FOLDER, RUNS_FOLDER, SETTINGS_FILE
from bertcore.finetuning.state import kept_epochs
from bertcore.pretraining import RunFolder

from .runs import all_runs


def of_runs(folder: Path) -> dict[str, list[Path]]:
    """Return the checkpoints of each run that has at least two, the oldest first.

    Args:
        folder: Of runs, of a fine-tuning, or one that contains fine-tunings.

    Returns:
        By the run's name; runs of pretraining come first, the newest first.

    OSError if the folder exists but cannot be read.
    """
    by_run = {
        run.name: RunFolder(run.path).checkpoints()
        for run in all_runs(folder)
        if run.kind == "pretrain"
    }
    if folder.is_dir():
        by_run = {name: paths for name, paths in by_run.items() if paths} | kept_epochs(folder)
    return {name: paths for name, paths in by_run.items() if len(paths) > 1}


def own_run(checkpoint: Path) -> tuple[Path, str] | None:
    """Return the folder of runs that a checkpoint comes from and how its run's name begins.

    None if it is neither a checkpoint of a run nor the result of a fine-tuning.
    """
    if (checkpoint / SETTINGS_FILE).is_file():
        return checkpoint.parent, f"{checkpoint.name}/"
    is_kept = re.fullmatch(r"(step|epoch)-\d+", checkpoint.name)
    if not is_kept or checkpoint.parent.name != EPOCHS_FOLDER or len(checkpoint.parents) <= 2:
        return None
    run = checkpoint.parents[1]
    whole = fine_tuning_of(checkpoint)
    if whole is not None:
        return whole.parent, f"{whole.name}/{run.name}"
    return run.parent, run.name


def fine_tuning_of(checkpoint: Path) -> Path | None:
    """Return the folder of the fine-tuning that a kept epoch belongs to, or None."""
    if len(checkpoint.parents) < 4 or checkpoint.parents[2].name != RUNS_FOLDER:
        return None
    whole = checkpoint.parents[3]
    return whole if (whole / SETTINGS_FILE).is_file() else None


def label(path: Path) -> str:
    """Return a label for a list, such as "step 500" or "epoch 2"."""
    return path.name.replace("-", " ")
