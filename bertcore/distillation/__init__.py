"""Distillation: a small student learns the predictions of a larger teacher.

The losses, the states that they compare, and the student's initial weights. Used by
`bertcore.pretraining.loss.distillation` on a corpus, `bertcore.finetuning.distillation` on a task.
"""

from bertcore.base.public import imported
from bertcore.configs import DistillConfig
from bertcore.distillation.losses import (
    attention_loss,
    cosine_loss,
    hidden_loss,
    soft_target_loss,
)
from bertcore.distillation.student import check_same_vocabulary, spread_layers, student_of

__all__ = imported(globals())
