"""UniLM's mixture: masked words under four masks of attention."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

from bertcore.architecture.config import BertConfig
from bertcore.configs import DataConfig
from bertcore.objectives.attention_masks import DIRECTIONS, SINGLE, Direction
from bertcore.objectives.masked_batches import mask_grams
from bertcore.pretraining.data.batches import Batch, Totals, num_masked_of
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.instances import Instances
from bertcore.pretraining.data.layout import lay_out
from bertcore.pretraining.data.packed_rows import PackedRows
from bertcore.pretraining.loss.objective import BatchTensors, to_device
from bertcore.pretraining.objectives.masked_words import MaskedWords, check_pairs
from bertcore.pretraining.objectives.objective import Generators, share
from bertcore.tokenizer import Tokenizer

GRAMS = np.array([SINGLE, (1 - SINGLE) / 2, (1 - SINGLE) / 2])
"""Probability of runs of one, two and three pieces."""


@dataclass(frozen=True, slots=True)
class DirectedBatch(Batch):
    """Rows with hidden tokens, each with its direction of attention."""

    directions: Tensor = field(kw_only=True)
    """Indices into DIRECTIONS, int64, [B]."""

    def take(self, rows: slice) -> Self:
        """Return some of the rows, as a part of this batch."""
        taken = Batch.take(self, rows)
        return replace(taken, directions=self.directions[rows])


class LimitedAttention(MaskedWords):
    """Masked words under four masks of attention, on pairs of texts that follow each other.

    A third of the rows is read in both directions, a third as source and target (the source sees
    itself, the target the source and its own earlier tokens), a sixth each from left to right and
    from right to left. The network is a BERT; only the masks differ.

    Source: Dong et al. 2019, sections 2.2 to 2.4. Differs: the direction is drawn for each row, all
        rows are pairs, next sentences are not predicted, and BERT's two segments do not encode the
        direction.
    """

    name = "unilm"
    parts = ("unilm",)
    draws_on_device = False
    is_berts = False
    can_have_teacher = False
    best_by = "loss"

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject a network without a second segment, and too many masks.

        ValueError if they do not fit.
        """
        super().check(shape, config)
        check_pairs(shape, config)

    def batch(
        self,
        corpus: PackedCorpus,
        rows: Instances | PackedRows,
        tokenizer: Tokenizer,
        config: DataConfig,
        *,
        generator: Generators,
        part: slice | None = None,
    ) -> DirectedBatch:
        """Hide runs of one to three pieces, and draw a direction for each row."""
        laid_out = lay_out(corpus, rows, tokenizer, config.max_seq_length, torch.device("cpu"))
        masked = mask_grams(
            laid_out.ids,
            maskable=~laid_out.is_special,
            counts=torch.from_numpy(num_masked_of(rows.lengths, config)),
            lengths=GRAMS,
            max_predictions=config.max_predictions_per_seq,
            mask_id=tokenizer.mask_id,
            vocab_size=tokenizer.vocab_size,
            generator=generator,
            actions=config.actions,
        )
        if isinstance(generator, torch.Generator):
            drawn = torch.rand(len(rows), generator=generator)
        else:
            drawn = torch.cat([torch.rand(1, generator=own) for own in generator])
        shares = torch.tensor(list(DIRECTIONS.values())).cumsum(0)
        batch = DirectedBatch(
            masked,
            laid_out.segment_ids,
            laid_out.attention_mask,
            next_sentence_labels=None,
            directions=torch.searchsorted(shares, drawn).clamp(max=len(shares) - 1),
        )
        return batch if part is None else batch.take(part)

    def tensors(self, batch: Batch, device: torch.device, *, keep_mask: bool) -> BatchTensors:
        """Return the tensors of a batch on a device, with a mask [B, T, T]."""
        assert isinstance(batch, DirectedBatch)  # as made by `batch`
        tensors = to_device(batch, device, keep_mask=True)
        assert tensors.attention_mask is not None  # because of keep_mask
        mask = directed_mask(
            batch.directions.to(device), tensors.segment_ids, tensors.attention_mask
        )
        return tensors._replace(attention_mask=mask)

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the loss, and the fraction of hidden tokens that were right."""
        return {
            "loss": values["loss"],
            "unilm_loss": values["mlm_loss"],
            "unilm_top1": share(values, "mlm_correct"),
        }


def directed_mask(directions: Tensor, segment_ids: Tensor, is_token: Tensor) -> Tensor:
    """Return the attention mask, True if a row's token may attend to a column's, [B, T, T].

    Args:
        directions: Indices into DIRECTIONS, [B].
        segment_ids: 1 in text B, which is the target of "prefix", [B, T].
        is_token: False at padding, to which only padding attends, [B, T].
    """
    names = list(DIRECTIONS)
    place = torch.arange(segment_ids.shape[1], device=segment_ids.device)
    before = place[None, :] <= place[:, None]  # [T, T]: the column is not after the row

    def chosen(name: Direction) -> Tensor:
        return directions.eq(names.index(name))[:, None, None]

    in_source = (segment_ids == 0)[:, None, :]
    in_target = (segment_ids == 1)[:, :, None]
    allowed = chosen("bidirectional") | (chosen("left-to-right") & before)
    allowed = allowed | (chosen("right-to-left") & before.T)
    allowed = allowed | (chosen("prefix") & (in_source | (in_target & before)))
    # A token that sees nothing, such as padding read from right to left, would have no gradient.
    itself = torch.eye(segment_ids.shape[1], dtype=torch.bool, device=segment_ids.device)
    return (allowed & is_token[:, None, :]) | itself
