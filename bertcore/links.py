"""Files of folders that come from elsewhere: links out of them, and sizes."""

from __future__ import annotations

from pathlib import Path


def leads_out(file: Path) -> bool:
    """Return whether a file is a link to a place outside of its folder.

    The hub's cache keeps files once, in `blobs` beside `snapshots`, and links to them.

    Raises:
        OSError: If the link cannot be followed.
    """
    if not file.is_symlink():
        return False
    folder, target = file.parent.resolve(), file.resolve()
    homes = [folder]
    # A module of a sentence encoder lies one folder deeper.
    snapshots = (up for up in (folder.parent, folder.parent.parent) if up.name == "snapshots")
    homes += [up.parent / "blobs" for up in snapshots]
    return not any(target.is_relative_to(home) for home in homes)


def check_file(file: Path, max_bytes: int) -> None:
    """Refuse a file that is not the folder's own, or too large to be read into memory.

    Raises:
        RuntimeError: If it is a link to a place outside of its folder, or has over `max_bytes`.
        OSError: If it is missing, or may not be looked at.
    """
    if leads_out(file):
        raise RuntimeError(
            f"{file} is a link to a file outside of its folder. It is not opened. Put the file "
            "itself there."
        )
    if file.stat().st_size > max_bytes:
        raise RuntimeError(f"{file} has over {max_bytes:,} bytes. Is it the right file?")
