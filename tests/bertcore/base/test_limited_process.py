"""A stranger's file is read in a process with limits, which dies instead of ours."""

import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from bertcore.analysis.bias import read_crows_pairs
from bertcore.analysis.heads.texts import read_texts
from bertcore.analysis.probes import read_probe_data
from bertcore.analysis.probes.data_sets import BUNDLED
from bertcore.base import limited_process
from bertcore.base.limited_process import Fault, LimitedProcess, Limits
from bertcore.configs.columns import USUAL
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.texts import read_upload
from bertcore.training.grammar import read_pairs
from bertcore.training.tasks.read import read_parts, send_parts, survey
from bertcore.training.tasks.registry import TASKS
from tests.support.run_python import run_python

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
ROWS = [f"a film {n},{('good', 'bad')[n % 2]}" for n in range(12_000)]
READING = LimitedProcess(limits=Limits.of_table(10**6))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "a.csv"
    path.write_text("\n".join(["text,label", *ROWS, "x,,y,z", ""]), encoding="utf-8")
    return path


def rigged(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> None:
    """Let the reading of any table do `work` instead, in a fork of this process."""

    def reading(*_: object, **__: object) -> None:
        work()

    ours, theirs = socket.socketpair()
    monkeypatch.setattr(sys.modules[guess.__module__], "guess", reading)
    if os.fork() == 0:
        ours.close()
        limited_process._serve(theirs)
        os._exit(0)
    theirs.close()
    monkeypatch.setattr(limited_process, "_waiting", lambda: ours)


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


@needs_linux
def test_a_file_that_eats_memory_is_refused_in_a_sentence(table, monkeypatch):
    with monkeypatch.context() as patch:
        rigged(patch, grow)
        with pytest.raises(RuntimeError, match=r"reading the file .*memory.* not read"):
            READING.call(guess, table)
    assert READING.call(guess, table) == guess(table)


@needs_linux
@pytest.mark.parametrize(
    ("work", "short"),
    [(spin, {"seconds": 1}), (spin, {"cpu_seconds": 1}), (lambda: time.sleep(600), {"seconds": 1})],
)
def test_a_file_that_takes_too_long_is_refused_in_a_sentence(work, short, table, monkeypatch):
    rigged(monkeypatch, work)
    limited = replace(READING, limits=replace(READING.limits, **short))
    with pytest.raises(RuntimeError, match=r"took more than .* s .*not read"):
        limited.call(guess, table)


def test_the_process_gets_no_secrets(monkeypatch):
    monkeypatch.setenv("BERTSCOPE_KEY", "a secret key")
    monkeypatch.setenv("HF_TOKEN", "another one")
    assert not {"BERTSCOPE_KEY", "HF_TOKEN"} & set(limited_process._environment())


def test_a_dead_waiting_process_is_replaced(table):
    limited_process.start_waiting()
    if limited_process._process is not None:
        limited_process._process.kill()
        assert limited_process._process.wait() != 0
    assert READING.call(guess, table) == guess(table)


@needs_linux
def test_the_waiting_process_ends_with_the_caller():
    code = (
        "from bertcore.base import limited_process as p; import os\n"
        "p.start_waiting(); print(p._process.pid, flush=True); os._exit(0)"
    )
    number = int(run_python("-c", code))
    if psutil.pid_exists(number):
        _, alive = psutil.wait_procs([psutil.Process(number)], timeout=60)
        assert alive == []


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_table_is_surveyed_apart_as_here(platform, table, monkeypatch):
    if platform != "linux":
        monkeypatch.setattr(sys, "platform", platform)
    here, apart = [], []
    expected = survey(table, "classify", on_rows=here.append)
    found = READING.call(survey, table, "classify", on_rows=apart.append)
    assert found == expected
    assert found.num_bad == 1
    assert apart == here == [0, 5000, 10_000]


def test_other_readers_give_the_same_apart(table, tmp_path):
    assert READING.call(guess, table) == guess(table)
    assert READING.call(read_upload, table, "a.csv") == read_upload(table, "a.csv")
    assert READING.call(read_texts, table, "a.csv") == read_texts(table, "a.csv")
    assert READING.call(read_probe_data, BUNDLED, "dep") == read_probe_data(BUNDLED, "dep")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("good,bad,kind\n" + "a b,b a,x\n" * 300, encoding="utf-8")
    assert READING.call(read_pairs, pairs) == read_pairs(pairs)
    pairs.write_text("sent_more,sent_less\na,b\n,c\n", encoding="utf-8")
    here, apart = BadRows(skip=True), BadRows(skip=True)
    assert len(read_crows_pairs(pairs, bad_rows=here)) == 1
    assert len(READING.call(read_crows_pairs, pairs, bad_rows=apart)) == 1
    assert (apart.num, apart.notes()) == (here.num, here.notes()) == (1, here.notes())


@pytest.mark.parametrize(
    "content", [b"", b"\x80\x04pickle", b'{"a": [1', b"PK\3\4", b"\xff\xfe\0\xd8"]
)
def test_a_table_is_refused_apart_in_the_same_sentence(content, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.csv") as here:
        survey(path, "classify")
    with pytest.raises(ValueError, match=r"a\.csv") as apart:
        READING.call(survey, path, "classify")
    assert str(apart.value) == str(here.value)
    with pytest.raises(FileNotFoundError):
        READING.call(read_upload, tmp_path / "none.csv", "none.csv")


def test_parts_come_as_they_are_asked_for_and_end_with_who_asks(table):
    given = {"labels": ("bad", "good"), "columns": USUAL, "rows_at_once": 500}
    here, apart = BadRows(skip=True), BadRows(skip=True)
    expected = list(read_parts(table, TASKS["classify"], bad_rows=here, **given))
    parts = READING.parts(send_parts, table, "classify", bad_rows=apart, **given)
    assert next(parts) == expected[0]
    assert list(parts) == expected[1:]
    assert apart.notes() == here.notes()
    unheard = READING.parts(send_parts, table, "classify", bad_rows=apart, **given)
    next(unheard)
    unheard.close()
    assert processes_settle()


@needs_linux
def test_a_silent_call_ends_when_nobody_waits_for_it(table, monkeypatch):
    def stopped() -> None:
        raise InterruptedError

    rigged(monkeypatch, spin)
    with pytest.raises(InterruptedError):
        replace(READING, on_wait=stopped).call(guess, table)
    assert processes_settle()


def processes_settle() -> bool:
    """Whether within some seconds the waiting process has no fork that computes."""
    assert limited_process._process is not None
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not psutil.Process(limited_process._process.pid).children(recursive=True):
            return True
        time.sleep(0.1)
    return False


@needs_linux
def test_a_reading_beyond_its_limits_is_refused_in_a_sentence(table, monkeypatch):
    small = replace(READING, limits=replace(Limits.of_table(10**6), num_bytes=10**6))
    with pytest.raises(RuntimeError, match=r"reading the file .* memory .*Give a part of it"):
        small.call(read_upload, table, "a.csv", max_rows=10**6)
    monkeypatch.setattr(limited_process, "MAX_RESULT", 10_000)
    with pytest.raises(RuntimeError, match="Give a part of it"):
        READING.call(read_texts, table, "a.csv")


def test_an_error_that_is_no_refusal_is_a_fault_without_words(table):
    with pytest.raises(Fault) as fault:
        READING.call(survey, table, "classify", columns="a secret")  # type: ignore[arg-type]
    assert "secret" not in fault.value.where
    assert "tasks/read.py" in fault.value.where
