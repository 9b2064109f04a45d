"""Evaluate a pretrained BERT on held-out text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import torch

from bertcore.network import Network
from bertcore.pretraining.data.batches import Batch
from bertcore.pretraining.loss.objective import batch_loss
from bertcore.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class PretrainingScores:
    """Held-out scores on fixed rows with fixed masks (15%, 80/10/10).

    Scores of next sentences are None where the rows are no pairs.
    """

    mlm_loss: float
    """Mean of -ln p over the hidden tokens, nats."""
    mlm_top1: float
    """Fraction of hidden tokens whose most probable word is the right one."""
    nsp_loss: float | None
    """Nats."""
    nsp_accuracy: float | None
    """Fraction of pairs judged rightly, 0 to 1."""
    bits_per_character: float
    """Bits of all hidden tokens over their characters, a space before each word counted; [UNK]
    counts as one character and a space. Comparable across vocabularies."""
    num_rows: int
    """Rows scored, pairs or not."""
    num_pairs: int | None
    """Pairs scored."""
    num_masked: int
    """Hidden tokens scored."""
    share_random: float | None
    """Fraction of pairs whose B is random: the accuracy of always answering "random"."""

    def to_dict(self) -> dict[str, int | float]:
        """Return the available scores by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@torch.no_grad()
def evaluate_pretraining(
    network: Network, batches: Iterable[Batch], tokenizer: Tokenizer, *, autocast: bool = False
) -> PretrainingScores:
    """Score a network on held-out batches.

    Args:
        network: With a masked-word head, and for pairs a next-sentence head; its mode is restored
            afterwards.
        batches: From `fixed_batches`.
        tokenizer: For the characters of each token.
        autocast: Compute in bfloat16, as in training.

    Raises:
        ValueError: If there is no batch, or the checkpoint lacks a head that they need.
    """
    device = network.token_table.device
    characters = torch.tensor([_num_characters(token) for token in tokenizer.vocab])
    was_training = network.training
    network.eval()
    mlm = nsp = right = num_masked = pairs_right = num_characters = 0.0
    num_rows = num_pairs = num_random = 0
    try:
        for batch in batches:
            with torch.autocast(device.type, torch.bfloat16, enabled=autocast):
                result = batch_loss(network, batch, device)
            mlm += float(result.mlm_loss * result.num_masked)
            num_masked += float(result.num_masked)
            right += float(result.mlm_correct)
            rows = len(batch.segment_ids)
            num_rows += rows
            if batch.next_sentence_labels is not None:
                nsp += float(result.nsp_loss) * rows
                pairs_right += float(result.nsp_correct)
                num_pairs += rows
                num_random += int(batch.next_sentence_labels.sum())
            masked = batch.masked
            num_characters += float((characters[masked.labels] * masked.weights).sum())
    finally:
        network.train(was_training)
    if not num_rows:
        raise ValueError("the held-out text gives no sentence pair. Give a longer text.")
    return PretrainingScores(
        mlm_loss=mlm / num_masked,
        mlm_top1=right / num_masked,
        nsp_loss=nsp / num_pairs if num_pairs else None,
        nsp_accuracy=pairs_right / num_pairs if num_pairs else None,
        bits_per_character=mlm / math.log(2) / num_characters,
        num_rows=num_rows,
        num_pairs=num_pairs or None,
        num_masked=int(num_masked),
        share_random=num_random / num_pairs if num_pairs else None,
    )


def _num_characters(token: str) -> int:
    """Return the characters that a token stands for in running text, with a space before words.

    >>> _num_characters("river"), _num_characters("##ing"), _num_characters("[UNK]")
    (6, 3, 2)
    """
    if token == "[UNK]":  # what it stood for is not known: at least one character
        return 2
    return len(token) - 2 if token.startswith("##") and len(token) > 2 else len(token) + 1
