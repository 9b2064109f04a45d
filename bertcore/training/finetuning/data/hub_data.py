"""Data sets of the Hugging Face hub by name, written to files for the readers.

A name is hub:DATASET, with :CONFIG and @SPLIT if there are several: hub:nyu-mll/glue:sst2@train.
The file is stored with the run, so that it can resume offline and its data cannot change.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertcore.training.engine.run_folder import FULL, why_not_written
from bertcore.training.tasks import find_task

FOLDER = "data"
"""Of a run: where the files are kept."""


def kept_file(folder: Path, *, task: str, is_train: bool) -> Path:
    """Return the file in which a run stores its training or dev data."""
    suffix, _ = _FORMS[find_task(task).hub_form]
    return folder / f"{'train' if is_train else 'dev'}{suffix}"


def write_rows(rows: Iterable[dict[str, Any]], path: Path, *, task: str, source: str) -> None:
    """Write rows with the columns of the format that the task reads.

    Questions have also id, and answers as {"text": [...], "answer_start": [...]}. ValueError if a
    question lacks a column. OSError if it cannot be written.
    """
    _, pieces = _FORMS[find_task(task).hub_form]
    with path.open("w", encoding="utf-8") as file:
        file.writelines(pieces(rows, source))


def _as_lines(rows: Iterable[dict[str, Any]], source: str) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, default=str) + "\n"


def _as_squad(rows: Iterable[dict[str, Any]], source: str) -> Iterator[str]:
    """Yield the parts of a file in SQuAD format, with a paragraph for each question."""
    yield '{"version": "bertscope", "data": [{"title": "", "paragraphs": ['
    for number, row in enumerate(rows):
        try:
            answers = row["answers"]
            gold = [
                {"text": text, "answer_start": start}
                for text, start in zip(answers["text"], answers["answer_start"], strict=True)
            ]
            qa = {
                "id": str(row.get("id", number)),
                "question": row["question"],
                "answers": gold,
                "is_impossible": not gold,
            }
            paragraph = {"context": row["context"], "qas": [qa]}
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"the data set {source!r} is not in SQuAD format: it has the columns "
                f"{', '.join(row)}; expected question, context and answers (text, answer_start)."
            ) from error
        yield (", " if number else "") + json.dumps(paragraph, ensure_ascii=False)
    yield "]}]}\n"


_FORMS: dict[str, tuple[str, Callable[[Iterable[dict[str, Any]], str], Iterator[str]]]] = {
    "json lines": (".jsonl", _as_lines),
    "squad": (".json", _as_squad),
}
"""By `Task.hub_form`: the ending of the file, and what yields the parts of its text."""


PREFIX = "hub:"
_NAME = re.compile(r"hub:(?P<name>[^:@\s]+)(?::(?P<config>[^:@\s]+))?(?:@(?P<split>\S+))?")
_DEV_SPLITS = ("validation", "dev", "test")


@dataclass(frozen=True, slots=True)
class HubName:
    name: str
    config: str | None
    split: str | None

    def __str__(self) -> str:
        config = f":{self.config}" if self.config else ""
        return f"{PREFIX}{self.name}{config}{f'@{self.split}' if self.split else ''}"


def is_hub_name(text: str) -> bool:
    """Return whether data is given by a hub name rather than a path."""
    return text.startswith(PREFIX)


def parse_hub_name(text: str) -> HubName:
    """Return the parts of a name.

    >>> parse_hub_name("hub:nyu-mll/glue:sst2@validation")
    HubName(name='nyu-mll/glue', config='sst2', split='validation')

    ValueError if it is not such a name.
    """
    match = _NAME.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} does not name a data set of the hub; expected hub:DATASET, with :CONFIG "
            "and @SPLIT if there are several, such as hub:nyu-mll/glue:sst2@train."
        )
    return HubName(match["name"], match["config"], match["split"])


def fetch_hub_data(text: str, folder: Path, *, task: str, is_train: bool) -> Path:
    """Download a data set and write it to a file in a folder; return the file.

    Labels for which the data set has names are written as names. The format is the task's
    `hub_form`: SQuAD's for "qa", JSON lines with the columns of the data set for all others.
    Without a split in the name it is "train", or for dev data the first existing one of
    "validation", "dev" and "test".

    ValueError if `datasets` is not installed, there is no such data set, configuration or split, it
    has no column, or the hub cannot be reached. RuntimeError if the disk is full.
    """
    wanted = parse_hub_name(text)
    rows, features = _open(wanted, is_train=is_train)
    path = data_file(text, folder, task=task, is_train=is_train)
    named = (
        {column: _named(value, features.get(column)) for column, value in row.items()}
        for row in _explaining_errors(rows, wanted)
    )
    try:
        write_rows(named, path, task=task, source=str(wanted))
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise RuntimeError(
            f"the data set {text!r} could not be saved: {why_not_written(error, folder)}"
        ) from error
    return path


def data_file(text: str, folder: Path, *, task: str, is_train: bool) -> Path:
    """Return the file named by a text; for a hub name, one in `folder`."""
    if not is_hub_name(text):
        return Path(text)
    return kept_file(folder, task=task, is_train=is_train)


def _open(wanted: HubName, *, is_train: bool) -> tuple[Iterable[dict[str, Any]], dict[str, Any]]:
    """Return the rows of a data set, streamed from the network, and its columns."""
    try:
        import datasets
    except ImportError as error:
        raise ValueError(
            f"{str(wanted)!r} needs the Python package datasets, which is not installed. Install "
            "it (pip install datasets), or give a file."
        ) from error
    try:
        split = wanted.split
        if split is None:
            splits = datasets.get_dataset_split_names(wanted.name, wanted.config)
            split = _choose_split(splits, wanted, is_train=is_train)
        rows = datasets.load_dataset(wanted.name, wanted.config, split=split, streaming=True)
    except Exception as error:  # of many kinds: of the hub, of the network, of the library
        raise _explained(error, wanted) from error
    return rows, dict(rows.features or {})


def _choose_split(splits: list[str], wanted: HubName, *, is_train: bool) -> str:
    for name in ("train",) if is_train else _DEV_SPLITS:
        if name in splits:
            return name
    raise ValueError(
        f"the data set {str(wanted)!r} has the splits {', '.join(splits)}. Name one: "
        f"{wanted}@{splits[0] if splits else 'SPLIT'}."
    )


def _explaining_errors(rows: Iterable[dict[str, Any]], wanted: HubName) -> Iterator[dict[str, Any]]:
    """Yield rows; raise a sentence if the network fails in between."""
    try:
        yield from rows
    except Exception as error:
        raise _explained(error, wanted) from error


def _explained(error: Exception, wanted: HubName) -> Exception:
    if isinstance(error, ValueError) and str(error).startswith("the data set"):
        return error
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return ValueError(
        f"the data set {str(wanted)!r} could not be read from the hub ({reason}). Check the name "
        "and the network, or give a file."
    )


def _named(value: Any, feature: Any) -> Any:
    names = getattr(feature, "names", None)
    if names is None:
        of_items = getattr(feature, "feature", None)
        if isinstance(value, list) and of_items is not None:
            return [_named(item, of_items) for item in value]
        return value
    if not isinstance(value, int):
        return value
    # -1 stands for a label that is kept secret, as in GLUE's test splits.
    return names[value] if 0 <= value < len(names) else None
