"""What a run writes: its state, its best checkpoint, those of its epochs, its wrong answers."""

import json
import math
import os
import pickle
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from bertcore.base.json_data import plain_data
from bertcore.base.whole_files import to_disk, write_whole
from bertcore.data.examples import Example
from bertcore.training.engine.run_folder import (
    STATE_FILE,
    flush,
    read_state,
    why_not_written,
    write_state,
)
from bertcore.training.finetuning.settings import EPOCHS_FOLDER
from bertcore.training.tasks import Task
from bertcore.training.tasks.judged import WorstAnswers, WrongAnswer
from bertcore.training.tasks.model import TaskModel


@contextmanager
def explained(folder: Path, what: str, *, can_resume: bool = True) -> Iterator[None]:
    """Turn an error on writing `what`, such as a full disk, into a RuntimeError with advice."""
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        advice = " Everything saved before is intact: continue with --resume." * can_resume
        raise RuntimeError(
            f"{what} could not be saved: {why_not_written(error, folder)}{advice}"
        ) from error


def save_state(folder: Path, state: dict[str, Any]) -> None:
    """Write the state of a run atomically; RuntimeError as `explained`, and the older one stays."""
    with explained(folder, "the state of the run"):
        write_state(folder / STATE_FILE, state)


def load_state(folder: Path) -> dict[str, Any] | None:
    """Return the state of a run on the CPU; None if there is none.

    RuntimeError if it is damaged.
    """
    path = folder / STATE_FILE
    if not path.is_file():
        return None
    try:
        return read_state(path)
    except (RuntimeError, EOFError, OSError, pickle.UnpicklingError, ValueError) as error:
        raise RuntimeError(
            f"{path} is damaged ({' '.join(str(error).split())[:200]}). "
            "Delete it to start this run again."
        ) from error


def save_model(model: TaskModel, target: Path, *, max_seq_length: int | None) -> None:
    """Write a checkpoint of a run, such as its best one, atomically; an older one is replaced.

    It is on the disk when this returns, so no state refers to a lost checkpoint. RuntimeError as
    `explained`; the older one stays.
    """
    with explained(target.parent, "the checkpoint"):
        replace(model, max_seq_length=max_seq_length).save(target)
        flush(target)
        to_disk(target.parent)


def move_checkpoint(best: Path, target: Path) -> None:
    """Move the files of a checkpoint into a folder with other files, config.json last.

    RuntimeError as `explained`; the complete checkpoint stays where it is.
    """
    with explained(target, f"the checkpoint, whole in {str(best)!r},"):
        for file in sorted(best.iterdir(), key=lambda file: file.name == "config.json"):
            partial = target / f".{file.name}.partial"
            shutil.copyfile(file, partial)
            to_disk(partial)
            os.replace(partial, target / file.name)
        to_disk(target)


_PREFIX = "epoch-"
_PLACES = ("", "runs/*/", "*/runs/*/", "*/")
"""Of runs below a folder: it is one itself, a fine-tuning, a folder of fine-tunings, or of runs."""


def save_epoch(model: TaskModel, folder: Path, epoch: int, *, max_seq_length: int | None) -> None:
    """Write the model as the checkpoint of an epoch, from 1, as `save_model`."""
    target = folder / EPOCHS_FOLDER / f"{_PREFIX}{epoch}"
    save_model(model, target, max_seq_length=max_seq_length)


def kept_epochs(folder: Path) -> dict[str, list[Path]]:
    """Return the kept checkpoints of all runs in or below a folder, the first epoch first.

    By the name of the run, such as "sst2/lr-0.0003-seed-1" in a folder that contains "sst2".
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


ERRORS_FILE = "dev_errors.json"
MAX_ERRORS = 50
"""Wrong answers that are kept, the most severe."""
_LONGEST_TEXT = 500  # characters of a text that are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class DevErrors:
    """The wrong answers of one evaluation."""

    step: int
    num_examples: int
    num_wrong: int
    """All wrong examples; of a regression all examples."""
    errors: tuple[WrongAnswer, ...]
    """At most MAX_ERRORS, the most severe first."""


def find_dev_errors(
    task: Task, examples: Iterable[Example], predictions: Sequence[Mapping[str, Any]], *, step: int
) -> DevErrors:
    """Return the wrong answers among predictions, those of `Task.score`, one for each example.

    ValueError if there are more or fewer examples than predictions.
    """
    worst = WorstAnswers(MAX_ERRORS, _LONGEST_TEXT)
    pairs = zip(examples, predictions, strict=True)
    for number, (example, prediction) in enumerate(pairs, start=1):
        wrong = task.wrong_answer(example, prediction, number)
        if wrong is not None:
            worst.add(wrong)
    return DevErrors(
        step=step, num_examples=len(predictions), num_wrong=worst.num_seen, errors=worst.sorted()
    )


def write_dev_errors(folder: Path, errors: DevErrors) -> None:
    """Write them into a run's folder in place of the last ones, whole or not at all.

    OSError if they cannot be written.
    """
    text = json.dumps(plain_data(errors), allow_nan=False)
    write_whole(folder / ERRORS_FILE, text + "\n")


def read_dev_errors(path: Path) -> DevErrors:
    """Return what was written.

    OSError if there is no such file, as in runs of older versions. ValueError if it is damaged.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        wrong = tuple(_read_answer(error) for error in values.pop("errors"))
        return DevErrors(errors=wrong, **values)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{str(path)!r} is damaged ({error}).") from error


def _read_answer(values: dict[str, Any]) -> WrongAnswer:
    severity = values["severity"]  # null: the model's answer was no number
    return WrongAnswer(**{**values, "severity": math.nan if severity is None else severity})


def forget_errors_after(folder: Path, step: int) -> None:
    """Remove the wrong answers of a later step than `step`, which a resumed run repeats."""
    path = folder / ERRORS_FILE
    try:
        is_later = read_dev_errors(path).step > step
    except FileNotFoundError:
        return
    except ValueError:
        is_later = True
    if is_later:
        path.unlink()
