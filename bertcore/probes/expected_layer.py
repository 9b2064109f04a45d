"""The expected layer: where, on average, the answer becomes readable."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bertcore.evaluation.intervals import RESAMPLES
from bertcore.probes.scores import Score

_ENDS = (2.5, 97.5)


def expected_layer(layers: Sequence[int], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the expected layer of cumulative scores.

    The score at a layer is that of a probe on a learned mix of all layers up to it. Its gain over
    the previous layer is the differential score; the expected layer is the mean of the layers'
    numbers, weighted by their gains:

        E = sum_i layer_i * (score_i - score_(i-1)) / (score_last - score_0),  i from 1.

    A gain may be negative, so E may be outside the range of layers.

    Args:
        layers: Numbers of the M layers, ascending; 0, the embeddings' output, comes first.
        scores: Scores of the cumulative probes, [..., M].

    Returns:
        [...]; NaN if the last score is not above the first.

    Source: Tenney et al. 2019, "BERT Rediscovers the Classical NLP Pipeline", section 2.2
        (cumulative scoring). Theirs is over all layers; with only some, each represents those since
        the previous one.
    """
    gains = np.diff(scores, axis=-1)
    total = gains.sum(-1)
    weighted = gains @ np.asarray(layers[1:], dtype=np.float64)
    return np.where(total > 0, weighted / np.where(total > 0, total, 1.0), np.nan)


def expected_layer_score(
    layers: Sequence[int], counts: NDArray[np.float64], seed: int = 0
) -> Score | None:
    """Return the expected layer with its 95% bootstrap interval over sentences.

    Args:
        layers: As for `expected_layer`.
        counts: Numerator and denominator of each sentence at each layer, [S, M, 2].

    Returns:
        None if the last layer's score is not above that of the embeddings. The ends are NaN if that
        is the case in more than one in forty draws: the gain is too small to locate.
    """
    value = float(expected_layer(layers, _ratio(counts.sum(0))))
    if np.isnan(value):
        return None
    number = len(counts)
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(number, np.full(number, 1 / number), size=RESAMPLES)
    sums = np.einsum("rs,smk->rmk", drawn.astype(np.float64), counts)
    values = expected_layer(layers, _ratio(sums))
    if np.isnan(values).mean() > 0.025:
        return Score(value, float("nan"), float("nan"))
    low, high = np.nanpercentile(values, _ENDS)
    return Score(value, float(low), float(high))


def _ratio(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    below: NDArray[np.float64] = np.maximum(counts[..., 1], 1)
    return np.asarray(counts[..., 0] / below)
