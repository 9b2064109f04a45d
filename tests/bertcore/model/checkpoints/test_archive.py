"""Zipped checkpoints, honest and hostile."""

import errno
import io
import shutil
import zipfile
from pathlib import Path

import pytest
import torch

import bertcore
from bertcore.model.checkpoints.archive import unpack_checkpoint
from tests.support.what_opens import opens


def zipped(folder: Path, prefix: str = "", **more: bytes) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for file in folder.iterdir():
            target.write(file, prefix + file.name)
        for name, content in more.items():
            target.writestr(name, content)
    out.seek(0)
    return out


def made(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in entries:
            target.writestr(name, content)
    out.seek(0)
    return out


@opens("a zip file with deep folders or backslashes")
@pytest.mark.parametrize("prefix", ["", "windows\\deep\\", "a/b/c/d/e/f/g/h/i/my bert/"])
def test_an_honest_archive_opens(prefix: str, tiny: Path, tmp_path: Path) -> None:
    others = dict.fromkeys(("run.py", "__MACOSX/._config.json", "inner.zip"), b"x")
    folder = unpack_checkpoint(zipped(tiny, prefix, **others), tmp_path / "new")
    assert folder.relative_to(tmp_path / "new") == Path(prefix.replace("\\", "/"))
    assert {file.name for file in folder.iterdir()} == {file.name for file in tiny.iterdir()}
    ours, wanted = (bertcore.load(f, device="cpu").trace("the river") for f in (folder, tiny))
    assert torch.equal(ours.hidden_states, wanted.hidden_states)


NUL = made(("config.json_.txt", b"{}")).getvalue()
"""`zipfile` itself would cut a name that has a NUL when it writes it."""
LINK = zipfile.ZipInfo("config.json")
LINK.external_attr = 0o120777 << 16
LOCKED = bytearray(made(("config.json", b"{}")).getvalue())
LOCKED[LOCKED.index(b"PK\x01\x02") + 8] |= 1
HOSTILE = {
    "up": (made(("../config.json", b"{}")), "leads out of its folder"),
    "up inside": (made(("a/../../config.json", b"{}")), "leads out"),
    "absolute": (made(("/etc/config.json", b"{}")), "leads out"),
    "backslash": (made(("..\\config.json", b"{}")), "leads out"),
    "drive": (made(("C:/config.json", b"{}")), "leads out"),
    "NUL": (io.BytesIO(NUL.replace(b"config.json_.txt", b"config.json\0.txt")), "leads out"),
    "link": (made((LINK, b"/etc/passwd")), "contains a link"),
    "encrypted": (io.BytesIO(bytes(LOCKED)), "'config.json' in the zip file is encrypted"),
    "twice": (made(("a/config.json", b"{}"), ("a/config.json", b"{}")), "'config.json' twice"),
    "a file and a folder": (made(("a.json", b"{}"), ("a.json/b.json", b"{}")), "twice"),
    "a folder and a file": (made(("a.json/b.json", b"{}"), ("a.json", b"{}")), "twice"),
    "empty": (made(), "contains no checkpoint"),
    "others": (made(("a.py", b"")), "contains no checkpoint"),
    "no weights": (made(("config.json", b"{}")), "no weights"),
    "text": (io.BytesIO(b"hello"), "not a zip file"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused_and_write_nothing_outside(name: str, tmp_path: Path) -> None:
    source, message = HOSTILE[name]
    target = tmp_path / "a" / "b" / "new"
    with pytest.raises(ValueError, match=message):
        unpack_checkpoint(source, target)
    assert {path for path in tmp_path.rglob("*") if target not in (path, *path.parents)} <= {
        tmp_path / "a",
        tmp_path / "a" / "b",
    }


@pytest.mark.parametrize("length", [100, 1000, 20_000, -30])
def test_a_cut_archive_is_refused(length: int, tiny: Path, tmp_path: Path) -> None:
    with pytest.raises((ValueError, RuntimeError), match="zip"):
        unpack_checkpoint(io.BytesIO(zipped(tiny).getvalue()[:length]), tmp_path / "new")


def test_a_full_disk_is_not_the_archives_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(OSError, match="No space left"):
        unpack_checkpoint(made(("config.json", b"{}")), tmp_path / "new")
