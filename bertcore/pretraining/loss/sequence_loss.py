"""Denoising losses: an encoder reads a damaged text, a decoder writes what is missing, or all."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.objectives import IGNORED, Corrupted


class SequenceLoss(NamedTuple):
    """Loss in nats and counts of a batch, scalars on the device.

    For a part of a batch: its contribution to each, so that the parts sum to the batch's loss.
    """

    loss: Tensor
    """Mean over the tokens that the decoder must write."""
    correct: Tensor
    """Number of tokens that would be written correctly, given those before them in the text."""
    num_written: Tensor


class SequenceTensors(NamedTuple):
    """The inputs of encoder and decoder, and the decoder's labels."""

    input_ids: Tensor
    """Ids of the encoder, int64, [B, T]"""
    attention_mask: Tensor
    """True at its tokens, False at padding, [B, T]."""
    decoder_input_ids: Tensor
    """int64, [B, Td]"""
    decoder_mask: Tensor
    """True at the decoder's tokens, [B, Td]."""
    labels: Tensor
    """The token after each of them, IGNORED if there is no loss, int64, [B, Td]."""


def sequence_loss(model: Any, rows: SequenceTensors, total_written: Tensor) -> SequenceLoss:
    """Return the loss of a batch or a part of it.

    Args:
        model: A T5ForConditionalGeneration or BartForConditionalGeneration of `transformers`.
        rows: Rows on its device.
        total_written: Number of labels in the whole batch; float32 scalar.

    Source: Raffel et al. 2020, section 2.4; Lewis et al. 2020, section 2.2; Song et al. 2019,
        equation 2: cross-entropy of each token given the text before it and the encoder's states.
    """
    logits = model(
        input_ids=rows.input_ids,
        attention_mask=rows.attention_mask.long(),
        decoder_input_ids=rows.decoder_input_ids,
        decoder_attention_mask=rows.decoder_mask.long(),
        use_cache=False,
    ).logits.float()
    labels = rows.labels.flatten()
    losses = F.cross_entropy(logits.flatten(0, 1), labels, ignore_index=IGNORED, reduction="sum")
    is_written = rows.labels != IGNORED
    with torch.no_grad():
        right = ((logits.argmax(-1) == rows.labels) & is_written).sum()
    return SequenceLoss(losses / total_written, right.float(), is_written.sum().float())


class SequenceWithLoss(nn.Module):
    """A network of `transformers` with an encoder and a decoder, and its loss.

    Args:
        network: An `OtherNetwork`; shared, not copied.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, tensors: tuple[SequenceTensors, Tensor]) -> SequenceLoss:
        """Return the loss of rows, given the number of tokens that the whole batch writes."""
        rows, total_written = tensors
        return sequence_loss(self.network.model, rows, total_written)


def pad_sequences(rows: Sequence[Corrupted], pad_id: int) -> SequenceTensors:
    """Return rows padded to the longest.

    If a row names the positions of its decoder's tokens (MASS), they are placed there and all other
    positions are padding, so that the decoder's own positions are right.

    Args:
        rows: Rows of an objective with a decoder.
        pad_id: The padding token.
    """
    inputs = [row.input_ids for row in rows]
    read, is_read, written = zip(*(_decoder_side(row, pad_id) for row in rows), strict=True)
    input_ids, attention_mask = _pad(inputs, pad_id)
    decoder_input_ids, _ = _pad(read, pad_id)
    decoder_mask, _ = _pad(is_read, 0)
    labels, _ = _pad(written, IGNORED)
    return SequenceTensors(
        input_ids, attention_mask, decoder_input_ids, decoder_mask.bool(), labels
    )


def _decoder_side(row: Corrupted, pad_id: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the decoder's input for a row, 1 at its tokens, and its labels, each [Td]."""
    assert row.decoder_input_ids is not None  # denoising objectives all have a decoder
    places = row.decoder_positions
    if places is None:
        return row.decoder_input_ids, np.ones_like(row.decoder_input_ids), row.labels
    width = int(places.max()) + 1
    read, is_read, written = np.full(width, pad_id), np.zeros(width), np.full(width, IGNORED)
    read[places], is_read[places], written[places] = row.decoder_input_ids, 1, row.labels
    return read, is_read, written


def _pad(rows: Sequence[np.ndarray], value: int) -> tuple[Tensor, Tensor]:
    """Return rows of several lengths as one tensor, and True except at padding, both [B, T]."""
    lengths = torch.tensor([len(row) for row in rows])
    width = int(lengths.max())
    padded = np.full((len(rows), width), value, dtype=np.int64)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return torch.from_numpy(padded), torch.arange(width) < lengths[:, None]
