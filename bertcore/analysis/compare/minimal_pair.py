"""Minimal pairs: two versions of a text, aligned token by token, and BERT's answers to both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.compare.before_after import (
    WordShift,
    check_finite,
    cosine_change,
    divergence_of_rows,
    next_sentence_of,
    word_shifts,
)
from bertcore.model.likelihood import reads_from_left, token_log_likelihoods
from bertcore.model.model import Model, NextSentence
from bertcore.model.tokenizer import Encoding
from bertcore.model.trace import Trace

Text = tuple[str, str | None]
"""Text A and text B."""


class Column(NamedTuple):
    """A column of the alignment: a token of each version, or of only one of them."""

    first: int | None
    """Position in the first version; None: this token was inserted in the second."""
    second: int | None
    """Position in the second version; None: this token was deleted."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The tokens of two versions, over the N columns of their alignment."""

    tokens_first: tuple[str, ...]
    tokens_second: tuple[str, ...]
    columns: tuple[Column, ...]
    changed: tuple[bool, ...]
    """Whether the column's tokens differ or one of them is missing, [N]."""

    @classmethod
    def of(cls, first: Trace, second: Trace) -> "Alignment":
        """Return the alignment of two runs; see `align`."""
        columns = align(first, second)
        changed = (
            i is None or j is None or first.input_ids[i] != second.input_ids[j] for i, j in columns
        )
        return cls(tuple(first.tokens), tuple(second.tokens), columns, tuple(changed))

    @property
    def tokens(self) -> list[tuple[str, str]]:
        """The tokens of each column, [N]; "" where one is missing."""
        return [
            ("" if i is None else self.tokens_first[i], "" if j is None else self.tokens_second[j])
            for i, j in self.columns
        ]

    @property
    def common(self) -> list[int]:
        """The columns of tokens that both versions have."""
        return [n for n, column in enumerate(self.columns) if None not in column]

    def part(self, places: Sequence[int]) -> "Alignment":
        """Return the alignment with these columns alone."""
        columns = tuple(self.columns[n] for n in places)
        return replace(self, columns=columns, changed=tuple(self.changed[n] for n in places))


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """Two versions of a text, compared over the N columns of their alignment."""

    alignment: Alignment
    mask: str
    """The checkpoint's mask token; empty if it has none."""
    shifts: tuple[WordShift, ...]
    """One for each [MASK] that both have; `position` is that in the first version."""
    next_first: NextSentence | None
    """None for single texts, or without a next-sentence head."""
    next_second: NextSentence | None
    hidden_change: NDArray[np.float32]
    """1 - cosine of the two vectors of each column, [L+1, N]; NaN where a token is missing."""
    attention_change: NDArray[np.float32]
    """Jensen-Shannon divergence of each head's rows, mean over the columns that both versions
    have, in bits, [L, H]; a token that a version does not have gets no attention there."""


def versions(text_a: str, text_b: str, sentences_b: tuple[str, str] | None) -> list[Text]:
    """Return the texts of both versions, each a single text or a pair."""
    firsts, seconds = (text_a, text_b), sentences_b or (None, None)
    return list(zip(firsts, seconds, strict=True))


@torch.no_grad()
def compare_pair(
    bert: Model,
    text_a: str,
    text_b: str,
    sentences_b: tuple[str, str] | None = None,
    top_k: int = 5,
) -> MinimalPair:
    """Compare two versions of a text, or of a pair with sentence B of each.

    `top_k` best words of each version are kept at each [MASK], at least 1. ValueError if a run
    holds NaN.
    """
    first, second = (bert.trace(*text) for text in versions(text_a, text_b, sentences_b))
    for trace in (first, second):
        check_finite(trace)
    alignment = Alignment.of(first, second)
    both = [alignment.columns[n] for n in alignment.common]
    left, right = [i for i, _ in both if i is not None], [j for _, j in both if j is not None]
    mask_id = bert.tokenizer.mask_id
    masks = [
        (i, j)
        for i, j in zip(left, right, strict=True)
        if first.input_ids[i] == second.input_ids[j] == mask_id
    ]
    change = np.full((len(first.hidden_states), len(alignment.columns)), np.nan, dtype=np.float32)
    change[:, alignment.common] = cosine_change(
        first.hidden_states[:, left], second.hidden_states[:, right]
    ).numpy()
    return MinimalPair(
        alignment=alignment,
        mask=bert.tokenizer.mask_token or "",
        shifts=word_shifts(bert, first, second, masks, top_k),
        next_first=next_sentence_of(bert, first),
        next_second=next_sentence_of(bert, second),
        hidden_change=change,
        attention_change=_attention_change(first, second, alignment.columns, alignment.common),
    )


def align(first: Trace | Encoding, second: Trace | Encoding) -> tuple[Column, ...]:
    """Align the tokens of two versions.

    Equal runs are found by difflib, on token ids; the tokens that [CLS] and [SEP] enclose are
    aligned with each other only. Between them, replaced tokens are paired as long as there are some
    on both sides, and the rest are insertions or deletions. Swapping the versions gives the same
    columns, swapped.

    Source: Ratcliff and Metzener 1988 (Python's `difflib`).
    """
    keys = [_keys(first), _keys(second)]
    # difflib breaks ties by the order of its arguments, so they are sorted: the result must not
    # depend on the caller's order.
    turned = keys[1] < keys[0]
    left, right = sorted(keys)
    columns: list[Column] = []
    matcher = SequenceMatcher(a=left, b=right, autojunk=False)
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        common = min(i_end - i, j_end - j)
        columns += [Column(i + k, j + k) for k in range(common)]
        columns += [Column(k, None) for k in range(i + common, i_end)]
        columns += [Column(None, k) for k in range(j + common, j_end)]
    return tuple(Column(j, i) if turned else Column(i, j) for i, j in columns)


def _keys(trace: Trace | Encoding) -> list[tuple[int, int]]:
    """Return what must be equal for tokens to match: the id, and its text or special place."""
    keys, specials = [], 0
    for token_id, text in zip(trace.input_ids, trace.text_ids, strict=True):
        specials += text < 0
        keys.append((token_id, text if text >= 0 else -specials))
    return keys


@dataclass(frozen=True, slots=True)
class AlignedAttention:
    """The attention of a head, or the mean of a layer, in two versions."""

    alignment: Alignment
    layer: int
    head: int | None
    """None: the mean of the layer's heads."""
    first: NDArray[np.float32]
    """Over the columns, row = query token, [N, N]; NaN in rows and columns of tokens that the
    version does not have. Rows sum to 1 without them."""
    second: NDArray[np.float32]

    @property
    def difference(self) -> NDArray[np.float32]:
        """The second minus the first."""
        return self.second - self.first


@torch.no_grad()
def aligned_attention(
    bert: Model,
    text_a: str,
    text_b: str,
    sentences_b: tuple[str, str] | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> AlignedAttention:
    """Return the attention of two versions over the columns of their alignment.

    The texts are those of `compare_pair`. Of the last layer if none is given, and of its heads'
    mean if no head is.
    """
    traces = [bert.trace(*text) for text in versions(text_a, text_b, sentences_b)]
    alignment = Alignment.of(*traces)
    layer = len(traces[0].attentions) - 1 if layer is None else layer
    size = len(alignment.columns)
    aligned = []
    for side, trace in enumerate(traces):
        maps = trace.attentions[layer].float()
        weights = maps.mean(0) if head is None else maps[head]
        there = torch.tensor([n for n, at in enumerate(alignment.columns) if at[side] is not None])
        positions = [at[side] for at in alignment.columns if at[side] is not None]
        out = torch.full((size, size), torch.nan)
        out[there[:, None], there] = weights[positions][:, positions]
        aligned.append(out.numpy())
    return AlignedAttention(alignment, layer, head, *aligned)


@dataclass(frozen=True, slots=True)
class AlignedLikelihoods:
    """The log-probability of each token of two versions, in nats."""

    alignment: Alignment
    """Of the tokens that have one in a version: without [CLS] and [SEP]."""
    first: NDArray[np.float64]
    """By column, [N]; NaN where the version has no such token."""
    second: NDArray[np.float64]
    reads_from_left: bool
    """Whether each token is predicted from those before it; else it is hidden, with the pieces
    after it in its word."""

    @property
    def nats(self) -> NDArray[np.float64]:
        """The first, the second, and the first minus the second, [3, N]."""
        return np.stack([self.first, self.second, self.first - self.second])

    @property
    def sums(self) -> tuple[float, float]:
        """The scores of the versions."""
        return float(np.nansum(self.first)), float(np.nansum(self.second))


def aligned_likelihoods(
    bert: Model,
    text_a: str,
    text_b: str,
    sentences_b: tuple[str, str] | None = None,
    *,
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> AlignedLikelihoods:
    """Return how probable each token of two versions is; see `token_log_likelihoods`."""
    texts = versions(text_a, text_b, sentences_b)
    alignment = Alignment.of(*(bert.trace(*text) for text in texts))
    aligned = []
    for side, text in enumerate(texts):

        def report(fraction: float, before: int = side) -> None:
            on_fraction((before + fraction) / 2)

        scores = token_log_likelihoods(bert, *text, progress=report)
        places = [column[side] for column in alignment.columns]
        aligned.append(np.array([np.nan if at is None else scores[at] for at in places]))
    scored = np.flatnonzero(np.isfinite(aligned).any(0)).tolist()
    first, second = (each[scored] for each in aligned)
    return AlignedLikelihoods(alignment.part(scored), first, second, reads_from_left(bert))


def _attention_change(
    first: Trace, second: Trace, columns: Sequence[Column], both: Sequence[int]
) -> NDArray[np.float32]:
    num_columns, spread = len(columns), []
    for side, trace in enumerate((first, second)):
        rows = [columns[n][side] for n in both]
        there = [n for n, column in enumerate(columns) if column[side] is not None]
        positions = [columns[n][side] for n in there]
        spread.append((trace.attentions, rows, there, positions))
    changes = []
    for layer in range(len(first.attentions)):  # one at a time: all in float32 would be 150 MB
        maps = []
        for attentions, rows, there, positions in spread:
            chosen = attentions[layer].float()[:, rows]
            out = chosen.new_zeros(*chosen.shape[:2], num_columns)
            out[..., there] = chosen[..., positions]
            maps.append(out)
        changes.append(divergence_of_rows(*maps).mean(-1))
    change: NDArray[np.float32] = torch.stack(changes).numpy()
    return change
