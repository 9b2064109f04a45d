"""Freed memory that glibc keeps is returned to the system."""

import ctypes

import psutil
import pytest

from bertcore.base.spare_memory import trim
from tests.support.run_python import run_python

SIZE, NUM = 100_000, 1000


def make_holes_and_trim() -> None:
    """Be a new process, whose heap has no holes of other tests to fill."""
    libc, process = ctypes.CDLL(None), psutil.Process()
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    before = process.memory_info().rss
    blocks = [libc.malloc(SIZE) for _ in range(2 * NUM)]
    for block in blocks:
        ctypes.memset(block, 1, SIZE)
    for block in blocks[::2]:  # each hole is between two blocks that stay
        libc.free(block)
    full = process.memory_info().rss
    assert full - before > 1.8 * NUM * SIZE, "free() alone gives nothing back"
    trim()
    assert full - process.memory_info().rss > 0.8 * NUM * SIZE


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="no malloc_trim here")
def test_holes_go_back() -> None:
    name = make_holes_and_trim.__name__
    run_python("-c", f"from {__name__} import {name}; {name}()")
