"""Cross-entropy over the vocabulary from the decoder's input vectors, implemented twice."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

WordLoss = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""(vectors [N, D], table [V, D], bias [V], labels [N], row_weights [N]) -> loss, a scalar: the sum
of row_weights x -ln p(label); and which words were right, bool, [N]."""

_CHUNK = 32  # rows of logits processed at a time: 2 MB with a vocabulary of 16,384


def word_loss(
    vectors: Tensor, table: Tensor, bias: Tensor, labels: Tensor, row_weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the loss with plain operations, which compilers and GPUs run fast."""
    logits = F.linear(vectors, table, bias).float()
    losses = F.cross_entropy(logits, labels, reduction="none")
    with torch.no_grad():
        right = logits.argmax(-1) == labels
    return (losses * row_weights).sum(), right


def word_loss_in_chunks(
    vectors: Tensor, table: Tensor, bias: Tensor, labels: Tensor, row_weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the same loss in bfloat16 products, with softmax and gradient chunk by chunk.

    For CPUs: a chunk stays in the cache from logits to gradients, which overwrite the logits, so
    the float32 logits of all rows never exist.
    """
    loss, right = _ChunkedLoss.apply(  # type: ignore[no-untyped-call]
        vectors, table, bias, labels, row_weights
    )
    return loss, right


class _ChunkedLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, vectors: Tensor, table: Tensor, bias: Tensor, labels: Tensor, row_weights: Tensor
    ) -> tuple[Tensor, Tensor]:
        x, weight = vectors.bfloat16(), table.bfloat16()
        logits = F.linear(x, weight, bias.bfloat16())
        losses = torch.empty_like(row_weights)
        right = torch.empty(len(labels), dtype=torch.bool)
        for start in range(0, len(labels), _CHUNK):
            rows = slice(start, start + _CHUNK)
            wanted, row_weight = labels[rows, None], row_weights[rows, None]
            chunk = logits[rows].float()
            top, best = chunk.max(-1, keepdim=True)
            right[rows] = (best == wanted)[:, 0]
            at_label = chunk.gather(1, wanted)
            chunk.sub_(top).exp_()
            total = chunk.sum(-1, keepdim=True)
            losses[rows] = (total.log() + top - at_label)[:, 0]
            # d loss / d logits = row_weight x (p - 1 at the label)
            chunk.mul_(row_weight / total).scatter_add_(1, wanted, -row_weight)
            logits[rows] = chunk
        ctx.save_for_backward(x, weight, logits)
        ctx.dtypes = vectors.dtype, table.dtype, bias.dtype
        ctx.mark_non_differentiable(right)
        return (losses * row_weights).sum(), right

    @staticmethod
    def backward(ctx: Any, scale: Tensor, _: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        x, weight, gradients = ctx.saved_tensors
        to_vectors, to_table, to_bias = ctx.dtypes
        return (
            ((gradients @ weight) * scale).to(to_vectors),
            (gradients.T @ (x * scale).to(x.dtype)).to(to_table),
            (gradients.sum(0, dtype=torch.float32) * scale).to(to_bias),
            None,
            None,
        )
