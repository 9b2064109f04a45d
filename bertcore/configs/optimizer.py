"""The settings of the optimisers and of the learning-rate schedule."""

from dataclasses import dataclass
from typing import Any

from bertcore.configs.numbers import check_choice, check_fields, check_fractions, check_numbers_of

OPTIMIZERS = ("muon", "adamw")


MAX_RATE = 1.0
"""A higher learning rate diverges at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OptimizerConfig:
    """How weights are updated; ValueError if a value is out of its range."""

    optimizer: str = "muon"
    """muon: Muon on the encoder's matrices and AdamW on the rest; adamw: AdamW on all."""
    learning_rate: float = 2e-3
    """Peak rate of AdamW."""
    muon_learning_rate: float = 2e-3
    """Peak rate of Muon, scaled to AdamW's step size."""
    adam_beta1: float = 0.9
    """Decay rate of AdamW's mean gradient (beta 1), 0 to below 1."""
    adam_beta2: float = 0.98
    """Decay rate of AdamW's mean squared gradient (beta 2), 0 to below 1."""
    adam_epsilon: float = 1e-6
    """Added to the root of the mean squared gradient, above 0."""
    weight_decay: float = 0.01
    """Decoupled decay; none on biases and LayerNorm, as in BERT."""
    max_grad_norm: float = 1.0
    """Gradients are scaled down to this norm, above 0; infinity leaves them as they are."""
    warmup_ratio: float = 0.02
    """Fraction of the run in which the rate rises from 0 to its peak, 0 to 1."""
    flat_ratio: float = 0.0
    """Fraction of the run that stays at the peak after warm-up; then linear decay to 0. BERT: 0."""

    def __post_init__(self) -> None:
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        rates, limit = "learning_rate muon_learning_rate adam_epsilon", f"at most {MAX_RATE:g}"
        check_fields(self, rates, lambda rate: 0 < rate <= MAX_RATE, f"above 0 and {limit}")
        check_fields(self, "max_grad_norm", lambda norm: norm > 0, "above 0")
        check_fractions(self, "adam_beta1 adam_beta2 weight_decay")
        ratios = self.warmup_ratio, self.flat_ratio
        if not (min(ratios) >= 0 and sum(ratios) <= 1):
            raise ValueError(
                f"warmup_ratio {self.warmup_ratio} and flat_ratio {self.flat_ratio} must be at "
                "least 0 and together at most 1."
            )
        check_numbers_of(self)

    @classmethod
    def distilbert(cls, **fields: Any) -> "OptimizerConfig":
        """Return the settings of distillation on a corpus; fields that are given replace its own.

        Source: the main command of DistilBERT (Sanh et al. 2019): AdamW with a short warm-up.
        """
        recipe: dict[str, Any] = {
            "optimizer": "adamw",
            "learning_rate": 5e-4,
            "adam_beta2": 0.98,
            "weight_decay": 0.0,
            "warmup_ratio": 0.05,
            "max_grad_norm": 5.0,
        }
        return cls(**{**recipe, **fields})

    @property
    def decay_start(self) -> float:
        """Fraction of the run after which the rate falls, 0 to 1."""
        return self.warmup_ratio + self.flat_ratio

    def rate_at(self, progress: float) -> float:
        """Return the fraction of the peak rate at `progress` of the run, both 0 to 1.

        A run's first step has progress 0 and its last a little less than 1.

        >>> config = OptimizerConfig(warmup_ratio=0.1, flat_ratio=0.4)
        >>> [config.rate_at(p) for p in (0.05, 0.1, 0.5, 0.75, 1.0)]
        [0.5, 1.0, 1.0, 0.5, 0.0]
        """
        if progress < self.warmup_ratio:
            return progress / self.warmup_ratio
        if progress <= self.decay_start or self.decay_start >= 1:
            return 1.0
        return max(0.0, (1.0 - progress) / (1.0 - self.decay_start))
