"""Archives that unpack to far more than their size, and readers that are told to stop."""

import gzip
import lzma
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from bertcore.configs import Columns
from bertcore.data import packed_files
from bertcore.data.files import open_text
from bertcore.data.guess import guess
from bertcore.data.rows import RowBuilder
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
    with open_text(path) as text:
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


def test_a_file_that_is_already_open_stays_open(tmp_path: Path) -> None:
    for ending in ("", *PACK):
        path = tmp_path / f"table.csv{ending}"
        path.write_bytes(PACK[ending](ROWS) if ending else ROWS)
        with path.open("rb") as file:
            with packed_files.open_bytes(path, file) as opened:
                assert opened.read() == ROWS
            assert not file.closed


def test_tokens_of_all_rows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.data.rows.MAX_TOKENS", 100)
    builder = RowBuilder(tiny_bert().tokenizer, 20)
    for _ in range(5):
        builder.add([7] * 50)
    with pytest.raises(ValueError, match="the first 6 inputs have more than 100 tokens"):
        builder.add([7] * 50)
