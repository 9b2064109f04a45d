"""Background measurement of all heads: its progress, and a way to stop it."""

from bertcore import Model
from bertcore.analysis.heads.report import HeadReport, report_heads

from ..shell import Compute, Progress, frame
from ..sources.head_texts import HeadTextSource

REPORT_CODE = """
from pathlib import Path
from bertcore.analysis import HeadTexts, bundled_sentences, bundled_trees, read_texts, report_heads
from bertcore.data import read_sentence_list

{chosen}report = report_heads(bert, texts, trees)
"""

FEW_SENTENCES = 200
"""Up to this many sentences take about a second: the page waits, so that no progress bar
flickers."""


def report(page: frame.Page, chosen: HeadTextSource) -> HeadReport:
    """Return the report; its progress is drawn until it is computed.

    Raises:
        Pending: Until then.
    """
    few = len(chosen.texts.sentences) + len(chosen.trees.sentences) <= FEW_SENTENCES
    patience, stopped = None if few else 0.0, "Stopped. Nothing was measured."
    compute = Compute(name="heads", patience=patience, stopped=stopped)
    return compute(_report, page.bert_key, chosen)


def _report(bert: Model, chosen: HeadTextSource, *, progress: Progress) -> HeadReport:
    return report_heads(bert, chosen.texts, chosen.trees, progress=progress)


def setup_code(page: frame.Page, chosen: HeadTextSource) -> str:
    """Return Python that makes `report`; the code of each picture follows it."""
    return page.setup_code + REPORT_CODE.format(chosen=chosen.code)
