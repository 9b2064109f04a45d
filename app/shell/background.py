"""Long work beside the page: one job at a time for the whole server, watched by its progress.

A page starts a job and continues; a fragment polls its progress. A job that no visitor polls any
more (they left or chose something else) is abandoned at its next progress report.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

log = logging.getLogger("bertscope.app")

MAX_JOBS = 32
"""Finished jobs that are remembered; the longest unused are dropped."""
PATIENCE = 60.0
"""Seconds without a poll after which a job is abandoned; a busy server polls seldom."""

Progress = Callable[[float, str], None]


@dataclass(slots=True, eq=False)
class Job:
    """One piece of work: its progress and, at the end, its result or error."""

    fraction_done: float = 0.0
    """0 to 1."""
    stage: str = "Waiting"
    """The current step."""
    result: Any = None
    error: Exception | None = None
    done: bool = False
    asked_at: float = field(default_factory=time.monotonic)
    """When `ask` was last called for it."""


class Work(NamedTuple):
    """The arguments of `ask`."""

    key: Hashable
    run: Callable[[Progress], Any]


class GivenUp(Exception):  # noqa: N818 - no error: nobody waits for the result
    """The job was not polled for PATIENCE seconds."""


_jobs: OrderedDict[Hashable, Job] = OrderedDict()
_lock = threading.Lock()
_worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bertscope-job")


def ask(key: Hashable, work: Callable[[Progress], Any]) -> Job:
    """Return the job of `key`, started now if there is none; never waits.

    Args:
        key: Equal keys are one job, for all visitors.
        work: Called in the worker's thread with a function to report progress to. Its error, if
            any, is kept in the job.
    """
    with _lock:
        job = _jobs.get(key)
        if job is None or isinstance(job.error, GivenUp):
            job = _jobs[key] = Job()
            _worker.submit(_run, job, work)
        job.asked_at = time.monotonic()
        _jobs.move_to_end(key)
        for old in [k for k, j in _jobs.items() if j.done][: max(0, len(_jobs) - MAX_JOBS)]:
            del _jobs[old]
    return job


def leave(key: Hashable, *, grace: float = 0.0) -> None:
    """Stop waiting for a job: it is abandoned at its next report unless another visitor polls it.

    Args:
        grace: Seconds that other waiting visitors have to poll it before that.
    """
    with _lock:
        job = _jobs.get(key)
        if job is not None:
            latest = time.monotonic() - PATIENCE + grace if grace else -math.inf
            job.asked_at = min(job.asked_at, latest)


def _run(job: Job, work: Callable[[Progress], Any]) -> None:
    def report(fraction_done: float, stage: str) -> None:
        if time.monotonic() - job.asked_at > PATIENCE:
            raise GivenUp
        job.fraction_done, job.stage = fraction_done, stage

    try:
        report(0.0, "Starting")
        job.result = work(report)
    except Exception as error:  # raised where the result is asked for
        if not isinstance(error, GivenUp | ValueError | RuntimeError):
            log.exception("a job failed")
        job.error = error
    job.fraction_done, job.done = 1.0, True
