"""Masked words: single pieces (BERT), whole words, and spans with their boundary (SpanBERT)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.objectives.masking import mask_tokens, num_masked
from bertcore.objectives.row import (
    ACTIONS,
    BECAME,
    IGNORED,
    SHARE,
    Actions,
    Corrupted,
    Flags,
    Ids,
    Pieces,
    Row,
    Span,
    check_masking,
    labels_at,
    merged,
    replace_pieces,
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
    most: int | None = None,
) -> Corrupted:
    """Hide single pieces, each with the same probability: 80% [MASK], 10% kept, 10% random.

    The masking of pretraining (`mask_tokens`), for one row.

    Args:
        row: The text.
        pieces: Of the vocabulary.
        rng: Fixes the result.
        share: Share of all tokens of the row, including special ones, that are chosen.
        actions: Shares of [MASK], kept and random among the chosen; they sum to 1.
        most: Maximum number of chosen pieces, at least 1; None: no limit.

    ValueError if there is no text, or a share is out of its range.

    Source: Devlin et al. 2019, section 3.1; google-research/bert create_pretraining_data.py.
    """
    check_masking(row, share, actions, most)
    number = min(len(row.text_places), num_masked(len(row), most or len(row), share))
    masked = mask_tokens(
        torch.from_numpy(row.ids)[None],
        maskable=torch.from_numpy(~row.is_special)[None],
        counts=torch.tensor([number]),
        max_predictions=number,
        mask_id=pieces.mask_id,
        vocab_size=pieces.size,
        generator=torch.Generator().manual_seed(int(rng.integers(2**62))),
        actions=actions,
    )
    chosen = masked.positions[0].numpy()
    return Corrupted(
        input_ids=masked.input_ids[0].numpy(),
        labels=labels_at(row, chosen),
        spans=tuple((place, place + 1) for place in chosen.tolist()),
        became=tuple(BECAME[action] for action in masked.action[0].tolist()),
    )


def mask_whole_words(
    row: Row,
    pieces: Pieces,
    rng: np.random.Generator,
    *,
    share: float = SHARE,
    actions: Actions = ACTIONS,
    most: int | None = None,
) -> Corrupted:
    """Hide whole words: all pieces of a word are chosen, each replaced independently.

    A word that would exceed the number of pieces to hide is skipped, so a row of long words may
    have fewer hidden pieces, or none.

    Args and errors are those of `mask_pieces`.

    Source: google-research/bert create_pretraining_data.py, do_whole_word_mask.
    """
    check_masking(row, share, actions, most)
    words = row.words()
    number = num_masked(len(row), most or len(row), share)
    chosen: list[int] = []
    for start, end in (words[i] for i in rng.permutation(len(words))):
        if len(chosen) == number:
            break
        if len(chosen) + end - start <= number:
            chosen += range(start, end)
    return replace_pieces(row, pieces, rng, np.sort(np.array(chosen, dtype=np.int64)), actions)


def mask_spans(
    row: Row,
    pieces: Pieces,
    rng: np.random.Generator,
    *,
    share: float = SHARE,
    actions: Actions = ACTIONS,
    p: float = SPAN_P,
    longest: int = LONGEST_SPAN,
    unigrams: Ids | None = None,
) -> Corrupted:
    """Hide spans of whole words until the share is reached; a span is replaced as one.

    A span begins at a random piece, moved to the start of its word, and takes words until its
    length is reached; the last may be cut off once the number of pieces is reached. Adjacent spans
    are merged.

    Args:
        row, pieces, rng, actions: As for `mask_pieces`.
        share: Share of the pieces of the text, rounded up.
        p: Parameter of the geometric distribution of lengths in words, 0 < p < 1.
        longest: The longest span, in words.
        unigrams: Ids from which random pieces are drawn, such as a corpus; None draws from the
            vocabulary.

    ValueError as `mask_pieces`.

    Source: Joshi et al. 2020, section 3.1.
    """
    check_masking(row, share, actions)
    lengths = span_lengths(p, longest)
    words = row.words()
    word_of = {place: i for i, (start, end) in enumerate(words) for place in range(start, end)}
    places = row.text_places
    number = int(np.ceil(share * len(places)))
    hidden: set[int] = set()
    while len(hidden) < number:
        wanted = int(rng.choice(len(lengths), p=lengths)) + 1
        free = [place for place in places.tolist() if place not in hidden]
        first = word_of[free[int(rng.integers(len(free)))]]
        for i in range(first, min(first + wanted, len(words))):
            if i > first and words[i][0] != words[i - 1][1]:
                break  # a [SEP] lies between
            for place in range(*words[i]):
                if len(hidden) < number:
                    hidden.add(place)
    spans = merged([(place, place + 1) for place in hidden])
    input_ids = row.ids.copy()
    became = []
    for start, end in spans:
        action = int(rng.choice(3, p=actions))
        became.append(BECAME[action])
        if action == 0:
            input_ids[start:end] = pieces.mask_id
        elif action == 2:
            count = end - start
            source = np.arange(pieces.size) if unigrams is None else unigrams
            input_ids[start:end] = source[rng.integers(len(source), size=count)]
    chosen = np.array(sorted(hidden), dtype=np.int64)
    return Corrupted(
        input_ids=input_ids, labels=labels_at(row, chosen), spans=spans, became=tuple(became)
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


class Boundary(NamedTuple):
    """One prediction of the span boundary objective."""

    left: int
    """The place before the span."""
    right: int
    """The place after it."""
    offset: int
    """Which token of the span is predicted, from 1."""
    place: int
    """Where that token is."""


def boundaries(row: Row, spans: Sequence[Span], most: int | None = None) -> list[Boundary]:
    """Return the predictions of the span boundary objective: each span token from both ends.

    A span at an end of the row has no token beside it, so nothing is predicted; [CLS] and [SEP]
    count as such tokens.

    Args:
        row: The text.
        spans: The hidden spans.
        most: The last offset that is predicted; None predicts all.

    Source: Joshi et al. 2020, section 3.2.
    """
    return [
        Boundary(start - 1, end, place - start + 1, place)
        for start, end in spans
        if start > 0 and end < len(row)
        for place in range(start, end)
        if most is None or place - start < most
    ]


WEIGHT = 50.0
"""Weight of the discriminator's loss, relative to 1 for the generator's."""


@dataclass(frozen=True, slots=True, eq=False)
class Replaced:
    """A row with its hidden tokens replaced by the generator's guesses."""

    input_ids: Ids
    """What the discriminator reads, [T]."""
    is_replaced: Flags
    """Its targets, [T]: a guess that is right by luck does not count as a replacement."""


def hide_for_generator(
    row: Row, pieces: Pieces, rng: np.random.Generator, *, share: float = SHARE
) -> Corrupted:
    """Hide pieces from the generator, all as [MASK].

    Args and errors are those of `mask_pieces`.

    Source: Clark et al. 2020, section 2. Differs from google-research/electra: places are drawn
    without replacement, so the share is exact, and all become [MASK].
    """
    return mask_pieces(row, pieces, rng, share=share, actions=(1.0, 0.0, 0.0))


def sample(
    logits: NDArray[np.floating], rng: np.random.Generator, *, temperature: float = 1.0
) -> Ids:
    """Draw one id from each row of logits [N, V], by Gumbel's maximum.

    Args:
        logits: The generator's.
        rng: Fixes the result.
        temperature: Divides the logits, above 0.
    """
    noise = -np.log(-np.log(rng.random(logits.shape)))
    drawn: Ids = (logits / temperature + noise).argmax(-1)
    return drawn


def replace(row: Row, hidden: Corrupted, guesses: Ids) -> Replaced:
    """Write the generator's guesses into the original row.

    Args:
        row: The text.
        hidden: From `hide_for_generator`.
        guesses: One for each hidden place, in order, [N].
    """
    places = np.flatnonzero(hidden.labels != IGNORED)
    input_ids = row.ids.copy()
    input_ids[places] = guesses
    return Replaced(input_ids, input_ids != row.ids)
