"""Readers of examples: the usual files, their quirks, and one sentence for each wrong one."""

import gzip
import io
import json
import lzma
import zipfile
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from bertcore.configs.columns import Columns
from bertcore.data.files import BadRows
from bertcore.training.tasks import find_task
from tests.support import what_opens
from tests.support.cases import cases
from tests.support.what_opens import opens


def texts(path: Path, task: str = "classify", **columns: str) -> list[Any]:
    return list(find_task(task).read(path, columns=Columns(**columns), bad_rows=BadRows()))


@opens("a packed table")
@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_tables_in_every_form(tmp_path: Path, packing: str) -> None:
    rows = [("a film", "good"), ('she said "no", twice', "bad"), ("été", "good")]
    csv_lines = [
        "id,label,sentence",
        "1,good,a film",
        '2,bad,"she said ""no"", twice"',
        "3,good,été",
    ]
    contents = {
        "t.tsv": "sentence\tlabel\n" + "".join(f"{t}\t{label}\n" for t, label in rows),
        "t.csv": "\r\n".join(csv_lines),
        "bom.csv": "\ufeff" + "\n".join(csv_lines),
        "t.jsonl": "".join(json.dumps({"sentence": t, "label": a}) + "\n" for t, a in rows),
    }
    for name, content in contents.items():
        path = tmp_path / (name + packing)
        opener = {"": open, ".gz": gzip.open, ".xz": lzma.open}[packing]
        with opener(path, "wt", encoding="utf-8", newline="") as file:
            file.write(content)
        found = texts(path)
        assert [(e.text, e.answer) for e in found] == rows, name
        assert [e.row for e in found] == [1, 2, 3]


READ: dict[str, Any] = dict(cases("readers"))
"""By file: its content, task, columns, and the fields of the examples but for their rows."""
for row in (
    ("Tables", "spreadsheets", "`.xlsx`, `.ods`", "refused: save the table as CSV"),
    ("Tables", "quotation marks in a TSV", '`"I think so," he said.`',
     "text, unless nearly all cells are quoted"),
    ("Tables", "bad rows", "too few cells, an empty text",
     "refused with the row; `--skip-bad-rows` leaves them out"),
    ("Questions", "an answer that is elsewhere", "a wrong `answer_start`",
     "refused, with what stands there"),
):  # fmt: skip
    what_opens.add(*row)
what_opens.opens("SWAG")
what_opens.opens("a column twice")


@pytest.mark.parametrize("name", READ)
def test_examples_are_read(name: str, tmp_path: Path) -> None:
    content, task, columns, fields = READ[name]
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = [astuple(one) for one in texts(path, task, **columns)]
    assert [[*one[: len(row)]] for one, row in zip(found, fields, strict=True)] == fields


PACKED = gzip.compress(b"sentence\tlabel\n" + b"abc\t1\n" * 1000)
LATE = b"sentence\tlabel\n" + "été\t1\n".encode() * 20_000 + b"caf\xc3\t1\n"


def workbook() -> bytes:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as book:
            book.writestr("[Content_Types].xml", "<x/>")
            book.writestr("xl/workbook.xml", "<x/>")
        return file.getvalue()


REFUSED: dict[str, Any] = dict(cases("refused_files")) | {
    "a.xlsx": (workbook(), "classify", {}, "as CSV", -1),
    "late.tsv": (LATE, "classify", {}, "(line 20002) holds a byte 0xC3 that is not", 20_000),
    "half.csv": ("text,label\na,1\n".encode("utf-16")[:-1], "classify", {}, "is damaged", -1),
    "cut.tsv.gz": (PACKED[:-20], "classify", {}, "is not a whole archive", -1),
    "picture.csv": (b"\x89PNG\r\n\x1a\n" + bytes(90), "classify", {}, "a picture, not", -1),
    "bytes.csv": (bytes(range(256)) * 20, "classify", {}, "is not text", -1),
}
"""Content, task, columns, words, and the examples that are left without the bad rows."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_one_sentence_and_costs_its_row_alone(
    name: str, tmp_path: Path
) -> None:
    content, task, columns, words, num = REFUSED[name]
    path, bad = tmp_path / name, BadRows(skip=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=r"\.$") as caught:  # a sentence
        texts(path, task, **columns)
    assert words in str(caught.value)
    if num >= 0:
        rows = find_task(task).read(path, columns=Columns(**columns), bad_rows=bad)
        assert (len(list(rows)), bad.num) == (num, 1)
