"""Batches for pretraining: rows of pairs or of running text, with some tokens hidden."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.configs import DataConfig
from bertcore.configs.data import MASK_SHARES
from bertcore.model.objectives.masking import mask_tokens
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.pretraining.data.corpus import PackedCorpus
from bertcore.training.pretraining.data.layout import lay_out
from bertcore.training.pretraining.data.rows import (
    Instances,
    PackedRows,
    create_instances,
    create_ordered_pairs,
    create_packed_rows,
)


class Totals(NamedTuple):
    """Counts of a whole batch."""

    num_pairs: int
    """All rows; 0 if nothing is asked about pairs."""
    num_masked: int
    """Number of tokens to predict."""
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
    """Rows of one step, or of a part of it: tensors by name, which are attributes as well.

    Of all objectives `input_ids`, int64, [B, T], and `attention_mask`, True at tokens; of our
    networks `segment_ids`, [B, T], `positions` of the predicted tokens, padded with 0, `labels` and
    `weights`, 1 or 0 for padding, [B, P]; of masked words `action`, as in `Masked`; of judged pairs
    `next_sentence_labels`, 0: B follows A, 1: random or, for sentence order, exchanged, [B].
    Objectives document those of their own.
    """

    tensors: Mapping[str, Tensor]
    totals: Totals
    """Counts of the whole batch, of which these rows may be a part: the divisors of losses."""

    def __getattr__(self, name: str) -> Tensor:
        try:
            return self.tensors[name]
        except KeyError:
            raise AttributeError(f"this objective's batches have no {name!r}") from None

    @classmethod
    def whole(cls, tensors: Mapping[str, Tensor]) -> "Batch":
        """Return a whole batch, with the counts of its tensors."""
        totals = Totals(
            num_pairs=len(tensors.get("next_sentence_labels", ())),
            num_masked=int(tensors["weights"].sum()),
            num_tokens=int(tensors["attention_mask"].sum()),
        )
        return cls(tensors, totals)

    @property
    def num_tokens(self) -> int:
        """Number of tokens in these rows, without padding."""
        return int(self.attention_mask.sum())

    @property
    def num_rows(self) -> int:
        return len(self.input_ids)

    def take(self, rows: slice | None) -> "Batch":
        """Return some of the rows, as a part of this batch; None: all of them."""
        if rows is None:
            return self
        return replace(self, tensors={name: tensor[rows] for name, tensor in self.tensors.items()})

    def to(self, device: torch.device, *, keep_mask: bool = False) -> dict[str, Tensor]:
        """Return the tensors on a device, with the totals as float32 scalars.

        Those are `total_masked`, at least 1, `total_pairs` and `total_tokens`. With `keep_mask`,
        `attention_mask` is there even without padding, so that a compiled network sees equal
        shapes; without it, attention takes its fastest path.
        """
        moved = {name: tensor.to(device) for name, tensor in self.tensors.items()}
        if not keep_mask and bool(self.attention_mask.all()):
            del moved["attention_mask"]
        pairs, _, tokens = self.totals
        for name, total in (("masked", self.totals.divisor), ("pairs", pairs), ("tokens", tokens)):
            moved[f"total_{name}"] = torch.tensor(float(total), device=device)
        return moved


class BatchSource(NamedTuple):
    """What a batch is made of."""

    corpus: PackedCorpus
    rows: Instances | PackedRows
    """The rows of the whole batch."""
    tokenizer: Tokenizer
    config: DataConfig
    """Row length, and how rows are changed."""
    generator: torch.Generator | Sequence[torch.Generator]
    """The random source of the batch, or one for each of its rows; fixes the result."""
    part: slice | None = None
    """Only these rows are wanted, as they are in the batch."""

    @property
    def device(self) -> torch.device:
        one = self.generator
        return (one if isinstance(one, torch.Generator) else one[0]).device


def make_batch(source: BatchSource) -> Batch:
    """Lay out pairs or packed rows, padded to T, and hide tokens as BERT does.

    The batch is made on the generator's device, after the token look-up.

    ValueError if `masked_lm_prob` asks for more tokens than a pair has.
    """
    corpus, rows, tokenizer, config, generator, part = source
    own_rows = part or slice(0, len(rows))
    if not isinstance(generator, torch.Generator):
        generator = generator[own_rows]
    lengths, own = rows.lengths, rows.take(own_rows)
    counts = num_masked_of(lengths, config)
    tensors: dict[str, Tensor] = {}
    if isinstance(own, Instances):
        tensors["next_sentence_labels"] = torch.from_numpy(own.labels).to(source.device)
    else:
        # A row of many short documents may have less text than tokens to hide.
        assert isinstance(rows, PackedRows)  # as those of the part
        counts = np.minimum(counts, rows.num_text_tokens)
    laid_out = lay_out(corpus, own, tokenizer, config.max_seq_length, source.device)
    masked = mask_tokens(
        laid_out.ids,
        maskable=~laid_out.is_special,
        counts=torch.from_numpy(counts[own_rows]).to(source.device),
        max_predictions=config.max_predictions_per_seq,
        mask_id=tokenizer.mask_id,
        vocab_size=tokenizer.vocab_size,
        generator=generator,
        rows_of=(own_rows.start, len(rows)),
        actions=config.actions,
    )
    totals = Totals(
        num_pairs=len(rows) if tensors else 0,
        num_masked=int(counts.sum()),
        num_tokens=int(lengths.sum()),
    )
    return Batch({**laid_out.inputs, **masked._asdict(), **tensors}, totals)


def num_masked_of(lengths: NDArray[np.int64], config: DataConfig) -> NDArray[np.int64]:
    """Return `num_masked` for many lengths at once; numpy rounds halves to even, as Python does."""
    wanted = np.rint(config.masked_lm_prob * lengths).astype(np.int64)
    counts: NDArray[np.int64] = np.clip(wanted, 1, config.max_predictions_per_seq)
    return counts


def cut(
    corpus: PackedCorpus, config: DataConfig, *, rng: Random, documents: range | None = None
) -> Instances | PackedRows:
    """Cut documents (a range, all by default) into the rows of the objective.

    `rng` determines the pairs; packed rows draw nothing.
    """
    length, short = config.max_seq_length, config.short_seq_prob
    if config.rows == "packed":
        return create_packed_rows(corpus, max_seq_length=length, documents=documents)
    if config.rows == "pairs":
        return create_instances(
            corpus, max_seq_length=length, short_seq_prob=short, rng=rng, documents=documents
        )
    return create_ordered_pairs(
        corpus,
        max_seq_length=length,
        swapped=0.5 if config.rows == "swapped" else 0.0,
        short_seq_prob=short,
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
        yield make_batch(BatchSource(corpus, rows, tokenizer, config, generator))


def fixed_rows(
    corpus: PackedCorpus, config: DataConfig, *, seed: int, num_rows: int
) -> Iterator[Instances | PackedRows]:
    """Yield up to `num_rows` held-out rows, a batch at a time, the same for a seed."""
    instances = cut(corpus, config, rng=Random(f"{seed}/held-out"))
    order = np.random.default_rng([seed, 7]).permutation(len(instances))[:num_rows]
    for start in range(0, len(order), config.batch_size):
        yield instances.take(order[start : start + config.batch_size])
