"""The losses of fine-tuning, each equal to that of the class in `transformers`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.finetuning.data.rows import IGNORED


class Totals(NamedTuple):
    """Counts of a whole batch, by which the losses of its parts are divided."""

    weight: float
    """Of the labels: `loss_weight`."""
    num: float
    """Examples, or of "tag" tokens with a tag."""
    tokens: float
    """Padding not counted."""


def task_loss(
    logits: Tensor,
    targets: Tensor,
    kind: str,
    class_weights: Tensor | None = None,
    *,
    total: float | None = None,
) -> Tensor:
    """Return the loss of a batch in nats, or squared units of a regression; a float32 scalar.

    Args:
        logits: Of `TaskNetwork`.
        targets: As in `Batch`; float32 for a regression.
        kind: Kind of head.
        class_weights: One for each class, float32; None weighs all alike. The mean is then over
            the weights.
        total: Of a part of a batch: `loss_weight` of all of it, so that the parts' losses sum to
            the batch's.

    Source: BertForSequenceClassification, -TokenClassification, -QuestionAnswering and
        -MultipleChoice of transformers. Differs: class weights, as in torch's cross_entropy.
    """
    logits = logits.float()
    how = "mean" if total is None else "sum"
    if kind == "span":
        # A start or end beyond the row does not occur: windows point at [CLS] instead.
        start, end = logits.unbind(-1)
        ends = F.cross_entropy(start, targets[:, 0], reduction=how)
        loss = (ends + F.cross_entropy(end, targets[:, 1], reduction=how)) / 2
    elif targets.is_floating_point():
        loss = F.mse_loss(logits.squeeze(-1), targets, reduction=how)
    else:
        if kind in ("token", "features"):
            logits, targets = logits.flatten(0, 1), targets.flatten()
        loss = F.cross_entropy(
            logits, targets, weight=class_weights, ignore_index=IGNORED, reduction=how
        )
    return loss if total is None else loss / total


def loss_weight(targets: NDArray[np.generic], class_weights: Tensor | None = None) -> float:
    """Return what the summed loss of a batch is divided by: its examples, tokens or weights.

    Args:
        targets: Of the whole batch, from `Rows.targets_of`.
        class_weights: As for `task_loss`.
    """
    if targets.dtype.kind == "f" or targets.ndim == 2:
        return float(len(targets))
    classes = targets[targets != IGNORED].astype(np.int64)
    if class_weights is None:
        return float(len(classes))
    return float(class_weights.cpu().numpy()[classes].sum())
