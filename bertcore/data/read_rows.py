"""Rows of a table as examples: texts with labels or scores, multiple choice, and questions."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.cells import (
    SEPARATOR,
    TRUTH,
    UNLABELLED,
    ListForm,
    as_text,
    check_once,
    decimal_sign,
    flags,
    joined_labels,
    label_text,
    labels_of,
    listed,
    number_text,
    one_text,
)
from bertcore.data.columns import (
    LABEL_LISTS,
    PAIRS,
    TextForm,
    column_place,
    find,
    find_column,
    flag_columns,
    glue_form,
    likely_label,
    likely_pair,
    likely_text,
    none_likely,
    normal,
    summarize,
    text_header,
)
from bertcore.data.examples import ChoiceExample, LabelsExample, QuestionExample, TextExample
from bertcore.data.exports import UnansweredError, examples_of, open_rows
from bertcore.data.files import BadRows, listed_columns
from bertcore.data.tables import Table, always

# ---- texts ----

LARGEST_SCORE = 3.4e38
"""About what float32 holds."""
_LOOK_AT_ROWS = 20_000
"""Rows that decide how a column lists labels."""


def read_texts(
    path: Path, *, form: TextForm, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[TextExample | LabelsExample]:
    """Yield the examples of a table one by one.

    GLUE's files without column names are recognised by their format: CoLA (source, label, mark,
    sentence) and STS-B (genre, file, year, index, score, sentence 1, sentence 2). In other tables a
    column that is not named is the first with a usual name, or else the likely one by the content
    of the first rows, of which a note is left.

    A column of several labels lists them: separated by |, as numbers with commas, as a list of
    JSON, Python or numpy, or as an object of labels with 0 or 1; or it has a 0 or 1 for each label
    by its number.
    An empty cell or list is a text without a label. Or they are columns of 0 and 1, by name or
    number, separated by commas: toxic,insult,threat. Texts with -1, NaN or null there were not
    labelled: they are left out, and counted.

    ValueError if a column is missing (the message lists the columns), the file cannot be read, or
    no row of several labels has one.
    """
    header = text_header(columns)
    lists = ListForm()
    if form.answer == "labels":
        with open_rows(path, BadRows(skip=True), has_header=header, label=columns.label) as table:
            lists = _list_form(table, choose(table, path, form, columns, BadRows()), path)
        if lists.separator != SEPARATOR:
            bad_rows.note(f"Labels of a text are separated by {lists.separator!r}.")
    num, has_labels = 0, False
    with open_rows(path, bad_rows, has_header=header, label=columns.label) as table:
        places = choose(table, path, form, columns, bad_rows)
        table.use(places.text, places.pair, *places.labels)
        for example in examples_of(table, path, bad_rows, _text_reader(table, form, places, lists)):
            num, has_labels = num + 1, has_labels or any(example.labels)
            yield example
    if form.answer == "labels" and num and not has_labels:
        names = [table.columns[place] for place in places.labels]
        raise ValueError(
            f"no row of {str(path)!r} has a label (column {listed_columns(names)}). Check the "
            "column."
        )


class Places(NamedTuple):
    """The columns that are read, from 0."""

    text: int
    pair: int
    """Of the second text; -1: none."""
    labels: tuple[int, ...]
    """That of the label, score or list; or those of 0 and 1 that are a label each."""


def choose(table: Table, path: Path, form: TextForm, wanted: Columns, bad_rows: BadRows) -> Places:
    """Return the columns of a table that a task reads: `wanted` ones, or likely ones.

    ValueError if a column is missing (the message lists the columns), or none is likely.
    """
    names = table.columns
    if not table.has_header and not (wanted.text or wanted.text_pair or wanted.label):
        glue = glue_form([str(cell).strip() for cell in next(iter(table.first), ())])
        if glue and glue == form.headerless:
            return Places(3, -1, (1,)) if glue == "CoLA" else Places(5, 6, (4,))
        if glue and form.answer != "labels":
            what = "single sentences" if glue == "CoLA" else "pairs with scores"
            raise ValueError(
                f"{str(path)!r} contains {what}, which the task {form.task!r} cannot use."
            )

    def place(name: str | None, option: str) -> int:
        return -1 if name is None else find_column(names, name, option, path)

    text, pair = place(wanted.text, "--text"), place(wanted.text_pair, "--text-pair")
    labels = _wanted_labels(names, wanted.label, path)
    summary = summarize(names, [[as_text(cell) for cell in row] for row in table.first])
    if text < 0 and pair < 0 and form.looks_for_pair:
        usual = likely_pair([name for i, name in enumerate(names) if i not in labels])
        if usual is not None:
            text, pair = (column_place(names, name, path) for name in usual)

    def pick(what: Literal["text", "label"], taken: Collection[int], option: str) -> int:
        free = [column for i, column in enumerate(summary) if i not in taken]
        name, is_named = likely_label(free, form)
        if what == "text":
            name, is_named = likely_text(free, None if labels else name)
        if name is None:
            raise none_likely(names, path, what, option)
        if not is_named:
            bad_rows.note(
                f"The {what} of {path.name!r} is column {name[:40]!r}, by its content. To choose "
                f"another one: {option.partition(',')[0]}."
            )
        return column_place(names, name, path)

    text = text if text >= 0 else pick("text", {pair, *labels}, "--text")
    if pair < 0 and form.needs_pair:
        seconds = [second for _, second in PAIRS if find((names[text],), (second,)) is None]
        second_at = find(names, seconds)
        if second_at is None:
            raise none_likely(names, path, "second text", "--text-pair")
        pair = column_place(names, names[second_at], path)
    option = "--label"
    if not labels and form.answer == "labels":
        option += ", or name the columns of 0 and 1 there, separated by commas"
        free = [column for i, column in enumerate(summary) if i not in (text, pair)]
        flags = flag_columns(free)
        if len(flags) > 1 and find([column.name for column in free], LABEL_LISTS) is None:
            bad_rows.note(
                f"The labels of {path.name!r} are its {len(flags)} columns of 0 and 1, "
                f"{listed_columns(flags)}. To choose others: --label."
            )
            labels = tuple(column_place(names, name, path) for name in flags)
    return Places(text, pair, labels or (pick("label", {text, pair}, option),))


def _wanted_labels(names: Sequence[str], label: str | None, path: Path) -> tuple[int, ...]:
    if label is None:
        return ()
    parts = [label] if label in names else [part.strip() for part in label.split(",")]
    try:
        check_once(parts)
    except ValueError as error:
        raise ValueError(f"--label names {error}. Name each column once.") from error
    return tuple(find_column(names, name, "--label", path) for name in parts)


def _list_form(table: Table, places: Places, path: Path) -> ListForm:
    place, *more = places.labels
    rows = (row.cells for row in islice(table.rows, _LOOK_AT_ROWS))
    first = [cells[place] for cells in rows if len(cells) > place]
    if normal(table.columns[place]) == "label" and {"yes", "no"}.issuperset(map(as_text, first)):
        return ListForm()  # the names of two labels, since "label" is the name of none
    form = ListForm(is_flag=True) if more else ListForm.of(first)
    joined = joined_labels({as_text(cell) for cell in first if listed(cell) is None})
    if form == ListForm() and joined is not None and SEPARATOR not in joined:
        raise ValueError(
            f"{str(path)!r} has labels such as {joined[:40]!r}. Write {SEPARATOR} between the "
            "labels of a text, or a list of JSON."
        )
    return form


def _text_reader(
    table: Table, form: TextForm, places: Places, lists: ListForm
) -> Callable[[Sequence[Any], int], Iterator[TextExample | LabelsExample]]:
    text_at, pair_at, labels_at = places
    names = [table.columns[place] for place in labels_at]
    needed = max(text_at, pair_at, *labels_at)
    firsts = [as_text(row[labels_at[0]]) for row in table.first if labels_at[0] < len(row)]
    sign = decimal_sign(firsts)

    def read(cells: Sequence[Any], row: int) -> Iterator[TextExample | LabelsExample]:
        if needed >= len(cells):
            raise ValueError(f"{len(cells)} cells")
        text = as_text(cells[text_at])
        pair = None if pair_at < 0 else as_text(cells[pair_at])
        answers = [cells[place] for place in labels_at]
        example: TextExample | LabelsExample
        if form.answer == "labels":
            labels = flags(names, answers) if lists.is_flag else labels_of(answers[0], lists)
            if labels is None:
                raise UnansweredError(as_text(answers[0]))
            example = LabelsExample(text, pair, labels.given, row, labels.asked)
        else:
            try:
                answer = one_text(answers[0])
            except ValueError as error:
                raise ValueError(f"{error} in column {names[0]!r}") from error
            score = form.answer == "score"
            answer = _score(answer, sign, names[0]) if score else label_text(answer)
            example = TextExample(text, pair, answer, row)
        if not text:
            raise ValueError(f"no text (column {table.columns[text_at]!r} is empty)")
        yield example

    return read


def _score(written: str, sign: str | None, name: str) -> str:
    if not label_text(written):
        raise UnansweredError(written)
    number = number_text(str(TRUTH.get(written.casefold(), written)), sign)
    if number is None or abs(float(number)) > LARGEST_SCORE:
        how = "" if sign == "." else ", with a point before its decimals"
        raise ValueError(
            f"the score {written[:40]!r} in column {name!r}; expected a number that float32 can "
            f"represent, without signs between thousands and without a unit{how}"
        )
    return number


# ---- multiple choice ----

CHOICE_TEXTS = tuple(
    "sent1 ctx article context passage premise goal question_stem stem question sentence".split()
)
"""Usual names of the text, the likeliest first: of SWAG, HellaSwag, RACE, CosmosQA, COPA, PIQA,
OpenBookQA, ARC, WinoGrande."""
_STARTS = ("sent2", "question")
"""Of what begins each choice."""
_LISTS = ("endings", "choices", "options")
"""Of a list of all choices, or an object of their texts and names."""
CHOICE_ANSWERS = ("label", "answerkey", "answer", "answers", "gold")
"""Of the right choice: its number, its letter or its name."""
_NUMBERED = re.compile(r"(ending|choice|option|sol|answer)_?([0-9]|[a-h])")
"""Columns of one choice each."""
_LETTERS = "abcdefgh"
_COUNTS = ("0123456789", "123456789", _LETTERS)


class _Choices(NamedTuple):
    """The columns of a table of choices."""

    choices: tuple[str, ...]
    """One with all of them, or one for each."""
    text: str
    start: str
    """"" for none."""
    answer: str


def has_choices(names: Sequence[str]) -> bool:
    """Return whether the columns of a table are those of multiple choice."""
    others = find(names, CHOICE_TEXTS), find(names, CHOICE_ANSWERS)
    return bool(_choice_columns(names)) and None not in others


def read_choices(
    path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[ChoiceExample]:
    """Yield the examples of a table of choices: of SWAG, HellaSwag, ARC, RACE and their like.

    The choices are columns such as ending0, ending1, ..., or a list in one. What stands in sent2,
    or in a question beside another text, begins each choice, as in SWAG. The right one is named by
    its letter, its own name, or its number, from 1 where the first rows have no 0 but the last.

    `columns` has other names of the text, of what begins the choices (`text_pair`) and of the right
    one (`label`). ValueError if a column is missing.
    """
    with open_rows(path, bad_rows, has_header=always) as table:
        places = _find_choices(table.columns, columns, path)
        first = [dict(zip(table.columns, cells, strict=False)) for cells in table.first]
        start = _first_number(first, places)
        if start is None:
            bad_rows.note(
                f"No right choice of {path.name!r} is the first, or the last counted from 1, so "
                "they are taken to be counted from 0."
            )
        elif start:
            bad_rows.note(f"Right choices of {path.name!r} are counted from 1.")

        def read(cells: Sequence[Any], row: int) -> Iterator[ChoiceExample]:
            fields = dict(zip(table.columns, cells, strict=False))
            yield _choice(fields, places, start or 0, row)

        yield from examples_of(table, path, bad_rows, read)


def _choice_columns(names: Sequence[str]) -> tuple[str, ...]:
    """Return the column of all choices, or those of one each; () if there are none."""
    list_at = find(names, _LISTS)
    if list_at is not None:
        return (names[list_at],)
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        if parts := _NUMBERED.fullmatch(normal(name)):
            groups.setdefault(parts[1], {})[parts[2]] = name
    for group in groups.values():
        signs = "".join(sorted(group))
        if len(signs) > 1 and any(way.startswith(signs) for way in _COUNTS):
            return tuple(group[sign] for sign in signs)
    return ()


def _find_choices(names: Sequence[str], wanted: Columns, path: Path) -> _Choices:
    choices = _choice_columns(names)
    if not choices:
        raise ValueError(
            f"{str(path)!r} has no columns of choices: ending0, ending1, ..., or a list called "
            f"endings; it has {listed_columns(names)}. Multiple choice is read in the forms of "
            "SWAG, HellaSwag, ARC and RACE."
        )
    taken = {*choices, wanted.text or "", wanted.text_pair or ""}

    def place(name: str | None, usual: Sequence[str], option: str, what: str) -> str:
        at = find_column(names, name, option, path, usual=usual, what=what, taken=taken)
        taken.add(names[at])
        return names[at]

    answer = place(wanted.label, CHOICE_ANSWERS, "--label", "right one")
    text = place(wanted.text, CHOICE_TEXTS, "--text", "text")
    has_start = find([name for name in names if name not in taken], _STARTS) is not None
    is_read = has_start or wanted.text_pair
    start = place(wanted.text_pair, _STARTS, "--text-pair", "question") if is_read else ""
    return _Choices(choices, text, start, answer)


def _first_number(rows: Sequence[Mapping[str, Any]], places: _Choices) -> int | None:
    """Return the number of a first choice, 0 or 1; None if the right ones of all rows fit both."""
    answers, most = set(), 0
    for row in rows:
        texts, own = _listed_choices(row, places)
        answer = label_text(as_text(row.get(places.answer)))
        if answer.isdecimal() and answer not in own:
            answers.add(answer)
            most = max(most, len(texts))
    return 0 if "0" in answers or not answers else 1 if str(most) in answers else None


def _listed_choices(row: Mapping[str, Any], places: _Choices) -> tuple[list[str], list[str]]:
    """Return the texts of the choices, and their own names or []."""
    if len(places.choices) > 1:
        return [as_text(row.get(name)) for name in places.choices], []
    names, texts = None, listed(row.get(places.choices[0]))
    if isinstance(texts, Mapping):
        names, texts = texts.get("label"), texts.get("text")
    elif isinstance(texts, list) and texts and all(isinstance(choice, Mapping) for choice in texts):
        names, texts = ([choice.get(key) for choice in texts] for key in ("label", "text"))
    texts = texts if isinstance(texts, list) else []
    own = names if isinstance(names, list) and len(names) == len(texts) else []
    return [*map(as_text, texts)], [*map(as_text, own)]


def _choice(row: Mapping[str, Any], places: _Choices, start: int, number: int) -> ChoiceExample:
    texts, own = _listed_choices(row, places)
    answer = label_text(as_text(row.get(places.answer)))
    if not answer or (answer in UNLABELLED and answer not in own):
        raise UnansweredError(answer)
    begin = as_text(row.get(places.start))
    choices = [f"{begin} {text}".strip() for text in texts]
    if isinstance(listed(row.get(places.answer)), list):
        raise ValueError("several questions, as RACE's own files; write a row for each")
    if len(choices) < 2:
        raise ValueError(f"{len(choices)} choices in column {places.choices[0]!r}; expected two")
    if not all(texts if begin else choices):
        raise ValueError("an empty choice")
    numbers = [str(i + start) for i in range(len(choices))]
    names = [[way.casefold() for way in own], numbers, [*_LETTERS[: len(choices)]]]
    right = next((way.index(answer.casefold()) for way in names if answer.casefold() in way), None)
    if right is None:
        raise ValueError(
            f"the answer {answer[:40]!r}; expected a number from {start} to "
            f"{len(choices) - 1 + start}, or a letter"
        )
    return ChoiceExample(as_text(row.get(places.text)), choices, right, number)


# ---- questions ----

_ANSWERS = ("answers", "answer", "answer_text", "text")
"""Fields with the answers of a question; the first that a row has."""


def has_questions(columns: Sequence[str]) -> bool:
    """Return whether the columns of a table, or of a list of articles, are those of SQuAD."""
    names = set(columns)
    is_flat = {"question", "context"} <= names and bool(names & {*_ANSWERS, "answer_start"})
    return is_flat or "paragraphs" in names or {"qas", "context"} <= names


def read_questions(path: Path, *, bad_rows: BadRows) -> Iterator[QuestionExample]:
    """Yield the questions of a file; one without an answer in the text has answers [].

    It has SQuAD's articles with paragraphs, as one value of JSON or an object a line; or a row for
    each question as in `datasets` (question, context, answers: JSON, Parquet, CSV). A question
    whose answer is not at the place stated is a bad row.

    ValueError if the file is not in this format.
    """
    for fields, number in _questions(path, bad_rows):
        try:
            yield _question(fields, number)
        except ValueError as error:
            name = str(fields.get("id", number))[:60]
            bad_rows.add(f"question {name!r} of {str(path)!r} has {error}.")


def _question(fields: Mapping[str, Any], number: int) -> QuestionExample:
    question, context = fields.get("question"), fields.get("context")
    if not isinstance(question, str) or not question.strip():
        raise ValueError("no question")
    if not isinstance(context, str):
        raise ValueError("no text (context)")
    if not fields.keys() & {"is_impossible", *_ANSWERS}:
        raise ValueError("no answers")
    is_impossible = as_text(fields.get("is_impossible")).casefold() in ("true", "1", "1.0", "yes")
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


def _questions(path: Path, bad_rows: BadRows) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield the fields of each question, those of its article and paragraph too, and its number."""
    number = 0
    with open_rows(path, bad_rows) as table:
        if {"header", "detected_answers"} & {*table.columns}:
            raise ValueError(
                f"{str(path)!r} is of MRQA, whose answers are not read. Write SQuAD's format, "
                "with the text and answer_start of each answer."
            )
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
        yield whole
        return
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict):
            yield {**whole, **part}


def _answers(fields: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    """Yield text and start of each answer, maybe an empty one; its start is None if unknown."""
    given = next((fields[name] for name in _ANSWERS if not _is_empty(fields.get(name))), None)
    given = given if (parsed := listed(given)) is None else parsed
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
        text, start = answer.get("text"), as_text(answer.get("answer_start")).removesuffix(".0")
        is_place = start.isdecimal() and len(start) < 16
        yield "" if text is None else str(text), int(start) if is_place else None


def _is_empty(value: Any) -> bool:
    """Return whether a value is what tools write for no answer."""
    return value in ([], {}) or as_text(value) == "None" or not label_text(as_text(value))
