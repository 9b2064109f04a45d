"""Files of the commands: read lines of text, write files atomically."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

import typer

from bertcore.base.whole_files import whole_file
from bertcore.data.files import SUFFIXES, find_encoding, lines_of, open_bytes, open_text


def read_lines(path: Path) -> tuple[list[str], int]:
    """Return the non-blank lines of a text file and the number of blank ones; note a guess of its
    encoding.

    Args:
        path: As for `open_text`.

    ValueError as `open_text`, or if the file has no text. OSError if it cannot be opened.
    """
    with open_text(path) as file:
        lines = [line.strip() for line in lines_of(file, path)]
    kept = [line for line in lines if line]
    if not kept:
        raise ValueError(f"{str(path)!r} has no text. Write one text per line.")
    if (encoding := find_encoding(path)).is_guessed:
        typer.echo(f"Note: {str(path)!r} was read as {encoding.title}.", err=True)
    return kept, len(lines) - len(kept)


def read_whole(path: Path) -> tuple[bytes, str]:
    """Return the bytes of a file, unpacked if it ends in .gz or .xz, and its path without that.

    ValueError if it is not a whole archive. OSError if it cannot be opened.
    """
    with open_bytes(path) as file:
        data = file.read()
    return data, str(path.with_suffix("") if path.suffix.lower() in SUFFIXES else path)


def check_target(
    path: Path, suffix: str | None = None, *, option: str = "--out", makes_folder: bool = False
) -> None:
    """Make sure, before any work is done, that a file can be written to `path`.

    Args:
        path: The file.
        suffix: The ending that its name must have; None: any.
        option: The option that names the file.
        makes_folder: Whether a missing folder will be created.

    ValueError if the name has another ending, the folder does not exist, or it is a folder.
    """
    named = f"{option} is {str(path)!r}"
    if suffix is not None and path.suffix.lower() != suffix:
        raise ValueError(f"{named}; expected a name that ends in {suffix}.")
    if path.is_dir():
        raise ValueError(f"{named}, which is a folder. Give the name of a file.")
    folder = path.parent
    while makes_folder and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        problem = "is a file" if folder.exists() else "does not exist. Create it first"
        raise ValueError(f"{named}, but the folder {str(folder)!r} {problem}.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{named}, but that folder is not writable.")


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file under another name and rename it, so that it appears complete or not at all.

    Args:
        path: The final name.
        write: Called with the open file.

    OSError if it cannot be written, such as on a full disk.
    """
    try:
        with whole_file(path) as partial, partial.open("wb") as file:
            write(file)
    except OSError as error:
        if error.strerror is None:  # numpy's words for a write that the system cut short
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        raise
