"""Structural probes: a linear map under which squared distances or norms match those of a tree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

RANK = 64
"""Rows of B; the authors find no gain beyond."""
LEARNING_RATE, BATCH_SIZE, MAX_EPOCHS = 1e-3, 20, 40
SMALLEST_RATE = 1e-6
"""The training ends where the rate falls below."""
_INITIAL_SPREAD = 0.05

Kind = Literal["distance", "depth"]


@dataclass(frozen=True, eq=False)
class Example:
    """A sentence of W words with vectors, and the probe's targets for it."""

    states: NDArray[np.floating]
    """[W, D]."""
    gold: NDArray[np.integer]
    """Distances [W, W] or depths [W] in the tree."""


@dataclass(frozen=True, eq=False)
class StructuralProbe:
    """A trained probe."""

    kind: Kind
    matrix: Tensor
    """B, [K, D]."""

    def predict(self, states: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the squared distances [W, W] or norms [W] of words [W, D] under B."""
        values = torch.from_numpy(np.asarray(states, dtype=np.float32))[None]
        found: NDArray[np.float32] = _predicted(self.kind, values, self.matrix)[0].cpu().numpy()
        return found


def fit_structural(
    kind: Kind,
    train: Sequence[Example],
    dev: Sequence[Example],
    *,
    rank: int = RANK,
    seed: int = 0,
    progress: Callable[[float], None] = lambda fraction: None,
) -> StructuralProbe:
    """Train a probe.

    distance: d(i, j) = |B (h_i - h_j)|^2, and the loss of a sentence of W words is
    sum_ij |tree distance - d(i, j)| / W^2. depth: |B h_i|^2, and sum_i |tree depth - .| / W. The
    loss is the mean over the sentences of a batch.

    Adam at 1e-3, 20 sentences of about the same length per step, at most 40 epochs; after an epoch
    without a new lowest loss on dev it restarts at a tenth of the rate. The B with the lowest loss
    on dev is kept.

    Args:
        kind: The quantity to learn.
        train, dev: Sentences.
        rank: Number of rows of B; at most D are used.
        seed: Seed of the initial B and the order.
        progress: Called with the fraction of the epochs; may raise to stop.

    Source: Hewitt and Manning 2019, sections 2 and 3 and appendix A.
    """
    width = train[0].states.shape[1]
    generator = torch.Generator().manual_seed(seed)
    start = torch.rand(min(rank, width), width, generator=generator)
    matrix = ((2 * start - 1) * _INITIAL_SPREAD).requires_grad_()
    train_batches, dev_batches = _batches(train), _batches(dev)
    rate, lowest, best = LEARNING_RATE, float("inf"), matrix.detach().clone()
    solver = torch.optim.Adam([matrix], lr=rate)
    for epoch in range(MAX_EPOCHS):
        progress(epoch / MAX_EPOCHS)
        for number in torch.randperm(len(train_batches), generator=generator).tolist():
            solver.zero_grad()
            loss(kind, train_batches[number], matrix).mean().backward()  # type: ignore[no-untyped-call]
            solver.step()
        with torch.no_grad():
            found = torch.cat([loss(kind, batch, matrix) for batch in dev_batches]).mean().item()
        if found < lowest:
            lowest, best = found, matrix.detach().clone()
            continue
        rate /= 10
        if rate < SMALLEST_RATE:
            break
        solver = torch.optim.Adam([matrix], lr=rate)
    return StructuralProbe(kind, best)


@dataclass(frozen=True, eq=False)
class Batch:
    """Padded sentences."""

    states: Tensor
    """float32 [S, W, D]."""
    gold: Tensor
    """float32 [S, W, W] or [S, W]."""
    lengths: Tensor
    """[S]."""


def loss(kind: Kind, batch: Batch, matrix: Tensor) -> Tensor:
    """Return the loss of each sentence, [S]; see `fit_structural`."""
    is_word = torch.arange(batch.states.shape[1]) < batch.lengths[:, None]
    counted = is_word
    if kind == "distance":
        counted = is_word[:, :, None] & is_word[:, None, :]
    errors = (_predicted(kind, batch.states, matrix) - batch.gold).abs() * counted
    return errors.flatten(1).sum(1) / counted.flatten(1).sum(1)


def _predicted(kind: Kind, states: Tensor, matrix: Tensor) -> Tensor:
    mapped = states @ matrix.T  # [S, W, K]
    norms = mapped.square().sum(-1)
    if kind == "depth":
        return norms
    products = mapped @ mapped.transpose(1, 2)
    return (norms[:, :, None] + norms[:, None, :] - 2 * products).clamp(min=0)


def _batches(examples: Sequence[Example]) -> list[Batch]:
    """Return padded batches of sentences of about the same length."""
    order = sorted(range(len(examples)), key=lambda number: len(examples[number].states))
    batches = []
    for start in range(0, len(order), BATCH_SIZE):
        part = [examples[number] for number in order[start : start + BATCH_SIZE]]
        lengths = [len(example.states) for example in part]
        longest, width = max(lengths), part[0].states.shape[1]
        states = torch.zeros(len(part), longest, width)
        gold = torch.zeros(len(part), *[longest] * part[0].gold.ndim)
        for row, (example, length) in enumerate(zip(part, lengths, strict=True)):
            states[row, :length] = torch.from_numpy(np.asarray(example.states, dtype=np.float32))
            where: tuple[int | slice, ...] = (row, *[slice(length)] * example.gold.ndim)
            gold[where] = torch.from_numpy(np.asarray(example.gold, dtype=np.float32))
        batches.append(Batch(states, gold, torch.tensor(lengths)))
    return batches
