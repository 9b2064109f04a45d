"""Rows of a table as examples; those of annotation tools by the answer that a person gave."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from bertcore.data.cells import are_spans, as_text, listed
from bertcore.data.columns import LABELS, HasHeader, find, normal
from bertcore.data.files import BadRows, first_items
from bertcore.data.tables import FIRST, Row, Table, open_table

_Item = TypeVar("_Item")
_Row = Mapping[str, Any]
_ASIDE = re.compile(r"(is_|was_)?(cancell?ed|skipped|discarded|rejected|ignored)")
"""A row that its annotator put aside: a column of true and false, or a status."""
_NOBODY = "not annotated"
_OF_A_TEXT = ("choices", "taxonomy", "rating", "number")
"""Label Studio's values of a whole text."""
_OF_PRODIGY = ("spans", "accept", "options", "label", "relations")
_WRITE = (
    "Write JSON lines with the text and its label, or its entities (start, end, label), of what "
    "somebody answered"
)
_OF_SPACY = {"entities", "cats", "spans", "labels"}


class UnansweredError(Exception):
    """A row without an answer, which is left out and counted by what stands in its place."""


class _Answered(NamedTuple):
    """A row of an annotation tool."""

    fields: _Row
    """Of the text, by column."""
    answers: _Row
    """By question."""
    is_one_of_several: bool = False
    text_id: str | None = None
    """Equal in rows that hold other answers to the same question; None: no others."""


_Read = Callable[[_Row], _Answered]


@contextmanager
def open_rows(
    path: Path,
    bad_rows: BadRows,
    *,
    has_header: HasHeader = lambda cells: None,
    label: str | None = None,
) -> Iterator[Table]:
    """Open a table as `open_table`, with the rows of an annotation tool as plain ones.

    Read are exports of Label Studio, doccano, Prodigy and Argilla 2, and spaCy's pairs of a text
    and its annotations. A plain row has a column for each field of the text, and one for each
    question, called "label" if there is one question. A row that nobody answered, or that was put
    aside, is left out and counted. Of several answers the one marked as ground truth is read, else
    the first, which is noted. `label` is the column of answers that was asked for.

    ValueError as `open_table`, or for the annotations of another tool, or without their texts.
    """
    with open_table(path, bad_rows, has_header=has_header) as table:
        for cells in (table.columns, *table.first[:1]):
            refuse_brat(path, cells)
        if {*table.columns} == {"classes", "annotations"}:
            table = _unpacked(table)
        first = [dict(zip(table.columns, cells, strict=False)) for cells in table.first]
        read = _tool(set(table.columns), first, label, path)
        yield table if read is None else _plain_table(table, first, read, path, bad_rows)


def refuse_brat(path: Path, cells: Sequence[Any]) -> None:
    """Raise ValueError if a row is one of brat's annotations, which lack their text."""
    if len(cells) == 3 and re.fullmatch(r"T\d+\t\w\S* \d+ \d+", f"{cells[0]}\t{cells[1]}"):
        raise ValueError(
            f"{str(path)!r} has annotations of brat, whose text is in the .txt beside it. Write "
            "both into one file, such as JSON lines with text and entities."
        )


def column_names(path: Path) -> tuple[str, ...]:
    """Return the names of a table's columns, each once; ValueError if it cannot be read."""
    with open_rows(path, BadRows(skip=True)) as table:
        return tuple(dict.fromkeys(filter(None, table.columns)))


def examples_of(
    table: Table,
    path: Path,
    bad_rows: BadRows,
    read: Callable[[Sequence[Any], int], Iterable[_Item]],
) -> Iterator[_Item]:
    """Yield the examples of a table; count rows without an answer, and those that are bad.

    `read` returns the examples of a row from its cells and its number; it raises UnansweredError,
    or ValueError with a phrase that follows "row 3 has".
    """
    for row in table.rows:
        try:
            examples = [*read(row.cells, row.number)]
        except UnansweredError as mark:
            bad_rows.add_unlabelled(str(mark))
        except ValueError as error:
            bad_rows.add(f"row {row.number} of {str(path)!r} has {error}.")
        else:
            yield from examples


def _unpacked(table: Table) -> Table:
    """Return the pairs of NER Annotator, which are a list in one row, as rows."""
    place = table.columns.index("annotations")
    pairs = [pair for cells in table.first for pair in _list(cells[place])]
    cells = tuple(pair if isinstance(pair, list) and len(pair) == 2 else ["", {}] for pair in pairs)
    rows = (Row(number, pair) for number, pair in enumerate(cells, start=1))
    return replace(table, columns=("text", "marks"), rows=rows, first=cells)


def _plain_table(
    table: Table, first: Sequence[_Row], read: _Read, path: Path, bad_rows: BadRows
) -> Table:
    """Return a table of the answers in the rows of an annotation tool."""
    known = []
    for row in first:
        with suppress(UnansweredError, ValueError):
            known.append(read(row))
    several, seen = 0, set[str]()

    def one(cells: Sequence[Any], number: int) -> list[tuple[int, _Answered]]:
        return [(number, read(dict(zip(table.columns, cells, strict=False))))]

    def all_rows() -> Iterator[tuple[int, _Answered]]:
        nonlocal several
        for number, task in examples_of(table, path, bad_rows, one):
            is_next = task.text_id in seen
            several += task.is_one_of_several or is_next
            seen.update([] if task.text_id is None else [task.text_id])
            if not is_next:
                yield number, task
        if several:
            bad_rows.note(
                f"Texts of {path.name!r} that were annotated several times: {several:,}. The "
                "answer marked as ground truth is read, or else the first."
            )

    rows = all_rows()
    if not known:  # none of the first rows has an answer, but others may have
        ahead = first_items(rows, lambda pair: len(str(pair[1])), FIRST)
        known, rows = [task for _, task in ahead], chain(ahead, rows)
    questions = {name: name for task in known for name in task.answers}
    questions = dict.fromkeys(questions, "label") if len(questions) == 1 else questions
    fields = dict.fromkeys(name for task in known for name in task.fields)
    names = [name for name in fields if name not in questions.values()]
    # A question with one answer to each text has it as such, and not as a list of one.
    single = {
        name for name in questions if all(_is_single(task.answers.get(name)) for task in known)
    }

    def answer(task: _Answered, name: str) -> Any:
        given = task.answers.get(name, [])
        is_one = name in single and isinstance(given, list) and len(given) < 2
        return next(iter(given), "") if is_one else given

    def cells(task: _Answered) -> list[Any]:
        answers = [answer(task, name) for name in questions]
        return [*(task.fields.get(name) for name in names), *answers]

    columns = (*names, *questions.values()) or ("text", "label")
    plain = (Row(number, cells(task)) for number, task in rows)
    return replace(table, columns=columns, rows=plain, first=tuple(map(cells, known)))


def _is_single(answer: Any) -> bool:
    items = [] if answer is None else listed(answer)
    return isinstance(items, list) and len(items) < 2 and not are_spans(items)


# ---- the tools ----


def _tool(names: set[str], first: Sequence[_Row], label: str | None, path: Path) -> _Read | None:
    """Return what reads the rows of a table, if they are those of an annotation tool."""
    of_studio = names & {"annotations", "completions", "predictions"}
    if of_studio and any(_dict(row.get("data")) or _results(row) for row in first):
        return _of_label_studio
    if {"annotations", "annotation_approver"} <= names:
        return _of_doccano
    answers = {as_text(row.get("answer")) for row in first} - {""}
    has_more = any(name.startswith("_") or name in _OF_PRODIGY for name in names)
    if answers and answers <= {"accept", "reject", "ignore"} and has_more:
        return _of_prodigy
    if {"fields", "responses"} <= names and any(_dict(row["responses"]) for row in first):
        return _of_argilla
    of_rubrix = names & {"annotation_agent", "inputs"} or {"prediction", "status"} <= names
    is_argilla = {"fields", "responses"} <= names or any(n.endswith(".responses") for n in names)
    refused = {
        "Label Studio's CSV or JSON-MIN, which leave out what an empty cell means. Export the "
        "tasks as JSON": "annotator" in names and names & {"annotation_id", "lead_time"},
        f"a form of LightTag that is not read. {_WRITE}": "content" in names
        and names & {"seen_by", "classifications"},
        f"a form of Argilla that is not read. {_WRITE}": is_argilla
        or ("annotation" in names and of_rubrix),
    }
    if what := next((what for what, is_so in refused.items() if is_so), ""):
        raise ValueError(f"{str(path)!r} is {what}.")
    questions = [name for name in names if normal(name) == "question"]
    if any(_dict(row.get(name)) for name in questions for row in first):
        return _of_arc
    if len(names) == 2 and any(
        _dict([None, *row.values()][-1]).keys() & _OF_SPACY for row in first
    ):
        return _of_pair
    aside = {name for name in names if name == "status" or _ASIDE.fullmatch(normal(name))} - {label}
    has_label = find([*names - aside], LABELS) is not None
    return _but_aside(aside) if aside and has_label else None


def _dict(value: Any) -> _Row:
    parsed = listed(value)
    return parsed if isinstance(parsed, Mapping) else {}


def _list(value: Any) -> list[Any]:
    parsed = listed(value)
    return parsed if isinstance(parsed, list) else []


def _results(task: _Row) -> list[_Row]:
    """Return the annotations of a task of Label Studio."""
    made = [*_list(task.get("annotations")), *_list(task.get("completions"))]
    return [
        annotation
        for annotation in map(_dict, made)
        if isinstance(listed(annotation.get("result")), list)
    ]


def _of_label_studio(task: _Row) -> _Answered:
    made = _results(task)
    done = [task for task in made if not (task.get("was_cancelled") or task.get("skipped"))]
    if not done:
        raise UnansweredError("cancelled" if made else _NOBODY)
    answers: dict[str, list[Any]] = {}
    read = next((annotation for annotation in done if annotation.get("ground_truth")), done[0])
    for item in _list(read["result"]):
        if not isinstance(item, Mapping):
            raise ValueError(f"{str(item)[:40]!r} in place of an annotation")
        value, name = _dict(item.get("value")), str(item.get("from_name") or "label")
        is_mark = not value.keys().isdisjoint({"labels", "hypertextlabels"})
        marks = [item] if is_mark else [] if "start" in value else _of_a_text(value)
        answers[name] = [*answers.get(name, []), *(marks or [])]
    answers = {name: marks for name, marks in answers.items() if marks or len(answers) == 1}
    data = _dict(task.get("data")) or {"text": task.get("data") or task.get("text")}
    return _Answered({"id": task.get("id"), **data}, answers, len(done) > 1)


def _of_a_text(value: _Row) -> list[Any] | None:
    """Return the labels, or the number, that Label Studio has of a text; None without any."""
    said = next((value[key] for key in _OF_A_TEXT if key in value), None)
    items = said if isinstance(said, list) else [said]
    paths = ["/".join(map(str, item)) if isinstance(item, list) else item for item in items]
    return None if said is None else paths


def _of_doccano(row: _Row) -> _Answered:
    marks = _list(row["annotations"])
    if not marks and row.get("annotation_approver") is None:
        raise UnansweredError(_NOBODY)
    marks = [mark if "start_offset" in _dict(mark) else _dict(mark).get("label") for mark in marks]
    return _Answered({name: row[name] for name in row if name != "annotations"}, {"label": marks})


def _of_prodigy(row: _Row) -> _Answered:
    answer = as_text(row.get("answer"))
    if answer != "accept":
        said = {"reject": "rejected", "ignore": "ignored"}
        raise UnansweredError(said.get(answer, _NOBODY))
    fields = {name: row[name] for name in row if name not in ("answer", *_OF_PRODIGY)}
    label = row.get("accept") if row.get("accept") is not None else row.get("label")
    answers = {"label": label, "spans": row.get("spans")}
    answers = {name: answered for name, answered in answers.items() if answered is not None}
    return _Answered(fields, answers, False, as_text(row.get("_task_hash")) or None)


def _of_argilla(record: _Row) -> _Answered:
    """Read a record of Argilla 2."""
    answers: dict[str, list[Any]] = {}
    is_aside = as_text(record.get("status")).casefold() == "discarded"
    for name, given in _dict(record["responses"]).items():
        for response in map(_dict, _list(given)):
            state = as_text(response.get("status")).casefold()
            is_aside |= state == "discarded"
            if state in ("", "submitted"):
                answers.setdefault(name, []).append(response.get("value"))
    if not answers or as_text(record.get("status")).casefold() == "discarded":
        raise UnansweredError("discarded" if is_aside else _NOBODY)
    first = {name: values[0] for name, values in answers.items()}
    fields = {"id": record.get("id"), **_dict(record["fields"])}
    return _Answered(fields, first, max(map(len, answers.values())) > 1)


def _of_arc(row: _Row) -> _Answered:
    """Read ARC's question, an object with its stem and its choices."""
    inner = next(_dict(row[name]) for name in row if normal(name) == "question")
    others = {name: cell for name, cell in row.items() if normal(name) != "question"}
    return _Answered({**others, **inner}, {})


def _of_pair(row: _Row) -> _Answered:
    text, marks = [*row.values(), None, None][:2]
    if not _dict(marks):
        raise UnansweredError(_NOBODY)
    return _Answered({"text": text}, _dict(marks))


def _but_aside(names: set[str]) -> _Read:
    """Return what reads rows that have a column for those that were put aside."""

    def read(row: _Row) -> _Answered:
        for name in names & row.keys():
            said = as_text(row[name]).casefold()
            is_state = name != "status" and said in ("true", "1", "1.0", "yes")
            if is_state or (name == "status" and _ASIDE.fullmatch(said)):
                raise UnansweredError(said if name == "status" else normal(name).split("_")[-1])
        return _Answered(row, {})

    return read
