"""Questions on texts in the forms of SQuAD: articles, paragraphs, or a row for each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bertcore.data.examples import QuestionExample
from bertcore.data.files import BadRows, check_width, listed_columns
from bertcore.data.label_lists import parsed_list
from bertcore.data.tables import Row, Table, open_table

_OF_THE_EXAMPLE = ("id", "question", "context", "answers", "is_impossible")
"""Fields of SQuAD's form that are the example itself."""
_ANSWERS = ("answers", "detected_answers", "answer", "answer_text", "text")
"""Fields with the answers of a question; the first that a row has."""


class _Question(NamedTuple):
    """A question as it stands in the file."""

    fields: Mapping[str, Any]
    """Of the article, the paragraph and the question; the later ones override."""
    number: int
    """Among all, from 1."""


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
        where = f"question {str(fields.get('id', number))[:60]!r} of {str(path)!r}"
        question, context = fields.get("question"), fields.get("context")
        if not isinstance(question, str) or not question.strip():
            bad_rows.add(f"{where} has no question.")
            continue
        if not isinstance(context, str):
            bad_rows.add(f"{where} has no text (context).")
            continue
        answers, wrong = [], ""
        for text, start in [] if _is_true(fields.get("is_impossible")) else _answers(fields):
            if not text.strip() or start is None:
                wrong = (
                    f"{where} has the answer {text[:60]!r} without a text or a place in it "
                    f"(answer_start): {str(fields.get('answers', ''))[:80]}."
                )
            elif context[start : start + len(text)] != text:
                stands = context[start : start + len(text)]
                wrong = (
                    f"{where} has the answer {text[:60]!r} at character {start}, but the text "
                    f"has {stands[:60]!r} there."
                )
            answers.append((text, start or 0))
        if not answers and fields.get("is_impossible") is None and not fields.keys() & {*_ANSWERS}:
            wrong = f"{where} has no answers."
        if wrong:
            bad_rows.add(wrong)
        else:
            name = str(fields.get("id", ""))
            yield QuestionExample(name, question, context, answers, number)


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


def _questions(path: Path, bad_rows: BadRows) -> Iterator[_Question]:
    number = 0
    with open_table(path, bad_rows) as table:
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
                    yield _Question(question, number)


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
    return str(value).strip().casefold() in ("true", "1", "1.0", "yes")


def _answers(fields: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    """Yield text and start of each answer; the start is None if there is none."""
    listed = next((fields[name] for name in _ANSWERS[:2] if fields.get(name) is not None), None)
    if isinstance(listed, str):
        listed = parsed_list(listed) or listed
    if listed is None:
        name = next((name for name in _ANSWERS[2:] if fields.get(name)), None)
        if name is not None:
            yield str(fields[name]), _start(fields.get("answer_start"))
        return
    if isinstance(listed, dict):
        texts, starts = (_listed(listed.get(name)) for name in ("text", "answer_start"))
        starts += [None] * (len(texts) - len(starts))
        listed = [
            {"text": text, "answer_start": start}
            for text, start in zip(texts, starts, strict=False)
        ]
    for answer in listed if isinstance(listed, list) else [None]:
        if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
            yield "", None
        else:
            spans = answer.get("char_spans")  # of MRQA
            start = answer.get("answer_start", spans[0][0] if spans else None)
            yield answer["text"], _start(start)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _start(value: Any) -> int | None:
    """Return a number of characters, which some files write as text."""
    text = str(value).strip().removesuffix(".0")
    is_place = text.isdecimal() and len(text) < 16 and not isinstance(value, bool)
    return int(text) if is_place else None
