"""Long work beside the page: one or two jobs compute at a time, in slices, for the whole server.

A page starts a job and continues; a fragment polls its progress. The queue of waiting jobs is fair
to the visitors, not to the jobs: see `Line`. A job that no visitor polls any more (they left or
chose something else) leaves the queue, or gives its turn to the next and is abandoned at its next
progress report. A job that has computed for a slice and reports joins the queue again, before its
visitors' other jobs, and is paused within the report until its next turn: a long job of one visitor
delays others' by a slice.

One job at a time leaves the second core to everybody's pages, and two leave as many of four. torch
and numba release the interpreter while they compute, so that a page's run takes as long beside a
job as without one.
"""

import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch

from bertcore.base.memory import free_memory, out_of_memory
from bertcore.data.files import watched

from ...server import visits
from ...server.streamlit_internals import is_connected
from ..cache import FAILURE_SECONDS, clear_frames, freeze_loaded, is_from, num_bytes
from ..turns import beside_pages
from .line import Line

log = logging.getLogger("bertscope.app")

MAX_JOBS = 256
"""Most finished jobs that are remembered; the longest unused are dropped."""
MAX_BYTES = 256 * 2**20
"""The same for the sum of their results."""
MAX_IN_LINE = 4
"""Most jobs of one visitor in the queue; another one joins when there is room."""
PATIENCE = 60.0
"""Seconds without a poll after which a job is abandoned; a busy server polls seldom."""
GONE_PATIENCE = 10.0
"""The same for visitors without a connection: it may only be interrupted."""
UNSEEN = 10.0
"""Seconds without a poll after which a waiting job makes room for the same visitor's next one."""
MAX_STARTED = 4
"""Most jobs that are begun and awaited: one or two compute, the others are paused, in memory."""
MAX_THREADS = 4 * MAX_STARTED
"""Most jobs that are begun, with those that nobody waits for and that end at their next report."""
CORES_FOR_TWO, MEMORY_FOR_TWO = 4, 2 * 2**30
"""Cores and free bytes with which two jobs compute at the same time."""
SLICE = 3.0
"""Seconds that a job computes before it lets those of other visitors go on."""
LONGEST_SILENCE = 10.0
"""Seconds without a report after which a paused job goes on beside those that compute.

One of them may wait for a lock that the paused one holds.
"""

Progress = Callable[[float, str], None]


@dataclass(slots=True, eq=False)
class Job:
    """One piece of work: its progress and, at the end, its result or error."""

    fraction_done: float = 0.0
    """0 to 1."""
    stage: str = "Waiting"
    """The current step, or the place in the queue."""
    result: Any = None
    error: Exception | None = None
    num_before: int = 0
    """Jobs that are done before it begins."""
    asked_at: float = field(default_factory=time.monotonic)
    """When `ask` was last called for it."""
    num_bytes: int = 0
    """Size of the result."""
    patience: float | None = None
    """Seconds without a poll after which it is abandoned; None for PATIENCE."""
    ended: threading.Event = field(default_factory=threading.Event)
    ended_at: float = 0.0
    _askers: dict[str, float] = field(default_factory=dict)
    """Visitors who do not have the result yet -> when they last asked."""

    @property
    def done(self) -> bool:
        """Whether there is a result or an error."""
        return self.ended.is_set()

    def is_awaited(self, besides: str | None = None) -> bool:
        """Return whether some visitor waits for it, besides one if that is given."""
        now = time.monotonic()
        patience = PATIENCE if self.patience is None else self.patience
        return any(
            now - asked_at <= (patience if is_connected(visitor) else min(patience, GONE_PATIENCE))
            for visitor, asked_at in list(self._askers.items())
            if visitor != besides
        )

    def asked_by(self, visitor: str) -> None:
        """Note that a visitor asks."""
        self.asked_at = time.monotonic()
        if self.done:
            self._askers.pop(visitor, None)
        else:
            self._askers[visitor] = self.asked_at

    @property
    def askers(self) -> list[str]:
        """Visitors who do not have the result yet."""
        return list(self._askers)

    def left_by(self, visitor: str) -> None:
        """Note that a visitor no longer waits."""
        self._askers.pop(visitor, None)

    def seconds_unseen(self, visitor: str) -> float:
        """Return how long ago a visitor asked for it."""
        return time.monotonic() - self._askers.get(visitor, self.asked_at)

    def end(self, result: Any = None, error: Exception | None = None) -> None:
        """Note the result or the error, for all who ask."""
        if error is not None:
            clear_frames(error)
        self.result, self.error, self.num_bytes = result, error, num_bytes(result)
        self.fraction_done, self.ended_at = 1.0, time.monotonic()
        self.ended.set()

    def is_worth_another_try(self) -> bool:
        """Return whether it was given up, or failed for a reason that may have passed."""
        if isinstance(self.error, GivenUp):
            return True
        reasons = (self.error, self.error and self.error.__cause__)
        is_passing = any(isinstance(reason, OSError) for reason in reasons)
        is_passing |= self.error is not None and out_of_memory(self.error) is not None
        return is_passing and time.monotonic() - self.ended_at > FAILURE_SECONDS


class Work(NamedTuple):
    """What a job does."""

    key: Hashable
    """Equal keys are one job, for all visitors."""
    run: Callable[[Progress], Any]
    """Called in the worker's thread with a function to report progress to."""
    patience: float | None = None
    """Seconds without a poll after which it is abandoned; None for PATIENCE."""
    is_of_page: bool = True
    """Whether a visitor who leaves the page no longer waits for it."""


@dataclass(slots=True)
class _Turn:
    """The slice of time in which a job computes."""

    ends: float
    heard_at: float
    """When the job last reported."""


class GivenUp(Exception):  # noqa: N818 - no error: nobody waits for the result
    """The job was not polled for PATIENCE seconds, or it was left."""


_jobs: OrderedDict[Hashable, Job] = OrderedDict()
_line: Line[Hashable] = Line()
_works: dict[Hashable, Callable[[Progress], Any]] = {}
"""Work of the queued jobs."""
_running: set[Hashable] = set()
"""Jobs that were begun; those that are paused are in line again."""
_turns: dict[Hashable, "_Turn"] = {}
"""Those that compute."""
_lock = threading.RLock()
_turn_passed = threading.Condition(_lock)
_workers = ThreadPoolExecutor(max_workers=MAX_THREADS, thread_name_prefix="bertscope-job")


def ask(
    key: Hashable,
    work: Callable[[Progress], Any],
    visitor: str = "",
    *,
    patience: float | None = None,
) -> Job:
    """Return the job of `key`, queued if there is none; never waits.

    A visitor with MAX_IN_LINE jobs in line gets a job that is not in it, until there is room at a
    later call.

    Args:
        key, work, patience: See `Work`. An error, if any, is kept in the job.
        visitor: Who asks; nobody waits for a second job of another visitor.
    """
    with _lock:
        job = _jobs.get(key)
        if job is None or job.is_worth_another_try():
            job = Job(patience=patience)
        if not job.done and key not in _running:
            _make_room(visitor, key)
            if len({*_unbegun(visitor)} | {key}) > MAX_IN_LINE:
                job.stage = f"Waiting: joins the queue after your {MAX_IN_LINE} others"
                return job
            if key not in _line:
                _jobs[key], _works[key] = job, work
            _line.join(visitor, key)
        job.asked_by(visitor)
        _pass_turns()
        if key in _line:
            _line.join(visitor, key)  # a paused one that others waited for
            job.num_before = _num_before(key, visitor)
            job.stage = f"Waiting: {job.num_before} before you" if job.num_before else "Waiting"
        _jobs.move_to_end(key)
        _forget()
    return job


def forget(key: Hashable) -> None:
    """Drop a finished job whose result is no longer of use."""
    with _lock:
        if key in _jobs and _jobs[key].done:
            del _jobs[key]


def forget_visit(folder: Path) -> None:
    """Drop the finished jobs on files of a visit; those of all visitors with the last visit."""
    with _lock:
        for key in [key for key, job in _jobs.items() if job.done]:
            if visits.are_over() or is_from(key, folder):
                del _jobs[key]


visits.before_end(forget_visit)


def leave(key: Hashable, visitor: str = "") -> None:
    """Stop waiting for a job: it is abandoned at once unless another visitor waits for it."""
    with _lock:
        job = _jobs.get(key)
        if job is None or job.done:
            return
        job.left_by(visitor)
        if key in _line and _line.leave(visitor, key):
            _abandon(key)
        elif key in _turns:
            _pass_turns()


def _make_room(visitor: str, key: Hashable) -> None:
    """Leave a visitor's waiting jobs that are no longer shown, if there is no room for another."""
    waiting = [other for other in _unbegun(visitor) if other != key]
    for other in waiting[: max(0, len(waiting) - MAX_IN_LINE + 1)]:
        if _jobs[other].seconds_unseen(visitor) > UNSEEN:
            leave(other, visitor)


def _unbegun(visitor: str) -> list[Hashable]:
    """Return a visitor's jobs in line that are not paused ones."""
    return [key for key in _line.of(visitor) if key in _works]


def _abandon(key: Hashable) -> None:
    _line.drop(key)
    if key in _running:  # paused: its thread ends it
        _turn_passed.notify_all()
        return
    _works.pop(key, None)
    if key in _jobs:  # one that ended meanwhile may be forgotten
        _jobs[key].end(error=GivenUp())


def _forget() -> None:
    """Drop results that nobody waits for, the longest unused first, beyond what is kept."""
    done = [(key, job) for key, job in _jobs.items() if job.done]
    too_many, too_large = len(done) - MAX_JOBS, sum(job.num_bytes for _, job in done) - MAX_BYTES
    for key, job in done[:-1]:
        if too_many <= 0 and too_large <= 0:
            return
        if not job.is_awaited():
            del _jobs[key]
            too_many, too_large = too_many - 1, too_large - job.num_bytes


def most_at_once() -> int:
    """Return how many jobs may compute at the same time."""
    if _num_cores() < CORES_FOR_TWO or free_memory(torch.device("cpu")) < MEMORY_FOR_TWO:
        return 1
    return 2


@cache
def _num_cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _num_before(key: Hashable, visitor: str) -> int:
    """Return how many jobs of others end or pause before one in line begins."""
    order = _line.order()
    before = [*_turns, *order[: order.index(key)]]
    num_others = sum(_jobs[other].is_awaited(besides=visitor) for other in before)
    return max(0, num_others - most_at_once() + 1)


def _pass_turns() -> None:
    """Let the next jobs in line that somebody waits for compute: begin them, or wake them.

    Those that compute and that nobody waits for end at their next report and hold up no others.
    """
    for key in [key for key in _turns if key not in _jobs or not _jobs[key].is_awaited()]:
        del _turns[key]
    if len(_turns) >= most_at_once():
        return
    for key in _line.order():
        if not _jobs[key].is_awaited():
            _abandon(key)
    while len(_turns) < most_at_once():
        key = _line.take(lambda first: first in _running or _may_begin())
        if key is None:
            return
        _take_turn(key)
        if key not in _running:
            _running.add(key)
            _workers.submit(_run, key, _jobs[key], _works.pop(key))


def _may_begin() -> bool:
    num_awaited = sum(key in _jobs and _jobs[key].is_awaited() for key in _running)
    return num_awaited < MAX_STARTED and len(_running) < MAX_THREADS


def _take_turn(key: Hashable) -> None:
    _line.drop(key)
    now = time.monotonic()
    _turns[key] = _Turn(now + SLICE, now)
    _turn_passed.notify_all()


def _pause(key: Hashable, job: Job) -> None:
    """Wait in line until it is the turn of a begun job; GivenUp if nobody waits for it."""
    for visitor in job.askers:
        _line.join(visitor, key, is_next=True)
    _turns.pop(key, None)
    _pass_turns()
    while key not in _turns:
        if key not in _line:
            raise GivenUp
        _turn_passed.wait(LONGEST_SILENCE)
        silent_since = time.monotonic() - LONGEST_SILENCE
        is_silent = any(turn.heard_at < silent_since for turn in _turns.values())
        if key not in _turns and key in _line and is_silent:
            _take_turn(key)


def _run(key: Hashable, job: Job, work: Callable[[Progress], Any]) -> None:
    def end(result: Any = None, error: Exception | None = None) -> None:
        with _lock:  # whoever asks finds it at work or ended, never between
            _running.discard(key)
            _turns.pop(key, None)
            job.end(result, error)
            job.num_bytes += num_bytes(key)  # texts that it was asked for
            _pass_turns()

    def report(fraction_done: float, stage: str) -> None:
        if not job.is_awaited():
            raise GivenUp
        job.fraction_done, job.stage = fraction_done, stage
        turn, now = _turns.get(key), time.monotonic()
        if turn is not None and now < turn.ends:
            turn.heard_at = now
            return
        with _lock:
            _pause(key, job)
        job.stage = stage

    try:
        report(0.0, "Starting")
        # However few rows of a file are of use, its reading ends when nobody waits for it.
        with watched(lambda: report(job.fraction_done, job.stage)), beside_pages():
            result = work(report)
    except Exception as error:  # raised where the result is asked for
        if not isinstance(error, GivenUp | ValueError | RuntimeError | MemoryError):
            log.error("a job failed", exc_info=error)
        end(error=error)
    except BaseException as error:  # as a library in Rust panics; nobody must wait for ever
        log.error("a job failed", exc_info=error)
        end(error=RuntimeError(f"the work failed ({type(error).__name__}). Try again."))
        raise
    else:
        end(result)
    freeze_loaded()
