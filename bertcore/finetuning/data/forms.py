"""The formats in which a run stores its own data: JSON lines, or SQuAD's JSON for questions."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bertcore.tasks import find_task

FOLDER = "data"
"""Of a run: where the files are kept."""


def kept_file(folder: Path, *, task: str, is_train: bool) -> Path:
    """Return the file in which a run stores its training or dev data."""
    return folder / f"{'train' if is_train else 'dev'}{_form(task).suffix}"


def write_rows(rows: Iterable[dict[str, Any]], path: Path, *, task: str, source: str) -> None:
    """Write rows in the format that the task reads.

    Args:
        rows: Rows with the columns of the format; for questions also id, and answers as {"text":
            [...], "answer_start": [...]}.
        path: From `kept_file`.
        source: The origin of the rows, for messages.

    ValueError if a question lacks a column. OSError if it cannot be written.
    """
    with path.open("w", encoding="utf-8") as file:
        for piece in _form(task).pieces(rows, source):
            file.write(piece)


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


class _Form(NamedTuple):
    suffix: str
    pieces: Callable[[Iterable[dict[str, Any]], str], Iterator[str]]


_FORMS = {"json lines": _Form(".jsonl", _as_lines), "squad": _Form(".json", _as_squad)}


def _form(task: str) -> _Form:
    return _FORMS[find_task(task).hub_form]
