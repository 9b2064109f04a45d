"""An OS lock that lets one process at a time train in a run folder and ends with its process.

The lock is on the file run.lock in the folder. Only the lock counts, not the file: a kill frees the
lock, but the file may stay. Windows has no such lock; there, users must take care themselves.
"""

import json
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

LOCK_FILE = "run.lock"
_PATIENCE_SECONDS = 0.5
"""Seconds to retry a lock: a reader holds it for an instant, a run for its lifetime."""

_logger = logging.getLogger(__name__)
_FileId = tuple[int, int]
_held: dict[_FileId, int] = {}
"""Device and inode of each lock file that this process holds -> its descriptor."""


@dataclass(frozen=True, slots=True)
class LockHolder:
    """The process that trains in a run folder."""

    pid: int
    """Its process id on `host`; 0 if the lock file does not state it."""
    host: str
    """Name of its machine; "" if the lock file does not state it."""
    started: datetime | None
    """When it took the lock, in UTC."""

    def __str__(self) -> str:
        """Return "process 12 on host since 2026-01-31 12:00:00 UTC"."""
        if not self.pid:
            return "another process"
        since = f" since {self.started:%Y-%m-%d %H:%M:%S} UTC" if self.started else ""
        return f"process {self.pid} on {self.host}{since}"


@contextmanager
def lock_run(folder: Path) -> Iterator[None]:
    """Lock the run folder for this process; inside another `lock_run` of it, do nothing.

    The lock follows the folder when it is renamed. A forked child does not have it. If the system
    or the file system has no such locks, a warning is logged and nothing is locked. ValueError if
    another process trains there, or there is no such folder. OSError if run.lock cannot be opened.
    """
    path = folder / LOCK_FILE
    if not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is not a folder, so it has no run. Check the path.")
    if _id_of(path) in _held:
        yield
        return
    descriptor = _take(path)
    if descriptor is None:
        yield
        return
    try:
        # On a full disk the lock works, but does not name its holder.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            values = {
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            os.pwrite(descriptor, (json.dumps(values) + "\n").encode(), 0)
        file_id = _id_of(descriptor)
        assert file_id is not None
        _held[file_id] = descriptor
        try:
            yield
        finally:
            # A child forked inside has cleared this, and must not release its parent's lock.
            descriptor = _held.pop(file_id, -1)
    finally:
        if descriptor != -1:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def lock_holder(folder: Path) -> LockHolder | None:
    """Return the process that trains in the run folder, possibly this one, or None.

    Writes nothing, and does not prevent a run from starting.
    """
    if fcntl is None:
        return None
    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_holder(descriptor)
    except OSError:  # a file system without locks: the run warned of it
        return None
    finally:
        os.close(descriptor)
    return None


def _take(path: Path) -> int | None:
    """Return the descriptor of the file, locked by no other process; None if there are no locks."""
    if fcntl is None:
        _logger.warning(
            "this system has no locks for run folders: do not start two processes in %s",
            path.parent,
        )
        return None
    ends = time.monotonic() + _PATIENCE_SECONDS
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read_holder(descriptor)
            os.close(descriptor)
            if time.monotonic() > ends:
                raise ValueError(
                    f"the run folder {str(path.parent)!r} is in use by {holder}. Wait until it "
                    "ends, stop it, or name another folder."
                ) from None
            time.sleep(0.02)
            continue
        except OSError as error:
            os.close(descriptor)
            _logger.warning(
                "the file system of %s has no locks (%s): do not start two processes there",
                path.parent,
                error,
            )
            return None
        # Between opening and locking, the holder may have deleted the folder.
        if _id_of(path) == _id_of(descriptor):
            return descriptor
        os.close(descriptor)


def _id_of(file: Path | int) -> _FileId | None:
    try:
        stat = os.stat(file)
    except FileNotFoundError:
        return None
    return stat.st_dev, stat.st_ino


def _read_holder(descriptor: int) -> LockHolder:
    """Return the holder as written; empty if it was killed or has not written yet."""
    try:
        values = json.loads(os.pread(descriptor, 4096, 0))
        started = datetime.fromisoformat(values["started"])
        return LockHolder(int(values["pid"]), str(values["host"]), started)
    except (OSError, ValueError, KeyError, TypeError):
        return LockHolder(0, "", None)


def _forget_after_fork() -> None:
    """Close a forked child's copies, which would hold the lock after its parent's end."""
    for descriptor in _held.values():
        os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
