"""The grammar exam of the shipped checkpoint, of a fine-tuned one, and of checkpoints of a run.

Our own 200 pairs are always scored, BLiMP only with `--blimp FILE` (it is not part of the project).
A classifier has no masked-word head, so its encoder is read with the head of the checkpoint it was
fine-tuned from; its row shows the effect of fine-tuning on the encoder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import tables
from bertcore import Model, load
from bertcore.checkpoints.source import SHIPPED
from bertcore.grammar import (
    GroupAccuracy,
    MinimalPair,
    Scoring,
    TokenCounts,
    accuracies,
    bundled_pairs,
    read_pairs,
    score_pairs,
)
from bertcore.grammar.exam import TIE

FINE_TUNED = "sentiment"
COLUMNS = ("checkpoint", "our 200 pairs", "BLiMP, within-word", "BLiMP, single masks", "ties")


@dataclass
class Options:
    """Set by the command line."""

    blimp: Path | None = None
    every: int = 1
    """Every n-th pair of BLiMP is scored."""
    moments: tuple[Path, ...] = ()
    """Checkpoint folders of a run."""


OPTIONS = Options()


def run() -> str:
    """Return the table of accuracies with their 95% intervals, in percent."""
    own = bundled_pairs().pairs
    blimp: Sequence[MinimalPair] = ()
    if OPTIONS.blimp is not None:
        blimp = read_pairs(OPTIONS.blimp).pairs[:: OPTIONS.every]
    rows = []
    for name, bert in _checkpoints():
        cells = [_cell(_accuracy(bert, own, "within-word"))]
        ties = []
        for scoring in ("within-word", "single"):
            found = _accuracy(bert, blimp, scoring) if blimp else None
            cells.append("–" if found is None else _cell(found))
            ties += [] if found is None else [str(found.num_ties)]
        rows.append((name, *cells, ", ".join(ties) or "–"))
    rows.append(("word frequency alone", *_baseline(own, blimp)))
    rows.append(("chance", "50", "50", "50", ""))
    return tables.markdown(COLUMNS, rows)


def _checkpoints() -> Iterator[tuple[str, Model]]:
    for folder in OPTIONS.moments:
        yield f"during training, {folder.name}", load(folder)
    yield "`default`", load("default")
    yield f"`{FINE_TUNED}`, encoder only", _with_head_of("default", FINE_TUNED)


def _with_head_of(owner: str, other: str) -> Model:
    """Return checkpoint `owner` with the encoder of `other`, which was fine-tuned from it."""
    bert, tuned = load(owner), load(other)
    weights = dict(bert.module.named_parameters())
    for name, weight in tuned.module.named_parameters():
        if name in weights:
            weights[name].data.copy_(weight.data)
    return bert


def _accuracy(bert: Model, pairs: Sequence[MinimalPair], scoring: Scoring) -> GroupAccuracy:
    scores = [score for part in score_pairs(bert, pairs, scoring=scoring) for score in part]
    return accuracies(scores, ())[0]


def _cell(found: GroupAccuracy) -> str:
    low, high = 100 * found.low, 100 * found.high
    return f"{100 * found.accuracy:.1f} ({low:.1f} to {high:.1f})"


def _baseline(own: Sequence[MinimalPair], blimp: Sequence[MinimalPair]) -> tuple[str, ...]:
    """Return the cells for the word frequencies of the shipped checkpoint's training text."""
    bert = load("default")
    counts = TokenCounts.open(SHIPPED["default"], bert.tokenizer)
    if counts is None:  # a checkpoint without the counts of its text
        return ("–", "–", "–", "")
    cells = []
    for pairs in (own, blimp):
        right = sum(
            counts.log_likelihood(bert.tokenize(pair.good))
            - counts.log_likelihood(bert.tokenize(pair.bad))
            > TIE
            for pair in pairs
        )
        cells.append(f"{100 * right / len(pairs):.1f}" if pairs else "–")
    return (*cells, cells[1], "")
