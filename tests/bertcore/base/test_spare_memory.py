"""Freed memory that glibc keeps is returned to the system, after each step of fine-tuning."""

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bertcore.base import spare_memory
from bertcore.base.spare_memory import SpareMemory, anonymous_bytes
from tests.bertcore.finetuning.test_loop import make_experiment
from tests.support.tiny import tiny_bert

ROOT = Path(__file__).parents[3]
MEGABYTE = 2**20
needs_glibc = pytest.mark.skipif(
    spare_memory._find_trim() is None, reason="there is no malloc_trim here"
)


@contextmanager
def holes(num: int, size: int = 100_000) -> Iterator[None]:
    """Leave holes of a size on the heap, each between two blocks of that size, which stay."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    blocks = [libc.malloc(size) for _ in range(2 * num)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    for block in blocks[::2]:
        libc.free(block)
    try:
        yield
    finally:
        for block in blocks[1::2]:
            libc.free(block)


def make_holes_and_give_back() -> None:
    """Be a new process, whose heap has no holes of other tests to fill."""
    spare = SpareMemory(32 * MEGABYTE)
    before = anonymous_bytes()
    with holes(1000):
        full = anonymous_bytes()
        # free() alone gave nothing of the half back
        assert full - before > 180 * MEGABYTE, (before, full)
        assert spare.give_back()
        assert full - anonymous_bytes() > 80 * MEGABYTE, (full, anonymous_bytes())
        assert not spare.give_back()  # nothing new since


@needs_glibc
def test_holes_go_back() -> None:
    name = make_holes_and_give_back.__name__
    command = [sys.executable, "-c", f"from {__name__} import {name}; {name}()"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]


@needs_glibc
def test_little_growth_costs_nothing() -> None:
    spare = SpareMemory(32 * MEGABYTE)
    with holes(50):
        assert not spare.give_back()


def test_without_glibc_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spare_memory.sys, "platform", "win32")
    monkeypatch.setattr(spare_memory, "anonymous_bytes", lambda: 1 / 0)  # no such file there
    assert not SpareMemory(0).give_back()


def test_fine_tuning_asks_after_each_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(SpareMemory, "give_back", lambda self: calls.append(1))
    tiny = tiny_bert().save(tmp_path / "tiny")
    report = make_experiment(tmp_path, tiny, epochs=1).run()
    assert report is not None
    assert len(calls) == report["best"]["num_steps"] == 6
