"""One step of fine-tuning: forward, loss, backward, clip, update; alone or with other processes."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.model.network.attention import (
    AttentionFunction,
    attention_fused,
    attention_in_products,
)
from bertcore.model.network.task_module import TaskModule
from bertcore.training.engine.optimizer import Update
from bertcore.training.engine.processes import Processes
from bertcore.training.tasks import Task
from bertcore.training.tasks.features import Features
from bertcore.training.tasks.rows import Batch, Rows


class Totals(NamedTuple):
    """Counts of a whole batch, by which the losses of its parts are divided."""

    weight: float
    """Of the labels: `Task.loss_weight`."""
    num: float
    """Examples, or of "tag" tokens with a tag."""
    tokens: float
    """Padding not counted."""
    rows: float
    """Of the network: examples, or of "choice" all of their choices."""


class TaskWithLoss(nn.Module):
    """A task network, shared, and its loss as one module, which is distributed over processes."""

    def __init__(
        self,
        module: TaskModule,
        task: Task,
        *,
        attention: AttentionFunction,
        class_weights: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.module, self.task = module, task
        self.attention, self.class_weights = attention, class_weights

    def forward(self, batch: Batch, hidden: Tensor | None, totals: Totals | None) -> Tensor:
        """Return the loss of a batch, or of a part of the batch that has these totals.

        `hidden` is the result of `TaskModule.encode`, if computed already.
        """
        total = None if totals is None else totals.weight
        logits = self.logits(batch, hidden)
        if batch.weights is None:
            loss = self.task.loss(logits, batch.targets, self.class_weights, total=total)
        else:
            num = float(len(batch.targets)) if totals is None else totals.num
            losses = F.cross_entropy(logits.float(), batch.targets, reduction="none")
            # By examples, not by weights: a batch of rare groups counts as much as they do.
            loss = (losses * batch.weights).sum() / num
        return loss

    def logits(self, batch: Batch, hidden: Tensor | None) -> Tensor:
        if hidden is not None:
            return self.module.read(hidden, batch.attention_mask, batch.input_ids.shape[:-1])
        out: Tensor = self.module(
            batch.input_ids, batch.segment_ids, batch.attention_mask, attention=self.attention
        )
        return out


def training_attention(device: torch.device, dtype: str) -> AttentionFunction:
    """Return the attention function that trains fastest; all compute the same."""
    fast = device.type == "cpu" and dtype == "bfloat16"
    return attention_in_products if fast else attention_fused


class TaskStep:
    """Training steps of a task network, on the processes' device and in training mode.

    Each process takes an equal part of every batch. `dtype` is "bfloat16" (autocast) or "float32";
    gradients are scaled down to the norm `max_grad_norm`.
    """

    def __init__(
        self,
        module: TaskWithLoss,
        rows: Rows,
        optimizers: Sequence[Optimizer],
        processes: Processes,
        *,
        dtype: str,
        max_grad_norm: float,
    ) -> None:
        self.with_loss, self.rows, self.processes = module, rows, processes
        self.features: Features | None = None
        """The encoder's states of the rows, where it is not trained."""
        self._update = Update(
            module, module, optimizers, processes, dtype=dtype, max_grad_norm=max_grad_norm
        )

    def join(self) -> None:
        """Wait for the other processes, and synchronise gradients with them from now on."""
        self._update.join()

    def __call__(self, examples: NDArray[np.int64]) -> Tensor | None:
        """Train on a batch and return its loss; None if the loss or a gradient is not finite.

        In that case nothing is updated.
        """
        loss = self._backward(examples)
        norm = self._update.clip()
        is_finite = bool(torch.isfinite(norm) & torch.isfinite(loss))
        if self.processes.num > 1:  # each has a part of the loss; all need the same value
            value = self.processes.sum([float(loss)])[0]
            loss, is_finite = loss.new_tensor(value), math.isfinite(value + float(norm))
        self._update.finish(is_finite=is_finite)
        return loss if is_finite else None

    def _backward(self, examples: NDArray[np.int64]) -> Tensor:
        """Add the gradients of this process's part; return its contribution to the loss."""
        num, factor = self.processes.num, 1.0
        totals: Totals | None = None
        local = examples
        if num > 1:
            totals = self._totals(examples)
            local = examples[self.processes.rank :: num]  # parts of like length
            if not len(local):  # a last batch with fewer examples than processes
                local, factor = examples[:1], 0.0
        device = self.processes.device
        batch = self.rows.batch(local).to(device)
        hidden = None if self.features is None else self.features.batch(local).to(device)
        loss: Tensor = self._update.forward(batch, hidden, totals) * factor
        self._update.backward(loss)
        return loss.detach()

    def _totals(self, examples: NDArray[np.int64]) -> Totals:
        rows, task = self.rows, self.with_loss.task
        targets = rows.targets_of(examples)
        chosen = rows.rows_of(examples)
        return Totals(
            weight=task.loss_weight(targets, self.with_loss.class_weights),
            num=task.loss_weight(targets),
            tokens=float((rows.starts[chosen + 1] - rows.starts[chosen]).sum()),
            rows=float(len(chosen)),
        )
