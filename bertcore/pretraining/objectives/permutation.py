"""Permutation language modelling: XLNet's objective, on our network."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from bertcore.architecture.config import BertConfig
from bertcore.configs import DataConfig
from bertcore.network import Network
from bertcore.objectives import permute
from bertcore.pretraining.data.batches import Totals
from bertcore.pretraining.data.layout import lay_out_packed
from bertcore.pretraining.data.packed_rows import PackedRows
from bertcore.pretraining.data.text_rows import CPU, row_sources, text_rows
from bertcore.pretraining.loss.permutation import PermutationWithLoss, PermutedRows
from bertcore.pretraining.objectives.objective import (
    BatchSource,
    Objective,
    refuse_mask_shares,
    share,
)


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
