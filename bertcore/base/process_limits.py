"""Limits of a process that reads what strangers made."""

import contextlib
import os
import signal
import sys
from pathlib import Path

import psutil

NICENESS = 5
"""Of such a process beside the one that started it."""


def limit_process(*, num_bytes: int, cpu_seconds: int, seconds: int | None = None) -> None:
    """Set the limits of this process; each ends it. Windows has none, macOS none of memory.

    `num_bytes` are besides those of the libraries; `cpu_seconds` of processor time, `seconds` by
    the clock, None for any.
    """
    if os.name == "nt":
        return
    import resource

    def limit(kind: int, value: int) -> None:
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, hard))  # at the soft one, the signal says which it was

    os.nice(NICENESS)  # others are answered first
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, 10**9)
    limit(resource.RLIMIT_CPU, cpu_seconds)
    if sys.platform == "linux":
        # Data, not address space: the libraries' and weights' files are mapped.
        data = int(psutil.Process().memory_info().data)
        limit(resource.RLIMIT_DATA, data + num_bytes)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    if seconds is not None:
        # Without a handler it ends the process also where Python's own code does not run.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
