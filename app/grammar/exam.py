"""The exam of one or two checkpoints: computed in the background, counted by group and layer."""

from contextlib import suppress
from typing import NamedTuple

from bertcore.data.files import BadRows
from bertcore.grammar import GroupAccuracy, PairScore, Scoring, TokenCounts, accuracies, score_pairs

from ..plots import plain
from ..second_checkpoint import Side
from ..shell import Compute, Progress, frame
from ..shell.jobs.waiting import Pending
from .sources import ExamSource

EXAM_CODE = """
from pathlib import Path
from bertcore.data.files import BadRows
from bertcore.grammar import accuracies, bundled_pairs, read_pairs, score_pairs

{chosen}too_long = BadRows(skip=True)
exam = score_pairs(
    bert, file.pairs, scoring={scoring!r}, by_layer={by_layer}, bad_rows=too_long
)
scores = [score for part in exam for score in part]
"""


class Exam(NamedTuple):
    """The scores of a checkpoint."""

    scores: tuple[PairScore, ...]
    columns: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def num_states(self) -> int:
        """1, or L+1 by layer."""
        return len(self.scores[0].good)

    def groups(self, column: str, *, state: int = -1) -> list[GroupAccuracy]:
        """Return the accuracy of each group of a column, by its name."""
        found = accuracies(self.scores, self.columns, state=state)
        return [group for group in found if group.column == column]

    @property
    def all(self) -> GroupAccuracy:
        """The accuracy on all pairs."""
        return self.all_at(-1)

    def all_at(self, state: int) -> GroupAccuracy:
        """Return the accuracy on all pairs at a layer."""
        return accuracies(self.scores, (), state=state)[0]


def take(side: Side, chosen: ExamSource, scoring: Scoring, name: str) -> Exam | None:
    """Return the exam; until it is finished, draw its progress and return None.

    Args:
        side: The checkpoint.
        chosen: The pairs.
        scoring: As for `pseudo_log_likelihoods`.
        name: Of the view; unique on the page.

    Raises:
        Exception: The error that ended the work.
    """
    compute = Compute(name=name, stopped="Stopped. Nothing was scored.")
    with suppress(Pending):
        scores, notes = compute(_taken, side, chosen, scoring)
        return Exam(scores, chosen.file.columns, notes)
    return None


def _taken(
    side: Side, chosen: ExamSource, scoring: Scoring, *, progress: Progress
) -> tuple[tuple[PairScore, ...], tuple[str, ...]]:
    """Return the scores of the pairs, and notes on them."""
    reader = plain(side.name)
    bert, number, bad_rows = side.bert, len(chosen.file.pairs), BadRows(skip=True)
    scores: list[PairScore] = []
    for part in score_pairs(
        bert,
        chosen.file.pairs,
        scoring=scoring,
        by_layer=has_layers(side),
        counts=None if side.is_untrained else TokenCounts.of_checkpoint(bert),
        bad_rows=bad_rows,
        progress=lambda done: progress(done, f"{reader}: {done * number:,.0f} of {number:,} pairs"),
    ):
        scores += part
    if not scores:
        raise ValueError(f"no pair can be scored. {bad_rows.first}")
    notes = [bad_rows.sentence(), _unknown(scores, side)]
    return tuple(scores), tuple(note for note in notes if note)


def has_layers(side: Side) -> bool:
    """Return whether every layer of a checkpoint can be read through its masked-word head."""
    return "lens" in side.bert.capabilities


def setup_code(page: frame.Page, side: Side, chosen: ExamSource, scoring: Scoring) -> str:
    """Return Python that makes `scores`; the code of each picture follows it."""
    return page.setup_code + EXAM_CODE.format(
        chosen=chosen.code, scoring=scoring, by_layer=has_layers(side)
    )


def _unknown(scores: list[PairScore], side: Side) -> str | None:
    number = sum(score.num_unknown > 0 for score in scores)
    if not number:
        return None
    return (
        f"{number:,} of {len(scores):,} pairs contain words that are not in the vocabulary of "
        f"{side.name}."
    )
