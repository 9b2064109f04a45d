"""Bounds of readers: content that took time or memory by its square, wide tables, and archives."""

import gzip
import json
import lzma
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from bertcore.analysis.bias.crows_pairs import read_crows_pairs
from bertcore.configs import Columns
from bertcore.data import files
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.read_tags import read_tags
from bertcore.data.tables import open_table
from bertcore.training.grammar.exam import read_pairs
from bertcore.training.tasks.read import survey
from bertcore.training.tasks.rows import RowBuilder
from tests.support.tiny import tiny_bert

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


WIDE = 100_000
READERS: dict[str, Callable[[Path], Any]] = {
    "guess": guess,
    "crows_pairs": read_crows_pairs,
    "pairs": read_pairs,
}


def _wide(path: Path, num_columns: int = WIDE) -> Path:
    names = [f"c{number}" for number in range(num_columns)]
    separator = "\t" if path.suffix == ".tsv" else ","
    if path.suffix == ".jsonl":
        path.write_text(json.dumps(dict.fromkeys(names, "x")) + "\n")
    else:
        path.write_text(f"{separator.join(names)}\n{separator.join('x' * num_columns)}\n")
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
@pytest.mark.parametrize("reader", READERS)
def test_a_wide_table_is_refused_with_its_width(reader: str, ending: str, tmp_path: Path) -> None:
    path = _wide(tmp_path / f"wide{ending}")
    with pytest.raises(ValueError, match=r"has 100,000 columns; expected at most 2,000"):
        READERS[reader](path)


def test_a_sentence_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.conll"
    path.write_text("word O\n" * (files.MAX_WORDS + 2))
    with pytest.raises(ValueError, match="more than 20,000 words"):
        list(read_tags(path, bad_rows=files.BadRows()))


@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_the_name_of_a_column_may_be_as_long_as_a_line(ending: str, tmp_path: Path) -> None:
    """One of 9 MB took 40 s to compare with usual names."""
    path, name = tmp_path / f"a{ending}", "n" * 9_000_000
    if ending == ".json":
        path.write_text(json.dumps([{"text": "a", name: "b"}]))
    else:
        path.write_text(f"text,{name}\na,b\nc,d\n")
    start = time.process_time()
    assert guess(path).columns == ("text", name)
    assert time.process_time() - start < 10


PACK: dict[str, Callable[[bytes], bytes]] = {".xz": lzma.compress, ".gz": gzip.compress}
ROWS = b"text,label\n" + b"a,b\n" * 200_000


@pytest.mark.parametrize("ending", PACK)
def test_a_bomb_is_refused_where_it_exceeds_its_ratio(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FREE_BYTES", 2**17)
    path = tmp_path / f"bomb.csv{ending}"
    path.write_bytes(PACK[ending](ROWS))
    with pytest.raises(ValueError, match="200 times its size"):
        survey(path, "classify")
    with pytest.raises(ValueError, match="200 times its size"):
        files.open_bytes(path, BytesIO(path.read_bytes())).read()


@pytest.mark.parametrize("content", [b"\n" * 10**6, b"a,b,c\n" * 200_000], ids=["blank", "bad"])
@pytest.mark.parametrize("ending", ["", *PACK])
def test_a_watched_reader_stops_though_no_row_is_of_use(
    ending: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / f"table.csv{ending}"
    data = b"text,label\n" + content
    path.write_bytes(PACK[ending](data) if ending else data)
    num_blocks = 0

    def stop() -> None:
        nonlocal num_blocks
        num_blocks += 1
        if num_blocks == 8:
            raise InterruptedError

    with files.watched(stop), pytest.raises(InterruptedError):
        survey(path, "classify", columns=Columns(text="text", label="label"))
    assert num_blocks == 8
    with path.open("rb") as file:  # outside, nothing is watched
        files.open_bytes(path, file).read()
    assert num_blocks == 8


def test_tokens_of_all_rows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.training.tasks.rows.MAX_TOKENS", 100)
    builder = RowBuilder(tiny_bert().tokenizer, 20)
    for _ in range(5):
        builder.add([7] * 50)
    with pytest.raises(ValueError, match="the first 6 inputs have more than 100 tokens"):
        builder.add([7] * 50)
