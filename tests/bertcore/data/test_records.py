"""Tables as dataclasses: fields by column, defaults, and a sentence for each bad row."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import pytest

from bertcore.data.files import BadRows
from bertcore.data.tables import read_records

COLUMNS = {"text": "t", "mood": "m"}


@dataclass(frozen=True)
class Line:
    text: str
    mood: str
    row: int


def read(path: Path, bad_rows: BadRows | None = None) -> tuple[Line, ...]:
    return read_records(
        path, Line, COLUMNS, expected="Two columns.", defaults={"mood": "none"}, bad_rows=bad_rows
    )


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"m,t\n good ,It rained.\n,Why?\n"),
        ("a.tsv.gz", gzip.compress(b"t\tm\nIt rained.\tgood\nWhy?\t\n", mtime=0)),
        ("a.jsonl", b'{"t": "It rained.", "m": "good"}\n{"t": "Why?", "m": null}\n'),
        ("a.csv", "t,m\nIt rained.,good\nWhy?,\n".encode("utf-16")),
    ],
)
def test_every_form_gives_the_same_records(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    assert read(tmp_path / name) == (Line("It rained.", "good", 1), Line("Why?", "none", 2))


def test_a_column_with_a_default_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,n\na,1\n")
    assert read(tmp_path / "a.csv") == (Line("a", "none", 1),)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("m,n\na,b\n", r"has no column 't'; it has 'm', 'n'. Two columns."),
        ("t,t\na,b\n", r"has 2 columns 't' \(1 and 2\)"),
        ("t,m\n ,x\n", "row 1 of .* is empty in column 't'. Correct it"),
        ("t,m\n", "has no row to use"),
    ],
)
def test_what_cannot_be_used_is_said(data: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(data)
    with pytest.raises(ValueError, match=sentence):
        read(tmp_path / "a.csv")


def test_bad_rows_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,m\n,x\nb,y\n")
    bad_rows = BadRows(skip=True)
    assert read(tmp_path / "a.csv", bad_rows) == (Line("b", "y", 2),)
    assert bad_rows.num == 1
