"""Pretraining speed against transformers' BertForPreTraining in a plain loop.

Both start from the same random weights and see the same batches, in one process with the same
number of threads; they alternate, and so does which runs first.
"""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from benchmarks import tables
from benchmarks.trainers import (
    Ours,
    Theirs,
    check_equal,
    numbered_tokenizer,
    random_network,
    synthetic_corpus,
)
from bertcore.model.architecture.config import BertConfig, bert_of
from bertcore.training.engine.processes import missing_for_compile
from bertcore.training.pretraining import Batch, Batches, DataConfig

VOCAB_SIZE = 16_384
SHAPES = ((4, 256), (6, 384))
LARGE_SHAPES = ((8, 512),)
"""Additional shapes on a GPU."""
LENGTH = 128
ROWS = 32
MANY_ROWS = 1024
"""Additional batch size on a GPU, to fill it."""
FLOAT32_AIM, BFLOAT16_AIM = 7.0, 3.5
PEAK_AIM = {"cpu": 0.60, "cuda": 0.30}
"""Fraction of the matrix peak: with 6 layers of 384 on a CPU, from that size up on a GPU."""
SECONDS = 120.0
"""For each shape, without the warm-up."""
WARM_STEPS, MIN_ROUNDS = 2, 4
DENSE_BFLOAT16 = {"H200": 989e12, "H100": 989e12, "A100": 312e12}
"""FLOP/s stated by the manufacturers; MFU is the fraction of it."""


class Speed(NamedTuple):
    """Speed of one contender."""

    name: str
    tokens_per_second: float
    compile_seconds: float | None = None


def run() -> str:
    """Return a table for each device and shape."""
    parts = []
    for device in ("cpu", *(["cuda"] if torch.cuda.is_available() else [])):
        line, peak = find_peak(device)
        parts.append(line)
        parts.extend(
            compare(device, layers, hidden, rows, peak=peak)
            for layers, hidden in SHAPES + (LARGE_SHAPES if device == "cuda" else ())
            for rows in (ROWS, *([MANY_ROWS] if device == "cuda" else []))
        )
    if not torch.cuda.is_available():
        parts.append("No GPU was available, so CUDA was not measured.")
    return "\n\n".join(parts)


def compare(device: str, layers: int, hidden: int, rows: int, *, peak: float) -> str:
    """Measure all contenders at one shape; return their table. `peak` is in FLOP/s."""
    shape = bert_of(vocab_size=VOCAB_SIZE, num_hidden_layers=layers, hidden_size=hidden)
    # Long documents and no short pairs: all rows are full, so both process the same tokens.
    config = DataConfig(max_seq_length=LENGTH, short_seq_prob=0.0, batch_size=rows)
    batches = Batches(
        synthetic_corpus(VOCAB_SIZE, max(400_000, 160 * rows * LENGTH // 10)),
        numbered_tokenizer(VOCAB_SIZE),
        config,
        seed=0,
    )
    check_equal(random_network(shape), batches.batch(0))
    speeds = measure(contenders(device, shape, batches.batch(0)), batches, device)
    flop = flop_per_token(layers, hidden, batches.batch(0))
    by_name = {speed.name: speed for speed in speeds}
    rows_of_table = []
    for speed in speeds:
        achieved = speed.tokens_per_second * flop
        ratios = [
            f"{speed.tokens_per_second / by_name[name].tokens_per_second:.2f}"
            for name in ("transformers, float32", "transformers, bfloat16")
        ]
        compiled = speed.compile_seconds
        rows_of_table.append(
            (
                speed.name,
                f"{speed.tokens_per_second:,.0f}",
                *ratios,
                f"{achieved / 1e9:,.0f}",
                f"{achieved / peak:.1%}",
                "" if compiled is None else f"{compiled:.0f} s",
            )
        )
    batch = batches.batch(0)
    padding = 1 - batch.num_tokens / batch.input_ids.numel()
    title = (
        f"**{device}, {layers} layers of {hidden}, {rows} x {LENGTH} tokens** "
        f"({flop / 1e6:.1f} MFLOP per token; {padding:.1%} padding)"
    )
    columns = (
        "contender",
        "tokens/s",
        "times float32",
        "times bfloat16",
        "GFLOP/s",
        "of the peak",
        "compile time",
    )
    return "\n\n".join(
        [title, tables.markdown(columns, rows_of_table), _verdict(speeds, device, flop, peak)]
    )


def _verdict(speeds: list[Speed], device: str, flop: float, peak: float) -> str:
    by_name = {speed.name: speed.tokens_per_second for speed in speeds}
    best = max(value for name, value in by_name.items() if name.startswith("ours"))
    aims = []
    for name, aim in (("float32", FLOAT32_AIM), ("bfloat16", BFLOAT16_AIM)):
        ratio = best / by_name[f"transformers, {name}"]
        # `verdict` is for values that should be small.
        aims.append(f"{aim:g} times {name}: {tables.verdict(aim, ratio)} ({ratio:.2f})")
    fraction, aim = best * flop / peak, PEAK_AIM[device]
    aims.append(f"{aim:.0%} of the peak: {tables.verdict(aim, fraction)} ({fraction:.1%})")
    return "Aims: " + "; ".join(aims) + "."


class Contender(NamedTuple):
    """A training step to measure."""

    name: str
    step: Callable[[Batch], float]
    compile_seconds: float | None = None


def contenders(device: str, shape: BertConfig, batch: Batch) -> list[Contender]:
    """Return all contenders; ours is also compiled if there is a compiler."""
    entrants = [
        *(
            Contender(
                f"transformers, {dtype}", Theirs(random_network(shape), device, dtype=dtype).step
            )
            for dtype in ("float32", "bfloat16")
        ),
    ]
    can_compile = missing_for_compile(torch.device(device)) is None
    for optimizer in ("adamw", "muon"):
        name = "ours, AdamW" if optimizer == "adamw" else "ours, Muon and AdamW"
        entrants.append(
            Contender(name, Ours(random_network(shape), device, optimizer=optimizer).step)
        )
        if can_compile:
            compiled = Ours(random_network(shape), device, optimizer=optimizer)
            seconds = compiled.train_step.compile([batch])
            # The second reuses the compiled graph of the first, so its compile time is meaningless.
            told = seconds if optimizer == "adamw" else None
            entrants.append(Contender(f"{name}, compiled", compiled.step, told))
    return entrants


def measure(entrants: list[Contender], batches: Batches, device: str) -> list[Speed]:
    """Run steps of all contenders in turn until the time is over; return the medians.

    Each step returns its loss, so the device has finished when the clock is read. Batches are made
    before the clock starts and are the same for all.
    """
    times: dict[str, list[float]] = {contender.name: [] for contender in entrants}
    for contender in entrants:
        for step in range(WARM_STEPS):
            contender.step(batches.batch(step))
    end = time.perf_counter() + SECONDS
    number = 0
    while number < MIN_ROUNDS or time.perf_counter() < end:
        batch = batches.batch(number)
        for contender in entrants[:: 1 if number % 2 else -1]:
            start = time.perf_counter()
            contender.step(batch)
            times[contender.name].append(time.perf_counter() - start)
        number += 1
    tokens = batches.batch(0).num_tokens
    return [
        Speed(
            contender.name,
            tokens / statistics.median(times[contender.name]),
            contender.compile_seconds,
        )
        for contender in entrants
    ]


def flop_per_token(layers: int, hidden: int, batch: Batch) -> float:
    """Return the useful FLOP per token: forward and backward, head at hidden positions only.

    6 (12 L D^2 + p (D V + D^2)) + 12 L D T, where p is the fraction of hidden tokens. Additional
    computation of a contender (logits at other positions) does not count.
    """
    length = batch.input_ids.shape[1]
    fraction = batch.totals.num_masked / batch.totals.num_tokens
    matrices = 12 * layers * hidden**2 + fraction * (hidden * VOCAB_SIZE + hidden**2)
    return 6 * matrices + 12 * layers * hidden * length


def measured_peak(device: str) -> float:
    """Return the FLOP/s of the fastest of 20 bfloat16 products, 4096 x 1024 x 4096 (GPU: 8192)."""
    m, k, n = (4096, 1024, 4096) if device == "cpu" else (8192, 8192, 8192)
    a = torch.randn(m, k, device=device, dtype=torch.bfloat16)
    b = torch.randn(k, n, device=device, dtype=torch.bfloat16)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        product = a @ b
        float(product[0, 0])  # waits for the device
        times.append(time.perf_counter() - start)
    return 2 * m * k * n / min(times)


def find_peak(device: str) -> tuple[str, float]:
    """Return a sentence about the peak that fractions refer to, and its FLOP/s.

    This is the manufacturer's figure for a known GPU, so that the fraction is the MFU, and the
    measured peak otherwise.
    """
    measured = measured_peak(device)
    line = f"{device}: bfloat16 matrix products reach {measured / 1e9:,.0f} GFLOP/s"
    name = torch.cuda.get_device_name() if device == "cuda" else ""
    for key, peak in DENSE_BFLOAT16.items():
        if key in name:
            return (
                f"{line}; fractions are of the manufacturer's {peak / 1e12:.0f} TFLOP/s (MFU).",
                peak,
            )
    return f"{line}, the peak for the fractions below.", measured
