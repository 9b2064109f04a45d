"""A row of tokens before and after an objective has changed it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IGNORED = -100
"""The label of a place without loss, as in PyTorch's cross-entropy."""

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Span = tuple[int, int]
"""First place, and the place after the last."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """What objectives need to know about a vocabulary."""

    size: int
    """V: random tokens are drawn uniformly from 0 to V - 1."""
    mask_id: int
    cls_id: int
    sep_id: int
    sentinel_ids: tuple[int, ...] = ()
    """Of T5's sentinels, in order of their appearance in a text."""


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """The tokens of one text or pair with its special tokens, as BERT reads it."""

    ids: Ids
    """[T]"""
    is_special: Flags
    """True at [CLS] and [SEP], which no objective changes, [T]."""
    starts_word: Flags
    """False at pieces that continue a word, [T]."""
    starts_sentence: Flags | None = None
    """True at the first token of each sentence, [T]; None where they are not known."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def text_places(self) -> Ids:
        """The places of the text, [N]: all but the special tokens."""
        return np.flatnonzero(~self.is_special)

    def words(self) -> list[Span]:
        """Return the places of each word, in order."""
        spans: list[Span] = []
        for place in self.text_places.tolist():
            if spans and spans[-1][1] == place and not self.starts_word[place]:
                spans[-1] = (spans[-1][0], place + 1)
            else:
                spans.append((place, place + 1))
        return spans


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Corrupted:
    """The inputs and targets of an objective for one row."""

    input_ids: Ids
    """What the encoder reads, [T], or fewer or more where an objective removes or adds tokens."""
    labels: Ids
    """The target at each place, IGNORED where there is no loss: of the encoder's places, or [Td] of
    the decoder's where there is one."""
    decoder_input_ids: Ids | None = None
    """What the decoder reads, [Td]; None: there is no decoder."""
    decoder_positions: Ids | None = None
    """The position of each of the decoder's tokens, [Td]; None: 0, 1, 2, ..."""
    allowed: Flags | None = None
    """True where the token of a row may attend to that of a column, [T, T]; None: everywhere."""
    spans: tuple[Span, ...] = ()
    """What was changed, as places of the original row, in order."""
    became: tuple[str, ...] = ()
    """What became of each span: "mask", "kept", "random", "sentinel", "gone"; () where all are
    alike."""


def check_share(share: float) -> None:
    """Reject a share of 0 or 1, from which nothing can be learned.

    ValueError if it is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise ValueError(f"the share of hidden tokens is {share}; expected above 0 and below 1.")


def check_text(row: Row, least: int = 1) -> None:
    """Reject a row with too few text tokens.

    ValueError if it has fewer than `least` besides [CLS] and [SEP].
    """
    found = len(row.text_places)
    if found < least:
        raise ValueError(
            f"the text has {found} token{'' if found == 1 else 's'}; this objective needs at least "
            f"{least}. Give a longer text."
        )


def merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans in order, with overlapping or adjacent ones merged.

    >>> merged([(5, 7), (1, 3), (3, 4), (6, 8)])
    ((1, 4), (5, 8))
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def labels_at(row: Row, places: Ids) -> Ids:
    """Return the original ids at some places and IGNORED at all others, [T]."""
    labels = np.full(len(row), IGNORED, dtype=np.int64)
    labels[places] = row.ids[places]
    return labels


SHARE = 0.15
Actions = tuple[float, float, float]
ACTIONS: Actions = (0.8, 0.1, 0.1)
"""Of the chosen pieces: the share that becomes [MASK], stays, becomes a random piece."""
BECAME = ("mask", "kept", "random")


def check_masking(row: Row, share: float, actions: Actions = ACTIONS) -> None:
    """Reject settings and texts for which nothing can be masked.

    ValueError if there is no text, or a share is out of its range.
    """
    check_share(share)
    check_text(row)
    check_actions(actions)


def check_actions(actions: Actions) -> None:
    """Reject shares that are negative or not numbers, or do not sum to 1.

    ValueError if they are.
    """
    if not (all(action >= 0 for action in actions) and abs(sum(actions) - 1) <= 1e-6):
        raise ValueError(
            f"the shares of [MASK], kept and random are {actions}; expected 0 or more, 1 in all."
        )


def replace_pieces(
    row: Row, pieces: Pieces, rng: np.random.Generator, chosen: Ids, actions: Actions
) -> Corrupted:
    """Replace each piece at chosen places [P] independently, by the shares of `actions`."""
    drawn = rng.choice(3, size=len(chosen), p=actions)
    random_ids = rng.integers(pieces.size, size=len(chosen))
    input_ids = row.ids.copy()
    input_ids[chosen[drawn == 0]] = pieces.mask_id
    input_ids[chosen[drawn == 2]] = random_ids[drawn == 2]
    return Corrupted(
        input_ids=input_ids,
        labels=labels_at(row, chosen),
        spans=tuple((place, place + 1) for place in chosen.tolist()),
        became=tuple(BECAME[action] for action in drawn.tolist()),
    )
