"""Labelled uploads: saved unpacked under a name of our own, within their limit."""

import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from app.task_model import labelled_files

PACK: dict[str, Callable[[bytes], bytes]] = {".xz": lzma.compress, ".GZ": gzip.compress}
ROWS = b"text,label\n" + b"a,b\n" * 1000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(labelled_files, "_root", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize("ending", PACK)
def test_packed_uploads_are_saved_unpacked(ending: str, folder: Path) -> None:
    path = labelled_files.receive(io.BytesIO(PACK[ending](ROWS)), f"../my.dev.csv{ending}")
    assert (path.name, path.read_bytes()) == ("labelled.dev.csv", ROWS)
    assert path.parent.parent == folder


@pytest.mark.parametrize("ending", PACK)
def test_what_is_too_large_unpacked_is_refused_and_leaves_nothing(
    ending: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelled_files, "MAX_MEGABYTES", 0.001)
    with pytest.raises(ValueError, match="MB when unpacked"):
        labelled_files.receive(io.BytesIO(PACK[ending](ROWS)), f"bomb.csv{ending}")
    assert not [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("ending", PACK)
def test_a_damaged_archive_is_refused(ending: str, folder: Path) -> None:
    with pytest.raises(ValueError, match="not a whole archive"):
        labelled_files.receive(io.BytesIO(PACK[ending](ROWS)[:-20]), f"cut.csv{ending}")
    assert not [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("ending", ["", *PACK])
def test_too_many_lines_are_refused_and_leave_nothing(
    ending: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = io.BytesIO(PACK[ending](ROWS) if ending else ROWS)
    monkeypatch.setattr(labelled_files, "MAX_LINES", 1000)
    with pytest.raises(ValueError, match="more than 1,000 lines"):
        labelled_files.receive(upload, f"rows.csv{ending}")
    assert not [path for path in folder.rglob("*") if path.is_file()]
    monkeypatch.setattr(labelled_files, "MAX_LINES", 1001)
    assert labelled_files.receive(upload, f"rows.csv{ending}").read_bytes() == ROWS
    assert not upload.closed
