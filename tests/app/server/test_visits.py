"""A visit's own folder, its end, and the room that its files may take."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.server import cookies, room, training, visits
from app.sources.run_folders import process
from tests.support.closed import closed


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The folder of all visits."""
    monkeypatch.setattr(visits.tempfile, "gettempdir", lambda: str(tmp_path))
    visits._make_root.cache_clear()
    with closed(monkeypatch, BERTSCOPE_ALLOW_TRAINING="5"):
        yield visits.root()


def come(monkeypatch: pytest.MonkeyPatch, cookie: str | None = None) -> visits._Session:
    """Begin a session, with a cookie or without, as Streamlit's cache does once for each."""
    sent = {} if cookie is None else {cookies.COOKIE: cookie}
    monkeypatch.setattr(visits.st, "context", SimpleNamespace(cookies=sent))
    return visits._of_session.__wrapped__()  # type: ignore[attr-defined, no-any-return]


def test_sessions_of_one_browser_share_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, theirs = cookies.new_visit(), cookies.new_visit()
    first, again = come(monkeypatch, mine), come(monkeypatch, mine)
    assert first.visit is again.visit
    others = [
        come(monkeypatch, theirs),
        come(monkeypatch),
        come(monkeypatch),
        come(monkeypatch, mine + "0"),  # not ours
        come(monkeypatch, "../" + mine),
    ]
    folders = {session.visit.folder for session in (first, *others)}
    assert len(folders) == 6
    assert all(folder.parent == visits.root() for folder in folders)
    own = first.visit.folder
    assert visits.owner_of(own / "uploads" / "a" / "bert") == own.name
    assert visits.owner_of(visits.root().parent / "bert") is None
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in folders)
    assert all(mine.partition(".")[0] not in folder.name for folder in folders)


def test_a_made_up_cookie_is_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("mine", "mine.", "mine.0", ".", "é"):
        first, second = come(monkeypatch, value), come(monkeypatch, value)
        assert first.visit is not second.visit


def test_a_visit_ends_after_its_last_session(monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = cookies.new_visit()
    first, second = come(monkeypatch, cookie), come(monkeypatch, cookie)
    file = first.visit.place("uploads") / "mine"
    file.write_bytes(b"x" * 1000)
    visits._leave(first)
    assert first.visit.ending is None
    visits._leave(second)
    assert first.visit.ending is not None
    again = come(monkeypatch, cookie)  # the page was opened anew
    assert again.visit is first.visit
    assert again.visit.ending is None
    visits._forget(cookie)  # a timer that was too late to be stopped
    assert file.is_file()
    visits._leave(again)
    visits._forget(cookie)
    assert not first.visit.folder.exists()
    assert come(monkeypatch, cookie).visit is not first.visit


def test_what_trains_in_a_visit_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    session = come(monkeypatch, cookies.new_visit())
    run = session.visit.place("runs") / "mine"
    run.mkdir()
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    monkeypatch.setattr(process, "_children", {run.resolve(): child, Path("/else/where"): other})
    try:
        visits._leave(session)
        visits._forget(session.name)
        assert child.wait(30) != 0
        assert other.poll() is None
    finally:
        child.kill()
        other.kill()


def test_a_server_that_was_killed_leaves_nothing_for_long(place: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    left, alive = (place.parent / f"{pid}-left" for pid in (child.pid, 1))
    left.mkdir()
    alive.mkdir()
    visits._make_root.cache_clear()
    visits.root()
    assert not left.exists()
    assert alive.exists()


def _open_to_others(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)


def _link(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "elsewhere")


@pytest.mark.parametrize(
    "prepare",
    [
        _open_to_others,
        _link,
        lambda folder: folder.symlink_to("nowhere"),
        lambda folder: folder.write_text(""),
    ],
)
def test_a_prepared_folder_is_not_used(prepare: Callable[[Path], object], tmp_path: Path) -> None:
    prepare(tmp_path / f"prepared-{Path.home().name}")
    with pytest.raises(RuntimeError, match="not a folder that belongs to you"):
        visits.private_folder("prepared")


def test_the_folder_of_another_user_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert visits.private_folder("mine") == visits.private_folder("mine")
    monkeypatch.setattr(visits.os, "getuid", lambda: os.geteuid() + 1)
    with pytest.raises(RuntimeError, match="not a folder that belongs to you"):
        visits.private_folder("mine")


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> visits.Visit:
    mine = come(monkeypatch, cookies.new_visit()).visit
    monkeypatch.setattr(visits, "current", lambda: mine)
    return mine


def write(path: Path, megabytes: int) -> None:
    with path.open("wb") as file:
        file.truncate(megabytes * 10**6)


def test_files_of_a_visitor_and_of_all_have_limits(
    visit: visits.Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: SimpleNamespace(free=100_000 * 10**6))
    room.check_room(150e6)
    write(visit.folder / "a", 150)
    with pytest.raises(ValueError, match="150 of the 200 MB"):
        room.check_room(60e6)
    for number in range(20):  # others
        folder = visits.root() / f"visit-{number}"
        folder.mkdir()
        write(folder / "a", 199)
    with pytest.raises(ValueError, match="no room left"):
        room.check_room(40e6)


def test_a_full_disk_is_one_sentence(visit: visits.Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: SimpleNamespace(free=1_020 * 10**6))
    room.check_room(10e6)
    with pytest.raises(ValueError, match="nothing was saved"):
        room.check_room(30e6)


# ---- training ----


def test_a_run_within_the_limits_may_start(visit: visits.Visit) -> None:
    training.check_start(visit.place("runs") / "mine", minutes=5.0, num_bytes=1e8, active=0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"minutes": 5.1}, "at most 5 minutes"),
        ({"minutes": None}, "at most 5 minutes"),
        ({"minutes": 0.0}, "at most 5 minutes"),
        ({"minutes": float("nan")}, "at most 5 minutes"),
        ({"minutes": -1.0}, "at most 5 minutes"),
        ({"num_bytes": 6e8}, "600 MB"),
        ({"active": 1}, "is still running"),
    ],
)
def test_a_run_beyond_a_limit_may_not(
    visit: visits.Visit, change: dict[str, float], said: str
) -> None:
    usual = {"minutes": 1.0, "num_bytes": 1e6, "active": 0}
    with pytest.raises(ValueError, match=said):
        training.check_start(visit.place("runs") / "mine", **{**usual, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("where", ["runs/a/b", ".", "../visit-2/runs/mine", "saved/mine"])
def test_a_run_elsewhere_may_not(visit: visits.Visit, where: str) -> None:
    with pytest.raises(ValueError, match="their own folder"):
        training.check_start(visit.folder / where, minutes=1.0, num_bytes=0, active=0)


def test_a_run_of_the_server_is_only_watched(visit: visits.Visit, tmp_path: Path) -> None:
    assert training.is_own(visit.place("runs") / "mine")
    for run in (tmp_path / "mine", visits.root() / "visit-2" / "runs" / "mine"):
        assert not training.is_own(run)
        with pytest.raises(ValueError, match="their own folder"):
            process.start(run, None)
        assert not process.log_file(run).exists()


@pytest.mark.parametrize("beyond", ["time", "size"])
def test_a_process_beyond_its_limits_is_ended(
    visit: visits.Visit, monkeypatch: pytest.MonkeyPatch, beyond: str
) -> None:
    monkeypatch.setattr(process, "_CHECK_SECONDS", 0.01)
    if beyond == "time":
        monkeypatch.setattr(process, "PREPARING_SECONDS", -1000.0)
    else:
        write(visit.place("runs") / "large", 501)
    limits = training.limits()
    assert limits is not None
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    process._hold(child, visit.place("runs"), limits)
    assert child.poll() is not None
