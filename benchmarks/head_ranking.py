"""Ranking all 144 heads of BERT base (12 layers, hidden size 768) against a plain loop.

Ours is `rank_heads`: the removals within a layer run in one batch, from that layer upwards, and the
words at the [MASK] are predicted for each. The plain loop zeroes each head's columns of the output
projection in `transformers`' eager `BertModel`, runs the sentence, and restores them; it predicts
no words. Both use the same random weights and ids, in one process, with the same number of threads;
they alternate, and so does which runs first. Before timing, the effect of each head on the last
hidden states (mean over tokens of 1 - cosine) is compared.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from benchmarks import tables
from benchmarks.trace import our_network, their_model
from bertcore import Bert, load
from bertcore.analysis.heads.importance import HeadImportance, rank_heads
from bertcore.interventions.what_if import every_head
from bertcore.tokenizer import Encoding

NUM_TOKENS = 32
LARGEST_SECONDS = 10.0
ROUNDS = 5
TOLERANCE = 0.02
"""Relative to a head's effect: what differences of 1e-6 in the states do to the smallest one."""


def run() -> str:
    """Return the table of seconds."""
    bert = our_bert()
    encoding, model = sentence(bert), their_model(bert.module)
    check_equal(rank_heads(bert, encoding), plain_loop(bert, model, encoding))
    seconds: dict[str, list[float]] = {"ours": [], "loop": []}
    runners = {
        "ours": lambda: rank_heads(bert, encoding),
        "loop": lambda: plain_loop(bert, model, encoding),
    }
    for round_number in range(ROUNDS):
        for name in list(runners)[:: 1 if round_number % 2 else -1]:
            start = time.perf_counter()
            runners[name]()
            seconds[name].append(time.perf_counter() - start)
    ours, loop = (statistics.median(seconds[name]) for name in ("ours", "loop"))
    heads = len(every_head(bert.config))
    columns = (
        "heads, tokens",
        "ours, median (range)",
        "the loop, median (range)",
        "the loop / ours",
        f"aim {LARGEST_SECONDS:.0f} s",
    )
    row = (
        f"{heads}, {len(encoding)}",
        tables.spread(seconds["ours"]),
        tables.spread(seconds["loop"]),
        f"{loop / ours:.2f}",
        tables.verdict(ours, LARGEST_SECONDS),
    )
    return tables.markdown(columns, [row])


def our_bert() -> Bert:
    """Return BERT base with random weights whose heads matter, and the shipped vocabulary."""
    network = our_network()
    with torch.no_grad():
        for layer in network.layers:
            layer.attention.output.weight *= 10
    return Bert(network, load("default", device="cpu").tokenizer, name="random")


def sentence(bert: Bert) -> Encoding:
    """Return a sentence of NUM_TOKENS tokens with one [MASK]."""
    words = "the old man saw the sea and it was blue".split()
    text = " ".join(["[MASK]", *(words * 4)][: NUM_TOKENS - 2])
    encoding = bert.tokenize(text)
    if len(encoding) != NUM_TOKENS:
        raise RuntimeError(f"the sentence has {len(encoding)} tokens; expected {NUM_TOKENS}.")
    return encoding


@torch.inference_mode()
def plain_loop(bert: Bert, model: Any, encoding: Encoding) -> NDArray[np.float32]:
    """Return each head's effect on the last hidden states, [L, H], one forward pass per head."""
    ids = torch.tensor([encoding.input_ids])
    whole = model(input_ids=ids).last_hidden_state
    width = bert.config.head_size
    effects = np.zeros((bert.config.num_hidden_layers, bert.config.num_attention_heads), np.float32)
    for layer, head in every_head(bert.config):
        weight = model.encoder.layer[layer].attention.output.dense.weight
        columns = slice(head * width, (head + 1) * width)
        before = weight[:, columns].clone()
        weight[:, columns] = 0
        without = model(input_ids=ids).last_hidden_state
        weight[:, columns] = before
        effects[layer, head] = float((1 - F.cosine_similarity(whole, without, dim=-1)).mean())
    return effects


def check_equal(ours: HeadImportance, theirs: NDArray[np.float32]) -> None:
    """Check that both rank alike; a speed is meaningless if they differ."""
    worst = float(np.max(np.abs(ours.hidden - theirs) / np.maximum(theirs, 1e-5)))
    if not worst <= TOLERANCE or not float(theirs.min()) > 1e-5:
        raise RuntimeError(
            f"our ranking and the loop's differ by {worst:.2g} of an effect; expected at most "
            f"{TOLERANCE}, and every effect above 1e-5 (the smallest is {theirs.min():.2g})."
        )
