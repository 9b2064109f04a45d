"""Minimal pairs: two versions of a text, aligned token by token, and BERT's answers to both."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.compare.before_after import (
    WordShift,
    check_finite,
    cosine_change,
    divergence_of_rows,
    next_sentence_of,
    word_shifts,
)
from bertcore.model import Model, NextSentence
from bertcore.tokenizer import Encoding
from bertcore.trace import Trace


class Column(NamedTuple):
    """A column of the alignment: a token of each version, or of only one of them."""

    first: int | None
    """Position in the first version; None: this token was inserted in the second."""
    second: int | None
    """Position in the second version; None: this token was deleted."""


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """Two versions of a text, compared over the N columns of their alignment."""

    columns: tuple[Column, ...]
    changed: tuple[bool, ...]
    """Whether the column's tokens differ or one of them is missing, [N]."""
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


@torch.no_grad()
def compare_pair(bert: Model, first: Trace, second: Trace, top_k: int = 5) -> MinimalPair:
    """Compare two versions of a text, run through the same checkpoint.

    Args:
        bert: The model of both traces; its heads read the last hidden states.
        first, second: Two single texts, or two pairs.
        top_k: Number of best words of each version at each [MASK], at least 1.

    ValueError if one is a pair and the other is not, or a run holds NaN.
    """
    if (first.text_b is None) != (second.text_b is None):
        raise ValueError(
            "one version is a pair and the other a single text. Give two pairs or two single texts."
        )
    for trace in (first, second):
        check_finite(trace)
    columns = align(first, second)
    both = [(n, i, j) for n, (i, j) in enumerate(columns) if i is not None and j is not None]
    masks = [(i, j) for _, i, j in both if first.input_ids[i] == bert.tokenizer.mask_id]
    masks = [(i, j) for i, j in masks if second.input_ids[j] == bert.tokenizer.mask_id]
    places = [n for n, _, _ in both]
    change = np.full((len(first.hidden_states), len(columns)), np.nan, dtype=np.float32)
    change[:, places] = cosine_change(
        first.hidden_states[:, [i for _, i, _ in both]],
        second.hidden_states[:, [j for _, _, j in both]],
    ).numpy()
    return MinimalPair(
        columns=columns,
        changed=tuple(
            i is None or j is None or first.input_ids[i] != second.input_ids[j] for i, j in columns
        ),
        shifts=word_shifts(bert, first, second, masks, top_k),
        next_first=next_sentence_of(bert, first),
        next_second=next_sentence_of(bert, second),
        hidden_change=change,
        attention_change=_attention_change(first, second, columns, places),
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


@torch.no_grad()
def aligned_attention(
    first: Trace, second: Trace, columns: Sequence[Column], layer: int, head: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return the attention of both versions over the columns; second - first is the difference.

    Args:
        columns: From `align`, N of them.
        layer: 0 to L-1.
        head: 0 to H-1, or None for the mean of the layer's heads.

    Returns:
        Two float32 tensors [N, N], row = query token; NaN in rows and columns of tokens
        that a version does not have. Rows sum to 1 without them.
    """
    aligned = []
    for side, trace in enumerate((first, second)):
        maps = trace.attentions[layer].float()
        weights = maps.mean(0) if head is None else maps[head]
        there = [n for n, column in enumerate(columns) if column[side] is not None]
        positions = [column[side] for column in columns if column[side] is not None]
        out = torch.full((len(columns), len(columns)), torch.nan)
        at = torch.tensor(there)
        out[at[:, None], at] = weights[positions][:, positions]
        aligned.append(out)
    return aligned[0], aligned[1]


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
