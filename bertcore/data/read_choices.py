"""Multiple choice: a text, several choices such as endings, and the right one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.cells import UNLABELLED, as_text, label_text, listed
from bertcore.data.columns import find_column
from bertcore.data.examples import ChoiceExample
from bertcore.data.exports import UnansweredError, examples_of, open_rows
from bertcore.data.files import BadRows, listed_columns
from bertcore.data.tables import always
from bertcore.data.usual_columns import find, normal

TEXTS = tuple(
    "sent1 ctx article context passage premise goal question_stem stem question sentence".split()
)
"""Usual names of the text, the likeliest first: of SWAG, HellaSwag, RACE, CosmosQA, COPA, PIQA,
OpenBookQA, ARC, WinoGrande."""
STARTS = ("sent2", "question")
"""Of what begins each choice."""
LISTS = ("endings", "choices", "options")
"""Of a list of all choices, or an object of their texts and names."""
ANSWERS = ("label", "answerkey", "answer", "answers", "gold")
"""Of the right choice: its number, its letter or its name."""
_NUMBERED = re.compile(r"(ending|choice|option|sol|answer)_?([0-9]|[a-h])")
"""Columns of one choice each."""
_LETTERS = "abcdefgh"
_COUNTS = ("0123456789", "123456789", _LETTERS)


class _Places(NamedTuple):
    """The columns of a table."""

    choices: tuple[str, ...]
    """One with all of them, or one for each."""
    text: str
    start: str | None
    answer: str


def has_choices(names: Sequence[str]) -> bool:
    """Return whether the columns of a table are those of multiple choice."""
    return bool(_choices(names)) and None not in (find(names, TEXTS), find(names, ANSWERS))


def read_choices(
    path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[ChoiceExample]:
    """Yield the examples of a table of choices: of SWAG, HellaSwag, ARC, RACE and their like.

    The choices are columns such as ending0, ending1, ..., or a list in one. What stands in sent2,
    or in a question beside another text, begins each choice, as in SWAG. The right one is named by
    its letter, its own name, or its number, from 1 where the first rows have no 0 but the last.

    Args:
        path: As for `open_table`.
        columns: Other names of the text, of what begins the choices (`text_pair`) and of the right
            one (`label`).
        bad_rows: Collects rows that cannot be used.

    ValueError if a column is missing, or there are fewer than two choices.
    """
    with open_rows(path, bad_rows, has_header=always) as table:
        first = [dict(zip(table.columns, cells, strict=False)) for cells in table.first]
        places = _find(table.columns, columns, path)
        start = _first_number(first, places)
        if start is None:
            bad_rows.note(
                f"No right choice of {path.name!r} is the first, or the last counted from 1, so "
                "they are taken to be counted from 0."
            )
        elif start:
            bad_rows.note(f"Right choices of {path.name!r} are counted from 1.")

        def read(cells: Sequence[Any], row: int) -> Iterator[ChoiceExample]:
            for part in _questions(dict(zip(table.columns, cells, strict=False)), places):
                yield _example(part, places, start or 0, row)

        yield from examples_of(table, path, bad_rows, read)


def _choices(names: Sequence[str]) -> tuple[str, ...]:
    """Return the column of all choices, or those of one each; () if there are none."""
    one = find(names, LISTS)
    if one is not None:
        return (names[one],)
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        if found := _NUMBERED.fullmatch(normal(name)):
            groups.setdefault(found[1], {})[found[2]] = name
    for group in groups.values():
        signs = "".join(sorted(group))
        if len(signs) > 1 and any(way.startswith(signs) for way in _COUNTS):
            return tuple(group[sign] for sign in signs)
    return ()


def _find(names: Sequence[str], wanted: Columns, path: Path) -> _Places:
    """Return the columns; ValueError if one is missing."""

    def place(
        name: str | None, usual: Sequence[str], option: str, taken: Sequence[str | None]
    ) -> str | None:
        if name is not None:
            return names[find_column(names, name, option, path)]
        free = [one for one in names if one not in taken]
        found = find(free, usual)
        return None if found is None else free[found]

    choices = _choices(names)
    answer = place(wanted.label, ANSWERS, "--label", choices)
    text = place(wanted.text, TEXTS, "--text", (*choices, answer, wanted.text_pair))
    start = place(wanted.text_pair, STARTS, "--text-pair", (*choices, answer, text))
    if not choices or text is None or answer is None:
        lacking = "text (--text)" if choices and text is None else "right one (--label)"
        lacking = lacking if choices else "choices: ending0, ending1, ..., or a list called endings"
        raise ValueError(
            f"{str(path)!r} has no column with a usual name for the {lacking}; it has "
            f"{listed_columns(names)}. Multiple choice is read in the forms of SWAG, HellaSwag, "
            "ARC and RACE."
        )
    return _Places(choices, text, start, answer)


def _first_number(rows: Sequence[Mapping[str, Any]], places: _Places) -> int | None:
    """Return the number of a first choice, 0 or 1; None if the right ones of all rows fit both."""
    answers = set()
    most = 0
    for row in rows:
        for part in _questions(row, places):
            texts, own = _listed_choices(part, places)
            answer = label_text(as_text(part.get(places.answer)))
            if answer.isdecimal() and answer not in own:
                answers.add(answer)
                most = max(most, len(texts))
    if "0" in answers or not answers:
        return 0
    return 1 if str(most) in answers else None


def _questions(row: Mapping[str, Any], places: _Places) -> Iterator[Mapping[str, Any]]:
    """Yield a row, or of RACE's articles with several questions a row for each."""
    options, answers = (listed(row.get(name)) for name in (places.choices[0], places.answer))
    questions = row.get("questions")
    if not isinstance(answers, list) or not isinstance(options, list):
        yield row
        return
    asked = questions if isinstance(questions, list) else [""] * len(answers)
    for question, choices, answer in zip(asked, options, answers, strict=False):
        start = places.start or "question"
        yield {**row, start: question, places.choices[0]: choices, places.answer: answer}


def _listed_choices(row: Mapping[str, Any], places: _Places) -> tuple[list[str], list[str]]:
    """Return the texts of the choices, and their own names or []."""
    if len(places.choices) > 1:
        return [as_text(row.get(name)) for name in places.choices], []
    found = listed(row.get(places.choices[0]))
    if isinstance(found, Mapping):
        texts, names = (found.get(name) for name in ("text", "label"))
        found = texts
    else:
        objects = found if isinstance(found, list) else []
        are_objects = bool(objects) and all(isinstance(one, Mapping) for one in objects)
        names = [one.get("label") for one in objects] if are_objects else None
        found = [one.get("text") for one in objects] if are_objects else found
    texts = found if isinstance(found, list) else []
    own = names if isinstance(names, list) and len(names) == len(texts) else []
    return [as_text(one) for one in texts], [as_text(one) for one in own]


def _example(row: Mapping[str, Any], places: _Places, start: int, row_number: int) -> ChoiceExample:
    """Return the example of a row.

    ValueError if it has none; the message is a phrase. UnansweredError if nobody chose.
    """
    texts, own = _listed_choices(row, places)
    answer = label_text(as_text(row.get(places.answer)))
    if not answer or (answer in UNLABELLED and answer not in own):
        raise UnansweredError(answer)
    start_at = places.start or ("question" if "questions" in row else "")
    begin = as_text(row.get(start_at))
    choices = [f"{begin} {text}".strip() for text in texts]
    if len(choices) < 2:
        raise ValueError(f"{len(choices)} choices in column {places.choices[0]!r}; expected two")
    if not all(texts if begin else choices):
        raise ValueError("an empty choice")
    numbers = [str(i + start) for i in range(len(choices))]
    names = [[one.casefold() for one in own], numbers, [*_LETTERS[: len(choices)]]]
    right = next((one.index(answer.casefold()) for one in names if answer.casefold() in one), None)
    if right is None:
        raise ValueError(
            f"the answer {answer[:40]!r}; expected a number from {start} to "
            f"{len(choices) - 1 + start}, or a letter"
        )
    return ChoiceExample(as_text(row.get(places.text)), choices, right, row_number)
