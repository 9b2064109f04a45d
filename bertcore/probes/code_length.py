"""Online code length: the number of bits to send the labels to a receiver that has the vectors."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.probes.linear import cross_entropy, fit_best

PERCENTAGES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25.0, 50.0, 100.0)
"""Ends of the blocks, in percent of the data."""


@dataclass(frozen=True, slots=True)
class CodeLength:
    """The online code of N labels of C classes."""

    bits: float
    uniform_bits: float
    """Of a code that gives every class the same: N log2 C."""
    ends: tuple[int, ...]
    """Where the blocks end, in words."""
    block_bits: tuple[float, ...]
    """Of each block; the first by the uniform code."""

    @property
    def compression(self) -> float:
        """Uniform code / online code; 1 for uninformative vectors, larger is better."""
        return self.uniform_bits / self.bits


def code_length(
    train: tuple[NDArray[np.floating], NDArray[np.int64]],
    dev: tuple[NDArray[np.floating], NDArray[np.int64]],
    num_classes: int,
    *,
    check: Callable[[], None] = lambda: None,
) -> CodeLength:
    """Return the online code length of the training labels.

    The labels are sent in blocks. The first is sent with the uniform code, t_1 log2 C bits; each
    later one with the probabilities of a probe trained on the previous blocks, - sum log2 p. The
    penalty of each probe is chosen on dev.

    Args:
        train: States [M, N, D] and classes [N], in random order of the sentences.
        dev: The same, for choosing the penalty; not sent.
        num_classes: C.
        check: Called at each step of a solver; may raise to stop.

    Source: Voita and Titov 2020, section 2.2.2, with the blocks of their experiments. They stop
        the training of each probe on dev; here its penalty is chosen there.
    """
    states, classes = train
    ends = block_ends(len(classes))
    block_bits = [ends[0] * math.log2(num_classes)]
    for known, end in itertools.pairwise(ends):
        probe = fit_best((states[:, :known], classes[:known]), dev, num_classes, check=check)
        nats = cross_entropy(probe, states[:, known:end], classes[known:end])
        block_bits.append((end - known) * nats / math.log(2))
    return CodeLength(
        math.fsum(block_bits), len(classes) * math.log2(num_classes), ends, tuple(block_bits)
    )


def block_ends(number: int) -> tuple[int, ...]:
    """Return the ends of the blocks of a number of words: rounded PERCENTAGES, without repeats.

    >>> block_ends(1000)
    (1, 2, 4, 8, 16, 32, 63, 125, 250, 500, 1000)
    """
    ends = (math.floor(number * percent / 100 + 0.5) for percent in PERCENTAGES)
    return tuple(sorted({end for end in ends if end > 0}))
