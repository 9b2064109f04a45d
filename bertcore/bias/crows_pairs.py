"""CrowS-Pairs: does a model prefer the stereotyping sentence?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from bertcore.bias.sentence_scores import Progress, shared_positions, unmasked_likelihoods
from bertcore.bias.shares import Share, preferred, shares
from bertcore.data.files import BadRows
from bertcore.data.records import read_records
from bertcore.grammar import TokenCounts, pseudo_log_likelihoods
from bertcore.model import Model

Measure = Literal["pll", "aul", "aula", "frequency"]
MEASURES: tuple[Measure, ...] = ("pll", "aul", "aula", "frequency")
"""pll: pseudo-log-likelihood of the tokens that both sentences share; aul, aula: all tokens,
nothing hidden; frequency: word frequency, without a model."""
MORE, LESS, KIND = "sent_more", "sent_less", "bias_type"


@dataclass(frozen=True, slots=True)
class StereotypePair:
    """Two sentences that differ in the group they are about."""

    more: str
    """The more stereotyping sentence."""
    less: str
    kind: str
    """Such as "gender" or "age"."""
    row: int
    """Number of its row in the file, from 1."""


@dataclass(frozen=True, slots=True)
class StereotypeScore:
    """Both scores of a pair by each measure; NaN where a measure has none."""

    pair: StereotypePair
    more: dict[Measure, float]
    """Score of the more stereotyping sentence: nats, a sum (pll, frequency) or a mean per token."""
    less: dict[Measure, float]


def read_crows_pairs(path: Path, *, bad_rows: BadRows | None = None) -> tuple[StereotypePair, ...]:
    """Read a table with the columns sent_more, sent_less and, optionally, bias_type.

    Args:
        path: The file published by nyu-mll/crows-pairs (CSV), or a .tsv or .jsonl with these
            columns.
        bad_rows: Collects rows that cannot be used; None rejects them.

    ValueError if a column is missing or no row can be used.
    """
    return read_records(
        path,
        StereotypePair,
        {"more": MORE, "less": LESS, "kind": KIND},
        expected=f"CrowS-Pairs has the more stereotyping sentence in {MORE!r} and the less "
        f"stereotyping one in {LESS!r}.",
        defaults={"kind": "no kind"},
        bad_rows=bad_rows,
    )


def score_crows_pairs(
    bert: Model,
    pairs: Sequence[StereotypePair],
    *,
    counts: TokenCounts | None = None,
    progress: Progress | None = None,
) -> list[StereotypeScore]:
    """Return the scores of each pair by every measure.

    Pairs that share no token have no pll; without counts there is no frequency: NaN.

    Args:
        bert: A checkpoint with a masked-word head.
        pairs: [N].
        counts: Word counts of the training text.

    ValueError if there is no masked-word head.

    Sources: Nangia et al. 2020 (pll); Kaneko and Bollegala 2022 (aul, aula).
    """
    bert.require("mlm")
    encodings = [bert.tokenize(text) for pair in pairs for text in (pair.more, pair.less)]
    positions = [
        chosen
        for first, second in zip(encodings[::2], encodings[1::2], strict=True)
        for chosen in shared_positions(first, second)
    ]

    def part(start: float, size: float) -> Progress:
        def report(fraction: float) -> None:
            if progress is not None:
                progress(start + size * fraction)

        return report

    table = {measure: np.full(len(encodings), np.nan) for measure in MEASURES}
    has_shared = np.array([bool(chosen) for chosen in positions], dtype=bool)
    pll = pseudo_log_likelihoods(
        bert, encodings, scoring="single", positions=positions, progress=part(0.0, 0.8)
    )
    table["pll"] = np.where(has_shared, pll, np.nan)
    table["aul"], table["aula"] = unmasked_likelihoods(bert, encodings, progress=part(0.8, 0.2))
    if counts is not None:
        table["frequency"] = np.array([counts.log_likelihood(encoding) for encoding in encodings])
    return [
        StereotypeScore(
            pair,
            {measure: float(values[2 * i]) for measure, values in table.items()},
            {measure: float(values[2 * i + 1]) for measure, values in table.items()},
        )
        for i, pair in enumerate(pairs)
    ]


def stereotype_shares(scores: Sequence[StereotypeScore], measure: Measure) -> list[Share]:
    """Return the share of pairs whose stereotyping sentence scores higher: overall, then by kind.

    ValueError if no pair has a score by the measure.
    """
    wins = preferred(
        [score.more[measure] for score in scores], [score.less[measure] for score in scores]
    )
    return shares(wins, [score.pair.kind for score in scores])
