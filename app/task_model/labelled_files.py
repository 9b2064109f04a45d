"""Labelled files that visitors upload: kept on the disk for a while, and run as jobs."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, cast

from bertcore.analysis.attribution import FileRun, run_file
from bertcore.configs import Columns
from bertcore.data import packed_files

from ..access import visits
from ..access.policy import policy
from ..access.room import check_room
from ..shell import cache
from ..shell.jobs import background
from ..shell.jobs.background import Work
from ..shell.uploads import MAX_LINES, keep_newest
from . import model as inspection
from .task_views import view_of

MAX_KEPT = 8
"""Most files that are kept on the disk."""
MAX_MEGABYTES = 300
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Labelled:
    """A file to run and how to read it."""

    path: Path
    columns: Columns
    skip_bad_rows: bool


@dataclass(slots=True)
class Stop:
    """A visitor's request to stop a run and keep the results so far."""

    wanted: threading.Event = field(default_factory=threading.Event)


def receive(upload: IO[bytes], name: str) -> Path:
    """Save an uploaded file with its suffix, unpacked; delete the oldest beyond MAX_KEPT.

    Raises:
        ValueError: If it is not a whole archive, is larger than MAX_MEGABYTES when unpacked, has
            more than MAX_LINES, or this server is closed and has no room for it.
    """
    digest = hashlib.sha256()
    upload.seek(0)
    while chunk := upload.read(_CHUNK):
        digest.update(chunk)
    upload.seek(0)
    folder = _root() / digest.hexdigest()[:16]
    folder.mkdir(mode=0o700, exist_ok=True)
    # A name of our own: the visitor's could lead elsewhere.
    packed = Path(f"upload{Path(name).suffix.lower()[:20]}")
    inner = Path(name).stem if packed.suffix in packed_files.SUFFIXES else name
    path = folder / f"labelled{''.join(Path(inner).suffixes[-2:])[:20].lower()}"
    if not path.is_file():
        check_room(upload.seek(0, os.SEEK_END))
        upload.seek(0)
        with tempfile.TemporaryDirectory(prefix=".", dir=folder) as place:
            fresh = Path(place) / "new"
            with fresh.open("wb") as target:
                _write(packed, upload, target)
            fresh.rename(path)
    folder.touch()
    keep_newest(MAX_KEPT, folder)
    return path


def _write(packed: Path, upload: IO[bytes], target: IO[bytes]) -> None:
    """Write the content of an upload, unpacked if the suffix of `packed` is an archive's."""
    most = packed_files.Most(num_lines=MAX_LINES)
    try:
        with packed_files.open_bytes(packed, cast(BinaryIO, upload), most) as content:
            while chunk := content.read(_CHUNK):
                if target.tell() + len(chunk) > MAX_MEGABYTES * 10**6:
                    raise ValueError(
                        f"the file has more than {MAX_MEGABYTES} MB when unpacked. Upload a part "
                        "of it."
                    )
                check_room(len(chunk))
                target.write(chunk)
    except packed_files.NOT_WHOLE as error:
        raise ValueError(f"the file is not a whole archive ({error}). Copy it again.") from error


def run(key: cache.BertKey, chosen: Labelled, stop: Stop, number: int) -> Work:
    """Return the work that runs a file; its result is a FileRun.

    Args:
        key: Key of the checkpoint.
        chosen: The file.
        stop: Set to stop it and keep the results so far.
        number: A new number runs it again.
    """

    def work(progress: background.Progress) -> FileRun:
        progress(0.0, "Reading the file")
        total = view_of(inspection.model(key).task).rough_number(chosen.path)

        def on_rows(done: int) -> None:
            progress(min(1.0, done / max(1, total)), f"{done:,} of about {total:,} examples")

        return run_file(
            inspection.model(key),
            chosen.path,
            columns=chosen.columns,
            skip_bad_rows=chosen.skip_bad_rows,
            on_rows=on_rows,
            should_stop=stop.wanted.is_set,
        )

    return Work(("inspect-file", key, chosen, number, id(stop)), work)


def _root() -> Path:
    if policy().is_closed:
        return visits.current().place("labelled")
    folder = Path(tempfile.gettempdir()) / f"bertscope-labelled-{Path.home().name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_mode & 0o077:
        raise ValueError(f"{folder} can be read by other users. Remove it, then upload again.")
    return folder
