"""The end of a server: nothing of a visitor outlives it, whatever ends it."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.browser.running import Running, running_app
from tests.support.exhaustive import all_but
from tests.support.session import Session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="signals as systemd and podman send them"),
]

SECONDS = 30.0


def wait(what: Callable[[], object], seconds: float = SECONDS) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.1)


def processes_below(folder: Path) -> list[str]:
    """Return the command lines that name a folder."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True
    )
    return [line for line in listed.stdout.splitlines() if str(folder) in line]


def start_training(visitor: Session, folder: Path) -> None:
    """Press the button of the form, and wait until the run has a process."""
    visitor.open("training", "training_view=Start+a+run&training_kind=pretrain")
    visitor.press("None")  # the only button without a name
    assert visitor.errors == []
    wait(lambda: processes_below(folder))


def has_ended(server: Running) -> bool:
    try:
        return Path(f"/proc/{server.process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize(
    "number", all_but([signal.SIGTERM], [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
)
def test_a_signal_ends_visits_and_their_runs(
    number: signal.Signals,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    arguments = ["--address", "0.0.0.0", "--training-minutes", "10"]
    # The tests may run under nohup, and the server would inherit that.
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    request.addfinalizer(lambda: signal.signal(signal.SIGHUP, before))
    with running_app(arguments=arguments) as server, Session(server.url) as visitor:
        start_training(visitor, tmp_path)
        (root,) = tmp_path.glob("bertscope-visits-*/*")
        assert [*root.rglob("*.log")]
        os.kill(server.process, number)
        wait(lambda: has_ended(server))
        assert processes_below(tmp_path) == []
        assert not root.exists()
        assert "Traceback" not in server.log.read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_a_server_that_is_killed_takes_its_visitors_runs_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    arguments = ["--address", "0.0.0.0", "--training-minutes", "10"]
    with running_app(arguments=arguments) as server, Session(server.url) as visitor:
        start_training(visitor, tmp_path)
        os.kill(server.process, signal.SIGKILL)
        wait(lambda: processes_below(tmp_path) == [])


def test_an_open_request_does_not_hold_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    arguments = ["--address", "0.0.0.0"]
    with running_app(arguments=arguments, BERTSCOPE_KEY="the river bank") as server:
        port = int(server.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as slow:
            slow.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nkey=")
            time.sleep(0.5)
            os.kill(server.process, signal.SIGTERM)
            wait(lambda: has_ended(server), 15)
    assert not [*tmp_path.glob("bertscope-visits-*/*")]


@pytest.mark.exhaustive
def test_a_server_that_ignores_sighup_goes_on_doing_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup; a new process inherits it
    try:
        with running_app() as server:
            os.kill(server.process, signal.SIGHUP)
            time.sleep(1)
            assert not has_ended(server)
    finally:
        signal.signal(signal.SIGHUP, before)
