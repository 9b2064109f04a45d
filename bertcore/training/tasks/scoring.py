"""Run a model over a data set and score its predictions."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.model.network.task_module import TaskModule
from bertcore.training.tasks.features import Features
from bertcore.training.tasks.judged import Outputs, Scored, logits_of_rows
from bertcore.training.tasks.rows import ordered_batches
from bertcore.training.tasks.task import Task
from bertcore.training.tasks.task_data import TaskData

__all__ = ["SCORE_BATCH", "Scored", "row_logits", "score_model"]

OnFraction = Callable[[float], None]
SCORE_BATCH = 64


def score_model(
    module: TaskModule,
    data: TaskData,
    task: Task,
    *,
    in_full: bool = True,
    on_fraction: OnFraction = lambda fraction: None,
    features: Features | None = None,
) -> Scored:
    """Return scores and predictions of a model, computed in the format of its weights.

    Args:
        in_full: Whether to bootstrap (slower than the model on small data) and to break the answers
            down by confidence, length and label.
        features: The encoder's states of the rows, if computed already.
    """
    outputs = _run(module, data, task, on_fraction, features)
    return task.score(outputs, data, in_full=in_full)


def row_logits(module: TaskModule, data: TaskData, task: Task) -> NDArray[np.float32]:
    """Return a model's logits of each example, [N, C]; its mode is restored."""
    return np.stack(logits_of_rows(_run(module, data, task), data.rows)[0])


@torch.no_grad()
def _run(
    module: TaskModule,
    data: TaskData,
    task: Task,
    on_fraction: OnFraction = lambda fraction: None,
    features: Features | None = None,
) -> Iterator[Outputs]:
    rows, device, was_training = data.rows, module.device, module.training
    module.eval()
    try:
        done = 0
        for examples in ordered_batches(rows, SCORE_BATCH):
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
            loss = float(task.loss(logits, batch.targets))
            num_targets = task.num_targets(batch.targets)
            yield Outputs(examples, logits.cpu().numpy(), loss, num_targets)
            done += len(examples)
            on_fraction(done / len(rows))
    finally:
        module.train(was_training)
