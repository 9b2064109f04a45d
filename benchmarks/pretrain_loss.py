"""Held-out loss against time: our recipe and transformers' plain loop, for the same time.

Both start from an untrained network and see the same batches in the same order; each has its own
learning rates on the same schedule, warm-up and then linear decay to 0 at the end of its time. Ours
counts words first (its warm start), which is included in its time.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks import tables
from benchmarks.trainers import Ours, Theirs, random_network
from bertcore.model.architecture.config import bert_of
from bertcore.training.pretraining import (
    Batches,
    DataConfig,
    OptimizerConfig,
    evaluate_pretraining,
    fixed_batches,
    pack_corpus,
    read_sentences,
    train_tokenizer,
)
from bertcore.training.pretraining.data.corpus import NOVEL
from bertcore.training.pretraining.starting_weights import warm_start

LAYERS, HIDDEN = 4, 256
NUM_EVALUATIONS = 4
"""Number of evenly spaced times at which both are scored."""
HELD_OUT_ROWS = 256


@dataclass(slots=True)
class Options:
    """Set by the command line."""

    seconds: float = 120.0
    """Training time of each of the two, without scoring."""
    corpus: tuple[Path, ...] = (NOVEL.train,)
    valid: Path = NOVEL.valid
    vocab_size: int = 4096


OPTIONS = Options()


def run() -> str:
    """Train both for the same time; return their held-out losses over time."""
    options = OPTIONS
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = train_tokenizer(options.corpus, vocab_size=options.vocab_size)
    train = pack_corpus(read_sentences(options.corpus), tokenizer)
    valid = pack_corpus(read_sentences([options.valid]), tokenizer)
    config = DataConfig()
    held_out = list(fixed_batches(valid, tokenizer, config, seed=0, num_rows=HELD_OUT_ROWS))
    batches = Batches(train, tokenizer, config, seed=0)
    shape = bert_of(vocab_size=tokenizer.vocab_size, num_hidden_layers=LAYERS, hidden_size=HIDDEN)

    network = random_network(shape)
    start = time.perf_counter()
    warm_start(network, train, torch.Generator().manual_seed(0))
    ours = Ours(network, device)
    counting = time.perf_counter() - start
    theirs = Theirs(random_network(shape), device, dtype="bfloat16")

    def our_scores() -> tuple[float, float]:
        scores = evaluate_pretraining(network, held_out, tokenizer, autocast=True)
        assert scores.nsp_accuracy is not None  # the rows are pairs
        return scores.mlm_loss, scores.nsp_accuracy

    courses = {
        "ours": course(ours, batches, our_scores, options.seconds, spent=counting),
        "transformers, bfloat16": course(
            theirs, batches, lambda: theirs.held_out(held_out), options.seconds
        ),
    }
    marks = [options.seconds * (index + 1) / NUM_EVALUATIONS for index in range(NUM_EVALUATIONS)]
    columns = (
        "held-out masked-word loss / pairs correct",
        *(f"{m:.0f} s" for m in marks),
        "tokens",
    )
    rows = [
        (
            name,
            *(f"{loss:.3f} / {pairs:.1%}" for loss, pairs in scores),
            f"{tokens / 1e6:.2f} M",
        )
        for name, (scores, tokens) in courses.items()
    ]
    last_ours, last_theirs = (scores[-1][0] for scores, _ in courses.values())
    return "\n\n".join(
        [
            f"{device}, {LAYERS} layers of {HIDDEN}, vocabulary {tokenizer.vocab_size:,}, 32 x 128 "
            f"tokens, {train.num_tokens / 1e6:.1f} M tokens of training text",
            tables.markdown(columns, rows),
            "Aim (below the plain loop at equal time): "
            f"{tables.verdict(last_ours, last_theirs)} ({last_ours - last_theirs:+.3f} nats).",
        ]
    )


def course(
    trainer: Ours | Theirs,
    batches: Batches,
    score: Callable[[], tuple[float, float]],
    seconds: float,
    *,
    spent: float = 0.0,
) -> tuple[list[tuple[float, float]], int]:
    """Train for a number of seconds; return the scores at each mark, and the tokens seen.

    Args:
        trainer: Object with `step` and `set_rate`.
        batches: Batches, used from the first one.
        score: Called at each mark while the clock is stopped.
        seconds: Time budget.
        spent: Seconds of it already used.
    """
    schedule = OptimizerConfig(warmup_ratio=0.05)
    scores: list[tuple[float, float]] = []
    step = num_tokens = 0
    while len(scores) < NUM_EVALUATIONS:
        start = time.perf_counter()
        batch = batches.batch(step)
        trainer.set_rate(schedule.rate_at(min(1.0, spent / seconds)))
        trainer.step(batch)
        spent += time.perf_counter() - start
        step += 1
        num_tokens += batch.num_tokens
        while (
            len(scores) < NUM_EVALUATIONS and spent >= seconds * (len(scores) + 1) / NUM_EVALUATIONS
        ):
            scores.append(score())
    return scores, num_tokens
