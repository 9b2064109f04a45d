"""Content that took a reader time, or memory, by the square of its size: 0.2 MB held it minutes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from bertcore.data.cells import parsed_list
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.tables import open_table

SIZE = 190_000
SECONDS = 4.0
"""Of processor time, on any machine; each takes less than one."""
BACKSLASH = "\\'"


def repeated(part: str) -> str:
    return (part * (SIZE // len(part) + 1))[:SIZE]


CONTENT = {
    "open cells.csv": lambda: repeated('"a,'),
    "open lines.csv": lambda: repeated('x","abc\n'),
    "quotation marks.csv": lambda: repeated('"""'),
    "a list of Python.csv": lambda: "text,label\n" + f'a,"[\'{BACKSLASH * 40_000}]"\n' * 2,
    "spaces in a list.csv": lambda: "text,label\n" + f'a,"[x{" " * 90_000}]"\n' * 2,
    "rows.json": lambda: "[" + repeated("{},")[:-2] + "]",
    "escapes.json": lambda: '["\\ud83d\\ude00",' + repeated("{},")[:-2] + "]",
    "columns of one row each.json": lambda: (
        "{" + ",".join(f'"c{i}":{{"{i}":0}}' for i in range(11_000)) + "}"
    ),
    "many columns.jsonl": lambda: "".join(f'{{"a{i}":0,"b{i}":0}}\n' for i in range(1000)),
    "names of splits.json": lambda: '{"' + repeated("dev_") + '!": [{"text": "a"}]}',
    "levels.json": lambda: repeated("["),
    "levels.jsonl": lambda: repeated('{"a":' * 900 + "1" + "}" * 900 + "\n"),
    "a long label.txt": lambda: repeated("__label__a,,,,,,,"),
}


@pytest.mark.parametrize("name", CONTENT)
def test_content_is_read_in_a_time_that_grows_with_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(CONTENT[name]())
    start, said = time.process_time(), path.name
    try:
        guess(path)
        with open_table(path, BadRows(skip=True)) as table:
            for _ in table.rows:
                pass
    except ValueError as error:
        said = str(error)
    assert path.name in said
    assert time.process_time() - start < SECONDS


def test_rows_after_many_open_quotation_marks_are_still_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = ["text,label", *('"a film\nof two lines",good', '"no end,bad', "fine,good") * 200]
    path.write_text("\n".join(rows) + "\n")
    bad = BadRows(skip=True)
    with open_table(path, bad) as table:
        found = [tuple(row.cells) for row in table.rows]
    assert found.count(("a film\nof two lines", "good")) == 200
    assert found.count(("fine", "good")) == 200
    assert bad.num == 200


def test_a_text_of_python_that_is_not_closed_is_no_list() -> None:
    for text in (
        "['a]",
        '["a]',
        "['a', 'b]",
        "['a\\']",
        "['a\\\\]",
        "[it's]",
        "['a'\n'b\\]",
        "['c\nd']",
    ):
        assert parsed_list(text) is None
    assert parsed_list("['it\\'s', \"a 'b'\", 'c', ]") == ["it's", "a 'b'", "c"]


@pytest.mark.parametrize("result", [1, None, "a", [1], {"value": 1}, {"value": {"start": []}}])
def test_marked_spans_that_are_none_are_no_fault(result: object, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    row = json.dumps({"text": "Kim lives", "label": [{"result": [result]}]}) + "\n"
    path.write_text(row * 2)
    assert guess(path).columns == ("text", "label")
