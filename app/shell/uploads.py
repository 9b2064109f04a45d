"""Uploads on the disk: checkpoints, unpacked once, the oldest deleted; and copies of files."""

import hashlib
import io
import logging
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, BinaryIO, Concatenate, ParamSpec, TypeVar

from bertcore.checkpoints.archive import MAX_DEPTH, unpack_checkpoint
from bertcore.checkpoints.folder import find_checkpoint
from bertcore.data import packed_files
from bertcore.data.columnar import columnar_form, open_lines
from bertcore.data.texts_file import shown_name
from bertcore.loading.sandbox import Fault, Limits, Sandbox

from ..access import visits
from ..access.policy import policy
from ..access.room import check_room, left
from . import turns

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger("bertscope.app")

MAX_KEPT = 5
"""Most uploads kept on the disk, shared by all visitors of this server."""
MAX_MEGABYTES = 1000
"""Largest zip file; a BERT-base in float32 has 440 MB."""
TEXTS_MEGABYTES = 60
"""Largest file of texts that may be sent: above the limit of 50 of the code that reads them,
which answers with a sentence."""
MAX_LINES = 2_000_000
"""Of an uploaded table or text."""
LEAST_APART_ALONE = 10_000_000
"""Bytes from which a file is read in a process of its own on a server of one user, who waits for
that process to start."""
_CHUNK = 1 << 20


def root() -> Path:
    """Return the folder of the uploads, readable by this server's user alone.

    On a closed server it is the visitor's own, and goes when the visit ends.
    """
    if policy().is_closed:
        return visits.current().place("uploads")
    return visits.private_folder("bertscope-uploads")


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
    return find_checkpoint(target, depth=MAX_DEPTH)


def discard(checkpoint: Path) -> None:
    """Delete an upload, given its checkpoint, with all that it was unpacked to."""
    shutil.rmtree(root() / checkpoint.relative_to(root()).parts[0], ignore_errors=True)


@dataclass(frozen=True, eq=False)
class Copy:
    """An uploaded file on this server's disk, deleted when nothing refers to this any more."""

    name: str
    """As the visitor calls it; never used as a path."""
    path: Path
    """Unpacked, under a name of our own: the visitor's could lead elsewhere."""
    inner: str
    """Name of the unpacked file, as the visitor calls it; with ".jsonl" for one in columns."""
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

        Raises:
            ValueError: As in the block.
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
    """Give a copy the visitor's name in errors of the block.

    Raises:
        ValueError: As in the block.
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(named(str(error), path, name)) from error


def named(sentence: str, path: Path, name: str) -> str:
    """Return a sentence about a copy with the visitor's name of the file instead of the path."""
    shown = shown_name(name)
    for written in (repr(str(path)), str(path), repr(path.name), path.name):
        sentence = sentence.replace(written, shown)
    return sentence


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
        function: At module level of bertcore; see `Sandbox.call`.

    Raises:
        ValueError, RuntimeError, OSError: As the function, or if it exceeded a limit.
    """
    apart = sandbox_of(path)
    if apart is None:
        return function(path, *arguments, **options)
    turns.give_back()
    try:
        with turns.beside_pages():
            return apart.call(function, path, *arguments, **options)
    except Fault as fault:
        log.error("a file was not read because of a fault: %s", fault.where)
        raise


def sandbox_of(path: Path) -> Sandbox | None:
    """Return the process in which a file is read; None if it is read in this one.

    On a closed server every upload is, since 0.2 MB can hold the interpreter for minutes.

    Args:
        path: Of any file; those of this machine are its user's.
    """
    least = 0 if policy().is_closed else LEAST_APART_ALONE
    if not path.is_relative_to(visits.root()) or path.stat().st_size < least:
        return None
    is_job = packed_files.is_watched()  # few are begun, and they wait for no page of their visitor
    owner = visits.owner_of(path) if policy().is_closed and not is_job else None
    return Sandbox(limits=Limits.of_table(path.stat().st_size), owner=owner, waits=not is_job)


def ending_of(name: str, _: Path) -> str:
    """Return the last endings of a file's name, as ".dev.csv"."""
    return "".join(PurePath(name.replace("\\", "/").lower()).suffixes[-2:])[:20]


def write_copy(
    name: str, data: bytes, most: int, instead: str, kind: Callable[[str, Path], str] = ending_of
) -> Copy:
    """Write an uploaded file to the disk, unpacked; Parquet and Arrow as JSON lines.

    Args:
        name: Name of the visitor's file.
        data: Its bytes.
        most: Most bytes that it may have when unpacked.
        instead: What to do with a larger one, as a sentence.
        kind: Returns the ending of the copy's name, by the unpacked file's name and content.

    Raises:
        ValueError: If it is not a whole archive, or larger, or has more than MAX_LINES, or this
            server is closed and has no room for it.
    """
    check_room(len(data))
    folder = Path(tempfile.mkdtemp(dir=_copies()))
    try:
        with (folder / "new").open("wb") as target:
            inner = _unpack(name, data, target, most, instead)
        path = folder / "new"
        path = path.rename(folder / f"upload{kind(inner, path)}")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Copy(name, path, inner, hashlib.sha256(name.encode() + b"\0" + data).hexdigest())


def _unpack(name: str, data: bytes, target: IO[bytes], most: int, instead: str) -> str:
    """Write the content of a file; return its name."""
    shown, packed = shown_name(name), PurePath(name)
    path, lines = Path(shown[1:-1]), packed_files.Most(num_lines=MAX_LINES)
    inner = packed.stem if packed.suffix.lower() in packed_files.SUFFIXES else name
    try:
        with packed_files.open_bytes(path, io.BytesIO(data)) as content:
            form = columnar_form(content.read(8))
        with ExitStack() as stack:
            if form is None:
                content = packed_files.open_bytes(path, io.BytesIO(data), lines)
            else:
                copy = stack.enter_context(tempfile.NamedTemporaryFile(dir=_copies()))
                with packed_files.open_bytes(path, io.BytesIO(data)) as content:
                    _write(content, copy, shown, most, instead)
                copy.flush()
                apart = sandbox_of(Path(copy.name))
                stack.enter_context(nullcontext() if apart is None else apart.turn())
                opened = open_lines(Path(copy.name), form, path)
                content, inner = packed_files.bounded(opened, path, lines), f"{inner}.jsonl"
            with content:
                _write(content, target, shown, most, instead)
    except packed_files.NOT_WHOLE as error:
        raise ValueError(f"{shown} is not a whole archive ({error}). Copy it again.") from error
    return inner


def _write(content: BinaryIO, target: IO[bytes], shown: str, most: int, instead: str) -> None:
    while chunk := content.read(_CHUNK):
        if target.tell() + len(chunk) > most:
            raise ValueError(
                f"{shown} has more than {most // 1_000_000} MB when unpacked. {instead}"
            )
        check_room(len(chunk))
        target.write(chunk)


def _copies() -> Path:
    """Return the folder of the copies, which goes with the visit, on an open server with it."""
    if policy().is_closed:
        return visits.current().place("copies")
    folder = visits.root() / "copies"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


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
