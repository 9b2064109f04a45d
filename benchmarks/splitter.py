"""Speed of the sentence splitter on the paragraphs of the shipped novel, one after another.

It uses one process and one thread. Processor time is measured, since other programs hardly affect
it. Before timing, the text is split once and its sentences are counted.
"""

from __future__ import annotations

import lzma
import statistics
import time

from benchmarks import tables
from bertcore.data.sentences import split_sentences
from bertcore.pretraining.data.bundled import NOVEL

SLOWEST = 10e6
"""Bytes per second."""
ROUNDS = 20


def run() -> str:
    """Return the table of sentences and bytes per second."""
    with lzma.open(NOVEL.train, "rt", encoding="utf-8") as file:
        paragraphs = [line.strip() for line in file if line.strip()]
    num_bytes = sum(len(paragraph.encode()) for paragraph in paragraphs)
    num_sentences = sum(len(split_sentences(paragraph)) for paragraph in paragraphs)
    seconds = [seconds_of(paragraphs) for _ in range(ROUNDS)]
    columns = (
        "text",
        "sentences",
        "sentences per second, median (range)",
        "MB per second, median (range)",
        f"aim {SLOWEST / 1e6:.0f} MB/s",
    )
    row = (
        f"{NOVEL.title}, {tables.megabytes(num_bytes)}",
        f"{num_sentences:,}",
        spread([num_sentences / taken for taken in seconds], ",.0f"),
        spread([num_bytes / 1e6 / taken for taken in seconds], ".1f"),
        tables.verdict(statistics.median(seconds), num_bytes / SLOWEST),
    )
    return tables.markdown(columns, [row])


def seconds_of(paragraphs: list[str]) -> float:
    """Return the processor time for all paragraphs, in seconds."""
    start = time.process_time()
    for paragraph in paragraphs:
        split_sentences(paragraph)
    return time.process_time() - start


def spread(rates: list[float], form: str) -> str:
    """Return the median and, in brackets, the minimum and maximum."""
    low, middle, high = (f(rates) for f in (min, statistics.median, max))
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"
