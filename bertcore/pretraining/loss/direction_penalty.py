"""The pretraining loss with a penalty on a direction of the start checkpoint."""

from typing import NamedTuple

from torch import Tensor, nn

from bertcore.debiasing import PenalisedDirection
from bertcore.debiasing.direction_penalty import DirectionPenalty, start_penalty
from bertcore.network import Network
from bertcore.pretraining.loss.objective import BatchTensors, fastest, loss_of_hidden
from bertcore.tokenizer import Tokenizer


class PenalisedLoss(NamedTuple):
    """Like PretrainingLoss, with `loss` as the sum of all, and the penalty."""

    loss: Tensor
    mlm_loss: Tensor
    nsp_loss: Tensor
    mlm_correct: Tensor
    num_masked: Tensor
    nsp_correct: Tensor
    direction_penalty: Tensor
    """Mean squared cosine with the direction, before its weight."""


class NetworkWithPenalty(nn.Module):
    """A network with its loss and the penalty, instead of `NetworkWithLoss`.

    Args:
        network: A network with a masked-word head; shared, not copied.
        penalty: The penalty on its last hidden states; it is on the network's device.
        dtype: "bfloat16" or "float32": its compute format.
    """

    def __init__(self, network: Network, penalty: DirectionPenalty, *, dtype: str) -> None:
        super().__init__()
        self.network, self.penalty = network, penalty
        self.attention, self.word_loss = fastest(network, dtype, is_compiled=False)

    def forward(self, batch: BatchTensors) -> PenalisedLoss:
        ids, mask = batch.input_ids, batch.attention_mask
        hidden = self.network(ids, batch.segment_ids, mask, attention=self.attention)
        base = loss_of_hidden(self.network, hidden, batch, word_loss=self.word_loss)
        penalty = self.penalty.total(hidden, ids, mask) / batch.total_tokens
        loss = base.numbers.loss + self.penalty.weight * penalty
        return PenalisedLoss(loss, *base.numbers[1:], direction_penalty=penalty.detach())


def penalty_of_start(
    direction: PenalisedDirection, start_from: Network | None, tokenizer: Tokenizer
) -> DirectionPenalty:
    """Find the direction in the last hidden states of the checkpoint that a run starts from.

    ValueError if there is none, or its vocabulary can write fewer than two of the pairs.
    """
    if start_from is None:
        raise ValueError(
            "a direction penalty needs a network that has learned a direction. Start from one with "
            "--checkpoint."
        )
    was_training = start_from.training
    start_from.eval()
    try:
        return start_penalty(
            direction, start_from, tokenizer, vocab_size=len(start_from.token_table)
        )
    finally:
        start_from.train(was_training)
