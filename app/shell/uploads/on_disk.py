"""Uploads on the disk."""

import hashlib
import io
import logging
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Concatenate, ParamSpec, TypeVar

import streamlit as st

from bertcore.base.limited_process import Fault, LimitedProcess, Limits
from bertcore.data.columnar import check_size, is_columnar
from bertcore.data.files import SUFFIXES, is_watched, look, open_bytes
from bertcore.data.texts import shown_name

from ...server import visits
from ...server.gate import network_of
from ...server.policy import policy
from ...server.room import check_room
from ...server.streamlit_internals import session
from .. import turns
from .reading_queue import QUEUE

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger("bertscope.app")

TEXTS_MEGABYTES = 60
"""Largest file of texts that may be sent: above the limit of 50 of the code that reads them,
which answers with a sentence."""
MAX_LINES = 2_000_000
"""Of an uploaded table or text."""
_CHUNK = 1 << 20
_WANTED = "_is_wanted"  # a key of the session that nothing has


@dataclass(frozen=True, eq=False)
class Copy:
    """An uploaded file on this server's disk, deleted when nothing refers to this any more."""

    name: str
    """As the visitor calls it; never used as a path."""
    path: Path
    """Unpacked, under a name of our own: the visitor's could lead elsewhere."""
    inner: str
    """Name of the unpacked file, as the visitor calls it."""
    digest: str
    """SHA-256 of name and content."""

    def __post_init__(self) -> None:
        weakref.finalize(self, shutil.rmtree, self.path.parent, ignore_errors=True)

    def named(self, sentence: str) -> str:
        """Return a sentence about the file with the visitor's name of it instead of its path."""
        return named(sentence, self.path, self.name)

    @contextmanager
    def read(self) -> Iterator[Path]:
        """Give the path; errors of the block name the file as the visitor does.

        ValueError as in the block.
        """
        with naming(self.path, self.name):
            yield self.path

    def apart(
        self,
        function: Callable[Concatenate[Path, P], T],
        /,
        *arguments: P.args,
        **options: P.kwargs,
    ) -> T:
        """Return what `read_apart` does; errors name the file as the visitor does."""
        with self.read() as path:
            return read_apart(path, function, *arguments, **options)


@contextmanager
def naming(path: Path, name: str) -> Iterator[None]:
    """Give a copy the visitor's name in errors of the block; ValueError as in the block."""
    try:
        yield
    except ValueError as error:
        raise ValueError(named(str(error), path, name)) from error


def named(sentence: str, path: Path, name: str) -> str:
    """Return a sentence about a copy with the visitor's name of it, and the page's controls."""
    shown = shown_name(name)
    for written in (repr(str(path)), str(path), repr(path.name), path.name):
        sentence = sentence.replace(written, shown)
    sentence = sentence.replace("--label-map", "“Labels of the file”")
    return sentence.replace("--skip-bad-rows", "the switch on this page")


def read_apart(
    path: Path,
    function: Callable[Concatenate[Path, P], T],
    /,
    *arguments: P.args,
    **options: P.kwargs,
) -> T:
    """Return `function(path, ...)`, called in a process with limits for a visitor's copy.

    Args:
        path: Of any file.
        function: At module level of bertcore; see `LimitedProcess.call`.

    ValueError, RuntimeError or OSError as the function, or if it exceeded a limit.
    """
    apart = process_of(path)
    if apart is None:
        return function(path, *arguments, **options)
    turns.give_back()
    try:
        with turns.beside_pages(), _turn(path):
            return apart.call(function, path, *arguments, **options)
    except Fault as fault:
        log.error("a file was not read because of a fault: %s", fault.where)
        raise


def process_of(path: Path) -> LimitedProcess | None:
    """Return the process in which a file is read; None if it is read in this one.

    On a closed server every upload is, since 0.2 MB can hold the interpreter for minutes.

    Args:
        path: Of any file; those of this machine are its user's.
    """
    if not policy().is_closed or not path.is_relative_to(visits.root()):
        return None
    return LimitedProcess(limits=Limits.of_table(path.stat().st_size), on_wait=_look)


def _look() -> None:
    """End the run of a page whose visitor has left or changed something, or its job."""
    look()
    if session():
        st.session_state.get(_WANTED)  # where Streamlit ends a run that nobody wants any more


@contextmanager
def _turn(path: Path) -> Iterator[None]:
    """Wait for a turn to read a visitor's file; few jobs are begun, and they wait for none."""
    if is_watched():
        yield
        return
    visitor, address = visits.owner_of(path) or "", network_of(st.context.ip_address or "")
    with QUEUE.turn(visitor, address, path.stat().st_size, _look):
        yield


def ending_of(name: str, _: Path) -> str:
    """Return the last endings of a file's name, as ".dev.csv"."""
    return "".join(PurePath(name.replace("\\", "/").lower()).suffixes[-2:])[:20]


def write_copy(
    name: str, data: bytes, most: int, instead: str, kind: Callable[[str, Path], str] = ending_of
) -> Copy:
    """Write an uploaded file to the disk, unpacked.

    Args:
        name: Name of the visitor's file.
        data: Its bytes.
        most: Most bytes that it may have when unpacked.
        instead: What to do with a larger one, as a sentence.
        kind: Returns the ending of the copy's name, by the unpacked file's name and content.

    ValueError if it is not a whole archive, or larger, or has more than MAX_LINES, or this server
    is closed and has no room for it.
    """
    check_room(len(data))
    folder = Path(tempfile.mkdtemp(dir=_copies()))
    try:
        with (folder / "new").open("wb") as target:
            inner = _unpack(name, data, target, most, instead)
        path = folder / "new"
        path = path.rename(folder / f"upload{kind(inner, path)}")
        with path.open("rb") as file:
            is_table = is_columnar(file.read(8))
        if is_table:
            with naming(path, name):
                read_apart(path, check_size, most_rows=MAX_LINES, most_bytes=most)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Copy(name, path, inner, hashlib.sha256(name.encode() + b"\0" + data).hexdigest())


def _unpack(name: str, data: bytes, target: IO[bytes], most: int, instead: str) -> str:
    """Write the content of a file; return its name."""
    shown, packed = shown_name(name), PurePath(name)
    num_lines, is_text = 0, None
    with open_bytes(Path(shown[1:-1]), io.BytesIO(data)) as content:
        while chunk := content.read(_CHUNK):
            is_text = not is_columnar(chunk) if is_text is None else is_text
            num_lines += max(map(chunk.count, (b"\n", b"\r"))) if is_text else 0
            if num_lines > MAX_LINES:
                raise ValueError(f"{shown} has more than {MAX_LINES:,} lines. Give a part of it.")
            if target.tell() + len(chunk) > most:
                raise ValueError(
                    f"{shown} has more than {most // 1_000_000} MB when unpacked. {instead}"
                )
            check_room(len(chunk))
            target.write(chunk)
    return packed.stem if packed.suffix.lower() in SUFFIXES else name


def _copies() -> Path:
    """Return the folder of the copies, which goes with the visit, on an open server with it."""
    if policy().is_closed:
        return visits.current().place("copies")
    folder = visits.root() / "copies"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
