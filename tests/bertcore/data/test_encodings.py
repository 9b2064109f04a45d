"""Encodings of files: guessed from few lines of many languages, and damage that costs one row."""

from pathlib import Path

import pytest

from bertcore.configs.columns import Columns
from bertcore.data.examples import TextExample
from bertcore.data.files import BadRows, find_encoding
from bertcore.data.guess import guess
from bertcore.data.tables import open_table
from bertcore.training.tasks import find_task
from tests.support.cases import cases

WRITTEN = dict(cases("encodings"))


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in WRITTEN.items() for text in texts]
)
def test_some_lines_show_their_encoding(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    content = ("text,label\n" + f"{text}\n" * 4).encode(name)
    path.write_bytes(content)
    found = find_encoding(path)
    assert content.decode(found.name) == content.decode(name)
    assert found.is_guessed


def test_the_first_letter_beyond_ascii_may_stand_late(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n" + b"good,pos\n" * 100_000 + "été,neg\n".encode("cp1252") * 3)
    assert find_encoding(path).name == "cp1252"


def texts(path: Path, bad: BadRows) -> list[str]:
    found = find_task("classify").read(path, columns=Columns(), bad_rows=bad)
    return [one.text for one in found if isinstance(one, TextExample)]


GOOD = [f"a film {i}" for i in range(18)]
ODD = {
    "0x00": b"ba\0d",
    "0xE9": "caf\xe9".encode("latin-1"),
    "0xFF": b"\xff",
}


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
@pytest.mark.parametrize("byte", ODD)
def test_a_byte_that_no_text_has_costs_one_row(byte: str, ending: str, tmp_path: Path) -> None:
    """NLP-Suite/NLP-Suite#1424: one 0x00 in row 11 was "not text, save it as UTF-8"."""
    path, sign = tmp_path / f"a{ending}", "," if ending == ".csv" else "\t"
    lines = [f"{text}{sign}né{i % 2}".encode() for i, text in enumerate(GOOD)]
    lines.insert(10, ODD[byte] + f"{sign}né0".encode())
    path.write_bytes(b"\n".join([f"text{sign}label".encode(), *lines]))
    with pytest.raises(ValueError, match=rf"row 11 of .* \(line 12\) holds a byte {byte}"):
        texts(path, BadRows())
    bad = BadRows(skip=True)
    assert texts(path, bad) == GOOD
    assert bad.num == 1
    assert guess(path).task == "classify"


def test_such_a_byte_in_a_column_that_is_not_read_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = [f"{i},{text},né{i % 2}".encode() for i, text in enumerate(GOOD)]
    lines[10] = lines[10].replace(b"10,", b"\xe9\0,", 1)
    path.write_bytes(b"\n".join([b"id,text,label", *lines]))
    assert texts(path, BadRows()) == GOOD
    with (
        open_table(path, BadRows()) as table,
        pytest.raises(ValueError, match=r"row 11 .* in column 'id'"),
    ):
        list(table.rows)
