"""Tables with far too many columns or words: refused in a sentence, before any work on them."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertcore.bias.crows_pairs import read_crows_pairs
from bertcore.data import files, tables
from bertcore.data.corpus import open_corpus
from bertcore.data.guess import guess
from bertcore.data.read_tags import read_tags
from bertcore.data.tables import FIRST_CELLS
from bertcore.grammar import read_pairs

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


def test_the_widest_table_that_is_allowed_opens(tmp_path: Path) -> None:
    path = _wide(tmp_path / "widest.csv", files.MAX_COLUMNS)
    with tables.open_table(path, files.BadRows()) as table:
        assert len(table.columns) == files.MAX_COLUMNS
    assert len(guess(path).columns) == files.MAX_COLUMNS


def test_a_guess_reads_no_more_cells_than_its_limit(tmp_path: Path) -> None:
    names = ",".join(f"c{number}" for number in range(1000))
    row = ",".join("x" * 1000)
    path = tmp_path / "long.csv"
    path.write_text("\n".join([names, *[row] * 500]) + "\n")
    assert 0 < len(guess(path).rows) <= FIRST_CELLS // 1000


def test_a_sentence_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.conll"
    path.write_text("word O\n" * (files.MAX_WORDS + 2))
    with pytest.raises(ValueError, match="more than 20,000 words"):
        list(read_tags(path, bad_rows=files.BadRows()))


def test_a_wide_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    names = [f"c{number}" for number in range(files.MAX_COLUMNS + 1)]
    pq.write_table(pa.table({name: ["x"] for name in names}), path)
    with pytest.raises(ValueError, match="has 2,001 columns"):
        open_corpus([path])


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
