"""Scores of networks that were trained with each objective for the same time."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

FILE = Path(__file__).with_name("equal_time.json")
REPEATED = ("mlm+nsp (BERT)", "mlm+nsp (BERT), second run")
"""Two runs of one recipe: differences smaller than theirs mean nothing."""


@dataclass(frozen=True, slots=True)
class EqualTimeScore:
    """A score of one objective."""

    objective: str
    tokens: int
    """Tokens that it was trained on."""
    score: str
    """Data and what is counted."""
    unit: str
    """"%" or "nats"."""
    value: float
    """The median over fine-tuning seeds; NaN if the objective has no such head."""
    low: float
    high: float
    """The range over the seeds; NaN without seeds."""


@dataclass(frozen=True, slots=True)
class EqualTime:
    """All scores, and what the runs had in common."""

    scores: tuple[EqualTimeScore, ...]
    layers: int
    hidden: int
    minutes: float
    """Of one core."""
    seeds: int
    """Of fine-tuning."""


def equal_time(path: Path = FILE) -> EqualTime:
    """Return the scores that `python -m benchmarks objectives` measured; it trains every row."""
    measured = json.loads(path.read_text(encoding="utf-8"))
    settings, rows = measured["settings"], measured["rows"]
    by_name = {name: rows[name] for name in measured["seconds_a_step"]}
    every = settings["every n-th pair of BLiMP"]
    scores = [
        EqualTimeScore(name, row["num_tokens"], score, unit, *_middle_and_range(values[name]))
        for score, unit, values in _scores(by_name, every)
        for name, row in by_name.items()
    ]
    common = (settings["layers"], settings["hidden"], settings["minutes"])
    return EqualTime(tuple(scores), *common, settings["fine-tuning seeds"])


def _middle_and_range(values: list[float]) -> tuple[float, float, float]:
    ends = (min(values), max(values)) if len(values) > 1 else (math.nan, math.nan)
    return (median(values) if values else math.nan, *ends)


def _scores(rows: dict[str, Any], every: int) -> Iterator[tuple[str, str, dict[str, list[float]]]]:
    """Return each score's name and unit, and its values by objective."""
    for key, name, unit, times in (
        ("mlm_loss", "Masked words: loss", "nats", 1),
        ("pairs", "Our 200 pairs: right", "%", 100),
        ("blimp", f"BLiMP, 1 in {every}: right", "%", 100),
    ):
        yield (
            name,
            unit,
            {
                objective: [] if row[key] is None else [times * row[key]]
                for objective, row in rows.items()
            },
        )
    for name in next(iter(rows.values()))["sets"]:
        sets = {objective: row["sets"][name] or [] for objective, row in rows.items()}
        metric = next(next(iter(seeds[0])) for seeds in sets.values() if seeds)
        yield (
            f"{name}: {metric}",
            "%",
            {
                objective: [100 * seed[metric] for seed in seeds]
                for objective, seeds in sets.items()
            },
        )
