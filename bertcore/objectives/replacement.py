"""Replacement of a chosen piece: [MASK], itself, or a random piece."""

import numpy as np

from bertcore.objectives.row import (
    Corrupted,
    Ids,
    Pieces,
    Row,
    check_share,
    check_text,
    labels_at,
)

SHARE = 0.15
Actions = tuple[float, float, float]
ACTIONS: Actions = (0.8, 0.1, 0.1)
"""Of the chosen pieces: the share that becomes [MASK], stays, becomes a random piece."""
BECAME = ("mask", "kept", "random")


def check_masking(row: Row, share: float, actions: Actions, most: int | None = None) -> None:
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
    """Replace each chosen piece independently.

    Args:
        row: The text.
        pieces: Of the vocabulary.
        rng: Fixes the result.
        chosen: Places in order, [P].
        actions: Shares of [MASK], kept and random.
    """
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
