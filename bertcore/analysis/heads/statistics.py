"""Head measures over many sentences: means with confidence intervals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.heads.measures import (
    MEASURES,
    Patterns,
    TokenKinds,
    make_patterns,
    measure_batch,
    uniform_measures,
)
from bertcore.analysis.heads.stream import AttentionBatch
from bertcore.model.architecture.config import BertConfig
from bertcore.training.evaluation.intervals import RESAMPLES, Interval, bootstrap_means


@dataclass(frozen=True, slots=True, eq=False)
class HeadStatistics:
    """The head measures of many sentences; M = MEASURES, in their order."""

    means: Interval
    """Means over the sentences that have the measure and their 95% bootstrap intervals, each
    [L, H, M]."""
    uniform: NDArray[np.float64]
    """The mean of a head with uniform attention, [M]: the baseline of a habit. In a causal network
    it is uniform over a token and those before it."""
    num_sentences: NDArray[np.int64]
    """Number of sentences that have the measure, [M]."""
    examples: NDArray[np.int64]
    """The sentence with a head's largest value of a measure, [L, H, M]; -1 if none has it.
    Preferably one with EXAMPLE_TOKENS."""

    def of(self, measure: str) -> Interval:
        """Return a measure of every head, each [L, H]; ValueError if there is no such measure."""
        index = MEASURES.index(measure)
        return Interval(*(part[..., index] for part in self.means))

    def best(self, measure: str) -> tuple[int, int] | None:
        """Return the layer and head with the largest mean; None if no sentence has the measure."""
        return self.of(measure).best


EXAMPLE_TOKENS = range(8, 33)
"""Lengths of a good example: long enough to show a habit, short enough to read at a glance."""


class MeasureSurvey:
    """Accumulates the head measures of sentences; pass it to `run_surveys`."""

    def __init__(self, num_sentences: int, config: BertConfig) -> None:
        shape = (config.num_hidden_layers, config.num_attention_heads, len(MEASURES))
        self.values = np.full((num_sentences, *shape), np.nan, dtype=np.float32)
        """Values of each sentence, [N, L, H, M]; NaN if it has no such token."""
        self._lengths = np.zeros(num_sentences, dtype=np.int64)
        self._uniform = np.full((num_sentences, len(MEASURES)), np.nan, dtype=np.float32)
        self._is_causal = config.family.is_causal

    def add(self, batch: AttentionBatch) -> None:
        inputs = [TokenKinds(encoding.text_ids, encoding.tokens) for encoding in batch.encodings]
        device = batch.attentions.device
        made = make_patterns(inputs, is_causal=self._is_causal)
        patterns = Patterns(*(part.to(device) for part in made))
        self.values[batch.rows] = measure_batch(batch.attentions, patterns).cpu().numpy()
        self._lengths[batch.rows] = [len(encoding) for encoding in batch.encodings]
        self._uniform[batch.rows] = uniform_measures(patterns).cpu().numpy()

    def result(self, *, num_resamples: int = RESAMPLES) -> HeadStatistics:
        """Return means and intervals of so many resamples."""
        is_there = ~np.isnan(self._uniform)
        counts = is_there.sum(0)
        with np.errstate(invalid="ignore"):
            uniform = np.where(is_there, self._uniform, 0).sum(0, dtype=np.float64) / counts
        return HeadStatistics(
            means=bootstrap_means(self.values, num_resamples=num_resamples),
            uniform=uniform,
            num_sentences=counts,
            examples=self._examples(),
        )

    def _examples(self) -> NDArray[np.int64]:
        is_good = np.isin(self._lengths, EXAMPLE_TOKENS)
        filled = np.nan_to_num(self.values, nan=-1.0)
        good = np.where(is_good[:, None, None, None], filled, -1.0)
        best = np.where(good.max(0) >= 0, good.argmax(0), filled.argmax(0))
        return np.where(filled.max(0) >= 0, best, -1)
