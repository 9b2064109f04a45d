"""What a cell says: a text, a number, a label, a list or an object of labels, or marked spans."""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, NamedTuple

UNLABELLED = ("-1", "-100", "-")
"""Marks of examples without a label: of the hub's test splits, of PyTorch, and of SNLI."""
TRUTH = {"true": 1, "yes": 1, "y": 1, "t": 1, "false": 0, "no": 0, "n": 0, "f": 0}
YES, NO = frozenset({"1", "true", "yes"}), frozenset({"0", "false", "no"})
"""What a cell of 0 or 1 may hold, in lower case."""
NAMES = (
    "label labels type entity tag entity_group entity_type category classname displayName name"
).split()
"""Keys of the name of a label in an object that stands for one."""
_STARTS = ("start", "start_offset", "startOffset", "begin", "start_char", "offset")
_ENDS = ("end", "end_offset", "endOffset", "stop", "end_char")
SEPARATOR = "|"
"""Between the labels of a cell."""
_JOINED = re.compile(r"[|;,/+&#\n\t]|>\s*<| and ")
"""What people write between the labels of a cell."""
_NUMBERS = re.compile(r"-?\d{1,9}(, ?\d{1,9})*")
"""Numbers of labels."""
_LONGEST = 100_000
"""Characters of a cell that is parsed."""
_EMPTY = frozenset({"", "nan", "null", "<na>", "#n/a"})
"""Cells without a value, as pandas and spreadsheets write them, in lower case."""
_WHOLE = re.compile(r"\+?(-?(?:0|[1-9]\d{0,14}))(?:\.0+)?")
_STRING = re.compile(rb"""u?'(?:[^'\\]|\\.)*+'|u?"(?:[^"\\]|\\.)*+\"""")
_ARRAY = re.compile(r"\barray\((\[[^\]]*\])(?:,\s*dtype=\w+)?\)")
_ITEM = r"""'[^'\\]*'|"[^"\\]*"|-?\.?\d[\d.e+-]*"""
_NUMPY = re.compile(rf"\[(?:\s*+(?:{_ITEM})(?=[\s\]]))++\s*+\]")
"""A list with spaces between its items."""
_COMMA = re.compile(r"([+-]?\d{1,20}),(\d{1,20})")
_GROUPED = re.compile(
    r"[+\-\u2212]?[€$£]? ?\d{1,20}([., '\u2019\u00a0\u202f]\d{3})*([.,\u066b]\d{1,20})?\s?[%€$£]?"
)
"""A number in any country's notation, with its thousands or its unit."""


def as_text(value: Any) -> str:
    """Return a cell as text: JSON also has numbers, truth values and null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip()


def label_text(cell: str) -> str:
    """Return a label in one spelling, "" for a cell without a value.

    >>> label_text("1.0"), label_text("NaN"), label_text("B-PER")
    ('1', '', 'B-PER')
    """
    if cell.casefold() in _EMPTY:
        return ""
    whole = _WHOLE.fullmatch(cell)
    return whole[1] if whole else cell


def whole_number(text: str) -> int | None:
    """Return the integer that a text writes, such as 1 or 1.0; None for other text."""
    whole = _WHOLE.fullmatch(text)
    return int(whole[1]) if whole else None


# ---- lists and objects ----


def parsed_list(text: str) -> Any:
    """Return the list or object that a cell writes out; None if it is other text.

    >>> parsed_list('["a", "b"]'), parsed_list("['a', 'b']"), parsed_list("['a' 'b']")
    (['a', 'b'], ['a', 'b'], ['a', 'b'])
    >>> parsed_list("[(0, 4, 'PER')]"), parsed_list("[0 1 1]"), parsed_list("[0. 1.]")
    ([[0, 4, 'PER']], [0, 1, 1], [0.0, 1.0])
    >>> parsed_list("{'b', 'a'}"), parsed_list("{'text': array(['a'], dtype=object)}")
    (['b', 'a'], {'text': ['a']})
    >>> parsed_list("[CLS]"), parsed_list("a, b")
    (None, None)
    """
    text = text.strip()
    if text == "set()":
        return []
    if len(text) > _LONGEST or text[:1] + text[-1:] not in ("[]", "{}", "()"):
        return None
    value = None
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
    if value is None:
        if _NUMPY.fullmatch(text):
            text = f"[{', '.join(re.findall(_ITEM, text))}]"
        text = _ARRAY.sub(r"\1", text)
        try:
            tree, lines = ast.parse(text, mode="eval"), re.split("\r\n|\r|\n", text)
            value = _value(tree.body, [line.encode() for line in lines])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return value if isinstance(value, list | dict) else None


def _value(node: ast.expr | None, lines: Sequence[bytes]) -> Any:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(item, lines) for item in node.elts]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {str(_value(key, lines)): _value(value, lines) for key, value in pairs}
    if isinstance(node, ast.Name) and node.id == "nan":
        return math.nan
    value = ast.literal_eval(node or "")
    if isinstance(value, str):  # Python joins neighbours
        assert isinstance(node, ast.Constant)
        is_one = _STRING.fullmatch(lines[node.lineno - 1][node.col_offset : node.end_col_offset])
        if not is_one or node.lineno != node.end_lineno:
            raise ValueError("several texts without a comma")
    elif not isinstance(value, int | float | None):
        raise ValueError("bytes")
    return value


def listed(cell: Any) -> Any:
    """Return a cell of JSON as it is, and of a text the list that it writes out or None."""
    return parsed_list(cell) if isinstance(cell, str) else cell


# ---- numbers ----


def is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def is_amount(cell: str) -> bool:
    """Return whether a cell is a number, in whatever notation and with whatever unit."""
    return is_finite(cell) or _GROUPED.fullmatch(cell) is not None


def decimal_sign(cells: Iterable[str]) -> str | None:
    """Return the sign before the decimals of a column's numbers: a point, or a comma.

    None if that is unclear, as in 1,234, or points part their thousands.
    """
    amounts = [cell for cell in cells if is_amount(cell)]
    commas = [cell for cell in amounts if "," in cell]
    if any(cell.rfind(",") > cell.rfind(".") >= 0 for cell in commas):
        return None
    if not commas or any("." in cell for cell in amounts):
        return "."
    decimals = [parts for cell in commas if (parts := _COMMA.fullmatch(cell))]
    return "," if any(len(parts[2]) != 3 for parts in decimals) else None


def number_text(cell: str, sign: str | None) -> str | None:
    """Return a cell's finite number as Python writes it; None if it is none, or unclear.

    `sign` is from `decimal_sign` of the column.

    >>> number_text("2,5", ","), number_text("2.5", "."), number_text("1.234", None)
    ('2.5', '2.5', None)
    """
    if sign != "." and "." in cell:
        return None
    if sign == "," and _COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    return cell if is_finite(cell) else None


# ---- labels ----


class Labels(NamedTuple):
    """The labels of one text."""

    given: tuple[str, ...]
    asked: tuple[str, ...] = ()
    """All labels, if a yes or no stands for each; else ()."""


class ListForm(NamedTuple):
    """How the cells of a column list labels."""

    is_flag: bool = False
    """Whether they are 0 and 1: the column is one label, yes or no."""
    num_flags: int = 0
    """Labels of cells such as [0, 1, 0], which are yes or no of each by its number; else 0."""
    separator: str = SEPARATOR

    @classmethod
    def of(cls, cells: Sequence[Any]) -> ListForm:
        """Return the form of a column from its first cells."""
        texts = Counter(
            label_text(as_text(cell)) for cell in cells if not isinstance(cell, list | dict)
        )
        lists = [cell for cell in map(listed, cells) if isinstance(cell, list)]
        may_be = {"", *UNLABELLED, *YES, *NO}
        if not lists and texts and texts.keys() <= may_be and YES & texts.keys():
            return cls(is_flag=True)
        lengths = {len(cell) for cell in lists}
        is_hot = len(lengths) == 1 and all(
            label_text(as_text(item)) in ("0", "1") for cell in lists for item in cell
        )
        # The numbers of labels do not occur twice in a list.
        if is_hot and max(lengths) > 1 and any(len({*map(str, c)}) < len(c) for c in lists):
            return cls(num_flags=lengths.pop())
        return cls(separator=(None if lists else list_separator(texts)) or SEPARATOR)


def list_separator(cells: Iterable[str]) -> str | None:
    """Return the sign between labels: | , or a comma between their numbers; None if there is none.

    >>> list_separator(["a|b", "c, d"]), list_separator(["2,27", "3"]), list_separator(["a, b"])
    ('|', ',', None)
    """
    cells = [*filter(None, cells)]
    if any(SEPARATOR in cell for cell in cells):
        return SEPARATOR
    is_list = any("," in cell for cell in cells) and all(map(_NUMBERS.fullmatch, cells))
    return "," if is_list else None


def label_parts(cell: str) -> list[str]:
    """Return the parts of a cell that people may mean as labels.

    >>> label_parts("cold / slow"), label_parts("<a><b>"), label_parts("New York")
    (['cold', 'slow'], ['a', 'b'], ['New York'])
    """
    return [part.strip(" '\"<>[](){}") for part in _JOINED.split(cell)]


def joined_labels(counts: Iterable[str]) -> str | None:
    """Return a cell that seems to join labels, as its parts occur in other cells; None without.

    >>> joined_labels(["cold, slow", "cold", "slow"]), joined_labels(["Arts, Crafts", "Sports"])
    ('cold, slow', None)
    """
    parts = {cell: {*label_parts(cell)} for cell in counts}
    num_cells = Counter(part for own in parts.values() for part in own)
    return next(
        (
            cell
            for cell, own in parts.items()
            if SEPARATOR in cell or (len(own) > 1 and all(num_cells[part] > 1 for part in own))
        ),
        None,
    )


def labels_of(value: Any, form: ListForm | None = None) -> Labels | None:
    """Return the labels of a cell; None if it says that nobody labelled the text.

    It is a list of labels, an object of labels with 0 or 1, or a text.

    ValueError if it is no list of labels; the message is a phrase.
    """
    form, items = form or ListForm(), listed(value)
    if are_spans(items):
        raise ValueError("spans of the text, which the task tag reads,")
    if items is None:
        text = as_text(value)
        if value is None or (text and label_text(text) in ("", *UNLABELLED)):
            return None
        items = [part.strip() for part in text.split(form.separator)] if text else []
    items = [*map(_named, items if isinstance(items, list) else [items])]
    if items and all(isinstance(item, Mapping) for item in items):
        judged = {name: value for item in items for name, value in item.items()}
        return flags([*judged], [*judged.values()])
    if any(isinstance(item, list | dict) for item in items):
        raise ValueError("a list within its list of labels")
    labels = tuple(label_text(as_text(item)) for item in items)
    if form.num_flags:
        if len(labels) != form.num_flags:
            raise ValueError(f"{len(labels)} labels of 0 and 1; expected {form.num_flags}")
        return flags([str(i) for i in range(len(labels))], labels)
    if "" in labels:
        raise ValueError(f"an empty label among {len(labels)}: {SEPARATOR.join(labels)[:60]!r}")
    check_once(labels)
    return Labels(labels)


def _named(item: Any) -> Any:
    """Return the label that an object names, or it with its yes or no; other items as they are."""
    if not isinstance(item, Mapping):
        return item
    name = next((item[key] for key in NAMES if isinstance(item.get(key), str)), None)
    value = next((item[key] for key in ("value", "score") if key in item), None)
    return item if name is None else name if value is None else {name: value}


def flags(names: Sequence[str], values: Sequence[Any]) -> Labels | None:
    """Return the labels whose cells are 1; None if a cell says that nobody judged them.

    ValueError if a cell is neither 0 nor 1; the message is a phrase.
    """
    cells = [label_text(as_text(value)).lower() for value in values]
    for name, cell in zip(names, cells, strict=True):
        if cell not in YES | NO | {"", *UNLABELLED}:
            raise ValueError(f"{cell[:40]!r} for the label {name[:40]!r}; expected 0 or 1")
    given = tuple(name for name, cell in zip(names, cells, strict=True) if cell in YES)
    return Labels(given, tuple(names)) if {*cells} <= YES | NO else None


def one_text(cell: Any) -> str:
    """Return the only label or number of a cell as it is written, "" for none.

    ValueError if it lists several; the message is a phrase.
    """
    items = listed(cell)
    if not isinstance(items, list | dict):
        return as_text(cell)
    if isinstance(items, list) and len(items) == 1 and not isinstance(items[0], list | dict):
        return as_text(items[0])
    given = () if (labels := labels_of(items)) is None else labels.given
    if len(given) > 1:
        raise ValueError(f"a list of {len(given)} labels, which the task multilabel reads,")
    return given[0] if given else ""


def check_once(names: Sequence[str]) -> None:
    """Refuse a name that occurs more than once; the message of the ValueError is a phrase."""
    name, count = max(Counter(names).items(), key=itemgetter(1), default=("", 0))
    if count > 1:
        raise ValueError(f"the label {name[:40]!r} twice")


# ---- spans ----


class Span(NamedTuple):
    """A marked part of a text: characters from `first` to before `end`, and its type."""

    first: int
    end: int
    kind: str
    text: str | None = None
    """What the file says that it reads; None if it does not."""


def are_spans(cell: Any) -> bool:
    """Return whether a cell of JSON, or its text, lists marked spans, at least one."""
    try:
        return bool(spans_of(cell))
    except ValueError:
        return False


def spans_of(cell: Any) -> list[Span]:
    """Return the spans that a cell lists.

    ValueError if it is no list of spans; the message is a phrase.
    """
    items = listed(cell)
    if isinstance(items, Mapping):
        items = [items]
    if not isinstance(items, list):
        raise ValueError(f"{str(cell)[:40]!r} in place of a list of spans")
    return [*map(_span, items)]


def _span(item: Any) -> Span:
    said = None
    if isinstance(item, Mapping):
        values = item.get("value", item)
        values = values if isinstance(values, Mapping) else item
        first, end, kind = (
            next((values[name] for name in names if name in values), None)
            for names in (_STARTS, _ENDS, NAMES)
        )
        if end is None and isinstance(first, int) and isinstance(values.get("length"), int):
            end = first + values["length"]
        said = values.get("text")
    else:
        first, end, kind = item[:3] if isinstance(item, list) and len(item) >= 3 else (None,) * 3
        if isinstance(first, str):  # Argilla's
            first, end, kind = end, kind, first
    kind = kind[0] if isinstance(kind, list) and kind else kind
    is_kind = isinstance(kind, str | int) and not isinstance(kind, bool)
    if type(first) is not int or type(end) is not int or not is_kind:
        raise ValueError(f"{str(item)[:60]!r} in place of a span (start, end and type)")
    return Span(first, end, str(kind), said if isinstance(said, str) else None)
