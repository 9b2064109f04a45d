"""Probes as background work: first the probes alone, then their controls and baselines."""

from contextlib import suppress
from typing import NamedTuple

from bertcore.probes import (
    STRUCTURAL,
    LabelScores,
    ProbeReport,
    ProbeSettings,
    label_scores,
    run_probes,
)

from ..plots import plain
from ..second_checkpoint import Side
from ..shell import Compute, Progress
from ..shell.jobs.waiting import Pending
from .source import TaskSentences

STOPPED = "Stopped. Control task, untrained network and code length are not measured."


class Probed(NamedTuple):
    """The probes of a checkpoint."""

    side: Side
    report: ProbeReport
    by_label: LabelScores | None = None
    """None for trees, and if it is not measured yet."""

    @property
    def name(self) -> str:
        """Name of the checkpoint; any characters."""
        return self.side.name


def probed(side: Side, chosen: TaskSentences, place: int) -> Probed | None:
    """Return the probes of a checkpoint; draw the progress and return None until then.

    Args:
        place: Place of the checkpoint on the page, 0 or 1.

    ValueError or RuntimeError: see `run_probes`.
    """
    with suppress(Pending):
        return Probed(side, *Compute(name=f"probes-{place}")(_probed, side, chosen, False))
    return None


def controlled(one: Probed, chosen: TaskSentences, place: int) -> Probed | None:
    """Return the same with control task, baselines and code length; draw the progress until then.

    ValueError or RuntimeError: see `run_probes`.
    """
    compute = Compute(name=f"probe-controls-{place}", patience=0.0, stopped=STOPPED)
    with suppress(Pending):
        return Probed(one.side, *compute(_probed, one.side, chosen, True))
    return None


def _probed(
    side: Side, chosen: TaskSentences, is_whole: bool, *, progress: Progress
) -> tuple[ProbeReport, LabelScores | None]:
    """Return the probes of a checkpoint and, of the whole of them, the scores by label.

    Args:
        is_whole: With control task, baselines and code length.
    """
    has_labels = is_whole and chosen.task not in STRUCTURAL
    settings = ProbeSettings(
        max_sentences=chosen.max_sentences,
        control=has_labels,
        twin=is_whole and not side.is_untrained,
        code=has_labels,
        cumulative=has_labels,
    )
    progress(0.0, "Reading the file")
    fraction = 0.95 if has_labels else 1.0

    def report(done: float, stage: str) -> None:
        progress(fraction * done, f"{plain(side.name)}: {stage}")

    found = run_probes(side.bert, chosen.read(), settings, progress=report)
    if not has_labels:
        return found, None

    def count(done: float) -> None:
        progress(fraction + (1 - fraction) * done, f"{plain(side.name)}: counting by label")

    return found, label_scores(side.bert, found, progress=count)
