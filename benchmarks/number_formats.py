"""Fine-tuning in float32 and bfloat16 on two kinds of processor, beside transformers' Trainer.

A processor with bfloat16 products is measured as it is, and held to AVX2 by the settings of oneDNN
and torch, in a process of its own. One thread, in processor time, so that other processes on the
machine count little.
"""

import os
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import torch

from benchmarks import finetune, tables
from bertcore.base.device import computes_bfloat16

AVX2 = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
"""Environment of a process that uses no instructions beyond AVX2."""


@dataclass(slots=True)
class Options:
    """Set by the command line."""

    num_sentences: int = 640
    """Generated, each read once."""


OPTIONS = Options()


def run() -> str:
    """Return a table of examples per second of a core."""
    kinds: dict[str, Mapping[str, str]] = {"AVX2 alone": AVX2}
    if computes_bfloat16(torch.device("cpu")):
        kinds = {"with bfloat16 products": {}, **kinds}
    speeds = {kind: in_process(limits, OPTIONS) for kind, limits in kinds.items()}
    rows = []
    for name in next(iter(speeds.values())):
        cells = []
        for of_kind in speeds.values():
            base = of_kind["transformers Trainer, float32"]
            cells += [f"{of_kind[name]:,.1f}", f"{of_kind[name] / base:.2f}"]
        rows.append((name, *cells))
    columns = [cell for kind in kinds for cell in (f"{kind}, examples/s", "times the Trainer")]
    title = f"{OPTIONS.num_sentences:,} generated sentences, batch 32, one thread, processor time"
    return "\n\n".join([title, tables.markdown(("contender", *columns), rows)])


def in_process(limits: Mapping[str, str], options: Options) -> dict[str, float]:
    """Return `speeds_here` of a new process, whose torch reads these limits as it is imported."""
    with (
        patch.dict(os.environ, {"OMP_NUM_THREADS": "1", **limits}),
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
    ):
        return pool.submit(speeds_here, options).result()


def speeds_here(options: Options) -> dict[str, float]:
    """Return the examples per second of each contender, by processor time."""
    with tempfile.TemporaryDirectory() as place, patch("time.perf_counter", time.process_time):
        folder = Path(place)
        train = finetune.make_sentences(folder / "train.tsv", options.num_sentences, 0)
        dev = finetune.make_sentences(folder / "dev.tsv", 50, 1)
        measured = [
            contender(folder, train, dev, seed=1, dtype=dtype)
            for dtype in ("float32", "bfloat16")
            for contender in (finetune.measure_trainer, finetune.measure_ours)
        ]
    return {one.name: one.examples_per_second for one in measured}
