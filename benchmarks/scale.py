"""Encoding a corpus with one process and with two Ray workers on one machine.

The corpus is the shipped novel, repeated with differently paired sentences on each line; the
shipped checkpoint, three layers. The single process has one thread, then two; the two workers have
one thread each. The vectors of all three runs are compared. Rates are measured from the first
written part, so that the start-up of a worker (Ray, the libraries, the checkpoint) is separate.
"""

from __future__ import annotations

import lzma
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from benchmarks import tables
from bertcore import load
from bertcore.corpus import Cluster, EncodeProgress, EncodeSettings, encode_corpus, open_encoded
from bertcore.data.sentences import split_sentences
from bertcore.pretraining.data.bundled import NOVEL

LAYERS = (0, 2, 4)
WORKERS = 2
PART_BYTES = 32 * 2**20
"""Small, so that the two workers finish at nearly the same time."""
_SETTINGS = EncodeSettings(layers=LAYERS, split=False)


_TOKENS_OF_NOVEL = 160_000  # approximately


@dataclass
class Options:
    """Set by the command line."""

    tokens: int = 640_000


OPTIONS = Options()


def run() -> str:
    """Return the table of one process and two workers.

    Raises:
        RuntimeError: If the vectors of two runs differ by more than float16 precision.
    """
    rows, rates = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        corpus = write_novel(folder / "corpus.txt", OPTIONS.tokens)
        outs = {
            "one process, 1 thread": _alone(corpus, folder / "one", 1),
            f"one process, {WORKERS} threads": _alone(corpus, folder / "threads", WORKERS),
            f"Ray, {WORKERS} workers of 1 thread": _with_ray(corpus, folder / "ray"),
        }
        for name, encode in outs.items():
            out, whole, start, rate = encode()
            rates.append(rate)
            apart = _largest_difference(folder / "one", out)
            if apart > 1e-2:
                raise RuntimeError(f"{name}: vectors differ by {apart:.2g}.")
            rows.append(
                (
                    name,
                    tables.milliseconds(whole),
                    tables.milliseconds(start),
                    f"{rate:,.0f}",
                    f"{rate / rates[0]:.2f}",
                    f"{apart:.1g}",
                )
            )
        num_tokens = len(open_encoded(folder / "one"))
    columns = (
        f"{num_tokens:,} tokens, layers {', '.join(map(str, LAYERS))}",
        "whole run",
        "time to the first part",
        "tokens/s after it",
        "times one thread",
        "difference",
    )
    hours = 1e9 / rates[-1] / 3600
    estimate = (
        f"Estimate, not measured: {hours:,.0f} hours for 1 B tokens with {WORKERS} such workers, "
        "and proportionally fewer with more, as long as the shared disk keeps up with the output: "
        f"{2 * 256 * len(LAYERS) * 1e9 / 1e12:.1f} TB."
    )
    return f"{tables.markdown(columns, rows)}\n\n{estimate}"


def _alone(
    corpus: Path, out: Path, num_threads: int
) -> Callable[[], tuple[Path, float, float, float]]:
    def encode() -> tuple[Path, float, float, float]:
        before = torch.get_num_threads()
        torch.set_num_threads(num_threads)
        try:
            return _timed(corpus, out, None)
        finally:
            torch.set_num_threads(before)

    return encode


def _with_ray(corpus: Path, out: Path) -> Callable[[], tuple[Path, float, float, float]]:
    return lambda: _timed(corpus, out, Cluster(num_workers=WORKERS))


def _timed(corpus: Path, out: Path, cluster: Cluster | None) -> tuple[Path, float, float, float]:
    """Return the folder, the seconds of the run and to its first part, and the rate after that."""
    bert = load("default", device="cpu")
    first: list[tuple[float, int]] = []

    def note(progress: EncodeProgress) -> None:
        if progress.num_rows and not first:
            first.append((time.perf_counter(), progress.num_rows))

    start = time.perf_counter()
    encode_corpus(
        bert, corpus, out, _SETTINGS, cluster=cluster, part_bytes=PART_BYTES, on_progress=note
    )
    end = time.perf_counter()
    (began, num_rows), total = first[0], len(open_encoded(out))
    return out, end - start, began - start, (total - num_rows) / (end - began)


def _largest_difference(one: Path, other: Path) -> float:
    """Return the largest difference between the vectors of a row, over all layers."""
    a, b = open_encoded(one), open_encoded(other)
    return max(
        float(np.abs(np.float32(a.vectors(layer)) - np.float32(b.vectors(layer))).max())
        for layer in LAYERS
    )


def write_novel(path: Path, num_tokens: int) -> Path:
    """Write the novel repeatedly, two sentences on each line, paired differently each time."""
    with lzma.open(NOVEL.train, "rt", encoding="utf-8") as file:
        sentences = [sentence for line in file for sentence in split_sentences(line.strip())]
    rng = random.Random(0)
    with path.open("w", encoding="utf-8") as out:
        for number in range(max(1, round(num_tokens / _TOKENS_OF_NOVEL))):
            order = list(sentences)
            if number:
                rng.shuffle(order)
            for first, second in zip(order[::2], order[1::2], strict=False):
                out.write(f"{first} {second}\n")
    return path
