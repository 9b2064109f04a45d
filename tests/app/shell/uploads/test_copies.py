"""Copies of uploads on the disk: unpacked under a name of our own, within limits, while needed."""

import gc
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.server import policy as policies
from app.server import visits
from app.shell.uploads import on_disk
from app.shell.uploads.on_disk import Copy, named
from bertcore.analysis.bias import read_crows_pairs
from bertcore.base.limited_process import Fault, LimitedProcess
from bertcore.data.guess import guess
from bertcore.data.texts import shown_name
from bertcore.training.tasks.read import survey
from tests.support.closed import closed

PACK: dict[str, Callable[[bytes], bytes]] = {".xz": lzma.compress, ".GZ": gzip.compress}
ROWS = b"text,label\n" + b"a,b\n" * 1000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(on_disk, "_copies", lambda: tmp_path)
    return tmp_path


def written(name: str, data: bytes, most: int = 10**9) -> Copy:
    return on_disk.write_copy(name, data, most, "Give a part.")


@pytest.mark.parametrize("ending", PACK)
def test_packed_uploads_are_saved_unpacked(ending: str, folder: Path) -> None:
    copy = written(f"../my.dev.csv{ending}", PACK[ending](ROWS))
    assert (copy.path.name, copy.path.read_bytes()) == ("upload.dev.csv", ROWS)
    assert copy.path.parent.parent == folder
    assert copy.inner == "my.dev.csv"


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "a/b", "a\\b.csv", "a." + "x" * 300, "\0", "a.b/../../c", ".gz", "a. csv"],
)
def test_no_name_leads_elsewhere(name: str, folder: Path) -> None:
    copy = written(name, ROWS)
    assert copy.path.parent.parent == folder
    assert copy.path.read_bytes() == ROWS


def test_a_copy_goes_when_nothing_refers_to_it(folder: Path) -> None:
    first, second = written("a.csv", ROWS), written("a.csv", ROWS)
    assert first.path != second.path
    assert first.digest == second.digest
    place = first.path
    del first
    gc.collect()
    assert not place.exists()
    assert [*folder.iterdir()] == [second.path.parent]


@pytest.mark.parametrize("ending", PACK)
def test_what_is_too_large_unpacked_is_refused_and_leaves_nothing(
    ending: str, folder: Path
) -> None:
    with pytest.raises(ValueError, match=r"'bomb.csv.*' has more than 0 MB when unpacked"):
        written(f"bomb.csv{ending}", PACK[ending](ROWS), most=1000)
    assert not [*folder.iterdir()]


def test_a_bomb_is_named_as_its_visitor_does(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"'bomb\.csv\.gz' unpacks to more than 32 MiB"):
        written("bomb.csv.gz", gzip.compress(b" " * 40_000_000))
    assert not [*folder.iterdir()]


@pytest.mark.parametrize("ending", ["", *PACK])
def test_too_many_lines_are_refused_and_leave_nothing(
    ending: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = PACK[ending](ROWS) if ending else ROWS
    monkeypatch.setattr(on_disk, "MAX_LINES", 1000)
    with pytest.raises(ValueError, match=r"'rows.csv.*' has more than 1,000 lines"):
        written(f"rows.csv{ending}", data)
    assert not [*folder.iterdir()]
    monkeypatch.setattr(on_disk, "MAX_LINES", 1001)
    assert written(f"rows.csv{ending}", data).path.read_bytes() == ROWS


@pytest.fixture
def apart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names of what was called in a process of its own, on a closed server."""
    called, call = [], LimitedProcess.call

    def counted(process: LimitedProcess, function: Any, *arguments: Any, **options: Any) -> Any:
        called.append(function.__name__)
        return call(process, function, *arguments, **options)

    with closed(monkeypatch):
        monkeypatch.setattr(LimitedProcess, "call", counted)
        monkeypatch.setattr(visits, "root", lambda: folder)
        monkeypatch.setattr(visits, "current", lambda: visits.Visit(folder))
        yield called


def test_copies_of_a_closed_server_alone_are_read_in_a_process_of_their_own(
    folder: Path, apart: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = written("b.csv", ROWS)
    assert on_disk.read_apart(copy.path, guess) == guess(copy.path)
    assert apart == ["guess"]
    monkeypatch.setattr(visits, "root", lambda: folder / "other")
    on_disk.read_apart(copy.path, guess)  # a file of this machine
    monkeypatch.setattr(visits, "root", lambda: folder)
    monkeypatch.setenv(policies.ACCESS, "open")
    policies.policy.cache_clear()
    on_disk.read_apart(copy.path, guess)  # of one's own computer
    assert apart == ["guess"]


@pytest.mark.usefixtures("apart")
def test_a_file_that_is_read_apart_is_refused_by_its_visitors_name() -> None:
    copy = written("mine.csv", ROWS)
    with pytest.raises(ValueError, match=r"'mine.csv' has no column 'sent_more'"):
        copy.apart(read_crows_pairs)


@pytest.mark.usefixtures("apart")
def test_a_fault_of_a_reader_is_logged_without_words(caplog: pytest.LogCaptureFixture) -> None:
    copy = written("secret.csv", ROWS)
    with pytest.raises(Fault):
        copy.apart(survey, "classify", columns="a secret")  # type: ignore[arg-type]
    assert "read.py" in caplog.text
    assert "secret" not in caplog.text


def test_a_sentence_on_a_copy_names_what_the_visitor_sees(tmp_path: Path) -> None:
    said = "'copy' has x; say what it is with --label-map x=LABEL, or leave it out ({})."
    seen = "a.csv has x; say what it is with “Labels of the file” x=LABEL, or leave it out ({})."
    shown = seen.format("the switch on this page").replace("a.csv", shown_name("a.csv"))
    assert named(said.format("--skip-bad-rows"), tmp_path / "copy", "a.csv") == shown
