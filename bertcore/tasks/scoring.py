"""Run a model over a data set and score its predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.network.task_module import TaskModule
from bertcore.tasks.features import Features
from bertcore.tasks.judged import Outputs, Scored, logits_of_rows
from bertcore.tasks.rows import IGNORED, ordered_batches
from bertcore.tasks.task import Task
from bertcore.tasks.task_data import TaskData

__all__ = ["SCORE_BATCH", "Scored", "row_logits", "score_model"]

OnFraction = Callable[[float], None]
SCORE_BATCH = 64


def score_model(
    module: TaskModule,
    data: TaskData,
    task: Task,
    *,
    batch_size: int = SCORE_BATCH,
    in_full: bool = True,
    on_fraction: OnFraction = lambda fraction: None,
    features: Features | None = None,
) -> Scored:
    """Return scores and predictions of a model, computed in the format of its weights.

    Args:
        module: The module, on any device; its mode is restored.
        data: The data, with labels numbered as the model's classes.
        task: The task of both.
        batch_size: Number of examples per batch.
        in_full: Whether to bootstrap (slower than the model on small data) and to break the answers
            down by confidence, length and label.
        on_fraction: Called with the fraction done.
        features: The encoder's states of the rows, if computed already.
    """
    was_training = module.training
    module.eval()
    try:
        outputs = _run(module, data, task, batch_size, on_fraction, features)
        return task.score(outputs, data, in_full=in_full)
    finally:
        module.train(was_training)


def row_logits(module: TaskModule, data: TaskData, task: Task) -> NDArray[np.float32]:
    """Return a model's logits of each example, [N, C]; its mode is restored."""
    was_training = module.training
    module.eval()
    try:
        outputs = _run(module, data, task, SCORE_BATCH, lambda fraction: None, None)
        return logits_of_rows(outputs, len(data.rows))[0]
    finally:
        module.train(was_training)


@torch.no_grad()
def _run(
    module: TaskModule,
    data: TaskData,
    task: Task,
    batch_size: int,
    on_fraction: OnFraction,
    features: Features | None,
) -> Iterator[Outputs]:
    rows, device = data.rows, module.device
    done = 0
    for examples in ordered_batches(rows, batch_size):
        batch = rows.batch(examples).to(device)
        if features is None:
            hidden = module.encode(batch.input_ids, batch.segment_ids, batch.attention_mask)
        else:
            hidden = features.batch(examples).to(device)
        logits = module.read(hidden, batch.attention_mask, batch.input_ids.shape[:-1]).float()
        if module.kind == "span":
            lengths = torch.from_numpy(rows.lengths[examples]).to(device)
            places = torch.arange(logits.shape[1], device=device)
            # Padding has no predictions; T differs by row, so the loss must exclude it.
            logits = logits.masked_fill((places >= lengths[:, None])[..., None], -1e9)
        loss = task.loss(logits, batch.targets)
        yield Outputs(
            examples,
            logits.cpu().numpy(),
            batch.targets.cpu().numpy(),
            (batch.targets != IGNORED).cpu().numpy(),
            float(loss),
        )
        done += len(examples)
        on_fraction(done / len(rows))
