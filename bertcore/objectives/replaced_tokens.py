"""Replaced tokens (ELECTRA): a generator predicts hidden ones, a discriminator finds the fakes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.objectives.masked_words import mask_pieces
from bertcore.objectives.replacement import SHARE
from bertcore.objectives.row import IGNORED, Corrupted, Flags, Ids, Pieces, Row

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
