"""Probes as background work: first the probes alone, then their controls and baselines."""

from __future__ import annotations

from typing import NamedTuple

from bertcore.probes import (
    STRUCTURAL,
    LabelScores,
    ProbeReport,
    ProbeSettings,
    label_scores,
    run_probes,
)

from ..plots.untrusted_text import plain
from ..second_checkpoint.sides import Side
from ..shell.jobs import waiting
from ..shell.jobs.background import Progress, Work
from .source import Chosen

STOPPED = "Stopped. Control task, untrained network and code length are not measured."


Found = tuple[ProbeReport, LabelScores | None]


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


def probed(side: Side, chosen: Chosen, place: int) -> Probed | None:
    """Return the probes of a checkpoint; draw the progress and return None until then.

    Args:
        place: Place of the checkpoint on the page, 0 or 1.

    Raises:
        ValueError, RuntimeError: See `run_probes`.
    """
    name = f"probes-{place}"
    found: Found | None = waiting.result(_work(side, chosen, is_whole=False), name)
    return None if found is None else Probed(side, *found)


def controlled(one: Probed, chosen: Chosen, place: int) -> Probed | None:
    """Return the same with control task, baselines and code length; draw the progress until then.

    Raises:
        ValueError, RuntimeError: See `run_probes`.
    """
    work = _work(one.side, chosen, is_whole=True)
    found: Found | None = waiting.result(
        work, f"probe-controls-{place}", patience=0.0, stopped=STOPPED
    )
    return None if found is None else Probed(one.side, *found)


def _work(side: Side, chosen: Chosen, *, is_whole: bool) -> Work:
    is_linear = chosen.task not in STRUCTURAL
    settings = ProbeSettings(
        max_sentences=chosen.max_sentences,
        control=is_whole and is_linear,
        twin=is_whole and not side.is_untrained,
        code=is_whole and is_linear,
        cumulative=is_whole and is_linear,
    )

    def run(progress: Progress) -> Found:
        progress(0.0, "Reading the file")
        share = 0.95 if is_whole and is_linear else 1.0

        def report(fraction: float, stage: str) -> None:
            progress(share * fraction, f"{plain(side.name)}: {stage}")

        found = run_probes(side.bert, chosen.read(), settings, progress=report)
        if share == 1:
            return found, None

        def count(fraction: float) -> None:
            progress(share + (1 - share) * fraction, f"{plain(side.name)}: counting by label")

        return found, label_scores(side.bert, found, progress=count)

    return Work(("probes", side.key, side.is_untrained, chosen.key, chosen.task, settings), run)
