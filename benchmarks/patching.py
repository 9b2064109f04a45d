"""Patching the hidden state at every layer and token of BERT base (12 layers, hidden size 768).

Ours is `patch`: it starts at the patched layer, runs many positions in one batch, and in the last
layer computes only the token that is read. In the plain loop, a hook for each position puts the
other version's vector into `transformers`' eager `BertModel`, and the whole sentence is run. Both
use the same random weights and ids, in one process, with the same number of threads, and read the
same two words with the same head; they alternate, and so does which runs first. Before timing, the
logit differences of all patched runs are compared.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks import tables
from benchmarks.head_ranking import our_bert
from benchmarks.trace import their_model
from bertcore import Bert
from bertcore.analysis.patching import Answer, PatchPair, patch, patch_pair, word_answer

NUM_TOKENS = 32
LARGEST_SECONDS = 10.0
ROUNDS = 3
TOLERANCE = 1e-3
"""Of a logit difference, relative to the largest one."""


def run() -> str:
    """Return the table of seconds."""
    bert = our_bert()
    pair, answer, model = *versions(bert), their_model(bert.module)
    check_equal(ours(bert, pair, answer), plain_loop(bert, model, pair, answer))
    runners = {
        "ours": lambda: ours(bert, pair, answer),
        "loop": lambda: plain_loop(bert, model, pair, answer),
    }
    seconds: dict[str, list[float]] = {name: [] for name in runners}
    for round_number in range(ROUNDS):
        for name in list(runners)[:: 1 if round_number % 2 else -1]:
            start = time.perf_counter()
            runners[name]()
            seconds[name].append(time.perf_counter() - start)
    fast, slow = (statistics.median(seconds[name]) for name in ("ours", "loop"))
    columns = (
        "places",
        "ours, median (range)",
        "the loop, median (range)",
        "the loop / ours",
        f"aim {LARGEST_SECONDS:.0f} s",
    )
    places = (bert.config.num_hidden_layers + 1) * len(pair.columns)
    row = (
        f"{bert.config.num_hidden_layers + 1} states x {len(pair.columns)} tokens = {places}",
        tables.spread(seconds["ours"]),
        tables.spread(seconds["loop"]),
        f"{slow / fast:.2f}",
        tables.verdict(fast, LARGEST_SECONDS),
    )
    return tables.markdown(columns, [row])


def versions(bert: Bert) -> tuple[PatchPair, Answer]:
    """Return two sentences of NUM_TOKENS tokens that differ in one, and the words to read."""
    words = ("the old man saw the sea and it was blue " * 4).split()[: NUM_TOKENS - 3]
    texts = [" ".join([words[0], noun, *words[2:], "[MASK]"]) for noun in ("king", "dog")]
    pair = patch_pair(bert, (texts[0], None), (texts[1], None))
    if not pair.is_aligned or len(pair.columns) != NUM_TOKENS:
        raise RuntimeError(f"the sentences have {len(pair.columns)} common tokens.")
    return pair, word_answer(bert, pair, "blue", "old")


def ours(bert: Bert, pair: PatchPair, answer: Answer) -> NDArray[np.float32]:
    """Return the logit difference of each patched run, [L+1, T]."""
    return patch(bert, pair, answer).values


@torch.inference_mode()
def plain_loop(bert: Bert, model: Any, pair: PatchPair, answer: Answer) -> NDArray[np.float32]:
    """Return the same with one whole run per position."""
    base, source = (torch.tensor([e.input_ids]) for e in (pair.second, pair.first))
    states = model(input_ids=source, output_hidden_states=True).hidden_states
    assert answer.places is not None
    at = answer.places[1]
    modules = [model.embeddings, *model.encoder.layer]
    values = np.zeros((len(modules), base.shape[1]), np.float32)
    for layer, module in enumerate(modules):
        for token in range(base.shape[1]):

            def put(
                module: Any, inputs: Any, output: Any, layer: int = layer, token: int = token
            ) -> Any:
                hidden: Tensor = (output[0] if isinstance(output, tuple) else output).clone()
                hidden[0, token] = states[layer][0, token]
                return (hidden, *output[1:]) if isinstance(output, tuple) else hidden

            handle = module.register_forward_hook(put)
            last = model(input_ids=base).last_hidden_state
            handle.remove()
            values[layer, token] = float(answer.read(last[:, at : at + 1]))
    return values


def check_equal(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> None:
    """Check that both patch alike."""
    scale = float(np.abs(theirs).max())
    worst = float(np.abs(ours - theirs).max()) / scale
    if not worst <= TOLERANCE or float(np.ptp(theirs)) < 1e-3 * scale:
        raise RuntimeError(
            f"our patched runs and the loop's differ by {worst:.2g} of the largest logit "
            f"difference; expected at most {TOLERANCE}, and runs that differ from each other."
        )
