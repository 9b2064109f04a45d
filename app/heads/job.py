"""Background measurement of all heads: its progress, and a way to stop it."""

from __future__ import annotations

from bertcore.analysis.heads.report import HeadReport, report_heads
from bertcore.analysis.heads.similarity import HeadMap, head_map

from ..shell import cache, frame
from ..shell.jobs import background, waiting
from ..shell.jobs.background import Work
from ..sources.head_texts import Chosen

REPORT_CODE = """
from pathlib import Path
from bertcore.analysis.heads.report import report_heads
from bertcore.analysis.heads.texts import (
    bundled_sentences, bundled_trees, read_pasted_texts, read_texts,
)

{chosen}report = report_heads(bert, texts, trees)
"""

FEW_SENTENCES = 200
"""Up to this many sentences take about a second: the page waits, so that no progress bar
flickers."""


def report(key: cache.BertKey, chosen: Chosen) -> HeadReport | None:
    """Return the report if it is computed; else draw its progress, which updates by itself.

    Raises:
        Exception: The error that stopped the work.
    """

    def work(progress: background.Progress) -> HeadReport:
        return report_heads(cache.opened(key), chosen.texts, chosen.trees, progress=progress)

    few = len(chosen.texts.sentences) + len(chosen.trees.sentences) <= FEW_SENTENCES
    result: HeadReport | None = waiting.result(
        Work(("heads", key, chosen.key), work),
        "heads",
        patience=None if few else 0.0,
        stopped="Stopped. Nothing was measured.",
    )
    return result


def head_places(key: cache.BertKey, chosen: Chosen, report: HeadReport) -> HeadMap | None:
    """Return the map of heads if it is laid out; else draw its progress: see `report`.

    It comes after the rest: opening scikit-learn takes seconds, once on each server.
    """

    def work(progress: background.Progress) -> HeadMap:
        progress(0.3, "Laying out the map")
        return head_map(report.distances)

    wanted = Work(("heads-map", key, chosen.key), work)
    result: HeadMap | None = waiting.result(wanted, "heads-map")
    return result


def setup_code(page: frame.Page, chosen: Chosen) -> str:
    """Return Python that makes `report`; the code of each picture follows it."""
    return page.setup_code + REPORT_CODE.format(chosen=chosen.code)
