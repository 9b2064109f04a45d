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
from functools import partial
from pathlib import Path

import psutil
import pytest

import bertcore
from bertcore.analysis.heads.texts import read_texts
from bertcore.bias import read_crows_pairs
from bertcore.checkpoints.folder import OnlyPickleError
from bertcore.checkpoints.source import SHIPPED
from bertcore.configs.columns import USUAL
from bertcore.data import packed_files
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.texts_file import read_upload
from bertcore.grammar import read_pairs
from bertcore.loading import sandbox
from bertcore.loading.sandbox import Fault, Limits, Sandbox, try_opening
from bertcore.probes import read_probe_data
from bertcore.probes.data_sets import BUNDLED
from bertcore.tasks.read import read_parts, send_parts
from bertcore.tasks.registry import TASKS
from bertcore.tasks.survey import survey
from tests.support.exhaustive import all_but
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import make_other

LIMITS = Limits.of(1_000_000)
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("saved") / "tiny")


def rigged(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> None:
    """Let the opening of any folder do `work` instead, in a fork of this process."""

    def opening(*_: object, **__: object) -> None:
        work()

    ours, theirs = socket.socketpair()
    opening.__module__, opening.__qualname__ = sandbox.__name__, "_open"
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


@pytest.mark.parametrize(
    "name",
    all_but(["DebertaV2Model"], ["DebertaV2Model", "GPT2LMHeadModel", "T5EncoderModel"]),
)
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


@pytest.mark.exhaustive
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


# ---- readers of tables ----

ROWS = [f"a film {n},{('good', 'bad')[n % 2]}" for n in range(12_000)]
READING = Sandbox(limits=Limits.of_table(10**6))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "a.csv"
    path.write_text("\n".join(["text,label", *ROWS, "x,,y,z", ""]), encoding="utf-8")
    return path


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
    assert READING.call(read_pairs, pairs, most=100) == read_pairs(pairs, most=100)


def test_bad_rows_are_collected_here(table):
    here, apart = BadRows(skip=True), BadRows(skip=True)
    for bad, read in ((here, read_crows_pairs), (apart, partial(READING.call, read_crows_pairs))):
        path = table.with_name("crows.csv")
        path.write_text("sent_more,sent_less\na,b\n,c\n", encoding="utf-8")
        assert len(read(path, bad_rows=bad)) == 1
    assert apart.notes() == here.notes()
    assert apart.num == here.num == 1


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


def test_a_call_ends_when_nobody_waits_for_it(table):
    def stop(number: int) -> None:
        raise InterruptedError(str(number))

    with pytest.raises(InterruptedError):
        READING.call(survey, table, "classify", on_rows=stop)
    assert processes_settle()


@needs_linux
def test_a_silent_call_ends_when_nobody_waits_for_it(tiny, monkeypatch):
    rigged(monkeypatch, spin)
    with packed_files.watched(stopped), pytest.raises(InterruptedError):
        READING.call(sandbox._open, tiny, allow_pickle=False)
    assert processes_settle()


def stopped() -> None:
    raise InterruptedError


def processes_settle() -> bool:
    """Whether within some seconds the waiting process has no fork that computes."""
    assert sandbox._process is not None
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not psutil.Process(sandbox._process.pid).children(recursive=True):
            return True
        time.sleep(0.1)
    return False


@needs_linux
def test_a_reading_beyond_its_limits_is_refused_in_a_sentence(table):
    small = replace(READING, limits=replace(Limits.of_table(10**6), num_bytes=10**6))
    with pytest.raises(RuntimeError, match=r"reading the file .* memory .*Give a part of it"):
        small.call(read_upload, table, "a.csv", max_rows=10**6)
    short = replace(READING, limits=replace(Limits.of_table(10**6), cpu_seconds=1))
    with pytest.raises(RuntimeError, match=r"took more than 1 s .*Give a part of it"):
        short.call(read_probe_data, endless(table), "pos")


def endless(table: Path) -> Path:
    path = table.with_name("long.conll")
    path.write_text("a N\n\n" * 1_000_000, encoding="utf-8")
    return path


def test_a_result_that_is_too_large_is_refused(table, monkeypatch):
    monkeypatch.setattr(sandbox, "MAX_RESULT", 10_000)
    with pytest.raises(RuntimeError, match="Give a part of it"):
        READING.call(read_texts, table, "a.csv")


def test_an_error_that_is_no_refusal_is_a_fault_without_words(table):
    with pytest.raises(Fault) as fault:
        READING.call(survey, table, "classify", columns="a secret")  # type: ignore[arg-type]
    assert "secret" not in fault.value.where
    assert "survey.py" in fault.value.where
