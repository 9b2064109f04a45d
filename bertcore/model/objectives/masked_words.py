"""Masked words: single pieces (BERT), whole words, and spans (SpanBERT), in one row."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.model.objectives.masking import (
    Masked,
    mask_spans_of_rows,
    mask_tokens,
    mask_words,
    num_masked,
)
from bertcore.model.objectives.row import (
    ACTIONS,
    BECAME,
    SHARE,
    Actions,
    Corrupted,
    Ids,
    Pieces,
    Row,
    check_masking,
    labels_at,
    merged,
)

SPAN_P, LONGEST_SPAN = 0.2, 10
"""SpanBERT's geometric distribution of span lengths, and the longest span, in words."""


def mask_pieces(
    row: Row,
    pieces: Pieces,
    rng: np.random.Generator,
    *,
    share: float = SHARE,
    actions: Actions = ACTIONS,
) -> Corrupted:
    """Hide single pieces, each with the same probability: 80% [MASK], 10% kept, 10% random.

    `share` is that of all tokens of the row, special ones too; `actions` the shares of [MASK], kept
    and random among the chosen, 1 in all.

    ValueError if there is no text, or a share is out of its range.

    Source: that of `mask_tokens`, as in pretraining.
    """
    check_masking(row, share, actions)
    number = min(len(row.text_places), num_masked(len(row), len(row), share))
    masked = mask_tokens(**of_one_row(row, pieces, rng, number, actions), vocab_size=pieces.size)
    return from_one_row(row, masked)


def mask_whole_words(
    row: Row, pieces: Pieces, rng: np.random.Generator, *, share: float = SHARE
) -> Corrupted:
    """Hide whole words: all pieces of a word are chosen, each replaced independently.

    A word that would exceed the number of pieces to hide is skipped, so a row of long words may
    have fewer hidden pieces, or none.

    Args, errors and source are those of `mask_pieces` and `mask_words`.
    """
    check_masking(row, share)
    masked = mask_words(
        **of_one_row(row, pieces, rng, num_masked(len(row), len(row), share)),
        starts_word=torch.from_numpy(row.starts_word)[None],
        vocab_size=pieces.size,
    )
    return from_one_row(row, masked)


def mask_spans(
    row: Row, pieces: Pieces, rng: np.random.Generator, *, share: float = SHARE
) -> Corrupted:
    """Hide spans of whole words until the share is reached; a span is replaced as one.

    `share` is that of the pieces of the text, rounded up. Errors as `mask_pieces`. Source: that of
    `mask_spans_of_rows`.
    """
    check_masking(row, share)
    found = mask_spans_of_rows(
        **of_one_row(row, pieces, rng, int(np.ceil(share * len(row.text_places)))),
        starts_word=torch.from_numpy(row.starts_word)[None],
        lengths=span_lengths(SPAN_P, LONGEST_SPAN),
        unigrams=np.arange(pieces.size),
    )
    return from_one_row(row, found.masked, by_span=True)


def of_one_row(
    row: Row, pieces: Pieces, rng: np.random.Generator, number: int, actions: Actions = ACTIONS
) -> dict[str, Any]:
    """Return the arguments of a function that hides up to `number` pieces of a batch."""
    return {
        "input_ids": torch.from_numpy(row.ids)[None],
        "maskable": torch.from_numpy(~row.is_special)[None],
        "counts": torch.tensor([number]),
        "max_predictions": number,
        "mask_id": pieces.mask_id,
        "generator": torch.Generator().manual_seed(int(rng.integers(2**62))),
        "actions": actions,
    }


def from_one_row(row: Row, masked: Masked, *, by_span: bool = False) -> Corrupted:
    """Return the result of such a function; `by_span`: a span is hidden as one."""
    chosen = masked.positions[0][masked.weights[0] == 1].tolist()
    actions = dict(zip(chosen, masked.action[0].tolist(), strict=False))
    spans = tuple((place, place + 1) for place in chosen)
    if by_span:
        spans = merged(spans)
    return Corrupted(
        input_ids=masked.input_ids[0].numpy(),
        labels=labels_at(row, np.array(chosen, dtype=np.int64)),
        spans=spans,
        became=tuple(BECAME[actions[start]] for start, _ in spans),
    )


def span_lengths(p: float, longest: int) -> np.ndarray:
    """Return the probability of a span of 1 to `longest` words: a truncated geometric distribution.

    >>> lengths = span_lengths(0.2, 10)
    >>> round(float((lengths * np.arange(1, 11)).sum()), 3)
    3.797
    """
    weights = p * (1 - p) ** np.arange(longest)
    lengths: np.ndarray = weights / weights.sum()
    return lengths


WEIGHT = 50.0
"""Weight of the discriminator's loss, relative to 1 for the generator's."""


def sample(logits: NDArray[np.floating], rng: np.random.Generator) -> Ids:
    """Draw one id from each row of a generator's logits [N, V], by Gumbel's maximum."""
    noise = -np.log(-np.log(rng.random(logits.shape)))
    drawn: Ids = (logits + noise).argmax(-1)
    return drawn
