"""Gender as a direction: occupations along it, and a probe's accuracy before and after erasing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertcore.bias.direction import Probe, Vectors, find_direction, probe, project
from bertcore.bias.erasure import inlp, leace, neutralise
from bertcore.bias.own_sets import direction_words, known_pairs, template_audits
from bertcore.bias.slots import known_words
from bertcore.bias.word_association import table_vectors, text_vectors
from bertcore.model import Model

LEAST = 5
"""Pairs and words that the vocabulary must be able to write: each fold of a probe needs one."""


@dataclass(frozen=True, slots=True, eq=False)
class AlongDirection:
    """Words along the direction in one vector space."""

    words: tuple[str, ...]
    """Occupations, [N]."""
    cosines: Vectors
    """Cosine of each with the direction, [N]; above 0: on the side of the pairs' first words."""
    explained: Vectors
    """Share of the variance within the pairs that each component explains, largest first."""
    probes: dict[str, Probe]
    """Probes on other gendered words: unchanged, and after each erasure method."""


def along_direction(
    bert: Model, *, layer: int | None = None, pooling: str = "mean"
) -> AlongDirection:
    """Find the direction of our pairs, project occupations on it, and probe other gendered words.

    Args:
        layer: Hidden state, with each word run separately; None: the token table.
        pooling: Pooling of a word's tokens in a hidden state.

    ValueError if the vocabulary cannot write enough of the words, or there is no such layer or
    pooling.
    """
    own = direction_words()
    pairs, probed = known_pairs(bert, own.pairs), known_pairs(bert, own.probe)
    words = known_words(bert, template_audits()[0].fillers)
    if min(len(pairs), len(probed), len(words)) < LEAST:
        raise ValueError(
            "this checkpoint's vocabulary cannot write enough of the English words that define the "
            "direction. Choose another checkpoint."
        )

    def vectors(texts: Sequence[str]) -> Vectors:
        if layer is None:
            return table_vectors(bert, texts)
        return text_vectors(bert, texts, layer=layer, pooling=pooling)

    first, second = (vectors([pair[side] for pair in pairs]) for side in (0, 1))
    direction = find_direction(first, second)
    held_out = vectors([pair[side] for side in (0, 1) for pair in probed])
    defining, classes = np.concatenate([first, second]), np.repeat([0, 1], len(pairs))
    after = {
        "as it is": held_out,
        "neutralised along the direction": neutralise(held_out, direction),
        "LEACE on the defining pairs": leace(defining, classes)(held_out),
        "INLP on the defining pairs": inlp(defining, classes)(held_out),
    }
    labels = np.repeat([0, 1], len(probed)).tolist()
    return AlongDirection(
        words,
        project(vectors(words), direction),
        direction.explained,
        {name: probe(each, labels) for name, each in after.items()},
    )
