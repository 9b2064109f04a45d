"""The grammar exam against a plain loop with one forward pass per token, and minicons.

Ours is `score_pairs` on our own 200 pairs with the shipped checkpoint; the loop is transformers'
`BertForMaskedLM` on the same weights, whose head runs on every token, as in a straightforward
implementation. minicons runs all copies of a sentence in one batch. The sums are compared first;
all three run in one process, in turns, with the same number of threads.
"""

from __future__ import annotations

import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from benchmarks import tables
from bertcore import Bert, load
from bertcore.grammar import MinimalPair, bundled_pairs, score_pairs
from tests.support.minicons_peer import MiniconsPeer

PAIRS_A_SECOND = 80.0
TIMES_THE_LOOP = 10.0
LOOPED = 20
"""Pairs per round for the loop and minicons."""
ROUNDS = 5
TOLERANCE = 1e-3

Scores = list[float]
"""Of the good and the bad sentence of each pair in turn, in nats."""


def run() -> str:
    """Return the table of pairs per second."""
    from transformers import BertForMaskedLM

    bert = load("default")
    assert isinstance(bert, Bert)  # the shipped checkpoint is
    pairs = bundled_pairs().pairs
    with tempfile.TemporaryDirectory() as folder:
        bert.save(folder)
        model = BertForMaskedLM.from_pretrained(folder).eval().to(bert.device)
        runners: dict[str, Callable[[Sequence[MinimalPair]], Scores]] = {
            "ours": lambda chosen: ours(bert, chosen),
            "one forward pass per token": lambda chosen: loop(bert, model, chosen),
        }
        if importlib.util.find_spec("minicons") is not None:
            peer = MiniconsPeer(folder, str(bert.device))
            runners["minicons"] = lambda chosen: minicons(peer, chosen)
        few = pairs[::10][:LOOPED]
        check_equal({name: runner(few) for name, runner in runners.items()})
        speeds: dict[str, list[float]] = {name: [] for name in runners}
        for number in range(ROUNDS):
            for name in list(runners)[:: 1 if number % 2 else -1]:
                chosen = pairs if name == "ours" else few
                start = time.perf_counter()
                runners[name](chosen)
                speeds[name].append(len(chosen) / (time.perf_counter() - start))
    best = statistics.median(speeds["ours"])
    rows = [
        (
            name,
            f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})",
            f"{best / statistics.median(values):.1f}",
            _verdict(name, best, statistics.median(values)),
        )
        for name, values in speeds.items()
    ]
    return tables.markdown(
        ("", "pairs per second, median (range)", "speed-up of ours", "aim"), rows
    )


def _verdict(name: str, best: float, value: float) -> str:
    if name == "ours":
        return f"{PAIRS_A_SECOND:.0f}: {tables.verdict(-best, -PAIRS_A_SECOND)}"
    if name == "minicons":
        return ""
    return f"{TIMES_THE_LOOP:.0f}: {tables.verdict(-best / value, -TIMES_THE_LOOP)}"


def ours(bert: Bert, pairs: Sequence[MinimalPair]) -> Scores:
    """Return our scores."""
    scores = [score for part in score_pairs(bert, pairs) for score in part]
    return [value for score in scores for value in (*score.good, *score.bad)]


@torch.inference_mode()
def loop(bert: Bert, model: Any, pairs: Sequence[MinimalPair]) -> Scores:
    """Return the scores from one forward pass per token."""
    found = []
    for text in (text for pair in pairs for text in (pair.good, pair.bad)):
        encoding = bert.tokenize(text)
        total = 0.0
        for position in range(1, len(encoding) - 1):
            ids = torch.tensor([encoding.input_ids], device=bert.device)
            for later in range(position, len(encoding)):
                if encoding.word_ids[later] == encoding.word_ids[position]:
                    ids[0, later] = bert.tokenizer.mask_id
            log_p = torch.log_softmax(model(input_ids=ids).logits[0, position], -1)
            total += float(log_p[encoding.input_ids[position]])
        found.append(total)
    return found


def minicons(peer: MiniconsPeer, pairs: Sequence[MinimalPair]) -> Scores:
    """Return the scores of minicons, one batch per pair."""
    return [score for pair in pairs for score in peer.scores([pair.good, pair.bad], "within-word")]


def check_equal(scores: dict[str, Scores]) -> None:
    """Check that all compute the same sums."""
    expected = np.array(scores["ours"])
    for name, values in scores.items():
        worst = float(np.abs(np.array(values) - expected).max())
        if not worst <= TOLERANCE:
            raise RuntimeError(f"{name} differs from our scores by {worst:.2g} nats.")
