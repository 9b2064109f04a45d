"""One step of training: a batch in parts, forward, backward, clip, update; and its metrics."""

import math
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.model.network import Network
from bertcore.training.engine.loop import random_state, set_random_state
from bertcore.training.engine.optimizer import Update
from bertcore.training.engine.processes import Processes
from bertcore.training.pretraining.data.batches import Batch
from bertcore.training.pretraining.objectives.objective import Objective


class TrainStep:
    """Training steps: the network with its loss, compiled or not, in one process or several.

    The network is on the processes' device, in training mode; the objective trains `companion`
    beside it. `with_loss` is the network with another loss, such as a teacher's, whose result has
    the fields of the objective's and possibly more. `dtype` is "bfloat16" (autocast) or "float32";
    gradients are scaled down to the norm `max_grad_norm`.
    """

    def __init__(
        self,
        network: Network,
        optimizers: Sequence[Optimizer],
        processes: Processes,
        *,
        objective: Objective,
        companion: nn.Module | None = None,
        dtype: str,
        max_grad_norm: float,
        with_loss: nn.Module | None = None,
    ) -> None:
        self.network, self.processes, self.dtype = network, processes, dtype
        self._objective, self._companion = objective, companion
        module = with_loss or self._with_loss(is_compiled=False)
        self._update = Update(
            module,
            network if with_loss is None and companion is None else module,
            optimizers,
            processes,
            dtype=dtype,
            max_grad_norm=max_grad_norm,
        )
        self._fields: tuple[str, ...] = ()
        self._is_compiled = False

    def _with_loss(self, *, is_compiled: bool) -> nn.Module:
        return self._objective.module(
            self.network, self._companion, dtype=self.dtype, is_compiled=is_compiled
        )

    def join(self) -> None:
        """Wait for the other processes, and synchronise gradients with them from now on."""
        self._update.join()

    def compile(self, samples: Sequence[Batch]) -> float:
        """Compile for batches of the samples' shapes; return the seconds that it took.

        Call it before `join`. Weights, gradients and random state are unchanged. RuntimeError if
        the compiler fails; steps then continue without it.
        """
        start = time.perf_counter()
        # A batch draws random numbers only for dropout, whose sequence must not change.
        before = random_state()
        plain = self._update.module
        compiled = self._with_loss(is_compiled=True)
        compiled.compile(fullgraph=True, dynamic=False)
        self._update.module = compiled
        self._is_compiled = True
        try:
            for batch in samples:
                self._forward(batch)["loss"].backward()
        except Exception as error:  # the compiler raises many kinds
            self._update.module, self._is_compiled = plain, False
            reason = str(error).strip().splitlines()
            raise RuntimeError(f"{type(error).__name__}: {reason[0] if reason else ''}") from error
        finally:
            plain.zero_grad(set_to_none=True)
            set_random_state(before)
        return time.perf_counter() - start

    def __call__(self, parts: Sequence[Batch]) -> dict[str, float]:
        """Train on this process's parts of a batch and return the whole batch's numbers.

        The keys are the fields of the loss and "gradient_norm". If loss or norm is not finite,
        nothing is updated.
        """
        results: list[Tensor] = []
        for part in parts[:-1]:
            with self._update.without_sync():
                results.append(self._backward(part))
        results.append(self._backward(parts[-1]))
        norm = self._update.clip()
        sums = torch.stack(results).sum(0) if len(results) > 1 else results[0]
        # Wait for the device once per step, for all numbers.
        numbers: list[float] = torch.cat([sums, norm.detach().float()[None]]).tolist()
        gradient_norm = numbers.pop()
        values = dict(zip(self._fields, self.processes.sum(numbers), strict=True))
        values["gradient_norm"] = gradient_norm
        is_finite = math.isfinite(values["loss"]) and math.isfinite(gradient_norm)
        self._update.finish(is_finite=is_finite)
        return values

    def _backward(self, part: Batch) -> Tensor:
        """Add the gradients of a part; return its numbers in one tensor."""
        result = self._forward(part)
        self._update.backward(result["loss"])
        self._fields = tuple(result)
        return torch.stack([value.detach().float() for value in result.values()])

    def _forward(self, part: Batch) -> Any:
        return self._update.forward(part.to(self.processes.device, keep_mask=self._is_compiled))
