"""A trace of BERT base against transformers' eager forward pass with all outputs.

Both use the same random weights and ids, in one process; the runs alternate, and so does which runs
first. Ours also returns queries, keys, values and the separate embeddings. Memory is measured in a
separate process for each: the peak resident memory, minus the memory before the run.
"""

import ctypes
import gc
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks import tables
from bertcore import BertConfig
from bertcore.model.checkpoints.save import hf_state_dict
from bertcore.model.network import Network
from bertcore.model.network.initialize import initialize
from bertcore.model.trace import trace_network

LENGTHS = (128, 512)
LARGEST_RATIO = 1.0
LARGEST_MEMORY = 1.5
"""Relative to the size of the returned trace, in addition to the weights."""
SECONDS = 30.0
MIN_ROUNDS, MAX_ROUNDS = 5, 60

CONFIG = BertConfig(
    vocab_size=30522,
    hidden_size=768,
    num_hidden_layers=12,
    num_attention_heads=12,
    intermediate_size=3072,
)

Inputs = tuple[Tensor, Tensor, Tensor]
Runner = Callable[[Inputs], Any]


def run() -> str:
    """Return the tables of time and memory, on the CPU and, if there is one, on a GPU."""
    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    timed = [time_row(device, length) for device in devices for length in LENGTHS]
    measured = [memory_row(who, length) for length in LENGTHS for who in ("ours", "theirs")]
    parts = [
        tables.markdown(
            (
                "device, tokens",
                "ours, median (range)",
                "transformers, median (range)",
                "rounds",
                "ours / theirs",
                f"aim {LARGEST_RATIO}",
            ),
            timed,
        ),
        tables.markdown(
            (
                "CPU, tokens",
                "weights",
                "returned",
                "peak memory above the weights",
                "peak / returned",
                f"aim {LARGEST_MEMORY}",
            ),
            measured,
        ),
    ]
    if "cuda" not in devices:
        parts.append("No GPU was available, so CUDA was not measured.")
    return "\n\n".join(parts)


# ---- the two ----


def our_network() -> Network:
    """Return BERT base with random weights, the same on each call."""
    return initialize(Network(CONFIG), torch.Generator().manual_seed(0)).eval()


def their_model(network: Network) -> Any:
    """Return transformers' model with the weights of `network`; no heads, eager attention."""
    from transformers import BertConfig as TheirConfig
    from transformers import BertModel

    config = TheirConfig(**network.config.to_hf_dict(), attn_implementation="eager")
    with torch.device("meta"):
        model = BertModel(config, add_pooling_layer=False)
    weights = {
        key.removeprefix("bert."): tensor
        for key, tensor in hf_state_dict(network).items()
        if key.startswith("bert.") and "pooler" not in key
    }
    # Assigned, not copied, so both read the same memory.
    model.load_state_dict(weights, assign=True, strict=True)
    model.embeddings.position_ids = torch.arange(config.max_position_embeddings)[None]
    model.embeddings.token_type_ids = torch.zeros_like(model.embeddings.position_ids)
    return model.eval()


def runners(device: str) -> tuple[Runner, Runner]:
    """Return our trace and their forward pass on a device; all results end up on the CPU."""
    network = our_network()
    model = their_model(network).to(device)
    network = network.to(device)

    def ours(inputs: Inputs) -> Any:
        return trace_network(network, *inputs)

    @torch.inference_mode()
    def theirs(inputs: Inputs) -> Any:
        input_ids, segment_ids, _ = inputs
        out = model(
            input_ids=input_ids[None],
            token_type_ids=segment_ids[None],
            output_attentions=True,
            output_hidden_states=True,
        )
        return [x.cpu() for x in (*out.hidden_states, *out.attentions)]

    return ours, theirs


def random_inputs(num_tokens: int, device: str = "cpu") -> Inputs:
    """Return ids, segments and positions of one random text."""
    generator = torch.Generator().manual_seed(num_tokens)
    ids = torch.randint(0, CONFIG.vocab_size, (num_tokens,), generator=generator)
    inputs = (ids, torch.zeros_like(ids), torch.arange(num_tokens))
    return inputs[0].to(device), inputs[1].to(device), inputs[2].to(device)


# ---- time ----


@torch.no_grad()
def check_equal(ours: Any, theirs: list[Tensor]) -> None:
    """Check that both compute the same; a speed is meaningless if they differ."""
    states = [*ours.hidden_states, *ours.attentions]
    worst = max(float((a - b[0]).abs().max()) for a, b in zip(states, theirs, strict=True))
    if not worst <= 1e-4:
        raise RuntimeError(f"our trace and transformers' differ by {worst:.2g}; expected 1e-4.")


def time_row(device: str, num_tokens: int) -> tuple[str, ...]:
    """Run both in turn until `SECONDS` are over; return a row of the table."""
    ours, theirs = runners(device)
    inputs = random_inputs(num_tokens, device)
    check_equal(ours(inputs), theirs(inputs))
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    named = [("ours", ours), ("theirs", theirs)]
    end = time.perf_counter() + SECONDS
    for round_number in range(MAX_ROUNDS):
        if round_number >= MIN_ROUNDS and time.perf_counter() > end:
            break
        for name, runner in named[:: 1 if round_number % 2 else -1]:
            start = time.perf_counter()
            result = runner(inputs)
            times[name].append(time.perf_counter() - start)
            del result  # before the next one runs
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    ratio = medians["ours"] / medians["theirs"]
    return (
        f"{device}, {num_tokens}",
        tables.spread(times["ours"]),
        tables.spread(times["theirs"]),
        str(len(times["ours"])),
        f"{ratio:.3f}",
        tables.verdict(ratio, LARGEST_RATIO),
    )


# ---- memory ----


def memory_row(who: str, num_tokens: int) -> tuple[str, ...]:
    """Measure one of the two in a separate process; return a row of the table."""
    name = f"{who}, {num_tokens}"
    if not Path("/proc/self/clear_refs").exists() or platform.libc_ver()[0] != "glibc":
        return (name, "", "", "needs Linux with glibc", "", "not measured")
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.trace", who, str(num_tokens)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        raise RuntimeError(f"measuring {name} failed: {answer.stderr.strip()[-500:]}")
    measured = json.loads(answer.stdout)
    ratio = measured["peak"] / measured["returned"]
    sizes = (measured["weights"], measured["returned"], measured["peak"])
    formatted = tuple(tables.megabytes(size) for size in sizes)
    aim = tables.verdict(ratio, LARGEST_MEMORY) if who == "ours" else ""
    return (name, *formatted, f"{ratio:.2f}", aim)


def measure_memory(who: str, num_tokens: int) -> dict[str, int]:
    """Return the bytes of the weights and of the result, and the peak needed for it."""
    with torch.device("meta"):
        weights = sum(p.numel() * p.element_size() for p in Network(CONFIG).parameters())
    runner = dict(zip(("ours", "theirs"), runners("cpu"), strict=True))[who]
    # Warm-up: threads, libraries and their buffers are not part of the trace.
    runner(random_inputs(8))
    gc.collect()
    # Freed memory that was not returned would be reused without being counted.
    ctypes.CDLL(None).malloc_trim(0)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the high-water mark
    result = runner(random_inputs(num_tokens))
    peak = resident("VmHWM") - before
    storages = {x.untyped_storage().data_ptr(): x.untyped_storage() for x in _tensors(result)}
    returned = sum(storage.nbytes() for storage in storages.values())
    return {"weights": weights, "returned": returned, "peak": peak}


def _tensors(result: Any) -> Iterator[Tensor]:
    """Yield the tensors of a list or of our activations."""
    if isinstance(result, list):
        yield from result
        return
    embeddings = result.embeddings
    yield from (embeddings.token, embeddings.segment, embeddings.position, embeddings.sum)
    yield from (result.hidden_states, result.attentions)
    yield from (result.queries, result.keys, result.values)


def resident(field: str) -> int:
    """Return a memory size of this process in bytes: VmRSS is the current one, VmHWM the peak."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.startswith(field))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(measure_memory(sys.argv[1], int(sys.argv[2]))))
