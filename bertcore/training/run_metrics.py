"""The metrics file of a run: one JSON object per line, each written completely."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from bertcore.base.json_data import plain_data
from bertcore.base.whole_files import write_whole


def json_line(values: dict[str, Any]) -> str:
    """Return a line of the file, with NaN as null."""
    return json.dumps(plain_data(values), allow_nan=False) + "\n"


def append_line(path: Path, values: dict[str, Any]) -> None:
    """Add one line, completely or not at all; other processes see it at once.

    OSError if it cannot be written, such as on a full disk.
    """
    left = json_line(values).encode()
    with path.open("ab", buffering=0) as lines:
        length = lines.seek(0, os.SEEK_END)
        try:
            while left:
                left = left[lines.write(left) :]
        except OSError:
            with suppress(OSError):
                lines.truncate(length)
            raise


def forget_lines_after(path: Path, step: int) -> None:
    """Drop the lines of steps after `step`, and a line cut off by a kill."""
    if not path.is_file():
        return
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
        except ValueError:
            continue  # half a line: the kill came while it was written
    write_whole(path, "".join(kept))
