"""Entropy of each head's attention over the steps of a run, from its probes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.training.probes import Probe, SentenceProbe

UNIFORM = 0.99
"""A head whose spread is above this attends uniformly."""
ONE_TOKEN = 0.95
"""A head that gives more than this to the same token from everywhere is stuck."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadHistory:
    """Means over the sentences of the probes, for each of S steps."""

    steps: list[int]
    """[S]"""
    spread: NDArray[np.float64]
    """Entropy of a token's attention over ln K, K = the tokens that it may attend to, at least 2: 1
    is uniform over all of them, 0 is one token; [S, L, H]."""
    favourite: NDArray[np.float64]
    """Attention to the most attended token, mean over the query tokens; [S, L, H]."""

    @property
    def uniform(self) -> NDArray[np.bool_]:
        """Heads that attend uniformly, [S, L, H]."""
        return self.spread > UNIFORM

    @property
    def stuck(self) -> NDArray[np.bool_]:
        """Heads that attend to a single token, whatever the sentence and position, [S, L, H]."""
        return self.favourite > ONE_TOKEN


def head_history(probes: Sequence[Probe]) -> HeadHistory:
    """Measure every head at each probed step.

    Args:
        probes: At least one; all of the same network and sentences.

    ValueError if there is no probe.

    Source: entropy of attention as in Clark et al. 2019, section 3.3; divided by ln K here, so that
        sentences of different length can be averaged, and tokens of a causal network. A network is
        considered causal at a step if none of its heads then attends to a later token.
    """
    if not probes:
        raise ValueError("the run has no probe yet, so nothing is known about the heads.")
    values = np.stack([_measure_probe(probe) for probe in probes])  # [S, 2, L, H]
    return HeadHistory([probe.step for probe in probes], values[:, 0], values[:, 1])


def _measure_probe(probe: Probe) -> NDArray[np.float64]:
    """Return the means of spread and favourite over the sentences, [2, L, H]."""
    is_causal = not any(np.triu(sentence.codes, 1).any() for sentence in probe.sentences)
    measured = [_measure(sentence, is_causal) for sentence in probe.sentences]
    means: NDArray[np.float64] = np.mean(measured, axis=0)
    return means


def _measure(sentence: SentenceProbe, is_causal: bool) -> NDArray[np.float64]:
    """Return spread and favourite of one sentence, [2, L, H]."""
    weights = sentence.attention.astype(np.float64)
    weights /= weights.sum(-1, keepdims=True)  # a byte's rounding adds up over a row
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    entropy = -(weights * logs).sum(-1)  # [L, H, T]
    num_tokens = weights.shape[-1]
    num_keys = np.arange(1, num_tokens + 1) if is_causal else np.full(num_tokens, num_tokens)
    has_choice = num_keys > 1
    spread = (entropy[..., has_choice] / np.log(num_keys[has_choice])).mean(-1)
    favourite = weights.mean(-2).max(-1)
    return np.stack([spread, favourite])
