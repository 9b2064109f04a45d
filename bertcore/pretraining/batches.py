"""Batches for pretraining: instances laid out as rows, with some tokens hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.pretraining.corpus import PackedCorpus
from bertcore.pretraining.instances import Instances, create_instances
from bertcore.pretraining.masking import MASKED_LM_PROB, Masked, mask_tokens
from bertcore.tokenizer import Tokenizer


class Totals(NamedTuple):
    """Counts of a whole batch."""

    num_rows: int
    num_masked: int
    num_tokens: int
    """Padding not counted."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's input and labels."""

    masked: Masked
    """The token ids with some hidden, and what they were."""
    segment_ids: Tensor
    """int64, [B, T]"""
    attention_mask: Tensor
    """True at tokens, False at padding, [B, T]."""
    next_sentence_labels: Tensor
    """0: B follows A, 1: random, int64, [B]."""
    whole: Totals | None = None
    """Of the batch that these rows are a part of; None: they are all of it."""

    @property
    def num_tokens(self) -> int:
        """Tokens of these rows, padding not counted."""
        return int(self.attention_mask.sum())

    @property
    def totals(self) -> Totals:
        """Counts of the whole batch, by which losses are divided."""
        if self.whole is not None:
            return self.whole
        return Totals(
            num_rows=len(self.next_sentence_labels),
            num_masked=int(self.masked.weights.sum()),
            num_tokens=self.num_tokens,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class DataConfig:
    """How instances are cut and masked.

    Raises:
        ValueError: If a value is out of its range.
    """

    max_seq_length: int = 128
    """T, special tokens included."""
    max_predictions_per_seq: int = 20
    """P, the most hidden tokens of a row."""
    masked_lm_prob: float = MASKED_LM_PROB
    """Share of tokens hidden, 0 < p < 1."""
    short_seq_prob: float = 0.1
    """Share of documents cut into shorter pieces, 0 to 1."""
    batch_size: int = 32
    """B, rows of a step."""
    long_ratio: float = 0.0
    """Share of the run, at its end, in rows of `long_seq_length`, 0 to 1; the paper has 0.1."""
    long_seq_length: int = 512
    """T of that second phase, longer than `max_seq_length`."""

    def __post_init__(self) -> None:
        if not 0 < self.masked_lm_prob < 1:
            raise ValueError(f"masked_lm_prob is {self.masked_lm_prob}; expected above 0, below 1.")
        if not 0 <= self.short_seq_prob <= 1:
            raise ValueError(f"short_seq_prob is {self.short_seq_prob}; expected 0 to 1.")
        for name, low in (("max_seq_length", 5), ("max_predictions_per_seq", 1), ("batch_size", 1)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} is {getattr(self, name)}; expected at least {low}.")
        if not 0 <= self.long_ratio <= 1:
            raise ValueError(f"long_ratio is {self.long_ratio}; expected 0 to 1.")
        if self.long_ratio and self.long_seq_length <= self.max_seq_length:
            raise ValueError(
                f"long_seq_length is {self.long_seq_length}; expected more than max_seq_length "
                f"{self.max_seq_length}, or a long_ratio of 0."
            )

    def long_phase(self) -> DataConfig | None:
        """Return the settings of the second phase, None if there is none.

        As many tokens a step as before, in fewer rows.

        >>> config = DataConfig(long_ratio=0.1).long_phase()
        >>> config.batch_size, config.max_seq_length, config.max_predictions_per_seq
        (8, 512, 78)
        """
        if not self.long_ratio:
            return None
        return replace(
            self,
            max_seq_length=self.long_seq_length,
            max_predictions_per_seq=round(self.masked_lm_prob * self.long_seq_length) + 1,
            batch_size=max(1, self.batch_size * self.max_seq_length // self.long_seq_length),
            long_ratio=0.0,
        )

    @classmethod
    def for_length(
        cls,
        max_seq_length: int,
        *,
        batch_size: int = 32,
        masked_lm_prob: float = MASKED_LM_PROB,
        long_ratio: float = 0.0,
        long_seq_length: int = 512,
    ) -> DataConfig:
        """Return settings with room for every token that is hidden in a row of that length.

        >>> DataConfig.for_length(128).max_predictions_per_seq
        20
        """
        return cls(
            max_seq_length=max_seq_length,
            # A share out of its range is refused by name, and not here.
            max_predictions_per_seq=(
                round(masked_lm_prob * max_seq_length) + 1 if 0 < masked_lm_prob < 1 else 1
            ),
            masked_lm_prob=masked_lm_prob,
            batch_size=batch_size,
            long_ratio=long_ratio,
            long_seq_length=long_seq_length,
        )


def make_batch(
    corpus: PackedCorpus,
    instances: Instances,
    tokenizer: Tokenizer,
    config: DataConfig,
    *,
    generator: torch.Generator,
    part: slice | None = None,
) -> Batch:
    """Lay out instances as [CLS] A [SEP] B [SEP], padded to T, and hide tokens.

    Segment 0 goes up to the first [SEP], 1 to the second; padding is 0 again.

    Args:
        corpus: The instances' tokens.
        instances: The rows of a batch.
        tokenizer: For the special tokens.
        config: Row length and masks.
        generator: Fixes the masks; on its device the batch is made, but for the tokens' look-up.
        part: Give these rows only, as they are in the batch.

    Raises:
        ValueError: If `masked_lm_prob` asks for more tokens than a row has.
    """
    device, width = generator.device, config.max_seq_length
    all_lengths = instances.lengths
    all_counts = _num_masked(all_lengths, config)
    own = part or slice(0, len(instances))
    spans = instances.spans[own]
    # One look-up of all tokens; places of special tokens and padding read token 0 and are replaced.
    places = np.arange(width)
    a_start, a_end, b_start, _ = (spans[:, [column]] for column in range(4))
    middles = a_end - a_start + 1  # the first [SEP]
    lasts = all_lengths[own, None] - 1
    in_b = (places > middles) & (places < lasts)
    special = ((places == 0) | (places == middles)) | (places >= lasts)
    index = np.where(in_b, b_start + places - middles - 1, a_start + places - 1)
    text = np.asarray(corpus.ids)[np.where(special, 0, index)].astype(np.int64)
    ids = torch.from_numpy(text).to(device)
    place = torch.arange(width, device=device)
    middle, last = (torch.from_numpy(ends).to(device) for ends in (middles, lasts))
    is_special = (place == 0) | (place == middle) | (place >= last)
    ids = torch.where(
        place > last, tokenizer.pad_id, torch.where(is_special, tokenizer.sep_id, ids)
    )
    ids[:, 0] = tokenizer.cls_id
    masked = mask_tokens(
        ids,
        maskable=~is_special,
        counts=torch.from_numpy(all_counts[own]).to(device),
        max_predictions=config.max_predictions_per_seq,
        mask_id=tokenizer.mask_id,
        vocab_size=tokenizer.vocab_size,
        generator=generator,
        rows_of=(own.start, len(instances)),
    )
    return Batch(
        masked=masked,
        segment_ids=((place > middle) & (place <= last)).long(),
        attention_mask=place <= last,
        next_sentence_labels=torch.from_numpy(instances.labels[own]).to(device),
        whole=Totals(
            num_rows=len(instances),
            num_masked=int(all_counts.sum()),
            num_tokens=int(all_lengths.sum()),
        ),
    )


def _num_masked(lengths: NDArray[np.int64], config: DataConfig) -> NDArray[np.int64]:
    """Return `num_masked` of many lengths at once; numpy rounds halves to even as Python does."""
    wanted = np.rint(config.masked_lm_prob * lengths).astype(np.int64)
    counts: NDArray[np.int64] = np.clip(wanted, 1, config.max_predictions_per_seq)
    return counts


def fixed_batches(
    corpus: PackedCorpus, tokenizer: Tokenizer, config: DataConfig, *, seed: int, num_rows: int
) -> Iterator[Batch]:
    """Yield up to `num_rows` held-out rows with fixed pairs and masks, for evaluation.

    The same corpus, tokenizer, settings and seed give the same batches.
    """
    instances = create_instances(
        corpus,
        max_seq_length=config.max_seq_length,
        short_seq_prob=config.short_seq_prob,
        rng=Random(f"{seed}/held-out"),
    )
    order = np.random.default_rng([seed, 7]).permutation(len(instances))[:num_rows]
    generator = torch.Generator().manual_seed(seed)
    for start in range(0, len(order), config.batch_size):
        rows = order[start : start + config.batch_size]
        yield make_batch(corpus, instances.take(rows), tokenizer, config, generator=generator)
