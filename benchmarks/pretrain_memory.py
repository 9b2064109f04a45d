"""Memory of a whole training run on a generated text and on one ten times as large.

Each run is a separate process that reads the text, packs it, and trains. Only its own (anonymous)
memory is measured; the packed corpus is mapped from disk, and its pages can be freed whenever
memory is needed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks import tables

SIZES = (600_000, 6_000_000)
"""Number of words of each text."""
STEPS = 50
GROWTH_AIM = 1.1
"""Largest allowed ratio of the peak with the large text to the peak with the small one."""
WORDS = 3000
"""Number of different words; the n-th has frequency 1 / n."""
STARTS = ("noise", "warm")
_LOOKS_A_SECOND = 100


def run() -> str:
    """Return a table of the peaks; only Linux reports a process's own memory."""
    if not sys.platform.startswith("linux"):
        return "Not measured: only Linux reports a process's own memory."
    rows, verdicts = [], []
    with TemporaryDirectory() as place:
        texts = [write_text(Path(place) / f"{size}.txt", size) for size in SIZES]
        held_out = write_text(Path(place) / "valid.txt", 20_000, seed=1)
        for start in STARTS:
            measured = [measure(text, held_out, Path(place), start) for text in texts]
            for text, one in zip(texts, measured, strict=True):
                rows.append(
                    (
                        start,
                        tables.megabytes(text.stat().st_size),
                        f"{one['num_tokens'] / 1e6:.1f} M",
                        *(
                            tables.megabytes(one[name])
                            for name in ("imports", "preparing", "training")
                        ),
                    )
                )
            peaks = [max(one["preparing"], one["training"]) for one in measured]
            growth = peaks[1] / peaks[0]
            verdict = tables.verdict(growth, GROWTH_AIM)
            verdicts.append(f"{start}, {growth:.2f} x, {verdict}")
    columns = (
        "start",
        "text",
        "tokens",
        "after imports",
        "peak to step 0",
        f"peak of {STEPS} steps",
    )
    return "\n\n".join(
        [
            tables.markdown(columns, rows),
            f"Aim (at most {GROWTH_AIM} x as much with ten times the text): {'; '.join(verdicts)}.",
        ]
    )


def write_text(path: Path, num_words: int, *, seed: int = 0) -> Path:
    """Write documents of ten sentences of ten words; return the path."""
    names_rng, rng = Random(0), Random(seed)  # all texts use the same words
    names = ["".join(names_rng.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(WORDS)]
    weights = [1 / rank for rank in range(1, WORDS + 1)]
    with path.open("w", encoding="utf-8") as lines:
        for _ in range(num_words // 100):
            words = rng.choices(names, weights, k=100)
            for start in range(0, 100, 10):
                lines.write(" ".join(words[start : start + 10]) + ".\n")
            lines.write("\n")
    return path


def measure(text: Path, held_out: Path, place: Path, start: str) -> dict[str, int]:
    """Return the memory that a new process needed, in bytes, and the tokens of its text."""
    out = place / f"run-{text.stem}-{start}"
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.pretrain_memory", text, held_out, out, start],
        capture_output=True,
        text=True,
        check=True,
    )
    sizes: dict[str, int] = json.loads(answer.stdout.splitlines()[-1])
    return sizes


class Peak:
    """Peak of this process's anonymous memory since the last reading."""

    def __init__(self) -> None:
        self._most = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def take(self) -> int:
        """Return the peak in bytes, and reset it."""
        most, self._most = max(self._most, anonymous_bytes()), 0
        return most

    def _look(self) -> None:
        while not self._stop.wait(1 / _LOOKS_A_SECOND):
            self._most = max(self._most, anonymous_bytes())


def anonymous_bytes() -> int:
    """Return the memory of this process that is not mapped from a file."""
    fields = _status()
    return next(int(value.split()[0]) * 1024 for name, value in fields if name == "RssAnon")


def _status() -> Iterator[tuple[str, str]]:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        yield name, value


def train(text: Path, held_out: Path, out: Path, start: str) -> dict[str, int]:
    """Prepare and train a run in the new process, and sample its memory."""
    from bertcore.architecture.config import bert_of
    from bertcore.pretraining import (
        DataConfig,
        OptimizerConfig,
        TrainConfig,
        start_run,
        train_tokenizer,
    )

    # The vocabulary is learned from the held-out text, before memory is measured.
    tokenizer = train_tokenizer([held_out], vocab_size=2000)
    peak = Peak()
    imports = peak.take()
    run = start_run(
        out,
        corpus=[text],
        valid=held_out,
        tokenizer=tokenizer,
        shape=bert_of(vocab_size=2000, num_hidden_layers=2, hidden_size=128),
        train_config=TrainConfig(steps=STEPS, start=start, device="cpu", compile="off"),
        data_config=DataConfig.for_length(128, batch_size=16),
        optimizer_config=OptimizerConfig(),
    )
    preparing = peak.take()
    run.run()
    return {
        "num_tokens": run.batches.corpus.num_tokens,
        "imports": imports,
        "preparing": preparing,
        "training": peak.take(),
    }


if __name__ == "__main__":
    *files, start_from = sys.argv[1:]
    print(json.dumps(train(*map(Path, files), start_from)))
