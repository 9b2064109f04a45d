"""The soft-target loss over the vocabulary, from the input vectors of two decoders."""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

_BLOCK = 1024
"""Rows whose logits exist at a time: 32 MB each for student and teacher with 16,384 pieces."""
_CHUNK = 32  # rows of them that a CPU processes at a time in float32: 2 MB, which stay in its cache


class Decoder(NamedTuple):
    """Maps vectors to logits: the token table [V, E] and a bias [V]."""

    table: Tensor
    bias: Tensor


def soft_word_loss(
    vectors: Tensor,
    decoder: Decoder,
    teacher_vectors: Tensor,
    teacher_decoder: Decoder,
    *,
    temperature: float,
) -> Tensor:
    """Return the sum over rows of `soft_target_loss` of their logits, a float32 scalar.

    Both networks' logits of all tokens would be the largest tensors by far. So each chunk of rows
    goes from logits to gradients at once, and the logits are not kept: the same work with less
    memory traffic.

    Args:
        vectors: Input of the student's decoder, [N, E]; with gradients.
        decoder: The student's decoder; with gradients.
        teacher_vectors, teacher_decoder: Those of the teacher; without gradients.
        temperature: Divides the logits.

    Under autocast, the products are computed in its format.
    """
    device = vectors.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else torch.float32
    loss: Tensor = _SoftWordLoss.apply(  # type: ignore[no-untyped-call]
        vectors, *decoder, teacher_vectors, *teacher_decoder, temperature, dtype
    )
    return loss


class _SoftWordLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        table: Tensor,
        bias: Tensor,
        teacher_vectors: Tensor,
        teacher_table: Tensor,
        teacher_bias: Tensor,
        temperature: float,
        dtype: torch.dtype,
    ) -> Tensor:
        x, weight = vectors.to(dtype), table.to(dtype)
        y, teacher_weight = teacher_vectors.to(dtype), teacher_table.to(dtype)
        total = torch.zeros((), dtype=torch.float32, device=vectors.device)
        of_vectors = torch.empty_like(x)
        of_table = torch.zeros_like(table, dtype=torch.float32)
        of_bias = torch.zeros_like(bias, dtype=torch.float32)
        with torch.autocast(vectors.device.type, enabled=False):
            for start in range(0, len(vectors), _BLOCK):
                rows = slice(start, start + _BLOCK)
                logits = x[rows] @ weight.T
                wanted = y[rows] @ teacher_weight.T
                # The gradients overwrite the logits.
                total += _to_gradients(logits, bias, wanted, teacher_bias, temperature, of_bias)
                of_vectors[rows] = logits @ weight
                of_table += logits.T @ x[rows]
        ctx.save_for_backward(of_vectors, of_table, of_bias)
        ctx.dtypes = vectors.dtype, table.dtype, bias.dtype
        return total * temperature**2

    @staticmethod
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        gradients = [
            (gradient * scale).to(dtype)
            for gradient, dtype in zip(ctx.saved_tensors, ctx.dtypes, strict=True)
        ]
        return *gradients, None, None, None, None, None


def _to_gradients(
    logits: Tensor,
    bias: Tensor,
    wanted: Tensor,
    teacher_bias: Tensor,
    temperature: float,
    of_bias: Tensor,
) -> Tensor:
    """Turn the student's logits [N, V] into gradients in place; return the sum of KL.

    Args:
        logits: The student's logits without bias, changed in place.
        wanted: The teacher's logits without bias, [N, V].
        bias, teacher_bias: float32, [V].
        temperature: Divides both.
        of_bias: Gradients of the bias are added to it, float32, [V].
    """
    size = _CHUNK if logits.device.type == "cpu" else _BLOCK
    total = torch.zeros((), dtype=torch.float32, device=logits.device)
    for ours, theirs in zip(torch.split(logits, size), torch.split(wanted, size), strict=True):
        # A sum with a float32 bias is float32.
        log_student = F.log_softmax((ours + bias).div_(temperature), -1)
        log_teacher = F.log_softmax((theirs + teacher_bias).div_(temperature), -1)
        teacher = log_teacher.exp()
        total += log_teacher.sub_(log_student).mul_(teacher).sum()
        # d (temperature^2 x KL) / d logits = temperature x (p - the teacher's p)
        gradient = log_student.exp_().sub_(teacher).mul_(temperature)
        of_bias += gradient.sum(0)
        ours.copy_(gradient)
    return total
