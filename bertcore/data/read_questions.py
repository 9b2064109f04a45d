"""Questions on texts in the forms of SQuAD: articles, paragraphs, or a row for each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bertcore.data.cells import as_text, label_text, listed
from bertcore.data.examples import QuestionExample
from bertcore.data.exports import open_rows
from bertcore.data.files import BadRows, check_width, listed_columns
from bertcore.data.tables import Row, Table

_OF_THE_EXAMPLE = ("id", "question", "context", "answers", "is_impossible")
"""Fields of SQuAD's form that are the example itself."""
_ANSWERS = ("answers", "detected_answers", "answer", "answer_text", "text")
"""Fields with the answers of a question; the first that a row has."""


def has_questions(columns: Sequence[str]) -> bool:
    """Return whether the columns of a table, or of a list of articles, are those of SQuAD."""
    names = set(columns)
    is_flat = {"question", "context"} <= names and bool(names & {*_ANSWERS, "answer_start"})
    return is_flat or "paragraphs" in names or {"qas", "context"} <= names


def read_questions(path: Path, *, bad_rows: BadRows) -> Iterator[QuestionExample]:
    """Yield the questions of a file; one without an answer in the text has answers [].

    Args:
        path: SQuAD's articles with paragraphs, as one value of JSON or an object a line; or a row
            for each question as in `datasets` (question, context, answers: JSON, Parquet, CSV).
        bad_rows: Collects questions whose answer is not at the place stated in the file.

    ValueError if the file is not in this format.
    """
    for fields, number in _questions(path, bad_rows):
        try:
            yield _example(fields, number)
        except ValueError as error:
            name = str(fields.get("id", number))[:60]
            bad_rows.add(f"question {name!r} of {str(path)!r} has {error}.")


def _example(fields: Mapping[str, Any], number: int) -> QuestionExample:
    """Return the example of a question.

    ValueError if it has none; the message is a phrase.
    """
    question, context = fields.get("question"), fields.get("context")
    if not isinstance(question, str) or not question.strip():
        raise ValueError("no question")
    if not isinstance(context, str):
        raise ValueError("no text (context)")
    is_impossible = _is_true(fields.get("is_impossible"))
    if not fields.keys() & {"is_impossible", *_ANSWERS}:
        raise ValueError("no answers")
    answers = []
    for text, start in () if is_impossible else _answers(fields):
        stands = "" if start is None else context[start : start + len(text)]
        if _is_empty(text) and (not text or stands != text):
            continue
        if start is None:
            raise ValueError(
                f"the answer {text[:60]!r} without a text or a place in it (answer_start): "
                f"{str(fields.get('answers', ''))[:80]}"
            )
        if stands != text:
            raise ValueError(
                f"the answer {text[:60]!r} at character {start}, but the text has "
                f"{stands[:60]!r} there"
            )
        answers.append((text, start))
    return QuestionExample(str(fields.get("id", "")), question, context, answers, number)


def question_columns(path: Path) -> Table:
    """Return the fields of a SQuAD file other than the questions, such as title, as a table.

    A row is a question, in the order of `QuestionExample.row`. A field is the question's own, or
    its paragraph's, or its article's; None if there is none.

    ValueError as `read_questions`.
    """
    found = [
        {
            name: value
            for name, value in fields.items()
            if name not in _OF_THE_EXAMPLE and not isinstance(value, dict | list)
        }
        for fields, _ in _questions(path, BadRows(skip=True))
    ]
    names = tuple(dict.fromkeys(name for fields in found for name in fields))
    check_width(len(names), repr(str(path)))
    rows = (
        Row(number, [fields.get(name) for name in names])
        for number, fields in enumerate(found, start=1)
    )
    return Table(names, rows, has_header=True)


def _questions(path: Path, bad_rows: BadRows) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield the fields of each question, those of its article and paragraph too, and its number."""
    number = 0
    with open_rows(path, bad_rows) as table:
        if not has_questions(table.columns):
            raise ValueError(
                f"{str(path)!r} is not in SQuAD format: expected rows with question, context and "
                "answers, or articles with paragraphs, qas and context; it has "
                f"{listed_columns(table.columns)}."
            )
        for row in table.rows:
            article = dict(zip(table.columns, row.cells, strict=True))
            for paragraph in _parts(article, "paragraphs"):
                for question in _parts(paragraph, "qas"):
                    number += 1
                    yield question, number


def _parts(whole: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Yield the parts of an article or a paragraph, each with the fields of the whole."""
    parts = whole.pop(name, None)
    if parts is None:
        if whole.get("header") is None:  # the first line of MRQA's files
            yield whole
        return
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict):
            yield {**whole, **part}


def _is_true(value: Any) -> bool:
    return as_text(value).casefold() in ("true", "1", "1.0", "yes")


def _answers(fields: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    """Yield text and start of each answer, maybe an empty one; its start is None if unknown."""
    given = next((fields[name] for name in _ANSWERS if not _is_empty(fields.get(name))), None)
    given = given if (found := listed(given)) is None else found
    if isinstance(given, str):
        given = {"text": given, "answer_start": fields.get("answer_start")}
    if isinstance(given, dict):
        texts, starts = (
            value if isinstance(value, list) else [value]
            for value in (given.get("text"), given.get("answer_start"))
        )
        starts = [*starts, *[None] * (len(texts) - len(starts))]
        given = [{"text": a, "answer_start": b} for a, b in zip(texts, starts, strict=False)]
    for answer in given if isinstance(given, list) else [given]:
        answer = answer if isinstance(answer, dict) else {"text": answer}
        text, spans = answer.get("text"), answer.get("char_spans")  # MRQA's
        start = answer.get("answer_start", spans[0][0] if spans else None)
        yield "" if text is None else str(text), _start(start)


def _is_empty(value: Any) -> bool:
    """Return whether a value is what tools write for no answer."""
    return value in ([], {}) or as_text(value) == "None" or not label_text(as_text(value))


def _start(value: Any) -> int | None:
    """Return a number of characters, which some files write as text."""
    text = as_text(value).removesuffix(".0")
    is_place = text.isdecimal() and len(text) < 16
    return int(text) if is_place else None
