"""Visits to a closed server, each with its own folder, which is deleted when the visit ends.

A visit is a browser (see `gate`), or one session of a client that keeps no cookie. It ends some
minutes after its last session, so that a page can be reloaded without losing what it made.
"""

import atexit
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import streamlit as st

from . import cookies, sessions
from . import streamlit_internals as internals

LOST = (
    "Your earlier visit is over, or its server was started again: what you uploaded, trained and "
    "computed in it is gone. The text and choices in the address are kept."
)
GRACE_SECONDS = 300.0  # between the end of a visit's last session and the end of the visit


@dataclass(slots=True, eq=False)
class Visit:
    """What one visitor has on this server."""

    folder: Path
    """Readable by the server's user alone; its name cannot be guessed."""
    sessions: list[str] = field(default_factory=list)
    """Ids of those that are connected, or not yet forgotten."""
    is_lost: bool = False
    """Whether an earlier visit of the same browser is over, with all that it had."""
    ending: threading.Timer | None = field(default=None, repr=False)
    held: dict[tuple[str, str], float] = field(default_factory=dict)
    """Bytes in memory of what was read from its files, by session and place."""

    def place(self, name: str) -> Path:
        """Return a folder below the visit's own, created if it does not exist."""
        folder = self.folder / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    @property
    def num_bytes(self) -> float:
        """Size of all of its files, and of what is in memory of them."""
        return bytes_below(self.folder) + sum([*self.held.values()])


_visits: dict[str, Visit] = {}
"""By the value of the cookie, or a random text for a session without one."""
_lock, _making_root = threading.Lock(), threading.Lock()
_endings: list[Callable[[Path], None]] = []
"""Called with the folder of a visit before it is deleted."""


def before_end(ending: Callable[[Path], None]) -> None:
    """Call `ending` with the folder of each visit that ends, before it is deleted."""
    _endings.append(ending)


def are_over() -> bool:
    """Return whether no visit is left; on an open server there are none."""
    with _lock:
        return not _visits


def current() -> Visit:
    """Return the visit that this run of a page belongs to."""
    return _of_session().visit


def has_lost() -> bool:
    """Return once, to the first run of a page that asks, that the visitor lost an earlier visit."""
    visit = current()
    has_lost, visit.is_lost = visit.is_lost, False
    return has_lost


def owner_of(path: Path) -> str | None:
    """Return the name of the visit in whose folder a path lies; None for other places."""
    place = root()
    return path.relative_to(place).parts[0] if path.is_relative_to(place) else None


def bytes_of(session: str) -> float:
    """Return the size of what the visit of a session has; 0 if it has run no page."""
    visits = [*_visits.values()]
    return next((visit.num_bytes for visit in visits if session in visit.sessions), 0)


def bytes_of_all() -> float:
    """Return the size of the files of all visits, and of what is in memory of them."""
    return bytes_below(root()) + sum(sum([*v.held.values()]) for v in [*_visits.values()])


def bytes_below(folder: Path) -> int:
    """Return the size of all files below a folder; files that disappear meanwhile count as 0."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:
                continue
    return total


def root() -> Path:
    """Return the folder of this server's visits, which is deleted when the process ends."""
    with _making_root:  # two at once would each delete the other's
        return _make_root()


def private_folder(name: str) -> Path:
    """Return the folder of this name for temporary files, which no other user can open.

    Anybody may have made it before in a folder that all users share.

    RuntimeError if it is another user's, a link, or others may open it.
    """
    folder = Path(tempfile.gettempdir()) / f"{name}-{Path.home().name}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    about = folder.lstat()
    is_ours = os.name == "nt" or (about.st_uid == os.getuid() and not about.st_mode & 0o077)
    if not (stat.S_ISDIR(about.st_mode) and is_ours):
        raise RuntimeError(
            f"{folder} is not a folder that belongs to you and is closed to other users. Remove "
            "it, or set TMPDIR to a folder of your own, then start again."
        )
    return folder


@cache
def _make_root() -> Path:
    parent = private_folder("bertscope-visits")
    for left in parent.glob("*-*"):  # of a server that was killed
        if not _is_another(left.name.partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=parent))
    atexit.register(end_all)
    return folder


def end_all() -> None:
    """End all visits, as the server stops."""
    with _lock:
        ended = [*_visits.values()]
        _visits.clear()
    for visit in ended:
        _end(visit)
    if _make_root.cache_info().currsize:
        shutil.rmtree(root(), ignore_errors=True)


def _is_another(process: str) -> bool:
    """Return whether a process is alive and not this one, which may reuse a dead one's number."""
    if os.name == "nt":  # os.kill would end it
        return True
    try:
        if int(process) == os.getpid():
            return False
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True


def follow() -> None:
    """Let the session that runs this be closed some time after its connection has ended.

    On an open server too, where it belongs to no visit.
    """
    if internals.session():
        _followed()


@st.cache_resource(
    scope="session", show_spinner=False, on_release=lambda session: sessions.close_later(session)
)
def _followed() -> str:
    return internals.session()


@dataclass(slots=True, eq=False)
class _Session:
    name: str
    visit: Visit
    id: str


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda session: _leave(session))
def _of_session() -> _Session:
    name = cookies.visit_of(st.context.cookies) or cookies.new_visit()
    with _lock:
        if name not in _visits:
            folder = Path(tempfile.mkdtemp(prefix="visit-", dir=root()))
            _visits[name] = Visit(folder, is_lost=not cookies.is_new(name))
        visit = _visits[name]
        visit.sessions.append(internals.session())
        if visit.ending is not None:
            visit.ending.cancel()
            visit.ending = None
    return _Session(name, visit, internals.session())


def _leave(session: _Session) -> None:
    with _lock:
        visit = session.visit
        visit.held = {key: size for key, size in visit.held.items() if key[0] != session.id}
        visit.sessions.remove(session.id)
        if not visit.sessions:
            visit.ending = threading.Timer(GRACE_SECONDS, _forget, (session.name,))
            visit.ending.daemon = True
            visit.ending.start()


def _forget(name: str) -> None:
    with _lock:
        visit = _visits.get(name)
        if visit is None or visit.sessions:
            return
        del _visits[name]
    _end(visit)
    sessions.release_soon()


def _end(visit: Visit) -> None:
    """Stop the visit's running work, forget what came of its files, and delete them."""
    for ending in _endings:
        ending(visit.folder)
    shutil.rmtree(visit.folder, ignore_errors=True)
