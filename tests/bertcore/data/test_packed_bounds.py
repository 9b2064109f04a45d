"""Archives that unpack to far more than their size, and readers that are told to stop."""

import gzip
import lzma
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from bertcore.configs import Columns
from bertcore.data import files, packed_files
from bertcore.data.corpus import open_corpus
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.read_questions import question_columns, read_questions
from bertcore.data.rows import RowBuilder
from bertcore.data.tables import open_table
from bertcore.tasks.survey import survey
from tests.support.tiny import tiny_bert

PACK: dict[str, Callable[[bytes], bytes]] = {".xz": lzma.compress, ".gz": gzip.compress}
ROWS = b"text,label\n" + b"a,b\n" * 200_000


@pytest.mark.parametrize("ending", PACK)
def test_a_bomb_is_refused_where_it_exceeds_its_ratio(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_files, "FREE_BYTES", 2**17)
    path = tmp_path / f"bomb.csv{ending}"
    path.write_bytes(PACK[ending](ROWS))
    with pytest.raises(ValueError, match="200 times its size"):
        survey(path, "classify")
    with pytest.raises(ValueError, match="200 times its size"):
        packed_files.open_bytes(path, BytesIO(path.read_bytes())).read()


@pytest.mark.parametrize("ending", PACK)
def test_small_and_usual_archives_open(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"table.csv{ending}"
    path.write_bytes(PACK[ending](ROWS))
    with packed_files.open_bytes(path) as file:
        assert file.read() == ROWS
    with packed_files.open_text(path, newline="") as text:
        assert sum(1 for _ in text) == 200_001
    assert guess(path).columns == ("text", "label")


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

    with packed_files.watched(stop), pytest.raises(InterruptedError):
        survey(path, "classify", columns=Columns(text="text", label="label"))
    assert num_blocks == 8
    with path.open("rb") as file:  # outside, nothing is watched
        packed_files.open_bytes(path, file).read()
    assert num_blocks == 8


@pytest.mark.parametrize("ending", ["", *PACK])
@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_lines_and_bytes_of_what_is_kept_are_bounded_and_those_of_a_corpus_are_not(
    ending: str, line_end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"table.csv{ending}"
    data = b"text,label" + line_end + (b"a b,c" + line_end) * 999
    path.write_bytes(PACK[ending](data) if ending else data)

    def num_rows() -> int:
        with open_table(path, BadRows()) as table:
            return sum(1 for _ in table.rows)

    for bound, ok, over in (("num_lines", 1000, 999), ("num_bytes", len(data), len(data) - 1)):
        monkeypatch.setattr(files, "MOST_READ", packed_files.Most(**{bound: ok}))
        assert num_rows() == 999
        monkeypatch.setattr(files, "MOST_READ", packed_files.Most(**{bound: over}))
        with pytest.raises(ValueError, match=f"has more than {over:,} .* Give a part of it"):
            num_rows()
    text = tmp_path / f"corpus.txt{ending}"
    path.rename(text)
    assert sum(1 for _ in open_corpus([text]).texts()) == 1000


def test_a_file_that_is_already_open_stays_open(tmp_path: Path) -> None:
    for ending in ("", *PACK):
        path = tmp_path / f"table.csv{ending}"
        path.write_bytes(PACK[ending](ROWS) if ending else ROWS)
        with path.open("rb") as file:
            with packed_files.open_bytes(path, file, packed_files.Most(num_lines=10**6)) as opened:
                assert opened.read() == ROWS
            assert not file.closed


@pytest.mark.parametrize(
    "content", ["[" + "[]," * 400 + "[]]", '{"data": [' + "{}," * 400 + "{}]}"]
)
def test_values_of_json_are_counted_before_it_is_parsed(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_JSON_VALUES", 500)
    path = tmp_path / "questions.json"
    path.write_text(content)
    for reading in (
        lambda: list(read_questions(path, bad_rows=BadRows())),
        lambda: question_columns(path),
    ):
        with pytest.raises(ValueError, match="more than 500 values"):
            reading()


def test_tokens_of_all_rows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.data.rows.MAX_TOKENS", 100)
    builder = RowBuilder(tiny_bert().tokenizer, 20)
    for _ in range(5):
        builder.add([7] * 50)
    with pytest.raises(ValueError, match="the first 6 inputs have more than 100 tokens"):
        builder.add([7] * 50)
