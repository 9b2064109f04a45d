"""Progress bars on stderr, so that stdout stays clean, and clean stops."""

from __future__ import annotations

import os
import shlex
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.progress import Progress

OnStage = Callable[[str, float | None], None]
"""Called with the current stage and the fraction done, 0 to 1; None if it is unknown."""
SECONDS_PER_LINE = 10  # of progress, where no terminal draws a bar


def progress_bar(*, transient: bool = False) -> Progress:
    """Return an empty bar with percentage, time and description; use it in a `with` block.

    A transient bar disappears at the end and is drawn only on a terminal.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    # Of processes launched together, only the first one prints.
    hidden = os.environ.get("RANK", "0") != "0"
    console = Console(stderr=True, quiet=hidden)
    return Progress(
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        refresh_per_second=2,
        transient=transient,
        disable=hidden or (transient and not console.is_terminal),
    )


@contextmanager
def stages() -> Iterator[OnStage]:
    """Show stages of work on a bar, or on lines without a terminal; yield what reports them."""
    with progress_bar(transient=True) as bar:
        task, printed = bar.add_task("", total=None), time.monotonic()

        def show(what: str, fraction: float | None) -> None:
            nonlocal printed
            # Without a total the bar only pulses.
            total = None if fraction is None else 1.0
            bar.update(task, total=total, completed=fraction or 0.0, description=what)
            if bar.disable and time.monotonic() - printed >= SECONDS_PER_LINE:
                printed = time.monotonic()
                share = "" if fraction is None else f": {fraction:.0%}"
                bar.console.print(f"{what}{share}", highlight=False, markup=False, soft_wrap=True)

        yield show


class Live(NamedTuple):
    """A run that is shown while it works."""

    show: Callable[[float, str], None]
    """Move the bar to a fraction, 0 to 1, with a description."""
    say: Callable[[str], None]
    """Print a line that stays above the bar."""
    should_stop: Callable[[], bool]


@contextmanager
def live_run() -> Iterator[Live]:
    """Show a run on one bar; Ctrl+C asks it to stop, a second one ends it at once."""
    with stop_signals() as should_stop, progress_bar() as bar:
        task = bar.add_task("starting", total=1.0)

        def show(fraction: float, what: str) -> None:
            bar.update(task, completed=fraction, description=what)

        def say(line: str) -> None:
            bar.console.print(line, highlight=False, markup=False, soft_wrap=True)

        yield Live(show, say, should_stop)


def how_to_resume(command: str, out: Path) -> str:
    """Return what continues a run that was stopped."""
    return f"Continue with: bertscope {command} --out {shlex.quote(str(out))} --resume"


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function: whether Ctrl+C or SIGTERM came; a second Ctrl+C ends the run at once."""
    stop = False

    def ask_to_stop(*_: object) -> None:
        nonlocal stop
        stop = True
        signal.signal(signal.SIGINT, before[signal.SIGINT])

    # A machine sends SIGTERM before it is switched off.
    before = {s: signal.signal(s, ask_to_stop) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
