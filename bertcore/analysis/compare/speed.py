"""The size of a checkpoint, and its speed on this machine."""

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import nn

from bertcore.architecture.config import BertConfig
from bertcore.model import Model

ROUNDS = 5
"""Timed passes of each, alternating."""
MANY = 32
"""Texts per batch for measuring throughput."""
_LEAST_SECONDS = 0.05
"""Minimum duration of a timed pass: a small network reads a text several times."""


class _Weighted(Protocol):
    """Anything with weights and a shape: an encoder, or an encoder with a task head."""

    def parameters(self) -> Iterable[nn.Parameter]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a checkpoint as opened."""

    name: str
    family: str
    num_parameters: int
    num_bytes: int
    """Memory of its weights."""
    num_layers: int
    num_heads: int
    """Heads per layer."""
    hidden_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSpeed:
    """The speed of an encoder on one text, without tokenising, reading files or a head."""

    num_tokens: int
    """Tokens of the text or pair, including special ones: tokenizers differ."""
    alone: float
    """Texts per second, one at a time: the median of the passes."""
    together: float
    """Texts per second, MANY at a time."""
    alone_range: tuple[float, float]
    """Texts per second of the slowest and the fastest pass, one text at a time."""
    together_range: tuple[float, float]
    """The same, MANY at a time."""


def size_of(name: str, config: BertConfig, weighted: _Weighted) -> Size:
    """Count the weights of a network.

    Args:
        weighted: The network whose parameters are counted, each once, however often it is used.
    """
    parameters = list(weighted.parameters())
    return Size(
        name=name,
        family=config.family.name,
        num_parameters=sum(p.numel() for p in parameters),
        num_bytes=sum(p.numel() * p.element_size() for p in parameters),
        num_layers=config.num_hidden_layers,
        num_heads=config.num_attention_heads,
        hidden_size=config.hidden_size,
    )


def text_speeds(
    models: Sequence[Model],
    texts: Sequence[tuple[str, str | None]],
    *,
    rounds: int = ROUNDS,
    on_stage: Callable[[str, float | None], None] = lambda name, fraction: None,
) -> list[TextSpeed]:
    """Measure how many texts per second each encoder reads, one at a time and MANY at a time.

    The encoders take turns, and the median counts, so other work on the machine affects all alike.
    The slowest and the fastest pass show by how much: encoders with overlapping ranges are not
    distinguished (`are_told_apart`).

    Args:
        models: On one device.
        texts: The text or pair for each: the same, except for the mask token.
        rounds: Timed passes of each.
    """
    encodings = [model.tokenize(*text) for model, text in zip(models, texts, strict=True)]
    rates: list[list[list[float]]] = []
    for number, rows in enumerate((1, MANY)):
        on_stage("one text at a time" if rows == 1 else f"{rows} texts at a time", number / 2)
        passes = [
            _reader(model, encoding.input_ids, encoding.segment_ids, rows)
            for model, encoding in zip(models, encodings, strict=True)
        ]
        seconds = timed_seconds(passes, models[0].device, rounds=rounds)
        rates.append([[rows / one for one in second] for second in seconds])
    return [
        TextSpeed(
            num_tokens=len(encoding.input_ids),
            alone=statistics.median(alone),
            together=statistics.median(together),
            alone_range=(min(alone), max(alone)),
            together_range=(min(together), max(together)),
        )
        for encoding, alone, together in zip(encodings, *rates, strict=True)
    ]


def are_told_apart(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Return whether two ranges, each from low to high, have nothing in common.

    >>> are_told_apart((9.0, 12.0), (11.5, 13.0)), are_told_apart((9.0, 12.0), (13.0, 14.0))
    (False, True)
    """
    return first[1] < second[0] or second[1] < first[0]


def median_seconds(
    passes: Sequence[Callable[[], object]], device: torch.device, *, rounds: int = ROUNDS
) -> list[float]:
    """Return the median of `timed_seconds` for each pass."""
    return [statistics.median(each) for each in timed_seconds(passes, device, rounds=rounds)]


@torch.inference_mode()
def timed_seconds(
    passes: Sequence[Callable[[], object]], device: torch.device, *, rounds: int = ROUNDS
) -> list[list[float]]:
    """Return the seconds of each pass in each round; a short one is repeated for 0.05 s.

    Args:
        passes: Called in turns; one round before the timed ones warms up.
        device: Waited for.
    """
    times = [1] * len(passes)
    seconds: list[list[float]] = [[] for _ in passes]
    for number in range(rounds + 2):  # the first warms up, the second tells how often to repeat
        for place, one in enumerate(passes):
            start = time.perf_counter()
            for _ in range(times[place]):
                one()
            if device.type == "cuda":
                torch.cuda.synchronize()
            taken = (time.perf_counter() - start) / times[place]
            if number == 1:
                times[place] = max(1, round(_LEAST_SECONDS / max(taken, 1e-6)))
            elif number > 1:
                seconds[place].append(taken)
    return seconds


def _reader(
    model: Model, input_ids: Sequence[int], segment_ids: Sequence[int], rows: int
) -> Callable[[], object]:
    ids, segments = (
        torch.tensor([list(values)] * rows, device=model.device)
        for values in (input_ids, segment_ids)
    )
    return lambda: model.module(ids, segments)
