"""The weights of the losses of distillation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bertcore.configs.numbers import check_fields, check_fractions, check_numbers_of

if TYPE_CHECKING:
    from bertcore.model.architecture.config import BertConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class DistillConfig:
    """The losses of a student against its teacher, and their weights.

    ValueError if a weight is below 0, all are 0, or the temperature is not above 0.

    Source: of a corpus, the main command of DistilBERT (Sanh et al. 2019).
    """

    temperature: float = 2.0
    """Divides the logits before the softmax, above 0."""
    soft_weight: float = 5.0
    """Weight of the divergence from the teacher's probabilities (Kullback-Leibler)."""
    hard_weight: float = 2.0
    """Weight of the loss on the labels; on a corpus, these are the masked words."""
    cosine_weight: float = 1.0
    """Weight of the cosine loss on the last hidden states; corpus only, 0 on a task."""
    layer_weight: float = 0.0
    """Weight of TinyBERT's losses on embeddings, attention and hidden states; 0: none."""
    layer_phase: float = 0.0
    """Task only: fraction of the training, at its start, in which nothing but the layers is copied,
    and after which they are not; 0: all losses from the first step to the last."""

    def __post_init__(self) -> None:
        weights = "soft_weight hard_weight cosine_weight layer_weight"
        check_fields(self, weights, lambda weight: 0 <= weight < math.inf, "0 or more")
        check_fields(self, "temperature", lambda divisor: 0 < divisor < math.inf, "above 0")
        if not any(getattr(self, name) for name in weights.split()):
            raise ValueError("all weights of the losses are 0, so nothing would be learned.")
        check_fractions(self, "layer_phase")
        if self.layer_phase and not (
            self.layer_weight and (self.soft_weight or self.hard_weight or self.cosine_weight)
        ):
            raise ValueError(
                f"layer_phase is {self.layer_phase}, but there is nothing to learn in one of the "
                "two phases. Give layer_weight a value, and soft_weight or hard_weight."
            )
        check_numbers_of(self)

    @classmethod
    def for_task(cls, **weights: float) -> DistillConfig:
        """Return the weights of task distillation; those that are given replace its own.

        Source: the script of DistilBERT for a second distillation on SQuAD: half each.
        """
        return cls(**{"soft_weight": 0.5, "hard_weight": 0.5, "cosine_weight": 0.0, **weights})

    def phase_weights(self, fraction: float) -> tuple[float, float]:
        """Return the weights of the layers' losses and of all others after a fraction of a run.

        >>> config = DistillConfig.for_task(layer_weight=2.0, layer_phase=0.75)
        >>> config.phase_weights(0.5), config.phase_weights(0.75)
        ((2.0, 0.0), (0.0, 1.0))
        """
        if not self.layer_phase:
            return self.layer_weight, 1.0
        return (self.layer_weight, 0.0) if fraction < self.layer_phase else (0.0, 1.0)

    def check_shapes(self, student: BertConfig, teacher: BertConfig) -> None:
        """Refuse a student whose states cannot be compared with the teacher's.

        ValueError if the widths differ where directions are compared, or the numbers of heads or
        layers do not go with each other where layers are.
        """
        widths = student.hidden_size, teacher.hidden_size
        if self.cosine_weight and widths[0] != widths[1]:
            raise ValueError(
                f"the student is {widths[0]} wide and the teacher {widths[1]}, so the directions "
                "of their hidden states cannot be compared. Set the cosine weight to 0."
            )
        if not self.layer_weight:
            return
        heads = student.num_attention_heads, teacher.num_attention_heads
        if heads[0] != heads[1]:
            raise ValueError(
                f"the student has {heads[0]} attention heads and the teacher {heads[1]}; the "
                "losses of layers compare head with head. Give the student as many, or set the "
                "layer weight to 0."
            )
        layers = student.num_hidden_layers, teacher.num_hidden_layers
        if layers[1] % layers[0]:
            raise ValueError(
                f"the student has {layers[0]} layers and the teacher {layers[1]}, which is no "
                "multiple; the losses of layers compare layer m with m * N / M. Choose another "
                "number of layers, or set the layer weight to 0."
            )
