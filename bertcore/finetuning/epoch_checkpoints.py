"""The checkpoints of a run's epochs, kept on request for comparison."""

from pathlib import Path

from bertcore.finetuning.state import save_model
from bertcore.tasks.model import TaskModel

EPOCHS_FOLDER = "checkpoints"
_PREFIX = "epoch-"
_PLACES = ("", "runs/*/", "*/runs/*/", "*/")
"""Of runs below a folder: it is one itself, a fine-tuning, a folder of fine-tunings, or of runs."""


def save_epoch(model: TaskModel, folder: Path, epoch: int, *, max_seq_length: int) -> None:
    """Write the model as the checkpoint of an epoch; an older one of that epoch is replaced.

    Args:
        folder: Of the run.
        epoch: From 1.
        max_seq_length: The run's longest input in tokens.

    RuntimeError if it cannot be written, for instance on a full disk; it is removed, and those of
    other epochs are kept.
    """
    target = folder / EPOCHS_FOLDER / f"{_PREFIX}{epoch}"
    save_model(model, target, max_seq_length=max_seq_length)


def kept_epochs(folder: Path) -> dict[str, list[Path]]:
    """Return the kept checkpoints of all runs in or below a folder, the first epoch first.

    Args:
        folder: A folder of runs, of a fine-tuning, or of several fine-tunings.

    Returns:
        Checkpoints by the name of the run, such as "sst2/lr-0.0003-seed-1" in a folder that
        contains "sst2".
    """
    by_run: dict[str, list[Path]] = {}
    for place in _PLACES:
        for epochs in sorted(folder.glob(f"{place}{EPOCHS_FOLDER}")):
            paths = [path for path in epochs.glob(f"{_PREFIX}*") if _is_whole(path)]
            if paths:
                run = epochs.parent.relative_to(folder)
                parts = [part for part in run.parts if part != "runs"] or [folder.name]
                by_run["/".join(parts)] = sorted(paths, key=epoch_of)
    return by_run


def epoch_of(path: Path) -> int:
    """Return the number in the name of an epoch's checkpoint."""
    return int(path.name.removeprefix(_PREFIX))


def _is_whole(path: Path) -> bool:
    return path.name.removeprefix(_PREFIX).isdecimal() and (path / "config.json").is_file()
