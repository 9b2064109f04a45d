"""Batches for pretraining: rows of pairs or of running text, with some tokens hidden."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.configs import DataConfig
from bertcore.configs.data import MASK_SHARES
from bertcore.objectives.masking import Masked, mask_tokens
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.layout import lay_out_packed, lay_out_pairs
from bertcore.pretraining.data.rows import (
    Instances,
    PackedRows,
    create_instances,
    create_ordered_pairs,
    create_packed_rows,
)
from bertcore.tokenizer import Tokenizer


class Totals(NamedTuple):
    """Counts of a whole batch."""

    num_pairs: int
    """All rows; 0 if they are not pairs."""
    num_masked: int
    num_tokens: int
    """Number of tokens, without padding."""

    @property
    def divisor(self) -> float:
        """The divisor that turns a sum over the hidden tokens into their mean.

        1 if no token could be hidden: such a batch has a loss of 0, and nothing to learn.
        """
        return max(1.0, float(self.num_masked))


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's input and labels."""

    masked: Masked
    """The token ids with some hidden, and the original ones."""
    segment_ids: Tensor
    """int64, [B, T]"""
    attention_mask: Tensor
    """True at tokens, False at padding, [B, T]."""
    next_sentence_labels: Tensor | None
    """0: B follows A, 1: random or, for sentence order, exchanged, int64, [B]; None: the rows are
    not pairs, or nothing is asked about them."""
    whole: Totals | None = None
    """Totals of the batch that these rows are part of; None: they are the whole batch."""

    @property
    def num_tokens(self) -> int:
        """Number of tokens in these rows, without padding."""
        return int(self.attention_mask.sum())

    @property
    def num_rows(self) -> int:
        """Number of rows in this batch or part."""
        return len(self.segment_ids)

    def as_part_of(self, totals: Totals) -> Self:
        """Return the same rows as a part of a larger batch with these counts."""
        return replace(self, whole=totals)

    def take(self, rows: slice) -> Self:
        """Return some of the rows, as a part of this batch."""
        masked = Masked(*(tensor[rows] for tensor in self.masked))
        labels = self.next_sentence_labels
        return replace(
            self,
            masked=masked,
            segment_ids=self.segment_ids[rows],
            attention_mask=self.attention_mask[rows],
            next_sentence_labels=None if labels is None else labels[rows],
            whole=self.totals,
        )

    @property
    def totals(self) -> Totals:
        """Counts of the whole batch, used as divisors of losses."""
        if self.whole is not None:
            return self.whole
        return Totals(
            num_pairs=0 if self.next_sentence_labels is None else len(self.next_sentence_labels),
            num_masked=int(self.masked.weights.sum()),
            num_tokens=self.num_tokens,
        )


def make_batch(
    corpus: PackedCorpus,
    instances: Instances | PackedRows,
    tokenizer: Tokenizer,
    config: DataConfig,
    *,
    generator: torch.Generator | Sequence[torch.Generator],
    part: slice | None = None,
) -> Batch:
    """Lay out pairs or packed rows, padded to T, and hide tokens as BERT does.

    Args:
        corpus: The instances' tokens.
        generator: Determines the masks, of the batch or, one for each instance, of a row; the batch
            is made on its device, after the token look-up.
        part: Return only these rows, as they are in the batch.

    ValueError if `masked_lm_prob` asks for more tokens than a pair has.
    """
    own_rows = part or slice(0, len(instances))
    if not isinstance(generator, torch.Generator):
        generator = generator[own_rows]
    one = generator if isinstance(generator, torch.Generator) else generator[0]
    device, width = one.device, config.max_seq_length
    lengths = instances.lengths
    counts = num_masked_of(lengths, config)
    labels = None
    if isinstance(instances, PackedRows):
        # A row of many short documents may have less text than tokens to hide.
        counts = np.minimum(counts, instances.num_text_tokens)
        rows = lay_out_packed(corpus, instances.take(own_rows), tokenizer, width, device)
    else:
        rows = lay_out_pairs(corpus, instances.take(own_rows), tokenizer, width, device)
        labels = torch.from_numpy(instances.labels[own_rows]).to(device)
    masked = mask_tokens(
        rows.ids,
        maskable=~rows.is_special,
        counts=torch.from_numpy(counts[own_rows]).to(device),
        max_predictions=config.max_predictions_per_seq,
        mask_id=tokenizer.mask_id,
        vocab_size=tokenizer.vocab_size,
        generator=generator,
        rows_of=(own_rows.start, len(instances)),
        actions=config.actions,
    )
    return Batch(
        masked=masked,
        segment_ids=rows.segment_ids,
        attention_mask=rows.attention_mask,
        next_sentence_labels=labels,
        whole=Totals(
            num_pairs=0 if labels is None else len(instances),
            num_masked=int(counts.sum()),
            num_tokens=int(lengths.sum()),
        ),
    )


def num_masked_of(lengths: NDArray[np.int64], config: DataConfig) -> NDArray[np.int64]:
    """Return `num_masked` for many lengths at once; numpy rounds halves to even, as Python does."""
    wanted = np.rint(config.masked_lm_prob * lengths).astype(np.int64)
    counts: NDArray[np.int64] = np.clip(wanted, 1, config.max_predictions_per_seq)
    return counts


def cut(
    corpus: PackedCorpus, config: DataConfig, *, rng: Random, documents: range | None = None
) -> Instances | PackedRows:
    """Cut documents, all by default, into the rows of the objective.

    Args:
        config: Objective and row length.
        rng: Determines the pairs; packed rows draw nothing.
        documents: The documents to cut, without gaps.
    """
    length = config.max_seq_length
    if config.rows == "packed":
        return create_packed_rows(corpus, max_seq_length=length, documents=documents)
    if config.rows != "pairs":
        return create_ordered_pairs(
            corpus,
            max_seq_length=length,
            swapped=0.5 if config.rows == "swapped" else 0.0,
            short_seq_prob=config.short_seq_prob,
            rng=rng,
            documents=documents,
        )
    return create_instances(
        corpus,
        max_seq_length=length,
        short_seq_prob=config.short_seq_prob,
        rng=rng,
        documents=documents,
    )


def fixed_batches(
    corpus: PackedCorpus, tokenizer: Tokenizer, config: DataConfig, *, seed: int, num_rows: int
) -> Iterator[Batch]:
    """Yield up to `num_rows` held-out rows, fixed with their masks, for evaluation.

    The configured share of the tokens is hidden, always as 80/10/10. Scores with different shares
    cannot be compared. The same corpus, tokenizer, settings and seed give the same batches.
    """
    config = replace(config, mask_shares=MASK_SHARES)
    generator = torch.Generator().manual_seed(seed)
    for rows in fixed_rows(corpus, config, seed=seed, num_rows=num_rows):
        yield make_batch(corpus, rows, tokenizer, config, generator=generator)


def fixed_rows(
    corpus: PackedCorpus, config: DataConfig, *, seed: int, num_rows: int
) -> Iterator[Instances | PackedRows]:
    """Yield up to `num_rows` held-out rows, a batch at a time, the same for a seed."""
    instances = cut(corpus, config, rng=Random(f"{seed}/held-out"))
    order = np.random.default_rng([seed, 7]).permutation(len(instances))[:num_rows]
    for start in range(0, len(order), config.batch_size):
        yield instances.take(order[start : start + config.batch_size])
