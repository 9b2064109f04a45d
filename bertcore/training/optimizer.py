"""AdamW, alone or with Muon, and gradient clipping."""

import itertools
import re

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.configs import OptimizerConfig
from bertcore.network import Network
from bertcore.training.muon import StackedMuon

_IN_LAYER = re.compile(r"(^|\.)(layers|block)\.\d+\.(?!.*relative_attention_bias)")
"""Names of weights in a layer: ours, BART's, and T5's except its table of positions."""


def build_optimizers(
    network: Network, config: OptimizerConfig, companion: nn.Module | None = None
) -> list[Optimizer]:
    """Return the optimisers of a network: one AdamW, and one Muon before it if configured.

    Args:
        network: The network; Muon updates the matrices of its layers.
        config: Kind and learning rates.
        companion: A module trained beside the network by the same rules; shared weights count once.

    Each group keeps its peak rate in `peak_lr`, which `set_rate` scales.

    Source: AdamW, Loshchilov and Hutter 2019; Muon, Jordan et al. 2024, through torch.optim.
    """
    matrices: list[nn.Parameter] = []
    decayed: list[nn.Parameter] = []
    plain: list[nn.Parameter] = []
    seen: set[nn.Parameter] = set()
    parts = (network,) if companion is None else (network, companion)
    for name, parameter in itertools.chain(*(part.named_parameters() for part in parts)):
        if parameter in seen:
            continue
        seen.add(parameter)
        # XLNet's query biases are matrices, with one row per head.
        if parameter.dim() < 2 or name.endswith("_bias"):
            plain.append(parameter)
        elif config.optimizer == "muon" and _IN_LAYER.search(name):
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


def set_rate(optimizers: list[Optimizer], fraction: float) -> None:
    """Set every group's learning rate to `fraction` of its peak."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["peak_lr"] * fraction


def clip_gradients(module: nn.Module, max_norm: float) -> Tensor:
    """Scale all gradients to a joint norm of at most `max_norm`; return the original norm."""
    return nn.utils.clip_grad_norm_(module.parameters(), max_norm, foreach=True)
