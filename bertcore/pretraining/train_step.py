"""One step of training: a batch in parts, forward, backward, clip, update."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.network import Network
from bertcore.pretraining.data.batches import Batch
from bertcore.pretraining.loss.objective import NetworkWithLoss, PretrainingLoss, to_device
from bertcore.training.optimizer import clip_gradients
from bertcore.training.processes import Processes

logger = logging.getLogger(__name__)


class TrainStep:
    """What makes steps: the network with its loss, compiled or not, alone or with others.

    Args:
        network: On the processes' device, in training mode.
        optimizers: Of its parameters.
        processes: That train together.
        dtype: "bfloat16" (autocast) or "float32".
        max_grad_norm: Gradients are scaled down to this norm.
        with_loss: The network with another loss, such as a teacher's; None: pretraining's own. Its
            result has the fields of PretrainingLoss and maybe more.
    """

    def __init__(
        self,
        network: Network,
        optimizers: Sequence[Optimizer],
        processes: Processes,
        *,
        dtype: str,
        max_grad_norm: float,
        with_loss: nn.Module | None = None,
    ) -> None:
        self.network, self.optimizers, self.processes = network, optimizers, processes
        self.dtype, self.max_grad_norm = dtype, max_grad_norm
        self._module: nn.Module = with_loss or NetworkWithLoss(network, dtype=dtype)
        self._trained = cast(Network, with_loss or network)  # parameters are all that is asked
        self._fields: tuple[str, ...] = PretrainingLoss._fields
        self._is_compiled = False
        self._is_joined = False

    def join(self) -> None:
        """Wait for the other processes, and share gradients with them from now on.

        A network that is sharded over them has parts of its weights only, afterwards.
        """
        if not self._is_joined:
            self._module = self.processes.join(self._module, self.network, self.optimizers)
            self._is_joined = True

    def compile(self, samples: Sequence[Batch]) -> float:
        """Compile for batches of the shapes of these; return the seconds that it took.

        Call it before `join`. Weights, gradients and random state are as before.

        Raises:
            RuntimeError: If the compiler fails; steps then go on without it.
        """
        start = time.perf_counter()
        # A batch costs no random numbers unless there is dropout, which must not notice this.
        random_state = torch.get_rng_state()
        plain = self._module
        self._module = NetworkWithLoss(self.network, dtype=self.dtype, is_compiled=True)
        self._module.compile(fullgraph=True, dynamic=False)
        self._is_compiled = True
        try:
            for batch in samples:
                self._forward(batch).loss.backward()  # type: ignore[no-untyped-call]
        except Exception as error:  # of the compiler's many kinds
            self._module, self._is_compiled = plain, False
            reason = str(error).strip().splitlines()
            raise RuntimeError(f"{type(error).__name__}: {reason[0] if reason else ''}") from error
        finally:
            self.network.zero_grad(set_to_none=True)
            torch.set_rng_state(random_state)
        return time.perf_counter() - start

    def __call__(self, parts: Sequence[Batch]) -> dict[str, float]:
        """Train on this process's parts of a batch and return the whole batch's numbers.

        The keys are the fields of the loss and "gradient_norm". If loss or norm is not finite,
        nothing is updated.
        """
        results: list[Tensor] = []
        for number, part in enumerate(parts):
            if number + 1 < len(parts):
                with self.processes.without_sync(self._module):
                    results.append(self._backward(part))
            else:
                results.append(self._backward(part))
        norm = clip_gradients(self._trained, self.max_grad_norm)
        sums = torch.stack(results).sum(0) if len(results) > 1 else results[0]
        # One wait for the device a step, for all numbers.
        found: list[float] = torch.cat([sums, norm.detach().float()[None]]).tolist()
        gradient_norm = found.pop()
        values = dict(zip(self._fields, self.processes.sum(found), strict=True))
        values["gradient_norm"] = gradient_norm
        # Before the update: weights that are saved have never seen such a step.
        if math.isfinite(values["loss"]) and math.isfinite(gradient_norm):
            for optimizer in self.optimizers:
                optimizer.step()
        self._trained.zero_grad(set_to_none=True)
        return values

    def _backward(self, part: Batch) -> Tensor:
        """Add the gradients of a part; return its numbers in one tensor."""
        result = self._forward(part)
        # Shared gradients are means over the processes, but the parts' losses are to be summed.
        (result.loss * self.processes.num).backward()  # type: ignore[no-untyped-call]
        self._fields = result._fields
        return torch.stack([value.detach().float() for value in result])

    def _forward(self, part: Batch) -> PretrainingLoss:
        device = self.processes.device
        tensors = to_device(part, device, keep_mask=self._is_compiled)
        with torch.autocast(device.type, torch.bfloat16, enabled=self.dtype == "bfloat16"):
            result: PretrainingLoss = self._module(tensors)
        return result
