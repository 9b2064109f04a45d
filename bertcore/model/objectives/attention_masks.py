"""Objectives defined by attention masks: causal, UniLM's four masks, XLNet's permutation."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bertcore.model.objectives.masked_words import from_one_row, of_one_row
from bertcore.model.objectives.masking import mask_grams, num_masked
from bertcore.model.objectives.row import (
    IGNORED,
    SHARE,
    Corrupted,
    Flags,
    Ids,
    Pieces,
    Row,
    check_masking,
    check_share,
    check_text,
)

Direction = Literal["bidirectional", "left-to-right", "right-to-left", "prefix"]
DIRECTIONS: dict[Direction, float] = {
    "bidirectional": 1 / 3,
    "prefix": 1 / 3,
    "left-to-right": 1 / 6,
    "right-to-left": 1 / 6,
}
"""UniLM's masks, and the share of batches that has each."""
SINGLE = 0.8
"""Of UniLM's hidden places the share that are one piece; the others are two or three."""
GRAMS = np.array([SINGLE, (1 - SINGLE) / 2, (1 - SINGLE) / 2])
"""Probability of hidden runs of one, two and three pieces."""
PREDICTED = 1 / 6
"""Of XLNet's rows the share that is predicted: the end of the order (K = 6)."""
LONGEST_GRAM = 5
"""The longest run of pieces that XLNet predicts; the probability of n is proportional to 1 / n."""


def causal(row: Row) -> Corrupted:
    """Predict each next token from those before it; the row is not changed.

    ValueError if the row has fewer than two tokens, or none of text.

    Source: Radford et al. 2018, section 3.1.
    """
    if len(row) < 2:
        raise ValueError(f"the row has {len(row)} token; expected at least 2.")
    check_text(row)
    labels = np.append(row.ids[1:], IGNORED)
    return Corrupted(input_ids=row.ids, labels=labels, allowed=allowed("left-to-right", len(row)))


def allowed(direction: Direction, length: int, prefix: int = 0) -> Flags:
    """Return which token may attend to which, [T, T]: True if a row's token may attend to a
    column's.

    For "prefix", the `prefix` source tokens see each other and nothing after.

    Source: Dong et al. 2019, figure 1.
    """
    rows, columns = np.ogrid[:length, :length]
    if direction == "left-to-right":
        return columns <= rows
    if direction == "right-to-left":
        return columns >= rows
    if direction == "prefix":
        source: Flags = columns < prefix
        return source | ((rows >= prefix) & (columns <= rows))
    return np.ones((length, length), dtype=bool)


def unilm(
    row: Row,
    pieces: Pieces,
    rng: np.random.Generator,
    *,
    direction: Direction,
    second_begins: int | None = None,
    share: float = SHARE,
) -> Corrupted:
    """Hide pieces, like BERT, and limit attention; a prediction is made at its [MASK].

    For a pair, text B begins at `second_begins`; only "prefix" needs it. ValueError as
    `mask_pieces`, or if there is no pair where one is needed.

    Source: Dong et al. 2019, section 2.3; that of `mask_grams`.
    """
    check_masking(row, share)
    if direction == "prefix" and second_begins is None:
        raise ValueError(
            "sequence-to-sequence masks need a pair: write a text B, or name another direction."
        )
    number = num_masked(len(row), len(row), share)
    masked = mask_grams(
        **of_one_row(row, pieces, rng, number), lengths=GRAMS, vocab_size=pieces.size
    )
    mask = allowed(direction, len(row), second_begins or 0)
    return replace(from_one_row(row, masked), allowed=mask)


@dataclass(frozen=True, slots=True, eq=False)
class Permutation:
    """An order in which a row is predicted. The tokens keep their places."""

    rank: Ids
    """The place of each token in the order, [T]; -1 at tokens that everyone sees first."""
    content: Flags
    """Who attends to whom in the content stream, [T, T]: a token sees itself."""
    query: Flags
    """In the query stream, from which tokens are predicted, [T, T]: a token does not see itself."""
    labels: Ids
    """The tokens to predict, IGNORED at the others, [T]."""


def permute(
    row: Row, rng: np.random.Generator, *, share: float = PREDICTED, most: int | None = None
) -> Permutation:
    """Draw an order and predict its end: runs of 1 to 5 pieces, a sixth of the row in total.

    A predicted token sees those that are not predicted, and those predicted before it.

    Args:
        row: The text; [CLS] and [SEP] are never predicted, and all tokens see them.
        most: Maximum number of predicted pieces, at least 1; None: no limit.

    ValueError if there are fewer than two pieces of text, or `share` is out of its range.

    Source: Yang et al. 2019, sections 2.2 to 2.5. Differs: runs are drawn anywhere, not one in each
        window, and the order covers the whole row.
    """
    check_share(share)
    check_text(row, 2)
    places = row.text_places
    number = min(len(places) - 1, num_masked(len(places), most or len(places), share))
    weights = 1 / np.arange(1, LONGEST_GRAM + 1)
    targets: set[int] = set()
    while len(targets) < number:
        length = int(rng.choice(LONGEST_GRAM, p=weights / weights.sum())) + 1
        start = int(rng.integers(len(places)))
        run = places[start : start + length].tolist()
        for place in run:
            if len(targets) < number:
                targets.add(place)
    rank = np.full(len(row), -1, dtype=np.int64)
    order = rng.permutation(sorted(targets))
    rank[order] = np.arange(len(order))
    is_target = rank >= 0
    earlier = rank[None, :] < rank[:, None]
    # Tokens that are not predicted see each other.
    content = np.where(is_target[:, None], earlier, ~is_target[None, :])
    content |= np.eye(len(row), dtype=bool)
    query = content & ~np.eye(len(row), dtype=bool)
    labels = np.where(is_target, row.ids, IGNORED)
    return Permutation(rank, content, query, labels)
