"""How fast the sentence splitter is: each paragraph of the novel that ships, one after another.

One process and one thread. The time is the processor's, so that other programs make it little
longer. Before the clock starts, the text is split once and its sentences are counted.
"""

from __future__ import annotations

import lzma
import statistics
import time

from benchmarks import tables
from bertcore.pretraining.data.bundled import NOVEL
from bertcore.pretraining.data.sentences import split_sentences

SLOWEST = 10e6
"""Bytes a second."""
ROUNDS = 20


def run() -> str:
    """Return the table of sentences and bytes a second."""
    with lzma.open(NOVEL.train, "rt", encoding="utf-8") as file:
        paragraphs = [line.strip() for line in file if line.strip()]
    num_bytes = sum(len(paragraph.encode()) for paragraph in paragraphs)
    num_sentences = sum(len(split_sentences(paragraph)) for paragraph in paragraphs)
    seconds = [seconds_of(paragraphs) for _ in range(ROUNDS)]
    columns = (
        "text",
        "sentences",
        "sentences a second, median (range)",
        "MB a second, median (range)",
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
    """Return the processor's seconds for all paragraphs."""
    start = time.process_time()
    for paragraph in paragraphs:
        split_sentences(paragraph)
    return time.process_time() - start


def spread(rates: list[float], form: str) -> str:
    """Return the median and, in brackets, the least and the most."""
    low, middle, high = (f(rates) for f in (min, statistics.median, max))
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"
