"""Files of the commands: read whole, written atomically."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bertcore.base.whole_files import whole_file
from bertcore.data.files import SUFFIXES, open_bytes

if TYPE_CHECKING:
    import pandas as pd


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


def write_whole(path: Path, data: bytes) -> None:
    """Write a file under another name and rename it, so that it appears complete or not at all.

    OSError if it cannot be written, such as on a full disk.
    """
    with whole_file(path) as partial:
        partial.write_bytes(data)


def table_bytes(path: Path, table: pd.DataFrame) -> bytes:
    """Return the content of a file of a table: Parquet if its name ends in .parquet, else CSV."""
    from bertscope.notebook.notebook_view import app_module

    if path.suffix.lower() == ".parquet":
        return bytes(table.to_parquet(index=False))
    content: bytes = app_module("app.parts.html_file.data_files").to_csv(table)
    return content
