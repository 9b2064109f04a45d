"""Background measurement of all heads: its progress, and a way to stop it."""

from typing import Any

from bertcore import Model
from bertcore.analysis.heads.report import HeadReport, report_heads

from ...shell import Compute, Progress, frame
from ...sources.head_texts import HeadTextSource

TEXTS = ("texts", "trees")
"""Names that the Python shown gives to what is measured."""

FEW_SENTENCES = 200
"""Up to this many sentences take about a second: the page waits, so that no progress bar
flickers."""


def report(page: frame.Page, chosen: HeadTextSource, *, is_again: bool = False) -> HeadReport:
    """Return the report; Pending until it is computed, while its progress is drawn.

    Args:
        is_again: As for `Compute`.
    """
    few = len(chosen.texts.sentences) + len(chosen.trees.sentences) <= FEW_SENTENCES
    patience, stopped = None if few else 0.0, "Stopped. Nothing was measured."
    compute = Compute(name="heads", is_again=is_again, patience=patience, stopped=stopped)
    return compute(_report, page.bert_key, chosen)


def _report(bert: Model, chosen: HeadTextSource, *, progress: Progress) -> HeadReport:
    return report_heads(bert, chosen.texts, chosen.trees, progress=progress)


def shown(chosen: HeadTextSource, report: HeadReport) -> dict[str, Any]:
    """Return what `show` needs to draw views of a report that is computed already."""
    return {
        "compute": lambda *_: report,
        "setup": chosen.setup,
        "spelled": {name: name for name in TEXTS},
    }
