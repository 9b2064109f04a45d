"""Checks of files in folders of unknown origin: links out of the folder, kinds and sizes."""

import math
import os
import stat
from pathlib import Path

_POINTER = b"version https://git-lfs"
_START = 100
"""Bytes that show a stand-in."""


def leads_out(file: Path) -> bool:
    """Return whether a file is a link to a place outside its folder.

    The hub's cache stores each file once, in `blobs` beside `snapshots`, and links to it. OSError
    if the link cannot be followed.
    """
    if not file.is_symlink():
        return False
    folder, target = file.parent.resolve(), file.resolve()
    homes = [folder]
    # A module of a sentence encoder is one folder deeper.
    snapshots = (up for up in (folder.parent, folder.parent.parent) if up.name == "snapshots")
    homes += [up.parent / "blobs" for up in snapshots]
    return not any(target.is_relative_to(home) for home in homes)


def check_file(file: Path, max_bytes: float) -> None:
    """Reject a file that is not the folder's own, or is too large to be read into memory.

    RuntimeError if it is a link to a place outside its folder, a pipe or a device, or has over
    `max_bytes`. OSError if it is missing or cannot be accessed.
    """
    if leads_out(file):
        raise RuntimeError(
            f"{file} is a link to a file outside its folder, so it is not opened. Put the file "
            "itself there."
        )
    _check_state(file, file.stat(), max_bytes)


def read_file(file: Path, max_bytes: int) -> bytes:
    """Return the content of a file that `check_file` accepts.

    RuntimeError or OSError as `check_file` and `refuse_stand_in`.
    """
    content = _read(file, max_bytes, max_bytes)
    refuse_stand_in(file, content[:_START])
    return content


def refuse_stand_in(file: Path, start: bytes) -> None:
    """Detect what broken downloads have in place of a file: a pointer of Git LFS, or a web page.

    RuntimeError if its first bytes, `start`, are those of one.
    """
    if start.startswith(_POINTER):
        raise RuntimeError(
            f"{file} is a Git LFS pointer, not the file itself. Run `git lfs pull` in its folder, "
            "or download the file again."
        )
    if start.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        raise RuntimeError(
            f"{file} is a web page, not the file itself: the address of the page that shows it was "
            "downloaded. Download the file behind it (hf download, or the arrow beside its name)."
        )


def read_start(file: Path, num_bytes: int) -> bytes:
    """Return the first bytes of a file that `check_file` accepts at any size.

    RuntimeError or OSError as `check_file`.
    """
    return _read(file, num_bytes, math.inf)


def _read(file: Path, num_bytes: int, max_bytes: float) -> bytes:
    check_file(file, max_bytes)
    # The opened file is checked again: another program may have put a pipe in its place.
    with open(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as opened:
        _check_state(file, os.fstat(opened.fileno()), max_bytes)
        return opened.read(num_bytes)


def _check_state(file: Path, state: os.stat_result, max_bytes: float) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise RuntimeError(f"{file} is not a file but a folder, a pipe or a device.")
    if state.st_size > max_bytes:
        raise RuntimeError(f"{file} has over {max_bytes:,} bytes. Is it the right file?")
