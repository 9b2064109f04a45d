"""Which columns of a table hold texts, labels and numbers: by their names, or their content."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bertcore.configs.columns import Columns
from bertcore.data.cells import (
    NO,
    SEPARATOR,
    YES,
    ListForm,
    are_spans,
    is_amount,
    is_finite,
    label_text,
    labels_of,
    list_separator,
)
from bertcore.data.files import listed_columns

TEXTS = tuple(
    (
        "sentence text content review comment_text review_text reviewtext review_body tweet "
        "tweet_text message comment sentence1 sentence_a text_a body document article passage post "
        "utterance query question_text description question headline title summary v2"
    ).split()
)
"""Usual names of a text, the likeliest first; `normal` of what stands in files."""
PAIRS = (
    ("sentence1", "sentence2"),  # MRPC, RTE, STS-B, WNLI, MNLI in GLUE
    ("question1", "question2"),  # QQP
    ("question", "sentence"),  # QNLI
    ("premise", "hypothesis"),
    ("#1_string", "#2_string"),  # MRPC as Microsoft published it
    ("sentence_a", "sentence_b"),  # SICK
    ("sentence_1", "sentence_2"),
    ("text", "text_pair"),
    ("text_a", "text_b"),
    ("text1", "text2"),
    ("question", "passage"),  # BoolQ
    ("query", "passage"),
)
"""Usual names of two texts."""
LABELS = tuple(
    (
        "label labels gold_label quality is_duplicate entailment_label class category sentiment "
        "airline_sentiment target class_index rating stars star_rating overall intent topic "
        "polarity emotion tag answer y category_id label_text sense gold v1 cats annotation"
    ).split()
)
"""Usual names of a label."""
SCORES = ("score", "label", "relatedness_score", "similarity", "relatedness", "grade", "value")
"""Usual names of a number."""
_ARE_NAMES = frozenset((*TEXTS, *LABELS, *(name for pair in PAIRS for name in pair))) - frozenset(
    (
        "y answer question title summary overall tag topic body description quality cats annotation"
    ).split()
)
"""Names that are no cell of a row of data."""
_LONGEST_USUAL = 100
"""Characters of a name that is compared with them: it may have some millions."""
MOST_CLASSES = 50
"""Different values of a column that is taken for labels by its content."""


HasHeader = Callable[[Sequence[str]], bool | None]
"""Called with the cells of the first line; returns whether they are names, or None where the rows
below decide."""


def normal(name: str) -> str:
    """Return a name as the lists above have it; one that is too long for them as it is."""
    if len(name) > _LONGEST_USUAL:
        return name
    return re.sub(r"[\s\-]+", "_", name.strip()).casefold()


def find(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Return the place of the first name that is one of those wanted, whatever its case."""
    places = {normal(name): place for place, name in reversed([*enumerate(names)])}
    return next((places[name] for name in map(normal, wanted) if name in places), None)


@dataclass(frozen=True, slots=True)
class Column:
    """The content of one column in the first rows."""

    name: str
    """Its name, or its number from 1 where the file has no names."""
    num_filled: int
    counts: Counter[str]
    """Of each value."""
    mean_length: float
    """Characters."""
    is_number: bool
    """Whether every filled cell is a finite number."""
    is_whole: bool
    """Whether every filled cell is an integer."""

    @property
    def may_be_label(self) -> bool:
        """Whether it has few values, each several times."""
        return 2 <= len(self.counts) <= min(MOST_CLASSES, self.num_filled // 2)


def summarize(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    summaries = []
    for place, name in enumerate(columns):
        filled = [row[place] for row in rows if place < len(row) and row[place]]
        mean = sum(map(len, filled)) / max(1, len(filled))
        counts = Counter(filled)
        are_numbers = bool(filled) and all(map(is_amount, counts))
        are_whole = are_numbers and all(is_finite(c) and float(c).is_integer() for c in counts)
        summaries.append(Column(name, len(filled), counts, mean, are_numbers, are_whole))
    return tuple(summaries)


def are_names(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool | None:
    """Return whether the first row of a table has the names of its columns.

    True if one is a usual name, or they number the columns, as of pandas; False if the row recurs
    below, or one of its cells in a column of few values, or is a number in one of numbers; None if
    nothing of it is so.
    """
    if has_usual_name(head) or (len(head) > 1 and list(head) == [*map(str, range(len(head)))]):
        return True
    body = [list(map(str, row)) for row in rows if len(row) == len(head)]
    if list(head) in body:
        return False
    for cell, column in zip(head, summarize(head, body), strict=True):
        recurs = column.may_be_label and column.counts[cell] > 1
        if recurs or (column.is_number and is_amount(cell)):
            return False
    return None


def has_usual_name(cells: Sequence[str]) -> bool:
    """Return whether one of the cells of a first row is the usual name of a column."""
    return any(normal(cell) in _ARE_NAMES for cell in cells)


LABEL_LISTS = ("labels", *LABELS, "tags")
"""Usual names of a column of labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextForm:
    """The fields a task reads from each row of a table."""

    task: str
    """Its name, for messages."""
    headerless: Literal["CoLA", "STS-B"] | None = None
    """GLUE's form without column names that it reads."""
    answer: Literal["label", "labels", "score"] = "label"
    looks_for_pair: bool = False
    """Whether two columns with usual names for a pair are both read."""
    needs_pair: bool = False
    """Whether a table without a second text is refused."""

    @property
    def usual(self) -> tuple[str, ...]:
        """Usual names of the column of answers, the likeliest first."""
        if self.answer == "labels":
            return LABEL_LISTS
        return (*SCORES, *LABELS) if self.answer == "score" else (*LABELS, *SCORES)


# ---- by name and content ----


def likely_label(columns: Sequence[Column], form: TextForm) -> tuple[str | None, bool]:
    """Return the likely column of answers, and whether its name says so."""
    plain = [column for column in columns if not _has_spans(column)]
    for among in (plain, columns):  # spans beside labels are another task's
        place = find([column.name for column in among], form.usual)
        if place is not None:
            return among[place].name, True
    fit = [column for column in columns if _may_be_answer(column, form)]
    best = min(fit, key=lambda column: (column.mean_length, len(column.counts)), default=None)
    return None if best is None else best.name, False


def likely_text(columns: Sequence[Column], label: str | None = None) -> tuple[str | None, bool]:
    """Return the likely column of texts, and whether its name says so.

    The column of answers, `label`, is none of texts unless its name says so.
    """
    place = find([column.name for column in columns], TEXTS)
    if place is not None and not columns[place].is_number:
        return columns[place].name, True
    texts = [
        column
        for column in columns
        if column.num_filled and not column.is_number and column.name != label
    ]
    # One long word a cell is a key, a hash or a link.
    texts = [
        column
        for column in texts
        if not all(c.isascii() and len(c.split()) == 1 for c in column.counts)
    ] or texts
    best = max(texts, key=lambda column: column.mean_length, default=None)
    return None if best is None else best.name, False


def likely_pair(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the columns of two texts with usual names."""
    places = ((find(names, (first,)), find(names, (second,))) for first, second in PAIRS)
    both = ((names[a], names[b]) for a, b in places if a is not None and b is not None)
    return next(both, None)


def flag_columns(columns: Sequence[Column]) -> list[str]:
    """Return the names of the columns that say yes or no to a label each, with 0 and 1 or words.

    If some have numbers and some words, they are the more numerous ones.
    """
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for column in columns:
        if column.counts and {label_text(v).lower() for v in column.counts} <= YES | NO:
            kinds[column.is_number].append(column.name)
    return max(kinds.values(), key=len)


def lists_labels(column: Column) -> bool:
    """Return whether cells list few labels, as JSON and the like or with a sign between them."""
    separator = None if are_decimals(column) else list_separator(column.counts)
    form = ListForm(separator=separator or SEPARATOR)
    try:
        said = [labels_of(cell, form) for cell in column.counts]
    except ValueError:
        return False
    labels = {name for cell in said if cell for name in cell.asked or cell.given}
    are_few = separator != "," or len(labels) <= len(column.counts)
    is_list = separator is not None or any(cell[:1] in ("[", "{") for cell in column.counts)
    return is_list and are_few and 2 <= len(labels) <= MOST_CLASSES


def are_decimals(column: Column) -> bool:
    """Return whether commas stand before decimals, as in 2,5, and not between labels 2 and 5."""
    pairs = [re.fullmatch(r"(\d+),(\d+)", cell) for cell in column.counts if "," in cell]
    name = normal(column.name)
    if not column.is_number or not pairs or name in ("labels", "tags"):
        return False
    are_all = len(pairs) == len(column.counts) or (name in SCORES and name != "label")
    # Numbers of labels stand in their order: 2,27.
    return are_all or any(pair is None or int(pair[1]) >= int(pair[2]) for pair in pairs)


def is_score(column: Column) -> bool:
    """Return whether numbers are an amount rather than the names of classes."""
    is_called_so = normal(column.name) in SCORES and normal(column.name) != "label"
    is_amount = is_called_so or not column.is_whole or len(column.counts) > MOST_CLASSES
    return column.is_number and is_amount


def _has_spans(column: Column) -> bool:
    return any(cell[:1] in "[{" and are_spans(cell) for cell in [*column.counts][:20])


def _may_be_answer(column: Column, form: TextForm) -> bool:
    if form.answer != "score":
        return column.may_be_label
    return column.is_number and not (column.is_whole and len(column.counts) == column.num_filled)


# ---- of a table ----


def text_header(columns: Columns) -> HasHeader:
    """Return a function that decides whether the first line of a table of texts is a header."""
    labels = [] if columns.label is None else [part.strip() for part in columns.label.split(",")]
    named = [name for name in (columns.text, columns.text_pair, *labels) if name]

    def has_header(cells: Sequence[str]) -> bool | None:
        cells = [cell.strip() for cell in cells]
        if not named:
            return False if glue_form(cells) else None
        has_all = {*cells}.issuperset(named)
        return has_all or not all(map(str.isdecimal, named)) or has_usual_name(cells)

    return has_header


def glue_form(cells: Sequence[str]) -> Literal["CoLA", "STS-B"] | None:
    """Return the data set of GLUE without a header that has a line of such cells."""
    if len(cells) == 4 and cells[1] in ("0", "1") and cells[2] in ("", "*"):
        return "CoLA"
    return "STS-B" if len(cells) >= 7 and cells[3].isdigit() and is_finite(cells[4]) else None


def find_column(
    names: Sequence[str],
    name: str | None,
    option: str,
    path: Path,
    *,
    usual: Sequence[str] = (),
    what: str = "",
    taken: Collection[str] = (),
) -> int:
    """Return the place of a column that was given by an option, by name or by number from 1.

    Without a name it is the first one that is usual for what it holds, and not taken.

    ValueError if there is none, or several have the name.
    """
    if name is None or name not in names:
        if name is not None and name.isdecimal() and 0 < int(name) <= len(names):
            return int(name) - 1
        free = [column for column in names if name is not None or column not in taken]
        place = find(free, usual if name is None else (name,))
        if place is None and name is not None:
            raise ValueError(
                f"{str(path)!r} has no column {name!r} for {option}; it has "
                f"{listed_columns(names)}."
            )
        if place is None:
            raise none_likely(names, path, what, option)
        name = free[place]
    return column_place(names, name, path)


def column_place(columns: Sequence[str], name: str, path: Path) -> int:
    """Return the place of a column, from 0; ValueError if two columns have that name."""
    places = [place for place, column in enumerate(columns) if column == name]
    if len(places) > 1:
        raise ValueError(
            f"{str(path)!r} has {len(places)} columns {name[:40]!r} "
            f"({' and '.join(str(place + 1) for place in places[:5])}), so it is not clear which "
            "one to read. Give each column its own name."
        )
    return places[0]


def none_likely(names: Sequence[str], path: Path, what: str, option: str) -> ValueError:
    """Return the error of a table in which no column has what a task needs."""
    if len(names) == 1:
        return ValueError(
            f"{str(path)!r} has one column, so there is none for the {what}: no tabs, semicolons, "
            "pipes or commas part its lines. Write a tab between text and label."
        )
    return ValueError(
        f"{str(path)!r} has no column with a usual name for the {what}; it has "
        f"{listed_columns(names)}. Name it with {option}."
    )
