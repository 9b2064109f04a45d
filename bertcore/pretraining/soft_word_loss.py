"""The soft-target loss over the vocabulary, from the vectors that two decoders read."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

_CHUNK = 256
"""Rows whose logits exist at a time: 16 MB each for student and teacher with 16,384 pieces."""


class Decoder(NamedTuple):
    """What makes logits of vectors: the token table [V, E] and a bias [V]."""

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

    Both networks' logits of all tokens would be the largest tensors by far. So a chunk of rows goes
    from logits to gradients at once, and neither is kept: as much work as keeping them, and less
    memory to go through.

    Args:
        vectors: What the student's decoder reads, [N, E]; with gradients.
        decoder: The student's; with gradients.
        teacher_vectors, teacher_decoder: The teacher's; without.
        temperature: Divides the logits.

    Under autocast the products are computed in its format.
    """
    device = vectors.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else torch.float32
    found: Tensor = _SoftWordLoss.apply(  # type: ignore[no-untyped-call]
        vectors, *decoder, teacher_vectors, *teacher_decoder, temperature, dtype
    )
    return found


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
        ours = [x.to(dtype) for x in (vectors, table, bias)]
        theirs = [x.to(dtype) for x in (teacher_vectors, teacher_table, teacher_bias)]
        total = torch.zeros((), dtype=torch.float32, device=vectors.device)
        of_vectors = torch.empty_like(ours[0])
        of_table = torch.zeros_like(table, dtype=torch.float32)
        of_bias = torch.zeros_like(bias, dtype=torch.float32)
        with torch.autocast(vectors.device.type, enabled=False):
            for start in range(0, len(vectors), _CHUNK):
                rows = slice(start, start + _CHUNK)
                x = ours[0][rows]
                log_student = F.log_softmax(F.linear(x, *ours[1:]).float() / temperature, -1)
                wanted = F.linear(theirs[0][rows], *theirs[1:]).float() / temperature
                log_teacher = F.log_softmax(wanted, -1)
                teacher = log_teacher.exp()
                total += log_teacher.sub_(log_student).mul_(teacher).sum()
                # d (temperature^2 x KL) / d logits = temperature x (p - the teacher's p)
                gradient = log_student.exp_().sub_(teacher).mul_(temperature)
                of_bias += gradient.sum(0)
                small = gradient.to(dtype)
                of_vectors[rows] = small @ ours[1]
                of_table += small.T @ x
        ctx.save_for_backward(of_vectors, of_table, of_bias)
        ctx.dtypes = vectors.dtype, table.dtype, bias.dtype
        return total * temperature**2

    @staticmethod
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        found = [
            (gradient * scale).to(dtype)
            for gradient, dtype in zip(ctx.saved_tensors, ctx.dtypes, strict=True)
        ]
        return *found, None, None, None, None, None
