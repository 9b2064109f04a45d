"""A loss on the component of hidden states along a direction of the start checkpoint.

The direction is found once, before the first step, in the states that are penalised: each word of
the pairs is read as a separate text ("[CLS] she [SEP]"), and `find_direction` takes the first
principal component of the differences. It is fixed while the network learns.

The loss is the squared cosine of a state with it, for every token but special ones and the words of
the pairs, which may keep their gender; summed and divided by all tokens. For a head that reads only
[CLS], it is the squared cosine of that state, with a direction from the words' [CLS].

Source: Kaneko and Bollegala 2021, "Debiasing Pre-trained Contextualised Embeddings", equation 1.
Differs: only the last layer; the first principal component instead of one vector for each attribute
word, and a cosine instead of an inner product, so that shrinking the states does not lower the
loss; all other words instead of a list of stereotypes; and the task's own loss instead of a second
one that keeps the words of the pairs in place.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.configs.debias import DebiasConfig
from bertcore.debiasing.swap_words import Pair
from bertcore.debiasing.word_sets import pairs_of_direction
from bertcore.tokenizer import Tokenizer

Vectors = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """The first principal component of the differences within pairs."""

    vector: Vectors
    """Of length 1, [D]; it points from the second words of the pairs to the first ones."""
    explained: Vectors
    """Share of the variance that each component explains, largest first, [C]."""


def find_direction(first: Vectors, second: Vectors) -> Direction:
    """Return the direction along which the words of each pair differ most.

    Each pair is centred on its own mean, and the components are those of all centred vectors.

    Args:
        first, second: The vectors of each pair's two words, [N, D] each, N at least 2.

    ValueError if there are fewer than two pairs, or no pair differs.

    Source: Bolukbasi et al. 2016, section 5.1.
    """
    if len(first) != len(second) or len(first) < 2:
        raise ValueError(
            f"there are {len(first)} and {len(second)} words; a direction needs at least two pairs."
        )
    half = (first - second) / 2
    rows = np.concatenate([half, -half])
    _, lengths, components = np.linalg.svd(rows, full_matrices=False)
    if lengths[0] == 0:
        raise ValueError("the words of every pair have the same vector, so there is no direction.")
    vector = components[0]
    if (half @ vector).mean() < 0:
        vector = -vector
    variances = lengths**2
    return Direction(vector, variances / variances.sum())


@dataclass(frozen=True, slots=True)
class PenalisedDirection:
    """The words of a direction and the weight of its loss; stored with the run.

    ValueError if the weight is not above 0.
    """

    name: str
    """Name of a shipped set, or the file that was read."""
    weight: float
    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        if not 0 < self.weight < math.inf:
            raise ValueError(f"direction_penalty is {self.weight}; expected above 0.")

    @classmethod
    def chosen(cls, config: DebiasConfig) -> "PenalisedDirection | None":
        """Return the chosen penalty; None if there is none.

        ValueError if there are no such words, or the weight is not above 0.
        """
        if config.direction_penalty is None:
            return None
        words = config.direction_words
        return cls(words, config.direction_penalty, pairs_of_direction(words))


Encode = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Gets ids, segments and mask, [R, T]; returns the states, [R, T, D], or of [CLS], [R, 1, D]."""


@dataclass(frozen=True, slots=True, eq=False)
class DirectionPenalty:
    """The direction as tensors on a device."""

    weight: float
    vector: Tensor
    """Of length 1, float32, [D]."""
    is_free: Tensor
    """True for ids that are not penalised, [V]: special tokens, and the words of the pairs."""

    def to(self, device: torch.device) -> "DirectionPenalty":
        return DirectionPenalty(self.weight, self.vector.to(device), self.is_free.to(device))

    def total(self, hidden: Tensor, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Return the sum of the squared cosines of the states that count, a float32 scalar.

        Args:
            hidden: [R, T, D]; or [R, 1, D], the states of [CLS], which all count.
            ids: Ids of the tokens, [R, T].
            mask: True at tokens, [R, T]; None: no token is padding.
        """
        values = squared_cosines(hidden, self.vector)  # [R, T] or [R, 1]
        if values.shape != ids.shape:
            return values.sum()
        counts = ~self.is_free[ids]
        if mask is not None:
            counts = counts & mask
        return (values * counts).sum()


def squared_cosines(hidden: Tensor, vector: Tensor) -> Tensor:
    """Return the squared cosine of states [..., D] with a vector of length 1, float32, [...]."""
    states = hidden.float()
    squares = (states * states).sum(-1).clamp_min(1e-12)
    return (states * vector).sum(-1).square() / squares


def start_penalty(
    settings: PenalisedDirection, encode: Encode, tokenizer: Tokenizer, *, vocab_size: int
) -> DirectionPenalty:
    """Find the direction in a network's states.

    Args:
        settings: Words and weight.
        encode: Runs the network as it is before training, without dropout; takes and returns CPU
            tensors.
        vocab_size: V, rows of the token table.

    ValueError if the vocabulary can write fewer than two of the pairs, or their words have the same
    states.
    """
    known = [pair for pair in settings.pairs if all(_pieces(tokenizer, word) for word in pair)]
    if len(known) < 2:
        raise ValueError(
            f"this vocabulary can write {len(known)} of the {len(settings.pairs)} pairs of "
            f"{settings.name!r}; a direction needs two. Give other direction_words."
        )
    first, second = (_states(encode, tokenizer, [pair[side] for pair in known]) for side in (0, 1))
    direction = find_direction(first, second)
    is_free = torch.zeros(vocab_size, dtype=torch.bool)
    is_free[list(_free_ids(tokenizer, settings.pairs))] = True
    vector = torch.from_numpy(direction.vector).float()
    return DirectionPenalty(settings.weight, vector, is_free)


def _pieces(tokenizer: Tokenizer, word: str) -> list[int]:
    """Return the pieces of a word; [] if the vocabulary cannot write it."""
    ids = tokenizer.encode_word(word)
    return [] if tokenizer.unk_id in ids else ids


def _free_ids(tokenizer: Tokenizer, pairs: Iterable[Pair]) -> set[int]:
    """Return the special tokens, and words of the pairs that are one piece.

    Pieces of longer words also belong to other words, which are penalised.
    """
    whole = [ids for word in chain(*pairs) if len(ids := _pieces(tokenizer, word)) == 1]
    return {*tokenizer.special_ids, *chain(*whole)}


def _states(encode: Encode, tokenizer: Tokenizer, words: list[str]) -> Vectors:
    """Return the mean state of each word's pieces, or that of its [CLS], float64, [N, D]."""
    rows = [tokenizer.template(is_pair=False).fill(_pieces(tokenizer, word)) for word in words]
    longest = max(len(ids) for ids, _ in rows)
    ids = torch.full((len(rows), longest), tokenizer.pad_id)
    segments, mask = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
    for number, (row, kinds) in enumerate(rows):
        ids[number, : len(row)], segments[number, : len(row)] = (
            torch.tensor(row),
            torch.tensor(kinds),
        )
        mask[number, : len(row)] = True
    with torch.no_grad():
        hidden = encode(ids, segments, mask).double()
    if hidden.shape[1] != longest:
        states: Vectors = hidden[:, 0].numpy()
        return states
    special = torch.tensor(sorted(tokenizer.special_ids))
    counts = (mask & ~torch.isin(ids, special)).double()[..., None]
    means: Vectors = ((hidden * counts).sum(1) / counts.sum(1)).numpy()
    return means
