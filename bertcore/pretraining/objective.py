"""BERT's pretraining loss: masked words plus next sentence."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from bertcore.network import Network
from bertcore.pretraining.batches import Batch


class PretrainingLoss(NamedTuple):
    """Losses in nats and counts of a batch, scalars on the device."""

    loss: Tensor
    """mlm_loss + nsp_loss"""
    mlm_loss: Tensor
    """Mean over hidden tokens."""
    nsp_loss: Tensor
    """Mean over rows."""
    mlm_correct: Tensor
    """Hidden tokens whose most probable word is the right one."""
    num_masked: Tensor
    nsp_correct: Tensor


def pretraining_loss(
    network: Network,
    input_ids: Tensor,
    segment_ids: Tensor,
    attention_mask: Tensor | None,
    positions: Tensor,
    labels: Tensor,
    weights: Tensor,
    next_sentence_labels: Tensor,
) -> PretrainingLoss:
    """Return the loss of a batch; the masked-word head runs on hidden positions only.

    Args:
        network: With masked-word and next-sentence heads.
        input_ids, segment_ids, attention_mask: [B, T].
        positions, labels, weights: Hidden positions, their words, 1 or 0 for padding, [B, P].
        next_sentence_labels: 0 or 1, [B].

    Source: Devlin et al. 2019, appendix A.2; google-research/bert run_pretraining.py. Differs: no
        1e-5 in the denominator, since every batch hides a token.
    """
    hidden = network(input_ids, segment_ids, attention_mask)  # [B, T, D]
    at_masks = hidden.gather(1, positions[..., None].expand(-1, -1, hidden.shape[-1]))  # [B, P, D]
    # [B, P, D] -> [B * P, V]
    word_logits = network.mlm_logits(at_masks.flatten(0, 1)).float()
    flat_labels, flat_weights = labels.flatten(), weights.flatten()
    num = flat_weights.sum()
    word_losses = F.cross_entropy(word_logits, flat_labels, reduction="none")
    mlm_loss = (word_losses * flat_weights).sum() / num
    pair_logits = network.nsp_logits(hidden).float()
    nsp_loss = F.cross_entropy(pair_logits, next_sentence_labels)
    with torch.no_grad():
        right = (word_logits.argmax(-1) == flat_labels) * flat_weights
        pairs_right = (pair_logits.argmax(-1) == next_sentence_labels).sum()
    return PretrainingLoss(
        loss=mlm_loss + nsp_loss,
        mlm_loss=mlm_loss.detach(),
        nsp_loss=nsp_loss.detach(),
        mlm_correct=right.sum(),
        num_masked=num,
        nsp_correct=pairs_right,
    )


def batch_loss(network: Network, batch: Batch, device: torch.device) -> PretrainingLoss:
    """Return the loss of a Batch, moved to `device`."""
    masked = batch.masked
    # Without padding there is nothing to mask, and attention takes its fastest path.
    attention_mask = None if bool(batch.attention_mask.all()) else batch.attention_mask.to(device)
    return pretraining_loss(
        network,
        masked.input_ids.to(device),
        batch.segment_ids.to(device),
        attention_mask,
        masked.positions.to(device),
        masked.labels.to(device),
        masked.weights.to(device),
        batch.next_sentence_labels.to(device),
    )
