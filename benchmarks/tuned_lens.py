"""The tuned lens of the shipped checkpoint beside the plain one, by layer.

Fitted on the shipped novel with the settings of `bertscope tuned-lens`, and measured on its
held-out sentences.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass

import torch

from benchmarks import tables
from bertcore import load
from bertcore.analysis.tuned_lens import TunedLensSettings, fit_tuned_lens
from bertcore.evaluation.intervals import Interval
from bertcore.pretraining import read_sentences
from bertcore.pretraining.data.bundled import NOVEL
from bertscope.cli.tuned_lens import MOST_SENTENCES


@dataclass
class Options:
    """Set by the command line."""

    steps: int = TunedLensSettings().num_steps


OPTIONS = Options()


def run() -> str:
    """Return the table of both lenses."""
    bert = load("default", device="cpu")
    sentences = itertools.chain.from_iterable(read_sentences([NOVEL.train]))
    start = time.perf_counter()
    lens = fit_tuned_lens(
        bert,
        list(itertools.islice(sentences, MOST_SENTENCES)),
        TunedLensSettings(num_steps=OPTIONS.steps),
        text=NOVEL.title,
    )
    seconds = time.perf_counter() - start
    gain = lens.gain
    rows = [
        (
            str(layer) if layer else "embeddings",
            _cell(gain.plain.bits, layer),
            _cell(gain.tuned.bits, layer),
            _cell(gain.saved_bits, layer),
            _cell(gain.plain.agreement, layer, 100),
            _cell(gain.tuned.agreement, layer, 100),
        )
        for layer in range(len(gain.saved_bits.mean))
    ]
    columns = (
        "layer",
        "plain, bits",
        "tuned, bits",
        "saved, bits",
        "plain agrees, %",
        "tuned agrees, %",
    )
    about = (
        f"Fitted on {lens.num_tokens:,} hidden tokens, {lens.num_steps} steps per layer, in "
        f"{tables.milliseconds(seconds)} with {torch.get_num_threads()} thread(s); measured on "
        f"{gain.num_tokens:,} tokens of {gain.num_sentences:,} other sentences."
    )
    return f"{about}\n\n{tables.markdown(columns, rows)}"


def _cell(interval: Interval, layer: int, times: float = 1) -> str:
    mean, low, high = (times * float(part[layer]) for part in interval)
    digits = 1 if times > 1 else 2
    return f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
