"""Permutation language modelling (XLNet): two streams as an attention mask of our network."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from bertcore.architecture.config import BertConfig
from bertcore.configs import DataConfig
from bertcore.network import Network
from bertcore.network.attention import AttentionFunction, attention_fused
from bertcore.objectives import permute
from bertcore.pretraining.data.batches import Totals
from bertcore.pretraining.data.layout import CPU, lay_out_packed, row_sources, text_rows
from bertcore.pretraining.data.rows import PackedRows
from bertcore.pretraining.loss import NetworkWithLoss, WordLoss, word_loss
from bertcore.pretraining.objectives.objective import (
    BatchSource,
    Objective,
    refuse_mask_shares,
    share,
)


class PermutationLoss(NamedTuple):
    """Loss in nats and counts of a batch, scalars on the device.

    For a part of a batch: its contribution to each, so that the parts sum to the batch's loss.
    """

    loss: Tensor
    """Mean over predicted tokens."""
    correct: Tensor
    """Number of predicted tokens whose most probable word is the right one."""
    num_predicted: Tensor


class PermutedRows(NamedTuple):
    """Rows with the order in which their ends are predicted, on the network's device."""

    input_ids: Tensor
    """The text as it is, int64, [B, T]."""
    segment_ids: Tensor
    """int64, [B, T]"""
    attention_mask: Tensor | None
    """True at tokens, [B, T]; None if every row is full."""
    rank: Tensor
    """The rank of each token in the order, int64, [B, T]; -1 at tokens that all tokens see."""
    positions: Tensor
    """Positions of the predicted tokens, padded with 0, int64, [B, P]."""
    weights: Tensor
    """1 at predicted tokens, 0 at padding, float32, [B, P]."""
    queries: Tensor
    """[MASK] for each of them, with which the query stream starts, int64, [B, P]."""
    total_predicted: Tensor
    """Number of predicted tokens in the whole batch, of which this may be a part; float32 scalar.
    """


def permutation_loss(
    network: Network,
    rows: PermutedRows,
    *,
    attention: AttentionFunction = attention_fused,
    word_loss: WordLoss = word_loss,
) -> PermutationLoss:
    """Return the loss of predicting the end of each row's order.

    Args:
        network: A network with a masked-word head and position vectors.
        rows: Rows on the network's device.
        attention, word_loss: As for `pretraining_loss`.

    ValueError if positions are not vectors (ModernBERT), so that a query would not have its
    position.

    Source: Yang et al. 2019, equation 3 and section 2.3.
    """
    states = query_states(network, rows, attention=attention)  # [B, P, D]
    head = network.masked_word_head()
    weights = rows.weights.flatten()
    labels = rows.input_ids.gather(1, rows.positions).flatten()
    loss, right = word_loss(
        head.transform(states.flatten(0, 1)),
        network.decoder_table,
        head.word_bias,
        labels,
        weights / rows.total_predicted,
    )
    return PermutationLoss(loss, (right * weights).sum(), weights.sum())


class PermutationWithLoss(NetworkWithLoss):
    """A network and the loss of permutation language modelling; arguments as of its base class."""

    def forward(self, rows: PermutedRows) -> PermutationLoss:  # type: ignore[override]
        return permutation_loss(
            self.network, rows, attention=self.attention, word_loss=self.word_loss
        )


def query_states(
    network: Network,
    rows: PermutedRows,
    *,
    attention: AttentionFunction = attention_fused,
) -> Tensor:
    """Return the last states of the query stream at the predicted tokens, [B, P, D].

    A row of T + P tokens contains both streams: the text, followed by a mask token for each
    prediction, with the position and segment of the predicted token. No token attends to the masks,
    not even the masks themselves, so all keys and values are the content stream's, and both streams
    have the same weights, as in the paper.

    Args:
        network, rows, attention: As for `permutation_loss`.

    Source: Yang et al. 2019, section 2.3. Differs: positions are learned vectors that are added to
        the input, not relative ones inside attention; there is no memory of earlier rows; a query
        starts with the vector of [MASK], not with one of its own.
    """
    if network.embeddings.position_embeddings is None:
        raise ValueError(network.config.family.absent["positions"])
    num_tokens = rows.input_ids.shape[1]
    segment_ids, places = network.default_ids(rows.input_ids, rows.segment_ids, None)
    places = places.expand_as(rows.input_ids)
    hidden = network(
        torch.cat([rows.input_ids, rows.queries], dim=1),
        torch.cat([segment_ids, segment_ids.gather(1, rows.positions)], dim=1),
        stream_mask(rows),
        torch.cat([places, places.gather(1, rows.positions)], dim=1),
        attention=attention,
    )
    states: Tensor = hidden[:, num_tokens:]
    return states


def stream_mask(rows: PermutedRows) -> Tensor:
    """Return the attention mask of both streams: True = attend, [B, T + P, T + P].

    The first T rows are the content stream, in which a token sees itself, the others the query
    stream. The last P columns, the masks, are all False.
    """
    rank, batch = rows.rank, len(rows.rank)
    num_tokens, num_masks = rank.shape[1], rows.positions.shape[1]
    # Padding has a query too; it sees what all tokens see.
    of_queries = rank.gather(1, rows.positions).masked_fill(rows.weights == 0, 0)
    content = _sees(rank, rank)
    content |= torch.eye(num_tokens, dtype=torch.bool, device=rank.device)
    seen = torch.cat([content, _sees(of_queries, rank)], dim=1)  # [B, T + P, T]
    if rows.attention_mask is not None:
        seen &= rows.attention_mask[:, None, :].bool()
    return torch.cat([seen, seen.new_zeros(batch, num_tokens + num_masks, num_masks)], dim=2)


def _sees(of: Tensor, rank: Tensor) -> Tensor:
    """Return which tokens come before which in the order, [B, rows, T]; -1 is before all."""
    # Tokens that are not predicted see each other.
    return rank[:, None, :] < of[:, :, None].clamp(min=0)


@dataclass(frozen=True, slots=True)
class PermutedBatch:
    """Rows with the order in which their ends are predicted."""

    rows: PermutedRows
    """The rows, on the CPU."""
    totals: Totals
    """Counts of the whole batch, used as divisors of losses."""

    @property
    def num_tokens(self) -> int:
        assert self.rows.attention_mask is not None  # `batch` always gives one
        return int(self.rows.attention_mask.sum())

    @property
    def num_rows(self) -> int:
        return len(self.rows.input_ids)

    def as_part_of(self, totals: Totals) -> Self:
        total = torch.tensor(totals.divisor)
        return replace(self, rows=self.rows._replace(total_predicted=total), totals=totals)


class PermutedWords(Objective):
    """Predict the last words of a random order of each row, each from those before it.

    Source: Yang et al. 2019. Differs: our network, whose positions are vectors added to the input;
        no memory of earlier rows; the order covers the whole row (`permute`).
    """

    name = "plm"
    parts = ("permutation",)
    fills_masks = False

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject networks without position vectors, and mask settings.

        ValueError if they do not fit.
        """
        super().check(shape, config)
        reason = shape.family.absent.get("positions")
        if reason is not None:
            raise ValueError(
                f"the objective {self.name!r} predicts a word from its position alone. {reason} "
                "Choose another family or objective."
            )
        refuse_mask_shares(config, "no token is replaced when an order is learned")

    def with_loss(
        self, network: Network, companion: nn.Module | None, *, dtype: str, is_compiled: bool
    ) -> nn.Module:
        """Return the network with the loss of both streams."""
        return PermutationWithLoss(network, dtype=dtype, is_compiled=is_compiled)

    def batch(self, source: BatchSource) -> PermutedBatch:
        """Draw an order for each row; `masked_lm_prob` of its words are predicted."""
        corpus, rows, tokenizer, config, generator, part = source
        assert isinstance(rows, PackedRows)
        width, most = config.max_seq_length, config.max_predictions_per_seq
        laid_out = lay_out_packed(corpus, rows, tokenizer, width, CPU)
        rank = np.full((len(rows), width), -1, dtype=np.int64)
        positions = np.zeros((len(rows), most), dtype=np.int64)
        weights = np.zeros((len(rows), most), dtype=np.float32)
        sources = row_sources(generator, len(rows))
        for number, row in enumerate(text_rows(corpus, rows, tokenizer)):
            if len(row.text_places) < 2:  # the end of the corpus: nothing comes before its word
                continue
            order = permute(row, sources[number], share=config.masked_lm_prob, most=most)
            rank[number, : len(row)] = order.rank
            places = np.flatnonzero(order.rank >= 0)
            positions[number, : len(places)] = places
            weights[number, : len(places)] = 1
        totals = Totals(
            num_pairs=0, num_masked=int(weights.sum()), num_tokens=int(rows.lengths.sum())
        )
        own = part or slice(0, len(rows))
        predicted = torch.from_numpy(positions[own])
        return PermutedBatch(
            PermutedRows(
                input_ids=laid_out.ids[own],
                segment_ids=laid_out.segment_ids[own],
                attention_mask=laid_out.attention_mask[own],
                rank=torch.from_numpy(rank[own]),
                positions=predicted,
                weights=torch.from_numpy(weights[own]),
                queries=torch.full_like(predicted, tokenizer.mask_id),
                total_predicted=torch.tensor(totals.divisor),
            ),
            totals,
        )

    def tensors(
        self, batch: PermutedBatch, device: torch.device, *, keep_mask: bool
    ) -> PermutedRows:
        moved: list[Tensor | None] = [t if t is None else t.to(device) for t in batch.rows]
        return PermutedRows(*moved)  # type: ignore[arg-type]  # None stays where it may be

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the loss, and the fraction of predicted words that were right."""
        return {
            "loss": values["loss"],
            "plm_top1": share(values, "correct", "num_predicted"),
        }
