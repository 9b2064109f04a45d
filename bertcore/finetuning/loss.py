"""The losses of fine-tuning, each equal to that of the class in `transformers`."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from bertcore.finetuning.rows import IGNORED


def task_loss(
    logits: Tensor, targets: Tensor, kind: str, class_weights: Tensor | None = None
) -> Tensor:
    """Return the loss of a batch in nats, or squared units of a regression; a float32 scalar.

    Args:
        logits: Of `TaskNetwork`.
        targets: As in `Batch`; float32 for a regression.
        kind: Kind of head.
        class_weights: One for each class, float32; None weighs all alike. The mean is then over
            the weights.

    Source: BertForSequenceClassification, -TokenClassification, -QuestionAnswering and
        -MultipleChoice of transformers. Differs: class weights, as in torch's cross_entropy.
    """
    logits = logits.float()
    if kind == "span":
        # A start or end beyond the row does not occur: windows point at [CLS] instead.
        start, end = logits.unbind(-1)
        return (F.cross_entropy(start, targets[:, 0]) + F.cross_entropy(end, targets[:, 1])) / 2
    if targets.is_floating_point():
        return F.mse_loss(logits.squeeze(-1), targets)
    if kind in ("token", "features"):
        logits, targets = logits.flatten(0, 1), targets.flatten()
    return F.cross_entropy(logits, targets, weight=class_weights, ignore_index=IGNORED)
