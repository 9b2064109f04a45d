"""Results as tables, for the CSV under a picture: one row for each thing that is drawn."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bertcore.training.probes import Probe


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
