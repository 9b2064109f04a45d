"""Uploads: checkpoints, unpacked once on this server, the oldest deleted; and packed texts."""

from __future__ import annotations

import hashlib
import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import streamlit as st

from bertcore.checkpoints.archive import unpack_checkpoint
from bertcore.checkpoints.folder import find_checkpoint
from bertcore.data import packed_files
from bertcore.data.texts_file import shown_name

from ..access import visits
from ..access.policy import policy
from ..access.room import check_room, left
from ..streamlit_internals import empty_box, file_ids

MAX_KEPT = 5
"""Most uploads kept on the disk, shared by all visitors of this server."""
MAX_MEGABYTES = 1000
"""Largest zip file; a BERT-base in float32 has 440 MB."""
TEXTS_MEGABYTES = 60
"""Largest file of texts that may be sent: above the limit of 50 of the code that reads them,
which answers with a sentence."""
MAX_LINES = 2_000_000
"""Of an uploaded table or text."""
_CHUNK = 1 << 20
_REFUSED = "_refused_{}"


def root() -> Path:
    """Return the folder of the uploads, readable by this server's user alone.

    On a closed server it is the visitor's own, and goes when the visit ends.
    """
    if policy().is_closed:
        return visits.current().place("uploads")
    folder = Path(tempfile.gettempdir()) / f"bertscope-uploads-{Path.home().name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_mode & 0o077:
        raise ValueError(f"{folder} can be read by other users. Remove it, then upload again.")
    return folder


def receive(upload: IO[bytes]) -> Path:
    """Unpack an uploaded zip file, unless the same was uploaded before; return its checkpoint.

    Raises:
        ValueError: If it has no checkpoint, or is hostile (see `unpack_checkpoint`), or there is
            no room for it.
        RuntimeError: If it is damaged.
    """
    digest = hashlib.sha256()
    upload.seek(0)
    while chunk := upload.read(_CHUNK):
        digest.update(chunk)
    upload.seek(0)
    target = root() / digest.hexdigest()[:16]
    if not target.is_dir():
        check_room(0)
        with tempfile.TemporaryDirectory(prefix=".", dir=target.parent) as place:
            fresh = Path(place) / "new"
            unpack_checkpoint(upload, fresh, max_bytes=left())
            if not target.is_dir():
                fresh.rename(target)
    target.touch()
    keep_newest(MAX_KEPT, target)
    return find_checkpoint(target)


def discard(checkpoint: Path) -> None:
    """Delete an upload, given its checkpoint, with all that it was unpacked to."""
    shutil.rmtree(root() / checkpoint.relative_to(root()).parts[0], ignore_errors=True)


def unpacked_text(name: str, data: bytes, *, most: int, instead: str) -> bytes:
    """Return the bytes of an uploaded text, unpacked if its name ends in .gz or .xz.

    Args:
        name: Name of the visitor's file; it is never used as a path.
        data: Its bytes.
        most: Most bytes that it may have when unpacked.
        instead: What to do with a larger one, as a sentence.

    Raises:
        ValueError: If it is not a whole archive, or larger, or has more than MAX_LINES.
    """
    try:
        packed = Path(f"upload{Path(name).suffix[:20]}")
        most_lines = packed_files.Most(num_lines=MAX_LINES)
        with packed_files.open_bytes(packed, io.BytesIO(data), most_lines) as unpacked:
            text = unpacked.read(most + 1)
    except packed_files.NOT_WHOLE as error:
        raise ValueError(f"{shown_name(name)} is not a whole archive ({error}).") from error
    if len(text) > most:
        raise ValueError(
            f"{shown_name(name)} has more than {most // 1_000_000} MB of text. {instead}"
        )
    return text


@contextmanager
def reading(box: str) -> Iterator[None]:
    """Read the file of an upload box; of one that is refused, only the sentence is kept.

    Of several files none is removed: the others may be sound.

    Raises:
        ValueError: As in the block.
    """
    try:
        yield
    except ValueError as error:
        ids = file_ids(box)
        if len(ids) == 1:
            empty_box(box)
            st.session_state[_REFUSED.format(box)] = ids, str(error)
        raise


def check_refused(box: str) -> None:
    """Refuse what was refused before, while its name is in an upload box that was just drawn.

    Raises:
        ValueError: As when it was read.
    """
    ids, sentence = st.session_state.get(_REFUSED.format(box), ([], ""))
    if ids and ids == file_ids(box):
        raise ValueError(sentence)


def keep_newest(number: int, newest: Path) -> None:
    """Delete the folders beside `newest` beyond the number of those used last; never itself.

    Another visitor may delete some of them at the same moment. Hidden ones do not count.
    """

    def used(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except FileNotFoundError:
            return 0.0

    folders = [path for path in newest.parent.iterdir() if not path.name.startswith(".")]
    for path in sorted(folders, key=used)[:-number]:
        if path != newest:
            shutil.rmtree(path, ignore_errors=True)
