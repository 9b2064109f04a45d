"""Questions on texts, from JSON in the format of SQuAD 1.1 and 2.0."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bertcore.data.examples import QuestionExample
from bertcore.data.files import BadRows, check_width, json_text
from bertcore.data.tables import Row, Table

_OF_THE_EXAMPLE = ("id", "question", "context", "answers", "is_impossible")
"""Fields of SQuAD's form that are the example itself."""


def read_questions(path: Path, *, bad_rows: BadRows) -> Iterator[QuestionExample]:
    """Yield the questions of a SQuAD file; one without an answer in the text has answers [].

    Args:
        path: .json, optionally compressed; the whole file is read into memory.
        bad_rows: Collects questions whose answer is not at the place stated in the file.

    Raises:
        ValueError: If the file is not in this format.
    """
    questions = _questions(_content(path), path)
    for row, (_, paragraph, qa) in enumerate(questions, start=1):
        context = paragraph["context"]
        where = f"question {str(qa.get('id', '?'))[:60]!r} of {str(path)!r}"
        question = qa.get("question")
        if not isinstance(question, str) or not question.strip():
            bad_rows.add(f"{where} has no question.")
            continue
        answers: list[tuple[str, int]] = []
        wrong = ""
        listed = [] if qa.get("is_impossible") else qa.get("answers", [])
        for answer in listed if isinstance(listed, list) else [None]:
            text, start = _answer(answer)
            if not text.strip():
                wrong = f"{where} has an answer without a text or a start."
            elif context[start : start + len(text)] != text:
                stands = context[start : start + len(text)]
                wrong = (
                    f"{where} has the answer {text[:60]!r} at character {start}, but the text "
                    f"has {stands[:60]!r} there."
                )
            answers.append((text, start))
        if not answers and not wrong and qa.get("is_impossible") is None and "answers" not in qa:
            wrong = f"{where} has no answers."
        if wrong:
            bad_rows.add(wrong)
        else:
            yield QuestionExample(str(qa.get("id", "")), question, context, answers, row)


def _content(path: Path) -> Any:
    text = json_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{str(path)!r} is not valid JSON ({str(error)[:100]}). The task 'qa' reads files in "
            "SQuAD format."
        ) from error


def question_columns(path: Path) -> Table:
    """Return the fields of a SQuAD file other than the questions, such as title, as a table.

    A row is a question, in the order of `QuestionExample.row`. A field is the question's own, or
    its paragraph's, or its article's; None if there is none.

    Raises:
        ValueError: As `read_questions`.
    """
    found = [
        {
            name: value
            for part in parts
            for name, value in part.items()
            if name not in _OF_THE_EXAMPLE and not isinstance(value, dict | list)
        }
        for parts in _questions(_content(path), path)
    ]
    names = tuple(dict.fromkeys(name for fields in found for name in fields))
    check_width(len(names), repr(str(path)))
    rows = (
        Row(number, [fields.get(name) for name in names])
        for number, fields in enumerate(found, start=1)
    )
    return Table(names, rows, has_header=True)


def _questions(
    content: Any, path: Path
) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yield each question with its article and paragraph: article, paragraph, question."""
    try:
        for article in content["data"]:
            for paragraph in article["paragraphs"]:
                for qa in paragraph["qas"]:
                    if not isinstance(qa, dict) or not isinstance(paragraph["context"], str):
                        raise TypeError("no object")
                    yield article, paragraph, qa
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{str(path)!r} is not in SQuAD format: expected data, paragraphs, qas and context "
            f"({type(error).__name__}: {error})."
        ) from error


def _answer(answer: Any) -> tuple[str, int]:
    """Return text and start of an answer; ("", 0) if it lacks them."""
    if not isinstance(answer, dict):
        return "", 0
    text, start = answer.get("text"), answer.get("answer_start")
    if not isinstance(text, str) or not isinstance(start, int) or start < 0:
        return "", 0
    return text, start
