"""Tokenised examples, stored in a few flat arrays, and batches of them with little padding."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.model.tokenizer import Tokenizer
from bertcore.model.tokenizer.truncation import longest_first

IGNORED = -100
"""Target of a token that has none, as in `transformers`."""
MAX_TOKENS = 400_000_000
"""Of all rows: 2 GB. Windows over a text repeat it for each question."""
_POOL_BATCHES = 50
"""Batches of a pool within which shuffled rows are sorted by length."""


class Batch(NamedTuple):
    """The network's inputs, padded to the longest row, and the targets. G is `group`."""

    input_ids: Tensor
    """int64, [B, T]; of choices [B, G, T]."""
    segment_ids: Tensor
    attention_mask: Tensor | None
    """True at tokens; None if nothing is padded."""
    targets: Tensor
    """[B] (class, score or choice), [B, C] (1 for each label of the text, else 0), [B, 2] (first
    and last token), [B, T] (class of each token)."""
    weights: Tensor | None = None
    """Of the examples in the loss, float32, [B]; None: all count alike."""

    def to(self, device: torch.device) -> Batch:
        return Batch(*(None if x is None else x.to(device) for x in self))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Rows:
    """All inputs of a data set. 1 million sentences of 20 tokens take 80 MB."""

    ids: NDArray[np.int32]
    """Token ids of all rows in a row, special tokens included."""
    starts: NDArray[np.int64]
    """Where each row starts, and the end of the last: [R + 1]."""
    segments: NDArray[np.int8]
    targets: NDArray[np.generic]
    """[R / group], [R, C] of truth values, [R, 2], or one for each token as in `ids`."""
    num_cut: int
    """Rows that were cut to the longest length."""
    pad_id: int
    group: int = 1
    """Rows of an example: the number of its choices."""
    weights: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        """Return the number of examples: rows, or groups of them."""
        return (len(self.starts) - 1) // self.group

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each example; for choices, of the longest one."""
        longest: NDArray[np.int64] = np.diff(self.starts).reshape(-1, self.group).max(1)
        return longest

    @property
    def hashes(self) -> list[int]:
        """A hash of each example, equal for equal texts."""
        spans = pairwise(self.starts[:: self.group])
        return [hash(self.ids[first:end].tobytes()) for first, end in spans]

    @property
    def has_token_targets(self) -> bool:
        return self.targets.ndim == 1 and len(self.targets) == len(self.ids) != len(self)

    def rows_of(self, examples: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of these examples, one after the other."""
        return (examples[:, None] * self.group + np.arange(self.group)).ravel()

    def targets_of(self, examples: Sequence[int] | NDArray[np.int64]) -> NDArray[np.generic]:
        """Return the targets of these examples; token targets are concatenated, [N]."""
        chosen = np.asarray(examples)
        targets: NDArray[np.generic] = self.targets[chosen]
        if self.has_token_targets:
            spans = [self.targets[self.starts[i] : self.starts[i + 1]] for i in chosen]
            targets = np.concatenate(spans)
        return targets

    def batch(self, examples: Sequence[int] | NDArray[np.int64]) -> Batch:
        chosen = np.asarray(examples)
        rows = self.rows_of(chosen)
        lengths = self.starts[rows + 1] - self.starts[rows]
        longest = int(lengths.max())
        places = np.arange(longest)
        kept = places < lengths[:, None]  # [R, T]
        flat = np.where(kept, self.starts[rows][:, None] + places, 0)
        ids = np.where(kept, self.ids[flat], self.pad_id)
        segments = np.where(kept, self.segments[flat], 0)
        targets: NDArray[np.generic]
        if self.has_token_targets:
            targets = np.where(kept, self.targets[flat], IGNORED)
        else:
            targets = self.targets[chosen]
        shape = (len(chosen), self.group, longest) if self.group > 1 else (len(chosen), longest)
        return Batch(
            input_ids=torch.from_numpy(ids.astype(np.int64)).view(shape),
            segment_ids=torch.from_numpy(segments.astype(np.int64)).view(shape),
            attention_mask=None if kept.all() else torch.from_numpy(kept).view(shape),
            targets=torch.from_numpy(
                targets.astype(np.float32 if targets.dtype.kind in "fb" else np.int64)
            ),
            weights=None if self.weights is None else torch.from_numpy(self.weights[chosen]),
        )


class RowBuilder:
    """Collects rows of at most `max_length` tokens, special ones included, into flat arrays."""

    def __init__(self, tokenizer: Tokenizer, max_length: int) -> None:
        self.pad_id, self.max_length = tokenizer.pad_id, max_length
        self.templates = tokenizer.template(is_pair=False), tokenizer.template(is_pair=True)
        self.num_cut = 0
        self._ids = array("i")
        self._starts = array("q", [0])
        self._segments = array("b")

    def __len__(self) -> int:
        """Return the number of rows so far."""
        return len(self._starts) - 1

    def add(self, first: Sequence[int], second: Sequence[int] | None = None) -> list[int]:
        """Add a text or a pair with its special tokens, truncated `longest_first`.

        Return the number of tokens kept of each; ValueError if all rows have more than MAX_TOKENS.
        """
        parts = [first] if second is None else [first, second]
        lengths = [len(part) for part in parts]
        template = self.templates[len(parts) - 1]
        kept = longest_first(lengths, self.max_length - template.num_special)
        self.num_cut += kept != lengths
        cut = (part[:count] for part, count in zip(parts, kept, strict=True))
        ids, segments = template.fill(*cut)
        self._ids.extend(ids)
        self._segments.extend(segments)
        self._starts.append(len(self._ids))
        if len(self._ids) > MAX_TOKENS:
            raise ValueError(
                f"the first {len(self):,} inputs have more than {MAX_TOKENS:,} tokens, the most "
                "that are kept. Give fewer or shorter texts, or fewer questions on a long one."
            )
        return kept

    def build(self, targets: NDArray[np.generic], *, group: int = 1) -> Rows:
        return Rows(
            ids=np.array(self._ids, dtype=np.int32),
            starts=np.array(self._starts, dtype=np.int64),
            segments=np.array(self._segments, dtype=np.int8),
            targets=targets,
            num_cut=self.num_cut,
            pad_id=self.pad_id,
            group=group,
        )


def shuffled_batches(rows: Rows, batch_size: int, *, seed: int) -> list[NDArray[np.int64]]:
    """Return the examples of each batch of an epoch, every example once; the last may have fewer.

    The examples are shuffled, then sorted by length within pools of 50 batches, then the batches
    are shuffled. This gives little padding, and batches differ by epoch.

    Source: ours; similar to `group_by_length` of transformers' Trainer.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(rows))
    lengths = rows.lengths
    batches: list[NDArray[np.int64]] = []
    size = batch_size * _POOL_BATCHES
    for start in range(0, len(order), size):
        pool = order[start : start + size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def ordered_batches(rows: Rows, batch_size: int) -> list[NDArray[np.int64]]:
    """Return the examples of batches for scoring: by length, the longest first.

    A lack of memory thus shows at once.
    """
    order = np.argsort(-rows.lengths, kind="stable")
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


def share_padding(rows: Rows, batches: Sequence[NDArray[np.int64]]) -> float:
    """Return the fraction of padding in the tokens of batches."""
    lengths = rows.lengths
    padded = sum(int(lengths[batch].max()) * len(batch) for batch in batches)
    return 1 - float(lengths.sum()) / padded if padded else 0.0
