"""The pretraining loss: masked words, and next sentences if rows are pairs.

The cross-entropy over the vocabulary is implemented twice, with the same numbers.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.model.network import Network
from bertcore.model.network.attention import (
    AttentionFunction,
    attention_fused,
    attention_in_products,
)

Inputs = Mapping[str, Tensor]
"""The tensors of a batch, or of a part of it, from `Batch.to`."""
Losses = dict[str, Tensor]
"""Losses in nats and counts, scalars on the device, "loss" with gradients. For a part of a batch
its contribution to each, so that the parts sum to the numbers of the batch."""
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


def pretraining_loss(
    network: Network,
    batch: Inputs,
    *,
    attention: AttentionFunction = attention_fused,
    word_loss: WordLoss = word_loss,
) -> Losses:
    """Return the loss of a batch; the masked-word head runs on hidden positions only.

    Returns:
        "loss", the sum of "mlm_loss", the mean over hidden tokens, and "nsp_loss", the mean over
        pairs, of next sentences or of sentence order; "mlm_correct", the number of hidden tokens
        whose most probable word is the right one, of "num_masked"; "nsp_correct". Those of pairs
        are 0 if the rows are not pairs.

    Source: Devlin et al. 2019, appendix A.2; google-research/bert run_pretraining.py; without
        pairs: Liu et al. 2019, section 4.2. Differs: no 1e-5 in the denominator, which is 1 if no
        token could be hidden.
    """
    hidden = network(
        batch["input_ids"],
        batch["segment_ids"],
        batch["allowed"] if "allowed" in batch else batch.get("attention_mask"),
        attention=attention,
    )  # [B, T, D]
    return reported(loss_of_hidden(network, hidden, batch, word_loss=word_loss))


def reported(losses: Losses) -> Losses:
    """Return the losses with gradients of "loss" alone."""
    return {name: x if name == "loss" else x.detach() for name, x in losses.items()}


def loss_of_hidden(
    network: Network, hidden: Tensor, batch: Inputs, *, word_loss: WordLoss = word_loss
) -> Losses:
    """Return the losses, all with gradients, from the last hidden states [B, T, D]."""
    head = network.masked_word_head()
    mlm_loss, correct = loss_at_places(
        head.transform(states_at(hidden, batch["positions"])),
        network.decoder_table,
        head.word_bias,
        batch,
        word_loss,
    )
    nsp_loss, pairs_right = mlm_loss.new_zeros(()), mlm_loss.new_zeros(())
    loss = mlm_loss  # a compiler that adds 0 to it loses its gradient
    labels = batch.get("next_sentence_labels")
    if labels is not None:
        has_order = network.sop is not None and network.nsp is None
        logits_of = network.sop_logits if has_order else network.nsp_logits
        pair_logits = logits_of(hidden).float()
        pair_losses = F.cross_entropy(pair_logits, labels, reduction="none")
        nsp_loss = pair_losses.sum() / batch["total_pairs"]
        with torch.no_grad():
            pairs_right = (pair_logits.argmax(-1) == labels).sum()
        loss = mlm_loss + nsp_loss
    return {
        "loss": loss,
        "mlm_loss": mlm_loss,
        "nsp_loss": nsp_loss,
        "mlm_correct": correct,
        "num_masked": batch["weights"].sum(),
        "nsp_correct": pairs_right,
    }


def states_at(hidden: Tensor, places: Tensor) -> Tensor:
    """Return the states at some places of each row, [B * P, D], of [B, T, D] and [B, P]."""
    states: Tensor = hidden.gather(1, places[..., None].expand(-1, -1, hidden.shape[-1]))
    return states.flatten(0, 1)


def loss_at_places(
    vectors: Tensor, table: Tensor, bias: Tensor, batch: Inputs, word_loss: WordLoss
) -> tuple[Tensor, Tensor]:
    """Return the mean loss of the predicted tokens of the whole batch, and how many were right.

    `vectors` are the decoder's input, [B * P, E]; of the batch "labels" and "weights" are used.
    """
    weights = batch["weights"].flatten()
    labels = batch["labels"].flatten()
    loss, right = word_loss(vectors, table, bias, labels, weights / batch["total_masked"])
    return loss, (right * weights).sum()


def fastest(
    network: Network, dtype: str, *, is_compiled: bool
) -> tuple[AttentionFunction, WordLoss]:
    """Return the fastest attention and word loss; all versions compute the same.

    For a network on its device, computing in `dtype` ("bfloat16" or "float32").
    """
    fast = dtype == "bfloat16" and network.token_table.device.type == "cpu"
    return (
        attention_in_products if fast else attention_fused,
        word_loss_in_chunks if fast and not is_compiled else word_loss,
    )


class NetworkWithLoss(nn.Module):
    """A network and its loss as one module, which is compiled and spread over processes.

    Objectives with other losses than BERT's override `forward`. Network and companion, which the
    objective trains beside it, are shared; `dtype` is "bfloat16" or "float32".
    """

    def __init__(
        self,
        network: Network,
        companion: nn.Module | None = None,
        *,
        dtype: str = "float32",
        is_compiled: bool = False,
    ) -> None:
        super().__init__()
        self.network, self.companion = network, companion
        self.attention, self.word_loss = fastest(network, dtype, is_compiled=is_compiled)

    def forward(self, batch: Inputs) -> Losses:
        return pretraining_loss(
            self.network, batch, attention=self.attention, word_loss=self.word_loss
        )
