"""Files that appear complete or not at all."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield the path to write to, beside `path`; it is renamed at the end, or deleted on an error.

    Several processes and threads may write the same file: the last to end wins.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> with whole_file(path) as partial:
    ...     _ = partial.write_text("1 2 3")
    >>> [file.name for file in path.parent.iterdir()]
    ['numbers.txt']
    """
    own = f"{os.getpid()}-{threading.get_ident()}"
    partial = path.with_name(f".{path.name}.{own}.partial")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file in UTF-8, complete or not at all."""
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def to_disk(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    if os.name == "nt" and path.is_dir():  # Windows opens no folders
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
