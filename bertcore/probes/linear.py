"""Linear probes: multinomial logistic regression on the vectors of words, and online code length.

The code length is the number of bits to send the labels to a receiver that has the vectors.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

L2S = (1e-1, 1e-2, 1e-3, 1e-4)
"""Weights of the penalty that are tried, strongest first."""
MAX_ITERATIONS = 200
_GRADIENT_TOLERANCE = 1e-5
_LOSS_TOLERANCE = 1e-7
_HISTORY = 10


@dataclass(frozen=True, eq=False)
class LinearProbe:
    """A trained probe of C classes.

    The M hidden states of a word are standardised, mixed by `mix` (M = 1: unchanged), and
    classified by one linear layer with softmax.
    """

    mean: Tensor
    """Of the training words, [M, 1, D]."""
    scale: Tensor
    """Standard deviation of the training words, [M, 1, D]; 1 where a dimension is constant."""
    weight: Tensor
    """[C, D + 1]; the last column is the bias."""
    mix: Tensor
    """Weights of the layers, sum 1, [M]."""
    l2: float
    """Weight of the penalty."""

    def log_probabilities(self, states: NDArray[np.floating]) -> Tensor:
        """Return log-probabilities (natural), float32 [N, C], of words [M, N, D]."""
        features = standardise(states, self.mean, self.scale)
        return F.log_softmax(_logits(features, self.weight, self.mix), -1)

    def predict(self, states: NDArray[np.floating]) -> NDArray[np.int64]:
        """Return the most probable class of each word, [N]."""
        found: NDArray[np.int64] = self.log_probabilities(states).argmax(-1).cpu().numpy()
        return found


def fit(
    states: NDArray[np.floating],
    classes: NDArray[np.int64],
    num_classes: int,
    l2: float,
    *,
    start: LinearProbe | None = None,
    check: Callable[[], None] = lambda: None,
) -> LinearProbe:
    """Fit a probe: minimise the mean cross-entropy + l2 / 2 * (sum of squared weights).

    The bias is the weight of a constant feature and is penalised like the others, so that a class
    without an example has a probability. With one layer the loss is convex; the solver is L-BFGS
    with strong Wolfe line search. The same as scikit-learn's LogisticRegression(C=1 / (N * l2),
    fit_intercept=False) on standardised features and a column of ones, except for classes without
    an example, which scikit-learn does not support.

    Args:
        states: Words at M layers, [M, N, D]; several are mixed by a learned softmax (Peters et al.
            2018), without their scale gamma, which the weights absorb.
        classes: [N], of range(num_classes).
        num_classes: C.
        l2: Penalty, positive.
        start: A probe of the same data to start from.
        check: Called at each step of the solver; may raise to stop.
    """
    number = len(classes)
    if start is None:
        mean, scale = moments(states)
    else:
        mean, scale = start.mean, start.scale
    features = standardise(states, mean, scale)
    target = torch.from_numpy(classes)
    weight = torch.zeros(num_classes, features.shape[-1] + 1)
    mix = torch.zeros(len(features))
    if start is not None:
        weight, mix = start.weight.clone(), start.mix.log()
    weight.requires_grad_()
    mix.requires_grad_(len(features) > 1)
    solver = torch.optim.LBFGS(
        [weight, mix] if len(features) > 1 else [weight],
        max_iter=MAX_ITERATIONS,
        tolerance_grad=_GRADIENT_TOLERANCE,
        tolerance_change=_LOSS_TOLERANCE,
        history_size=_HISTORY,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        check()
        solver.zero_grad()
        logits = _logits(features, weight, torch.softmax(mix, 0))
        loss = F.cross_entropy(logits, target, reduction="sum") / number
        loss = loss + 0.5 * l2 * weight.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    solver.step(closure)  # type: ignore[no-untyped-call]
    return LinearProbe(mean, scale, weight.detach(), torch.softmax(mix.detach(), 0), l2)


def fit_best(
    train: tuple[NDArray[np.floating], NDArray[np.int64]],
    dev: tuple[NDArray[np.floating], NDArray[np.int64]],
    num_classes: int,
    *,
    check: Callable[[], None] = lambda: None,
) -> LinearProbe:
    """Fit probes with the penalties of L2S, and return the one with the lowest loss on dev.

    The penalties decrease; the search ends when the loss on dev rises.

    Args:
        train, dev: States [M, N, D] and classes [N]; a class of dev may have no example in train.
        num_classes: C.
        check: Called at each step; may raise to stop.
    """
    best, lowest, last = None, float("inf"), None
    for l2 in L2S:
        last = fit(*train, num_classes, l2, start=last, check=check)
        loss = cross_entropy(last, *dev)
        if loss >= lowest:
            break
        best, lowest = last, loss
    assert best is not None, "the loss on dev is not a number"
    return best


def cross_entropy(
    probe: LinearProbe, states: NDArray[np.floating], classes: NDArray[np.int64]
) -> float:
    """Return the mean cross-entropy in nats."""
    return float(F.nll_loss(probe.log_probabilities(states), torch.from_numpy(classes)))


def moments(states: NDArray[np.floating]) -> tuple[Tensor, Tensor]:
    """Return mean and deviation over words, each float32 [M, 1, D]; a deviation of 0 becomes 1."""
    means, scales = [], []
    for layer in states:  # one at a time: float32 of all would be twice the memory
        values = torch.from_numpy(np.asarray(layer, dtype=np.float32))
        means.append(values.mean(0, keepdim=True))
        scale = values.std(0, keepdim=True, correction=0)
        scales.append(torch.where(scale > 1e-6, scale, torch.ones_like(scale)))
    return torch.stack(means), torch.stack(scales)


def standardise(states: NDArray[np.floating], mean: Tensor, scale: Tensor) -> Tensor:
    """Return states, [M, N, D], with mean 0 and standard deviation 1 in float32."""
    values = torch.from_numpy(np.asarray(states, dtype=np.float32))
    return (values - mean) / scale


def _logits(features: Tensor, weight: Tensor, mix: Tensor) -> Tensor:
    """Return [N, C] of standardised features [M, N, D]."""
    mixed = features[0] if len(features) == 1 else torch.einsum("m,mnd->nd", mix, features)
    return torch.addmm(weight[:, -1], mixed, weight[:, :-1].T)


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
