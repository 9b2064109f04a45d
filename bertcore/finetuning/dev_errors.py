"""The dev examples that a run got wrong at its last evaluation, stored with its metrics."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertcore.base.json_data import plain_data
from bertcore.base.whole_files import write_whole
from bertcore.data.examples import Example
from bertcore.tasks import Task
from bertcore.tasks.judged import WorstAnswers, WrongAnswer

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
    """Return the wrong answers among predictions.

    Args:
        examples: Of the dev data, in their order.
        predictions: Of `Task.score`, one for each example.

    ValueError if there are more or fewer examples than predictions.
    """
    worst = WorstAnswers(MAX_ERRORS, _LONGEST_TEXT)
    pairs = zip(examples, predictions, strict=True)
    for number, (example, prediction) in enumerate(pairs, start=1):
        wrong = task.wrong_answer(example, prediction, number)
        if wrong is not None:
            worst.add(wrong)
    return DevErrors(
        step=step,
        num_examples=len(predictions),
        num_wrong=worst.num_seen,
        errors=worst.sorted(),
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
