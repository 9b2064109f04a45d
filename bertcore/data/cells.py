"""What a cell says: a text, a number in any notation, a label, a list or an object of labels."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
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
_SIGNS = ("|", ";", ",", "\n", "/", "+", "&", "#", "><", "\t", " and ", " ")
"""What may stand between the labels of a cell; the first four wherever they recur."""
_LONGEST = 100_000
"""Characters of a cell that is parsed."""
_EMPTY = frozenset({"", "nan", "null", "<na>", "#n/a"})
"""Cells without a value, as pandas and spreadsheets write them, in lower case."""
_WHOLE = re.compile(r"\+?(-?(?:0|[1-9]\d{0,14}))(?:\.0+)?")
_TOKEN = re.compile(
    r"""'((?:[^'\\]|\\.)*+)(?:'|\\?\Z)|"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|"""
    r"""\b(None|True|False|nan)\b|(,\s*+(?=[)\]}])|,\s*+dtype=\w++)|\b(array\()|([()])""",
    re.DOTALL,
)
"""Of Python; a text that is not closed takes all that is left, which is searched once."""
_ESCAPE = re.compile(
    r"\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U000[\da-fA-F]{5}|U0010[\da-fA-F]{4}|.)", re.DOTALL
)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
"""Character after a backslash in a text of Python -> what both stand for."""
_WORDS = {"None": "null", "True": "true", "False": "false", "nan": "NaN"}
_GAP = re.compile(r"""(?<=["\d.])\s+(?=["\d-])""")
_LONGEST_NUMBER = 40
"""Characters of a number with a comma."""
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[ \u00a0\u202f'\u2019](?=\d{3}(?!\d))")
_BY_COMMAS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
_BY_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?")


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
    value = _json(text)
    if value is None:
        python = _as_json(text)
        value = _json(python)
        if value is None and text[0] == "{":
            value = _json(f"[{python[1:-1]}]")  # a set
        if value is None:  # numpy parts items by spaces
            value = _json(re.sub(r"(\d)\.(?!\d)", r"\1.0", _GAP.sub(", ", python)))
    return value if isinstance(value, list | dict) else None


def listed(cell: Any) -> Any:
    """Return a cell of JSON as it is, and of a text the list that it writes out or None."""
    return parsed_list(cell) if isinstance(cell, str) else cell


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_json(text: str) -> str:
    """Return Python's text of a value as JSON; sets keep their braces."""
    closing: list[str] = []

    def token(found: re.Match[str]) -> str:
        if found[1] is not None:
            return json.dumps(_ESCAPE.sub(_character, found[1]))
        if found[0][0] == '"' and "\\" in found[0] and _json(found[0]) is None:
            return json.dumps(_ESCAPE.sub(_character, found[0][1:-1]))
        if found[2]:
            return _WORDS[found[2]]
        if found[3]:
            return ""
        if found[0] == ")":
            return closing.pop() if closing else "]"
        if found[4] or found[5]:
            closing.append("" if found[4] else "]")
            return "" if found[4] else "["
        return found[0]

    return _TOKEN.sub(token, text)


def _character(escape: re.Match[str]) -> str:
    """Return the character that an escape of Python stands for; itself if it stands for none."""
    code = escape[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _LETTERS.get(code, escape[0])


# ---- numbers ----


def decimal_sign(cells: Iterable[str]) -> str | None:
    """Return the sign before the decimals of a column's numbers: a point, or a comma.

    None if a comma in its cells may stand for both, as in 1,234.
    """
    votes, is_unclear = 0, False
    for cell in cells:
        if "," in cell or "\u066b" in cell:
            by_comma, by_point = _number(cell, ","), _number(cell, ".")
            is_unclear |= by_comma is not None and by_point is not None
            votes += (by_comma is not None) - (by_point is not None)
        elif is_finite(cell) and "." in cell:
            votes -= _BY_POINTS.fullmatch(cell) is None
    return "," if votes > 0 else "." if votes < 0 or not is_unclear else None


def number_text(cell: str, sign: str | None) -> str | None:
    """Return a cell's finite number as Python writes it; None if it is none.

    >>> number_text("2,5", ","), number_text("1.234,5", ","), number_text("1,234", ".")
    ('2.5', '1234.5', '1234')
    >>> number_text("5.000", "."), number_text("1,234", None), number_text("many", ".")
    ('5.000', None, None)

    Args:
        sign: From `decimal_sign` of the column.
    """
    if is_finite(cell) and not (sign == "," and _BY_POINTS.fullmatch(cell)):
        return cell
    return None if sign is None else _number(cell, sign)


def _number(cell: str, sign: str) -> str | None:
    if len(cell) > _LONGEST_NUMBER:
        return None
    text = cell.strip(" \u00a0\u202f%€$£").replace("\u2212", "-").replace("\u066b", ",")
    text = _BETWEEN_THOUSANDS.sub("", text)
    grouped = _BY_COMMAS if sign == "." else _BY_POINTS
    if grouped.fullmatch(text):
        text = text.replace("," if sign == "." else ".", "")
    text = text.replace(",", ".") if sign == "," and "." not in text else text
    return text if is_finite(text) else None


def is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


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
    names: frozenset[str] = frozenset()
    """Whole cells, and parts of several: a list has at least one of them, if there are any."""

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
        several = any(SEPARATOR in cell for cell in texts)
        sign = None if several or lists else list_separator(texts, is_certain=False)
        parts = Counter(part.strip() for cell in texts for part in cell.split(sign or SEPARATOR))
        known = {part for part, count in parts.items() if count > 1}
        return cls(separator=sign or SEPARATOR, names=frozenset(texts) | known)


def list_separator(counts: Mapping[str, int], *, is_certain: bool = True) -> str | None:
    """Return the sign between the labels of cells such as "cold, slow"; None if they are one each.

    Args:
        counts: The different cells.
        is_certain: Whether the parts of most such cells have to occur in other cells too, or all
            parts of one as cells; else it is enough that there are no more parts than cells. The
            sign | is always a separator.
    """
    for sign in _SIGNS[:4]:
        lists = [cell for cell in counts if sign in cell]
        cells = {cell: {part.strip() for part in cell.split(sign)} for cell in counts}
        found = Counter(part for parts in cells.values() for part in parts)
        parts = [part for cell in lists for part in cells[cell]]
        recur = sum(found[part] > 1 for part in parts)
        is_list = lists and "" not in parts and (sign == "|" or len(found) <= len(counts))
        if is_list and (sign == "|" or 2 * recur > len(parts) or not is_certain):
            return sign
    return None


def known_parts(cell: str, names: Container[str]) -> tuple[str, ...]:
    """Return the parts of a cell if all are names of labels, whatever parts them; else ().

    >>> known_parts("cold / slow", {"cold", "slow"}), known_parts("<a><b>", {"a", "b"})
    (('cold', 'slow'), ('a', 'b'))
    >>> known_parts("Arts, Crafts", {"Arts", "Arts, Crafts"})
    ()
    """
    inner = cell.strip("[](){}<> ")
    for sign in _SIGNS:
        parts = dict.fromkeys(part.strip(" '\"") for part in inner.rstrip(sign).split(sign))
        if len(parts) > 1 and all(part in names for part in parts):
            return tuple(parts)
    return ()


def labels_of(value: Any, form: ListForm | None = None) -> Labels | None:
    """Return the labels of a cell; None if it says that nobody labelled the text.

    Args:
        value: A list of labels, an object of labels with 0 or 1, or a text.
        form: How the column lists labels; None: with SEPARATOR.

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
        is_sure = form.separator == SEPARATOR or not form.names
        if items and not is_sure and form.names.isdisjoint(items):
            items = [text]
        if len(items) == 1:
            items = [*known_parts(text, form.names)] or items
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
    given = () if (found := labels_of(items)) is None else found.given
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
