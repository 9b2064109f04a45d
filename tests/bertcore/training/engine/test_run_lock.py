"""The lock of a run folder: one process at a time, named, and freed by a kill."""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bertcore.training.engine import run_lock
from bertcore.training.engine.run_lock import LOCK_FILE, lock_holder, lock_run

# Loaded by its path: importing the whole package would take each process a second.
HOLD = f"""
import importlib.util, sys, time
from pathlib import Path
spec = importlib.util.spec_from_file_location("run_lock", {run_lock.__file__!r})
module = importlib.util.module_from_spec(spec)
sys.modules["run_lock"] = module
spec.loader.exec_module(module)
with module.lock_run(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@contextmanager
def other_process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_lock, "_PATIENCE_SECONDS", 0.05)


def test_one_process_at_a_time_and_a_kill_frees_it(tmp_path: Path) -> None:
    with other_process(tmp_path) as process:
        holder = lock_holder(tmp_path)
        assert (holder.pid, holder.host) == (process.pid, socket.gethostname())
        assert holder.started is not None
        assert abs((datetime.now(UTC) - holder.started).total_seconds()) < 60
        name = f"in use by process {process.pid} on {socket.gethostname()} since 20"
        with pytest.raises(ValueError, match=name), lock_run(tmp_path):
            pass
        assert lock_holder(tmp_path) == holder  # the refused one changed nothing
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert lock_holder(tmp_path) is None
        with lock_run(tmp_path):
            own = lock_holder(tmp_path)
            assert own.pid == os.getpid()
        assert lock_holder(tmp_path) is None


def test_the_lock_follows_a_renamed_folder_and_ends_with_an_error(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    with pytest.raises(KeyError), lock_run(first):  # noqa: PT012
        first.rename(second)
        assert lock_holder(second) is not None
        raise KeyError
    assert lock_holder(second) is None


def test_a_forked_child_neither_holds_nor_frees_it(tmp_path: Path) -> None:
    told, tell = os.pipe()
    with ExitStack() as stack:
        stack.enter_context(lock_run(tmp_path))
        child = os.fork()
        if child == 0:
            stack.close()
            try:
                with lock_run(tmp_path):
                    os.write(tell, b"got it")
            except ValueError:
                os.write(tell, b"refused")
            time.sleep(600)
            os._exit(0)
        try:
            assert os.read(told, 100) == b"refused"
            assert lock_holder(tmp_path) is not None
            # As a kill of this process would: the child, alive, has no copy that counts.
            os.close(run_lock._held.popitem()[1])
            assert lock_holder(tmp_path) is None
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_a_reader_does_not_keep_a_run_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader tries the lock for an instant; a run that starts just then asks again."""
    monkeypatch.setattr(run_lock, "_PATIENCE_SECONDS", 60)
    (tmp_path / LOCK_FILE).touch()
    reader = os.open(tmp_path / LOCK_FILE, os.O_RDONLY)
    run_lock.fcntl.flock(reader, run_lock.fcntl.LOCK_SH)
    monkeypatch.setattr(run_lock.time, "sleep", lambda seconds: os.close(reader))
    with lock_run(tmp_path):
        assert lock_holder(tmp_path) is not None


def test_without_locks_a_warning_and_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(run_lock, "fcntl", None)
        with lock_run(tmp_path):
            assert lock_holder(tmp_path) is None
    assert "do not start two processes" in caplog.text
    caplog.clear()

    def unsupported(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(run_lock.fcntl, "flock", unsupported)
    with caplog.at_level(logging.WARNING), lock_run(tmp_path):
        assert lock_holder(tmp_path) is None
    assert "has no locks" in caplog.text
