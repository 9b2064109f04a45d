"""Return to the system the freed memory that the C library keeps."""

import ctypes
import gc
import os
import sys
from collections.abc import Callable

GROWTH_BYTES = 256 * 2**20
"""Growth of resident memory after which free pages are returned."""


class SpareMemory:
    """Returns free memory while batches of changing lengths are processed.

    Small blocks that stay, such as the kernels that oneDNN makes for each new length (10 MB per
    length, up to its limit of 1024 kernels), are placed between the large tensors of a step. So
    glibc cannot shrink its heap, and keeps the memory of the longest step: for 32 questions of up
    to 384 tokens, a gigabyte between steps. The memory of a step itself is unchanged.

    Args:
        growth_bytes: See GROWTH_BYTES.
    """

    def __init__(self, growth_bytes: int = GROWTH_BYTES) -> None:
        self._trim = _find_trim()
        self._growth_bytes = growth_bytes
        self._least = anonymous_bytes() if self._trim else 0

    def give_back(self) -> bool:
        """Release free pages if the process grew; return whether that was done.

        Without glibc (Windows, macOS, musl), nothing is done.
        """
        if self._trim is None:
            return False
        now = anonymous_bytes()
        self._least = min(self._least, now)
        if now - self._least < self._growth_bytes:
            return False
        self._trim(0)
        self._least = anonymous_bytes()
        return True


def release() -> None:
    """Collect garbage, and return to the system what the C library keeps of it.

    Without glibc (Windows, macOS, musl), garbage is collected only. With a million objects both
    take about 0.3 s, during which no other thread runs Python.
    """
    gc.collect()
    trim = _find_trim()
    if trim is not None:
        trim(0)


def anonymous_bytes() -> int:
    """Return the resident memory of this process that belongs to no file; Linux.

    Pages of files, such as those of libraries, leave by themselves when the system is short of
    memory.
    """
    with open("/proc/self/statm", encoding="ascii") as file:
        _, resident, of_files, *_ = map(int, file.read().split())
    return (resident - of_files) * os.sysconf("SC_PAGE_SIZE")


def _find_trim() -> Callable[[int], int] | None:
    """Return glibc's malloc_trim, or None if there is none."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
