"""Return to the system the freed memory that the C library keeps."""

import ctypes
import gc
import sys


def trim() -> None:
    """Return to the system what glibc keeps of freed memory; without glibc nothing is done.

    Small blocks that stay, such as the kernels that oneDNN makes for each new length (10 MB per
    length, up to its limit of 1024 kernels), are placed between the large tensors of a step. So
    glibc cannot shrink its heap, and keeps the memory of the longest step: for 32 questions of up
    to 384 tokens, a gigabyte between steps. The memory of a step itself is unchanged.
    """
    if sys.platform.startswith("linux"):
        of_glibc = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if of_glibc is not None:
            of_glibc(0)


def release() -> None:
    """Collect garbage, and return to the system what the C library keeps of it.

    With a million objects both take about 0.3 s, during which no other thread runs Python.
    """
    gc.collect()
    trim()
