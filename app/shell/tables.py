"""Results as tables, for the CSV under a picture: one row for each thing that is drawn."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bertcore.analysis.words.next_sentence import Variant
from bertcore.training.probes import Probe


def variants(found: Sequence[Variant]) -> pd.DataFrame:
    """Return a row for each way to ask."""
    return pd.DataFrame(
        [
            {"change": v.name, "text_a": v.text_a, "text_b": v.text_b, "p_is_next": v.is_next}
            for v in found
        ]
    )


def matrix(values: Sequence[Sequence[float]], sentences: Sequence[str]) -> pd.DataFrame:
    """Return a row for each ordered pair of different sentences."""
    return pd.DataFrame(
        [
            {"text_a": a, "text_b": b, "p_is_next": float(values[i][j])}
            for i, a in enumerate(sentences)
            for j, b in enumerate(sentences)
            if i != j
        ]
    )


def probe_answers(probes: Sequence[Probe]) -> pd.DataFrame:
    """Return a row for each moment and sentence: the hidden word's fate and the pair's answer."""
    return pd.DataFrame(
        [
            {
                "step": probe.step,
                "text_a": found.text.text_a,
                "text_b": found.text.text_b,
                "hidden": found.word,
                "p_hidden": found.probability,
                "rank_hidden": found.rank,
                "best_guess": found.top_words[0],
                "p_best_guess": found.top_probabilities[0],
                "p_is_next": found.is_next,
            }
            for probe in probes
            for found in probe.sentences
        ]
    )
