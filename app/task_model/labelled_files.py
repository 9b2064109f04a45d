"""Labelled files, run as jobs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

from bertcore.analysis.attribution import FileRun, run_file
from bertcore.configs import Columns

from ..shell import Work, background, cache
from ..shell.uploads import named, naming
from . import model as inspection
from .task_views import view_of

MAX_MEGABYTES = 300
"""Of a file, also when it is unpacked."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A file to run and how to read it."""

    path: Path
    name: str
    """What the visitor calls it."""
    columns: Columns
    skip_bad_rows: bool


@dataclass(slots=True)
class Stop:
    """A visitor's request to stop a run and keep the results so far."""

    wanted: threading.Event = field(default_factory=threading.Event)


def run(key: cache.BertKey, chosen: Labelled, stop: Stop, number: int) -> Work:
    """Return the work that runs a file; its result is a FileRun.

    Args:
        key: Key of the checkpoint.
        chosen: The file.
        stop: Set to stop it and keep the results so far.
        number: A new number runs it again.
    """

    def work(progress: background.Progress) -> FileRun:
        progress(0.0, "Reading the file")
        total = view_of(inspection.model(key).task).rough_number(chosen.path)

        def on_rows(done: int) -> None:
            progress(min(1.0, done / max(1, total)), f"{done:,} of about {total:,} examples")

        with naming(chosen.path, chosen.name):
            done = run_file(
                inspection.model(key),
                chosen.path,
                columns=chosen.columns,
                skip_bad_rows=chosen.skip_bad_rows,
                on_rows=on_rows,
                should_stop=stop.wanted.is_set,
            )
        return replace(done, notes=tuple(named(n, chosen.path, chosen.name) for n in done.notes))

    return Work(("inspect-file", key, chosen, number, id(stop)), work)
