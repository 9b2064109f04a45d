"""AdamW, alone or with Muon, the update of the weights from a batch's loss, and their mean."""

import copy
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.base.device import DTYPES
from bertcore.configs import OptimizerConfig
from bertcore.model.network import Network
from bertcore.training.engine.processes import Processes


class StackedMuon(torch.optim.Muon):
    """torch.optim.Muon with the same settings, state and steps, but batched matrix products.

    A small BERT has dozens of matrices of two shapes; one product per matrix leaves a GPU idle and
    takes a fifth more time on a CPU.

    Source: Jordan et al. 2024; torch.optim.Muon. Differs: a matrix that is taller than wide is
        transposed before stacking, rounding in bfloat16 differs from one product per matrix, and a
        processor without bfloat16 products computes in float32.
    """

    def __init__(self, matrices: Iterable[nn.Parameter], *, dtype: str, **settings: Any) -> None:
        super().__init__(matrices, **settings)
        self._dtype = DTYPES[dtype]

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Make one step for all matrices that have a gradient."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape.setdefault(parameter.shape, []).append(parameter)
            for parameters in by_shape.values():
                self._step_stack(parameters, group)

    def _step_stack(self, parameters: list[Tensor], group: dict[str, Any]) -> None:
        """Update matrices of one shape."""
        weights, gradients, momenta = [], [], []
        for parameter in parameters:
            assert parameter.grad is not None  # `step` has chosen those
            state = self.state[parameter]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = torch.zeros_like(parameter.grad)
            weights.append(parameter)
            gradients.append(parameter.grad)
            momenta.append(state["momentum_buffer"])
        momentum = group["momentum"]
        torch._foreach_lerp_(momenta, gradients, 1 - momentum)
        directions = (
            torch._foreach_lerp(gradients, momenta, momentum) if group["nesterov"] else momenta
        )
        updates = orthogonalize(
            torch.stack(list(directions)).to(self._dtype),
            coefficients=group["ns_coefficients"],
            num_steps=group["ns_steps"],
            eps=group["eps"],
        )
        torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
        rate = group["lr"] * _rate_scale(group["adjust_lr_fn"], parameters[0].shape)
        torch._foreach_add_(weights, list(updates.to(weights[0].dtype).unbind()), alpha=-rate)


def orthogonalize(
    matrices: Tensor,
    *,
    coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
    num_steps: int = 5,
    eps: float = 1e-7,
) -> Tensor:
    """Return matrices with the same singular vectors and singular values near 1 (0.5 to 1.5).

    [N, rows, columns], in the format of the products. The coefficients are those of x, x^3 and x^5
    in the Newton-Schulz polynomial, which is applied `num_steps` times; a norm used as a divisor is
    at least `eps`.
    """
    a, b, c = coefficients
    is_tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if is_tall else matrices
    x = (x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=eps)).contiguous()
    for _ in range(num_steps):
        gram = torch.bmm(x, x.mT)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if is_tall else x


def _rate_scale(name: str | None, shape: torch.Size) -> float:
    """Return the factor of the learning rate for matrices of a shape, as in torch.optim.Muon."""
    rows, columns = shape
    if name == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1.0, rows / columns))


_IN_LAYER = re.compile(r"(^|\.)(layers|block)\.\d+\.(?!.*relative_attention_bias)")
"""Names of weights in a layer: ours, BART's, and T5's except its table of positions."""


def build_optimizers(
    network: Network, config: OptimizerConfig, companion: nn.Module | None = None, *, dtype: str
) -> list[Optimizer]:
    """Return the optimisers of a network: one AdamW, and one Muon before it if configured.

    Args:
        companion: A module trained beside the network by the same rules; shared weights count once.
        dtype: "bfloat16" or "float32": the compute format of the run, in which Muon multiplies.

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
                dtype=dtype,
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


class Update:
    """The update common to pretraining and fine-tuning, in one process or several.

    `module` returns a loss; it is on the processes' device, in training mode. The parameters of
    `trained` are clipped, to the norm `max_grad_norm`, and updated: of the network, and any module
    trained with it.
    """

    def __init__(
        self,
        module: nn.Module,
        trained: nn.Module,
        optimizers: Sequence[Optimizer],
        processes: Processes,
        *,
        dtype: str,
        max_grad_norm: float,
    ) -> None:
        self.module = module
        self.optimizers, self.processes = optimizers, processes
        self._trained, self._max_grad_norm = trained, max_grad_norm
        self._is_bfloat16 = dtype == "bfloat16"
        self._is_joined = False

    def join(self) -> None:
        """Wait for the other processes, and synchronise gradients with them from now on."""
        if not self._is_joined:
            self.module = self.processes.join(self.module)
            self._is_joined = True

    def forward(self, *inputs: object) -> Any:
        """Return the module's result for a batch or a part of it."""
        device = self.processes.device.type
        with torch.autocast(device, torch.bfloat16, enabled=self._is_bfloat16):
            return self.module(*inputs)

    def backward(self, loss: Tensor) -> None:
        """Add the gradients of a part of a batch, from its contribution to the batch's loss."""
        # Synchronised gradients are means over the processes, but the parts' losses must be summed.
        (loss * self.processes.num).backward()  # type: ignore[no-untyped-call]

    def without_sync(self) -> AbstractContextManager[None]:
        """Do not synchronise gradients until a later part of the batch."""
        return self.processes.without_sync(self.module)

    def clip(self) -> Tensor:
        """Clip the gradients; return their original norm."""
        return nn.utils.clip_grad_norm_(
            self._trained.parameters(), self._max_grad_norm, foreach=True
        )

    def finish(self, *, is_finite: bool) -> None:
        """Update the weights, and clear the gradients.

        If loss or gradients are not finite, nothing is updated: saved weights never include such a
        step.
        """
        if is_finite:
            for optimizer in self.optimizers:
                optimizer.step()
        self._trained.zero_grad(set_to_none=True)


class WeightAverage:
    """The mean of the weights after each step that was added; the t-th counts in proportion to t.

    A mean over the steps of a decay is less noisy than the last step. Late steps count more, since
    the early ones were taken at a high learning rate, far from the end.

    The network is copied.

    Source: polynomial-decay averaging, Shamir and Zhang 2013, section 4, with eta = 1.
    """

    def __init__(self, network: Network) -> None:
        self.network = copy.deepcopy(network).requires_grad_(False)
        self.count = 0
        """Number of steps in the mean; 0: the weights are those of the start."""

    @torch.no_grad()
    def add(self, network: Network) -> None:
        """Add the weights after a step."""
        self.count += 1
        new_weight = 2 / (self.count + 1)
        for mean, new in zip(self.network.parameters(), network.parameters(), strict=True):
            mean.lerp_(new, new_weight)

    def state(self) -> dict[str, Any]:
        """Return count and weights, for a checkpoint."""
        return {"count": self.count, "weights": self.network.state_dict()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the state in a checkpoint."""
        self.count = state["count"]
        self.network.load_state_dict(state["weights"])
