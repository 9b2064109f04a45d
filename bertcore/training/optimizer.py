"""The optimisers of pretraining and the learning-rate schedule."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.network import Network
from bertcore.training.muon import StackedMuon
from bertcore.training.sharding import whole

OPTIMIZERS = ("muon", "adamw")


@dataclass(frozen=True, kw_only=True, slots=True)
class OptimizerConfig:
    """How weights are updated.

    Raises:
        ValueError: If a value is out of its range.
    """

    optimizer: str = "muon"
    """"muon": Muon on the encoder's matrices and AdamW on the rest; "adamw": AdamW on all."""
    learning_rate: float = 2e-3
    """Peak rate of AdamW."""
    muon_learning_rate: float = 2e-3
    """Peak rate of Muon, scaled to AdamW's step size (`match_rms_adamw`)."""
    adam_beta1: float = 0.9
    """Memory of AdamW's mean gradient, 0 to below 1."""
    adam_beta2: float = 0.98
    """Memory of AdamW's mean squared gradient, 0 to below 1."""
    adam_epsilon: float = 1e-6
    """Added to the root of the mean squared gradient, above 0."""
    weight_decay: float = 0.01
    """Decoupled decay; none on biases and LayerNorm, as in BERT."""
    max_grad_norm: float = 1.0
    """Gradients are scaled down to this norm."""
    warmup_ratio: float = 0.02
    """Share of the run in which the rate rises from 0 to its peak, 0 to 1."""
    flat_ratio: float = 0.0
    """Share of the run that stays at the peak after warm-up; then linear decay to 0. BERT has 0."""

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(
                f"optimizer is {self.optimizer!r}; expected one of {', '.join(OPTIMIZERS)}."
            )
        for name in ("learning_rate", "muon_learning_rate", "max_grad_norm", "adam_epsilon"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; expected above 0.")
        for name in ("adam_beta1", "adam_beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; expected 0 up to below 1.")
        if not 0 <= self.weight_decay < 1:
            raise ValueError(f"weight_decay is {self.weight_decay}; expected 0 up to below 1.")
        ratios = self.warmup_ratio, self.flat_ratio
        if not (min(ratios) >= 0 and sum(ratios) <= 1):
            raise ValueError(
                f"warmup_ratio {self.warmup_ratio} and flat_ratio {self.flat_ratio} must be at "
                "least 0 and together at most 1."
            )

    def rate_at(self, progress: float) -> float:
        """Return the share of the peak rate at `progress` of the run, both 0 to 1.

        A run's first step has progress 0 and its last a little less than 1.

        >>> config = OptimizerConfig(warmup_ratio=0.1, flat_ratio=0.4)
        >>> [config.rate_at(p) for p in (0.05, 0.1, 0.5, 0.75, 1.0)]
        [0.5, 1.0, 1.0, 0.5, 0.0]
        """
        if progress < self.warmup_ratio:
            return progress / self.warmup_ratio
        flat_end = self.warmup_ratio + self.flat_ratio
        if progress <= flat_end or flat_end >= 1:
            return 1.0
        return max(0.0, (1.0 - progress) / (1.0 - flat_end))


def build_optimizers(network: Network, config: OptimizerConfig) -> list[Optimizer]:
    """Return the optimisers of a network: one AdamW, and one Muon before it if asked for.

    Each group keeps its peak rate in `peak_lr`, which `set_rate` scales.

    Source: AdamW, Loshchilov and Hutter 2019; Muon, Jordan et al. 2024, through torch.optim.
    """
    matrices: list[nn.Parameter] = []
    decayed: list[nn.Parameter] = []
    plain: list[nn.Parameter] = []
    for name, parameter in network.named_parameters():
        if parameter.dim() < 2:
            plain.append(parameter)
        elif config.optimizer == "muon" and name.startswith("layers."):
            matrices.append(parameter)
        else:
            decayed.append(parameter)
    # Fused steps exist on CPU and GPU for float32 weights.
    adamw = torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": config.weight_decay},
            {"params": plain, "weight_decay": 0.0},
        ],
        lr=config.learning_rate,
        betas=(config.adam_beta1, config.adam_beta2),
        eps=config.adam_epsilon,
        fused=True,
    )
    optimizers: list[Optimizer] = [adamw]
    if matrices:
        optimizers.insert(
            0,
            StackedMuon(
                matrices,
                lr=config.muon_learning_rate,
                weight_decay=config.weight_decay,
                adjust_lr_fn="match_rms_adamw",
            ),
        )
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["peak_lr"] = group["lr"]
    return optimizers


def set_rate(optimizers: list[Optimizer], share: float) -> None:
    """Set every group's learning rate to `share` of its peak."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["peak_lr"] * share


def clip_gradients(network: Network, max_norm: float) -> Tensor:
    """Scale all gradients to a joint norm of at most `max_norm`; return the norm before."""
    return whole(nn.utils.clip_grad_norm_(network.parameters(), max_norm, foreach=True))
