"""SpanBERT's loss: masked words, each also predicted from the tokens beside its span."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from bertcore.architecture.config import BertConfig
from bertcore.network import Network
from bertcore.network.empty import empty_embedding, empty_linear, layer_norm
from bertcore.pretraining.loss.objective import BatchTensors, NetworkWithLoss, loss_of_hidden

POSITION_WIDTH = 200
"""Width of the vector of a token's position in its span."""
LONGEST = 20
"""Number of positions in a span that are predicted from its ends."""


class BoundaryHead(nn.Module):
    """Two layers, each with GELU and LayerNorm, then the token table and a bias of its own.

    Args:
        config: Shape of the network whose states it reads and whose token table it uses.
        generator: Determines the initial weights.

    Source: Joshi et al. 2020, section 3.2. Differs: the second layer has the width of the token
        table, which is D unless the embeddings are narrower.
    """

    def __init__(self, config: BertConfig, generator: Generator) -> None:
        super().__init__()
        d, e = config.hidden_size, config.embedding_width
        self.positions = empty_embedding(LONGEST, POSITION_WIDTH)
        self.dense = empty_linear(2 * d + POSITION_WIDTH, d)
        self.norm = layer_norm(config, d)
        self.output = empty_linear(d, e)
        self.output_norm = layer_norm(config, e)
        self.word_bias = nn.Parameter(torch.zeros(config.vocab_size))
        std = config.initializer_range
        for weight in (self.positions.weight, self.dense.weight, self.output.weight):
            nn.init.trunc_normal_(weight, 0.0, std, -2 * std, 2 * std, generator=generator)

    def forward(self, left: Tensor, right: Tensor, offset: Tensor) -> Tensor:
        """Return the vectors to multiply with the token table, [..., E].

        Args:
            left, right: States of the tokens before and after the span, [..., D].
            offset: Index of the token in the span, from 0 to LONGEST - 1, int64, [...].
        """
        joined = torch.cat([left, right, self.positions(offset).to(left.dtype)], dim=-1)
        hidden = self.norm(F.gelu(self.dense(joined)))
        out: Tensor = self.output_norm(F.gelu(self.output(hidden)))
        return out


class SpanTensors(NamedTuple):
    """A batch with hidden spans as tensors for the network, on its device."""

    words: BatchTensors
    left: Tensor
    right: Tensor
    offset: Tensor
    """As in MaskedSpans, int64, [B, P]."""


class SpanLoss(NamedTuple):
    """Losses in nats and counts of a batch or of a part of it, scalars on the device."""

    loss: Tensor
    """mlm_loss + sbo_loss"""
    mlm_loss: Tensor
    """Mean over hidden tokens."""
    sbo_loss: Tensor
    """The same loss from the tokens beside the spans; tokens beyond LONGEST count as 0."""
    mlm_correct: Tensor
    sbo_correct: Tensor
    num_masked: Tensor


class SpanBoundary(NetworkWithLoss):
    """A network and its boundary head with both losses.

    Args:
        network: A network with a masked-word head; shared, not copied.
        head: A head for the same network; shared, not copied.
        dtype, is_compiled: As for NetworkWithLoss.

    Source: Joshi et al. 2020, section 3.2: the sum of both losses of each hidden token.
    """

    def __init__(
        self, network: Network, head: BoundaryHead, *, dtype: str, is_compiled: bool = False
    ) -> None:
        super().__init__(network, dtype=dtype, is_compiled=is_compiled)
        self.head = head

    def forward(self, batch: SpanTensors) -> SpanLoss:  # type: ignore[override]
        words = batch.words
        hidden = self.network(
            words.input_ids, words.segment_ids, words.attention_mask, attention=self.attention
        )  # [B, T, D]
        found = loss_of_hidden(self.network, hidden, words, word_loss=self.word_loss)

        def beside(places: Tensor) -> Tensor:
            at = places[..., None].expand(-1, -1, hidden.shape[-1])
            states: Tensor = hidden.gather(1, at).flatten(0, 1)  # [B * P, D]
            return states

        offset = batch.offset.flatten() - 1
        is_near = (offset >= 0) & (offset < LONGEST)
        weights = words.weights.flatten() * is_near
        vectors = self.head(beside(batch.left), beside(batch.right), offset.clamp(0, LONGEST - 1))
        sbo_loss, right = self.word_loss(
            vectors,
            self.network.token_table,
            self.head.word_bias,
            words.labels.flatten(),
            weights / words.total_masked,
        )
        return SpanLoss(
            loss=found.words + sbo_loss,
            mlm_loss=found.numbers.mlm_loss,
            sbo_loss=sbo_loss.detach(),
            mlm_correct=found.numbers.mlm_correct,
            sbo_correct=(right * weights).sum(),
            num_masked=found.numbers.num_masked,
        )
