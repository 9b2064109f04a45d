"""Leakage: how a network that attends to both sides sees the word it should predict."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.mixing.rollout import normalize_rows
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from bertcore.model.model import Model
from bertcore.model.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class PathsBack:
    """How a word returns to its own place over the first two layers."""

    out: NDArray[np.float32]
    """Share of the column's token in the input of the row's in layer 1, [T, T]."""
    back: NDArray[np.float32]
    """The same in layer 2, [T, T]."""

    @property
    def returned(self) -> NDArray[np.float32]:
        """The share of its own word, through others, in what each place reads in layer 2, [T]."""
        shares: NDArray[np.float32] = np.einsum("ij,ji->i", self.back, self.out)
        return shares

    @property
    def reaches_the_one_before(self) -> NDArray[np.float32]:
        """The share of each word in what the place before it reads in layer 2, [T].

        That place would guess the word in a network that reads the left; the first has none: 0.
        """
        shares = np.zeros(len(self.out), dtype=np.float32)
        shares[1:] = np.einsum("ij,ji->i", self.back[:-1], self.out[:, 1:])
        return shares


def paths_back(
    bert: Model, trace: Trace, progress: Callable[[float], None] = lambda fraction: None
) -> PathsBack:
    """Return the shares through which a word would return in a network of two layers.

    ValueError if there is one layer only, or weights are NaN or infinite.

    Source: shares are the normalised rows of value zeroing, Mohebbi et al. 2023, over two layers. A
        token's share of itself is 0: the path exists even if no token can attend to itself.
    """
    if len(trace.attentions) < 2:
        raise ValueError(
            "the checkpoint has one layer, but a word needs two to leak back. Open another one."
        )
    shares = normalize_rows(value_zeroing(bert, trace, layers=(0, 1), progress=progress))
    out, back = (shares * (1 - torch.eye(shares.shape[-1]))).numpy()
    return PathsBack(out, back)


class Paths(NamedTuple):
    """The paths of a text's words through one network."""

    tokens: tuple[str, ...]
    """[T]"""
    shares: PathsBack


class Returned(NamedTuple):
    """What comes back to the vector that would guess each word, in two networks."""

    both: Paths
    """In the one that attends to both sides."""
    left: Paths | None
    """In the one that attends to the left."""


def words_returned(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    twin: Model | None = None,
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> Returned:
    """Return the paths on which words come back, through a model and one that reads the left.

    `twin`, a model of next tokens, is left out if it cannot be taken apart. ValueError as
    `paths_back`.
    """

    def paths(model: Model, start: float) -> Paths:
        trace = model.trace(text, text_pair)
        shares = paths_back(model, trace, lambda fraction: on_fraction(start + fraction / 2))
        return Paths(tuple(trace.tokens), shares)

    both, left = paths(bert, 0.0), None
    if twin is not None and "parts" in twin.capabilities and twin.config.num_hidden_layers > 1:
        left = paths(twin, 0.5)
    return Returned(both, left)
