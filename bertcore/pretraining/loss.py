"""The pretraining loss: masked words, and next sentences if rows are pairs.

The cross-entropy over the vocabulary is implemented twice, with the same numbers.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.network import Network
from bertcore.network.attention import (
    AttentionFunction,
    attention_fused,
    attention_in_products,
)
from bertcore.pretraining.data.batches import Batch

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


class PretrainingLoss(NamedTuple):
    """Losses in nats and counts of a batch, scalars on the device.

    For a part of a batch: its contribution to each, so that the parts sum to the batch's losses.
    """

    loss: Tensor
    """mlm_loss + nsp_loss"""
    mlm_loss: Tensor
    """Mean over hidden tokens."""
    nsp_loss: Tensor
    """Mean over pairs, of next sentences or of sentence order; 0, as is nsp_correct, if rows are
    not pairs."""
    mlm_correct: Tensor
    """Number of hidden tokens whose most probable word is the right one."""
    num_masked: Tensor
    nsp_correct: Tensor


class BatchTensors(NamedTuple):
    """A batch as tensors for the network, on its device."""

    input_ids: Tensor
    segment_ids: Tensor
    attention_mask: Tensor | None
    """True at tokens, [B, T]; None if every row is full."""
    positions: Tensor
    labels: Tensor
    weights: Tensor
    """Hidden positions, their words, 1 or 0 for padding, [B, P]."""
    next_sentence_labels: Tensor | None
    """None if the rows are not pairs."""
    total_masked: Tensor
    """Number of hidden tokens in the whole batch, of which this may be a part, at least 1; float32
    scalar."""
    total_pairs: Tensor
    """Number of pairs in the whole batch; float32 scalar."""
    total_tokens: Tensor
    """Number of tokens in the whole batch, without padding; float32 scalar."""


def to_device(batch: Batch, device: torch.device, *, keep_mask: bool = False) -> BatchTensors:
    """Return the tensors of a batch on a device.

    Args:
        batch: A batch or a part of one.
        keep_mask: Return a mask even without padding, so that a compiled network sees equal shapes.
            Without a mask, attention takes its fastest path.
    """
    masked = batch.masked
    full = not keep_mask and bool(batch.attention_mask.all())
    labels = batch.next_sentence_labels
    return BatchTensors(
        input_ids=masked.input_ids.to(device),
        segment_ids=batch.segment_ids.to(device),
        attention_mask=None if full else batch.attention_mask.to(device),
        positions=masked.positions.to(device),
        labels=masked.labels.to(device),
        weights=masked.weights.to(device),
        next_sentence_labels=None if labels is None else labels.to(device),
        total_masked=torch.tensor(batch.totals.divisor, device=device),
        total_pairs=torch.tensor(float(batch.totals.num_pairs), device=device),
        total_tokens=torch.tensor(float(batch.totals.num_tokens), device=device),
    )


def pretraining_loss(
    network: Network,
    batch: BatchTensors,
    *,
    attention: AttentionFunction = attention_fused,
    word_loss: WordLoss = word_loss,
) -> PretrainingLoss:
    """Return the loss of a batch; the masked-word head runs on hidden positions only.

    Args:
        network: A network with a masked-word head and, for pairs, a next-sentence head.
        batch: A batch on the network's device.
        attention: How to attend.
        word_loss: Computes the masked words' loss from vectors.

    Source: Devlin et al. 2019, appendix A.2; google-research/bert run_pretraining.py; without
        pairs: Liu et al. 2019, section 4.2. Differs: no 1e-5 in the denominator, which is 1 if no
        token could be hidden.
    """
    hidden = network(
        batch.input_ids, batch.segment_ids, batch.attention_mask, attention=attention
    )  # [B, T, D]
    return loss_of_hidden(network, hidden, batch, word_loss=word_loss).numbers


class HiddenLoss(NamedTuple):
    """The losses of a batch from the last hidden states."""

    numbers: PretrainingLoss
    words: Tensor
    """The masked-word loss, with gradients."""
    pairs: Tensor
    """The next-sentence loss, with gradients; 0 if rows are not pairs."""


def loss_of_hidden(
    network: Network, hidden: Tensor, batch: BatchTensors, *, word_loss: WordLoss = word_loss
) -> HiddenLoss:
    """Return the loss from the last hidden states [B, T, D]; arguments as `pretraining_loss`."""
    places = batch.positions[..., None].expand(-1, -1, hidden.shape[-1])
    at_masks = hidden.gather(1, places)  # [B, P, D]
    head = network.masked_word_head()
    weights = batch.weights.flatten()
    mlm_loss, words_right = word_loss(
        head.transform(at_masks.flatten(0, 1)),  # [B * P, D]
        network.decoder_table,
        head.word_bias,
        batch.labels.flatten(),
        weights / batch.total_masked,
    )
    if batch.next_sentence_labels is None:
        nsp_loss, pairs_right = mlm_loss.new_zeros(()), mlm_loss.new_zeros(())
        loss = mlm_loss  # a compiler that adds 0 to it loses its gradient
    else:
        has_order = network.sop is not None and network.nsp is None
        logits_of = network.sop_logits if has_order else network.nsp_logits
        pair_logits = logits_of(hidden).float()
        pair_losses = F.cross_entropy(pair_logits, batch.next_sentence_labels, reduction="none")
        nsp_loss = pair_losses.sum() / batch.total_pairs
        with torch.no_grad():
            pairs_right = (pair_logits.argmax(-1) == batch.next_sentence_labels).sum()
        loss = mlm_loss + nsp_loss
    numbers = PretrainingLoss(
        loss=loss,
        mlm_loss=mlm_loss.detach(),
        nsp_loss=nsp_loss.detach(),
        mlm_correct=(words_right * weights).sum(),
        num_masked=weights.sum(),
        nsp_correct=pairs_right,
    )
    return HiddenLoss(numbers, mlm_loss, nsp_loss)


def batch_loss(network: Network, batch: Batch, device: torch.device) -> PretrainingLoss:
    """Return the loss of a Batch, moved to `device`."""
    return pretraining_loss(network, to_device(batch, device))


def fastest(
    network: Network, dtype: str, *, is_compiled: bool
) -> tuple[AttentionFunction, WordLoss]:
    """Return the fastest attention and word loss; all versions compute the same.

    Args:
        network: A network on its device.
        dtype: "bfloat16" or "float32": its compute format.
        is_compiled: Whether it will be compiled.
    """
    fast = dtype == "bfloat16" and network.token_table.device.type == "cpu"
    return (
        attention_in_products if fast else attention_fused,
        word_loss_in_chunks if fast and not is_compiled else word_loss,
    )


class NetworkWithLoss(nn.Module):
    """A network and its loss as one module, which is compiled and spread over processes.

    Args:
        network: The network; shared, not copied.
        dtype: "bfloat16" or "float32": its compute format.
        is_compiled: Whether it will be compiled.
    """

    def __init__(self, network: Network, *, dtype: str, is_compiled: bool = False) -> None:
        super().__init__()
        self.network = network
        self.attention, self.word_loss = fastest(network, dtype, is_compiled=is_compiled)

    def forward(self, batch: BatchTensors) -> PretrainingLoss:
        return pretraining_loss(
            self.network, batch, attention=self.attention, word_loss=self.word_loss
        )
