"""Batches for pretraining: any step's batch from the corpus, a seed and the step's number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.pretraining.corpus import PackedCorpus
from bertcore.pretraining.instances import Instances, create_instances
from bertcore.pretraining.masking import MASKED_LM_PROB, Masked, mask_tokens, num_masked
from bertcore.tokenizer import Tokenizer


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

    @property
    def num_tokens(self) -> int:
        """Tokens of the batch, padding not counted."""
        return int(self.attention_mask.sum())


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

    def __post_init__(self) -> None:
        if not 0 < self.masked_lm_prob < 1:
            raise ValueError(f"masked_lm_prob is {self.masked_lm_prob}; expected above 0, below 1.")
        if not 0 <= self.short_seq_prob <= 1:
            raise ValueError(f"short_seq_prob is {self.short_seq_prob}; expected 0 to 1.")
        for name, low in (("max_seq_length", 5), ("max_predictions_per_seq", 1), ("batch_size", 1)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} is {getattr(self, name)}; expected at least {low}.")

    @classmethod
    def for_length(cls, max_seq_length: int, *, batch_size: int = 32) -> DataConfig:
        """Return settings with room for every token that is hidden in a row of that length.

        >>> DataConfig.for_length(128).max_predictions_per_seq
        20
        """
        return cls(
            max_seq_length=max_seq_length,
            max_predictions_per_seq=round(MASKED_LM_PROB * max_seq_length) + 1,
            batch_size=batch_size,
        )


class Batches:
    """An endless, reproducible row of batches; a round goes through the whole corpus once.

    A fresh cut of the documents, a fresh order and fresh masks for each round, all of them fixed by
    (seed, round, step): resuming needs nothing but the step's number.

    Raises:
        ValueError: If the corpus gives fewer instances than one batch.
    """

    def __init__(
        self, corpus: PackedCorpus, tokenizer: Tokenizer, config: DataConfig, *, seed: int
    ) -> None:
        self.corpus = corpus
        self.tokenizer = tokenizer
        self.config = config
        self.seed = seed
        self._round = -1
        self._round_start = 0
        self._open_round(0, 0)

    def _open_round(self, number: int, start: int) -> None:
        rng = Random(f"{self.seed}/{number}")
        config = self.config
        self._instances = create_instances(
            self.corpus,
            max_seq_length=config.max_seq_length,
            short_seq_prob=config.short_seq_prob,
            rng=rng,
        )
        self._order = np.random.default_rng([self.seed, number]).permutation(len(self._instances))
        if len(self._order) < config.batch_size:
            raise ValueError(
                f"the corpus gives {len(self._order)} training instances, fewer than one batch of "
                f"{config.batch_size}. Give more text or a smaller batch_size."
            )
        self._round, self._round_start = number, start

    def describe(self) -> dict[str, int | float]:
        """Return what the current round is made of, for a run's log."""
        return describe(self.corpus, self._instances, self.config)

    def _rows(self, step: int) -> NDArray[np.int64]:
        size = self.config.batch_size
        if step < self._round_start:
            self._open_round(0, 0)
        while step >= self._round_start + len(self._order) // size:
            self._open_round(self._round + 1, self._round_start + len(self._order) // size)
        first = (step - self._round_start) * size
        rows: NDArray[np.int64] = self._order[first : first + size]
        return rows

    def batch(self, step: int) -> Batch:
        """Return the batch of step 0, 1, 2, ...; steps in order are fastest."""
        return make_batch(
            self.corpus,
            self._instances_at(step),
            self.tokenizer,
            self.config,
            generator=_generator(self.seed, step),
        )

    def _instances_at(self, step: int) -> Instances:
        rows = self._rows(step)
        return Instances(self._instances.spans[rows], self._instances.labels[rows])


def describe(
    corpus: PackedCorpus, instances: Instances, config: DataConfig
) -> dict[str, int | float]:
    """Return the sizes of a corpus and the shares of random pairs and of padding, 0 to 1."""
    return {
        "num_documents": corpus.num_documents,
        "num_sentences": corpus.num_sentences,
        "num_tokens": corpus.num_tokens,
        "num_instances": len(instances),
        "share_random": round(instances.share_random, 6),
        "share_padding": round(instances.share_padding(config.max_seq_length), 6),
    }


def _generator(seed: int, step: int) -> torch.Generator:
    """Return a random source fixed by both numbers, independent of its neighbours."""
    state = np.random.SeedSequence([seed, step]).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0]) >> 1)


def make_batch(
    corpus: PackedCorpus,
    instances: Instances,
    tokenizer: Tokenizer,
    config: DataConfig,
    *,
    generator: torch.Generator,
) -> Batch:
    """Lay out instances as [CLS] A [SEP] B [SEP], padded to T, and hide tokens.

    Segment 0 goes up to the first [SEP], 1 to the second; padding is 0 again.

    Raises:
        ValueError: If `masked_lm_prob` asks for more tokens than a row has.
    """
    num_rows, width = len(instances), config.max_seq_length
    ids = np.full((num_rows, width), tokenizer.pad_id, dtype=np.int64)
    segments = np.zeros((num_rows, width), dtype=np.int64)
    special = np.ones((num_rows, width), dtype=bool)
    lengths = instances.lengths
    for row, (a_start, a_end, b_start, b_end) in enumerate(instances.spans.tolist()):
        middle = a_end - a_start + 1  # the first [SEP]
        last = int(lengths[row]) - 1
        ids[row, 0] = tokenizer.cls_id
        ids[row, 1:middle] = corpus.ids[a_start:a_end]
        ids[row, middle] = ids[row, last] = tokenizer.sep_id
        ids[row, middle + 1 : last] = corpus.ids[b_start:b_end]
        segments[row, middle + 1 : last + 1] = 1
        special[row, 1:middle] = special[row, middle + 1 : last] = False
    counts = [
        num_masked(int(length), config.max_predictions_per_seq, config.masked_lm_prob)
        for length in lengths
    ]
    masked = mask_tokens(
        torch.from_numpy(ids),
        maskable=torch.from_numpy(~special),
        counts=torch.tensor(counts),
        max_predictions=config.max_predictions_per_seq,
        mask_id=tokenizer.mask_id,
        vocab_size=tokenizer.vocab_size,
        generator=generator,
    )
    return Batch(
        masked=masked,
        segment_ids=torch.from_numpy(segments),
        attention_mask=torch.arange(width) < torch.from_numpy(lengths)[:, None],
        next_sentence_labels=torch.from_numpy(instances.labels),
    )


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
        part = Instances(instances.spans[rows], instances.labels[rows])
        yield make_batch(corpus, part, tokenizer, config, generator=generator)
