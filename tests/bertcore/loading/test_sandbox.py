"""An untrusted folder is opened first in a process with limits, which dies instead of ours."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

import bertcore
from bertcore.checkpoints.folder import OnlyPickleError
from bertcore.checkpoints.source import SHIPPED
from bertcore.loading import sandbox
from bertcore.loading.sandbox import Limits, try_opening
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import make_other

LIMITS = Limits.of(1_000_000)
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("saved") / "tiny")


def rigged(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> None:
    """Let the opening of any folder do `work` instead, in a fork of this process."""

    def opening(_: object) -> dict[str, str]:
        work()
        return {}

    ours, theirs = socket.socketpair()
    monkeypatch.setattr(sandbox, "_open", opening)
    if os.fork() == 0:
        ours.close()
        sandbox._serve(theirs)
        os._exit(0)
    theirs.close()
    monkeypatch.setattr(sandbox, "_helper", lambda: ours)


def grow() -> None:
    """Take memory without end, and not notice that there is none."""
    taken = []
    while True:
        try:
            taken.append(bytearray(10**8))
        except MemoryError:
            os.abort()  # as Rust's allocator does


def spin() -> None:
    """Work without end."""
    while True:
        pass


def test_a_sound_folder_opens(tiny):
    try_opening(tiny).check()


@pytest.mark.parametrize("name", ["DebertaV2Model", "GPT2LMHeadModel", "T5EncoderModel"])
def test_other_families_open_within_the_limits(name, tmp_path):
    make_other(name, tmp_path)
    try_opening(tmp_path).check()


@needs_linux
def test_a_folder_that_eats_memory_is_refused_in_a_sentence(tiny, monkeypatch):
    with monkeypatch.context() as patch:
        rigged(patch, grow)
        with pytest.raises(RuntimeError, match=r"opening the checkpoint .*memory.* not opened"):
            try_opening(tiny).check()
    try_opening(tiny).check()


@needs_linux
@pytest.mark.parametrize(
    ("work", "short"),
    [(spin, {"seconds": 1}), (spin, {"cpu_seconds": 1}), (lambda: time.sleep(600), {"seconds": 1})],
)
def test_a_folder_that_takes_too_long_is_refused_in_a_sentence(work, short, tiny, monkeypatch):
    rigged(monkeypatch, work)
    with pytest.raises(RuntimeError, match=r"took more than .* s .*not opened"):
        try_opening(tiny, limits=replace(LIMITS, **short)).check()


@needs_linux
def test_slow_folders_of_one_owner_leave_room_for_others(tiny, tmp_path, monkeypatch):
    begun, others, stop = (tmp_path / name for name in ("begun", "others", "stop"))

    def work() -> None:
        if not others.exists():
            with begun.open("a", encoding="ascii") as lines:
                lines.write("begun\n")
            while not stop.exists():
                time.sleep(0.01)

    rigged(monkeypatch, work)
    with ThreadPoolExecutor(sandbox.AT_ONCE) as threads:
        hostile = [
            threads.submit(try_opening, tiny, owner="intruder") for _ in range(sandbox.AT_ONCE)
        ]
        while not begun.exists():
            time.sleep(0.01)
        others.touch()
        for owner in ("other", None):
            try_opening(tiny, owner=owner).check()
        assert begun.read_text(encoding="ascii") == "begun\n"
        assert not any(trial.done() for trial in hostile)
        stop.touch()
        for trial in hostile:
            trial.result().check()


@needs_linux
def test_memory_that_runs_out_with_an_error_is_the_limits_sentence(monkeypatch):
    folder = SHIPPED["default"]
    with pytest.raises(RuntimeError, match=r"limit of memory was 0.0 GB.* not opened"):
        try_opening(folder, limits=replace(LIMITS, num_bytes=10**6)).check()


def test_errors_of_opening_keep_class_and_words(tiny, tmp_path):
    shutil.copytree(tiny, tmp_path / "damaged")
    (tmp_path / "damaged" / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(RuntimeError) as usual:
        bertcore.load(tmp_path / "damaged")
    with pytest.raises(type(usual.value)) as tried:
        try_opening(tmp_path / "damaged").check()
    assert str(tried.value) == str(usual.value)


def test_consent_to_a_pickle_is_asked_for(tmp_path):
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(OnlyPickleError):
        try_opening(tmp_path).check()


def test_the_process_gets_no_secrets(monkeypatch):
    monkeypatch.setenv("BERTSCOPE_KEY", "a secret key")
    monkeypatch.setenv("HF_TOKEN", "another one")
    assert not {"BERTSCOPE_KEY", "HF_TOKEN"} & set(sandbox._environment())


def test_without_a_waiting_process_a_new_one_gives_the_same(tiny, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert try_opening(tiny) == sandbox.Verdict()


def test_a_dead_helper_is_replaced(tiny):
    sandbox.start_helper()
    if sandbox._process is not None:
        sandbox._process.kill()
        assert sandbox._process.wait() != 0
    try_opening(tiny).check()


@needs_linux
def test_the_helper_has_a_lower_priority():
    sandbox.start_helper()
    assert sandbox._process is not None
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, sandbox._process.pid) == min(19, own + sandbox.NICENESS)


@needs_linux
def test_the_helper_ends_with_the_caller():
    code = (
        "from bertcore.loading import sandbox; import os\n"
        "sandbox.start_helper(); print(sandbox._process.pid, flush=True); os._exit(0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    number = int(done.stdout)
    if psutil.pid_exists(number):
        _, alive = psutil.wait_procs([psutil.Process(number)], timeout=60)
        assert alive == []
