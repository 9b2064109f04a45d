"""One run of a folder: its state and progress, and the process behind it."""

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bertcore.finetuning.label_curve import LabelCurve
from bertcore.training.run_folder import read_lines
from bertcore.training.run_lock import lock_holder

from ..shell import cache
from . import process

Line = Mapping[str, Any]

STATES: dict[str, tuple[str, Literal["green", "blue", "orange", "red"], str]] = {
    "running": ("running", "green", ":material/play_circle:"),
    "preparing": ("preparing", "blue", ":material/hourglass_top:"),
    "stopped": ("stopped", "orange", ":material/pause_circle:"),
    "finished": ("finished", "blue", ":material/check_circle:"),
    "damaged": ("damaged", "red", ":material/error:"),
    "not started": ("did not start", "red", ":material/error:"),
}
"""Words, colour and icon of each state."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One learning rate and seed of a fine-tuning."""

    path: Path
    fraction_done: float
    """0 to 1."""
    epoch: float
    lines: Sequence[Line]
    """Lines of its metrics."""

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class Run:
    """One run, read from its folder."""

    path: Path
    state: str
    """A key of STATES."""
    detail: str = ""
    """What went wrong, or on which other machine it runs."""
    step: int = 0
    fraction_done: float = 0.0
    """0 to 1."""
    seconds: float = 0.0
    """Time spent training; 0 if it is not known, as of a series."""
    num_tokens: int = 0
    scores: Line | None = None
    """The last line with held-out scores."""
    config: Mapping[str, Any] = field(default_factory=dict)
    pid: int | None = None
    """The process on this machine that trains or prepares it."""
    kind: process.Kind = "pretrain"
    """The command that makes it."""
    num_examples: int = 0
    """Examples that a fine-tuning learns from; 0 if not known."""
    trials: tuple[Trial, ...] = ()
    """Learning rates and seeds of a fine-tuning run, in the order in which they are tried."""
    curve: LabelCurve | None = None
    """The scores of a series by number of labels."""

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def is_active(self) -> bool:
        """Whether a process is active on it."""
        return self.state in ("running", "preparing")

    @property
    def seconds_left(self) -> float | None:
        """Time to its end at the pace so far; None if that is not known."""
        if not 0 < self.fraction_done <= 1:
            return None
        return self.seconds * (1 - self.fraction_done) / self.fraction_done


def metrics_of(path: Path) -> Sequence[Line]:
    """Return the lines of a metrics file, without a last line cut by a kill."""
    return cache.of_file(read_lines, path)


class Worker(NamedTuple):
    """The process that works on a run."""

    pid: int | None = None
    """If it is on this machine."""
    name: str = ""
    """Empty if none does."""


def worker(run: Path, locked: Path) -> Worker:
    """Return the process that works on a run.

    Args:
        run: The run's folder.
        locked: The folder whose lock it holds: that, or the hidden one that is being filled.
    """
    holder = lock_holder(locked)
    if holder is not None:
        is_here = holder.pid and holder.host == socket.gethostname()
        return Worker(holder.pid if is_here else None, str(holder))
    # In its first seconds, and without locks, only the server that started it knows of it.
    child = process.pid_of(run)
    return Worker() if child is None else Worker(child, f"process {child}")


def state_of(run: Path, worker: Worker, *, is_done: bool) -> tuple[str, str]:
    """Return the state of a run that has a folder, and its detail."""
    if worker.name:
        return "running", "" if worker.pid else f"by {worker.name}"
    return ("finished", "") if is_done else ("stopped", why_stopped(run))


def before_the_folder(path: Path) -> Run:
    """Return a run whose folder does not exist yet, was never made, or was deleted."""
    holder = worker(path, path.with_name(f".{path.name}.partial"))
    kind = process.kind_of(path)
    if holder.name:
        return Run(path, "preparing", "", pid=holder.pid, kind=kind)
    reason = why_stopped(path, can_resume=False) or NEVER_BEGAN
    return Run(path, "not started", reason, kind=kind)


NEVER_BEGAN = "its process ended before it had begun, or its folder was deleted"


def why_stopped(run: Path, *, can_resume: bool = True) -> str:
    """Return why a run's process ended before the run's end; "" if it was asked to, or unknown.

    Args:
        can_resume: Whether something was saved.
    """
    said = process.last_error(run)
    if said or process.has_saved(run):
        return said
    killed = process.how_killed(run)
    what_next = "What was saved is kept: resume the run."
    if not can_resume:
        what_next = "Nothing was saved: start another run."
    return killed and f"{killed} {what_next}"
