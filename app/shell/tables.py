"""Results as tables, for the CSV under a picture: one row for each thing that is drawn."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bertcore.analysis.words.candidates import Candidate
from bertcore.analysis.words.lens import Lens, Trajectories
from bertcore.analysis.words.masking_demo import Corruption
from bertcore.analysis.words.next_sentence import Variant
from bertcore.analysis.words.predictions import MaskPredictions
from bertcore.analysis.words.surprise import Surprise
from bertcore.training.probes import Probe


def predictions(found: MaskPredictions) -> pd.DataFrame:
    """Return a row for each mask and rank."""
    return pd.DataFrame(
        [
            {"position": position, "hidden": original, "rank": rank, "piece": word, "p": float(p)}
            for position, original, words, values in zip(
                found.positions, found.originals, found.words, found.probabilities, strict=True
            )
            for rank, (word, p) in enumerate(zip(words, values, strict=True), start=1)
        ]
    )


def candidates(scored: Sequence[Candidate]) -> pd.DataFrame:
    """Return a row for each word, also for those without a score."""
    return pd.DataFrame(
        [
            {
                "word": c.word,
                "pieces": " ".join(c.pieces),
                "p": c.probability,
                "p_per_piece": c.probability_per_piece,
                "ln_p": c.log_probability,
                "rank": c.rank,
                "problem": c.problem,
            }
            for c in scored
        ]
    )


def lens(found: Lens) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings), position and rank."""
    num_states, num_positions, num_words = found.words.shape
    return pd.DataFrame(
        [
            {
                "layer": layer,
                "position": found.positions[n],
                "token": found.tokens[n],
                "entropy_bits": float(found.entropy[layer, n]),
                "rank": k + 1,
                "piece": found.words[layer, n, k],
                "p": float(found.probabilities[layer, n, k]),
            }
            for layer in range(num_states)
            for n in range(num_positions)
            for k in range(num_words)
        ]
    )


def trajectories(found: Trajectories) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and word."""
    return pd.DataFrame(
        [
            {"layer": layer, "word": word, "rank": int(rank), "p": float(p)}
            for layer, (ranks, values) in enumerate(
                zip(found.ranks, found.probabilities, strict=True)
            )
            for word, rank, p in zip(found.words, ranks, values, strict=True)
        ]
    )


def surprise(found: Surprise) -> pd.DataFrame:
    """Return a row for each token."""
    return pd.DataFrame(
        {
            "position": found.positions,
            "token": found.tokens,
            "bits": found.bits,
            "best_guess": found.best_words,
            "p_best_guess": found.best_probabilities,
        }
    )


def corruption(drawn: Corruption) -> pd.DataFrame:
    """Return a row for each token."""
    return pd.DataFrame({"token": drawn.tokens, "shown": drawn.shown, "action": drawn.actions})


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
