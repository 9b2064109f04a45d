"""The words of a run's probes in two dimensions, step by step, in one common projection."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.space.projection import pca
from bertcore.training.probes import Probe


@dataclass(frozen=True, slots=True, eq=False)
class ProbeMap:
    """The place of each of P tokens at each of S steps."""

    steps: list[int]
    """[S]"""
    coordinates: NDArray[np.float32]
    """[S, P, 2]"""
    explained: NDArray[np.float64]
    """Fraction of a step's variance along the two axes, [S]; 0 where nothing varies."""
    tokens: list[str]
    """[P]"""
    sentences: list[int]
    """Which sentence of the probes each token is in, [P]."""
    positions: list[int]
    """Its place there, [P]."""
    kinds: list[str]
    """The letter of its word's kind (`probe_texts.KINDS`), "" if not known, [P]."""


def probe_map(probes: Sequence[Probe]) -> ProbeMap:
    """Return the map of all tokens of the texts; [CLS] and [SEP] are left out.

    The axes are the first two principal components of the last step. Every step is centred and
    projected on these axes, so the map shows how the words move relative to each other, not their
    common drift.

    Args:
        probes: At least one; all of the same network and sentences, the last step last.

    ValueError if there is no probe, or a vector holds NaN or infinity.

    Source: ours.
    """
    if not probes:
        raise ValueError("the run has no probe yet, so there is nothing to map.")
    tokens, sentences, positions, kinds = [], [], [], []
    for index, sentence in enumerate(probes[-1].sentences):
        for position, word in enumerate(sentence.word_ids):
            if word >= 0:
                tokens.append(sentence.tokens[position])
                sentences.append(index)
                positions.append(position)
                kinds.append(sentence.text.kinds[word : word + 1])
    vectors = np.stack([_vectors(probe) for probe in probes])  # [S, P, D]
    vectors -= vectors.mean(1, keepdims=True)
    coordinates = pca(vectors[-1], 2).transform(vectors)
    total = (vectors**2).sum((1, 2))
    in_plane = (coordinates.astype(np.float64) ** 2).sum((1, 2))
    explained = np.divide(in_plane, total, out=np.zeros_like(total), where=total > 0)
    return ProbeMap(
        [probe.step for probe in probes],
        coordinates,
        explained,
        tokens,
        sentences,
        positions,
        kinds,
    )


def _vectors(probe: Probe) -> NDArray[np.float64]:
    """Return the vectors of all tokens of the texts, [P, D]."""
    return np.concatenate(
        [
            sentence.hidden[np.array(sentence.word_ids) >= 0].astype(np.float64)
            for sentence in probe.sentences
        ]
    )
