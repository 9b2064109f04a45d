"""One update of the weights from the loss of a batch or its parts."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.training.optimizer import clip_gradients
from bertcore.training.processes import Processes


class Update:
    """The update common to pretraining and fine-tuning, in one process or several.

    Args:
        module: Returns a loss; on the processes' device, in training mode.
        trained: The module whose parameters are clipped and updated: the network, and any module
            trained with it.
        dtype: "bfloat16" (autocast) or "float32".
        max_grad_norm: Gradients are scaled down to this norm.
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
        return clip_gradients(self._trained, self._max_grad_norm)

    def finish(self, *, is_finite: bool) -> None:
        """Update the weights, and clear the gradients.

        Args:
            is_finite: Whether loss and gradients are finite. If not, nothing is updated: saved
                weights never include such a step.
        """
        if is_finite:
            for optimizer in self.optimizers:
                optimizer.step()
        self._trained.zero_grad(set_to_none=True)
