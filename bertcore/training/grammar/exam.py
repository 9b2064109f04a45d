"""Minimal pairs: read them, score both sentences, and count how often the good one is ahead."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bertcore.data.columns import column_place
from bertcore.data.files import BadRows, listed_columns
from bertcore.data.tables import always, open_table
from bertcore.model.bert import Bert
from bertcore.model.likelihood import (
    log_likelihoods,
    longest_sentence,
    pseudo_log_likelihoods,
    reads_from_left,
)
from bertcore.model.model import Model
from bertcore.model.network import Network
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.evaluation.intervals import wilson_interval

BUNDLED = Path(__file__).parent / "data" / "minimal_pairs.tsv"
"""Twenty phenomena of English, ten pairs each, written for this project. It is not BLiMP."""
GOOD = ("sentence_good", "good", "good_sentence", "grammatical", "acceptable")
"""Usual names of the column of good sentences."""
BAD = ("sentence_bad", "bad", "bad_sentence", "ungrammatical", "unacceptable")
MOST_GROUPS = 500
"""Different values of a column that groups pairs; of more it is a number or a text."""
PAIRS_AT_ONCE = 256
"""Pairs that are scored together, so that batches by length are full."""
TIE = 1e-5
"""Nats. Two sentences whose scores differ by no more are a tie: float32 sums are no closer."""


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """Two minimally different sentences: one is acceptable, the other is not."""

    good: str
    bad: str
    groups: tuple[str, ...]
    """Its value in each grouping column of its file, [G]."""
    row: int
    """Number of its row in the file, from 1."""


@dataclass(frozen=True, slots=True)
class PairFile:
    """The pairs of a file."""

    pairs: tuple[MinimalPair, ...]
    columns: tuple[str, ...]
    """Names of the grouping columns, coarse ones first, [G]."""


def read_pairs(path: Path, *, bad_rows: BadRows | None = None) -> PairFile:
    """Read the minimal pairs of a table or of JSON lines, such as those of BLiMP.

    The sentences are in columns with one of the usual names (GOOD, BAD). Every other column with 2
    to MOST_GROUPS values, at least one of them on several rows, groups the pairs. `bad_rows`
    collects rows that cannot be used; None rejects them.

    ValueError if a column is missing (the message lists the columns), a row cannot be used, no row
    is left, or the file cannot be read.
    """
    bad_rows = BadRows() if bad_rows is None else bad_rows
    with open_table(path, bad_rows, has_header=always) as table:
        names = table.columns
        places = [_place(names, usual, path) for usual in (GOOD, BAD)]
        others = [place for place in range(len(names)) if place not in places]
        pairs = []
        for row in table.rows:
            good, bad = (_as_text(row.cells[place]) for place in places)
            if good and bad:
                groups = tuple(_as_text(row.cells[place]) for place in others)
                pairs.append(MinimalPair(good, bad, groups, row.number))
            else:
                column = names[places[bool(good)]]
                bad_rows.add(
                    f"row {row.number} of {str(path)!r} has no sentence in column {column!r}."
                )
    if not pairs:
        raise ValueError(f"{str(path)!r} has no minimal pair to score. {bad_rows.first}".rstrip())
    sizes = [len({pair.groups[place] for pair in pairs}) for place in range(len(others))]
    most = min(MOST_GROUPS, len(pairs) - 1)
    kept = sorted((n for n, size in enumerate(sizes) if 2 <= size <= most), key=sizes.__getitem__)
    return PairFile(
        tuple(
            MinimalPair(pair.good, pair.bad, tuple(pair.groups[n] for n in kept), pair.row)
            for pair in pairs
        ),
        tuple(names[others[n]] for n in kept),
    )


def _place(names: Sequence[str], usual: Sequence[str], path: Path) -> int:
    """Return the place of the first usual name that a table has."""
    lowered = [name.lower() for name in names]
    found = next((name for name in usual if name in lowered), None)
    if found is None:
        raise ValueError(
            f"{str(path)!r} has no column {usual[0]!r}; it has {listed_columns(names)}. Name the "
            f"columns of the sentences {GOOD[0]!r} and {BAD[0]!r}."
        )
    return column_place(lowered, found, path)


def _as_text(cell: object) -> str:
    return "" if cell is None or isinstance(cell, dict | list) else str(cell).strip()


@lru_cache(maxsize=1)
def bundled_pairs() -> PairFile:
    """Return our own pairs: 20 phenomena of English, 10 pairs each."""
    return read_pairs(BUNDLED)


@dataclass(frozen=True, slots=True)
class PairScore:
    """The scores of a pair's two sentences."""

    pair: MinimalPair
    good: float
    """Pseudo-log-likelihood of the good sentence, nats; by a causal model its log-likelihood."""
    bad: float
    num_unknown: int = 0
    """[UNK] in the two sentences together."""

    @property
    def margin(self) -> float:
        """How much more probable the good sentence is, in nats; a tie is 0."""
        difference = self.good - self.bad
        return 0.0 if abs(difference) <= TIE else difference

    @property
    def is_right(self) -> bool:
        """Whether the good sentence is more probable; False for a tie."""
        return self.margin > 0


def score_pairs(
    bert: Model,
    pairs: Sequence[MinimalPair],
    *,
    bad_rows: BadRows | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[list[PairScore]]:
    """Yield the scores of pairs, PAIRS_AT_ONCE at a time, in order.

    `bad_rows` collects pairs with a sentence that is too long; None rejects them. ValueError if
    there is neither a masked-word nor a next-token head, a sentence has no token or too many, or
    its score is not finite.
    """
    score = log_likelihoods if reads_from_left(bert) else pseudo_log_likelihoods
    bad_rows = BadRows() if bad_rows is None else bad_rows
    unknown, limit = bert.tokenizer.unk_token, longest_sentence(bert)
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        part = pairs[start : start + PAIRS_AT_ONCE]
        read = []
        for pair in part:
            both = bert.tokenize(pair.good), bert.tokenize(pair.bad)
            lengths = [
                len(each) if each.truncation is None else each.truncation.num_tokens_before
                for each in both
            ]
            if max(lengths) > limit:
                bad_rows.add(
                    f"row {pair.row} has a sentence of {max(lengths):,} tokens, and this "
                    f"checkpoint reads at most {limit:,}."
                )
            elif any(all(each.special_tokens_mask) for each in both):
                bad_rows.add(f"row {pair.row} has a sentence without a token.")
            else:
                read.append((pair, *both))

        def report(fraction: float, start: int = start, number: int = len(part)) -> None:
            if progress is not None:
                progress((start + fraction * number) / len(pairs))

        encodings = [encoding for _, *both in read for encoding in both]
        scores = score(bert, encodings, progress=report)
        if not np.isfinite(scores).all():
            raise ValueError(
                "the scores contain NaN or infinity, so the sentences cannot be compared. The "
                "checkpoint's weights may contain NaN, or its precision may be too low: choose "
                "float32, or another checkpoint."
            )
        yield [
            PairScore(
                pair,
                float(scores[2 * i]),
                # The same tokens are a tie: in other batches they would differ by rounding.
                float(scores[2 * i + int(good.input_ids != bad.input_ids)]),
                good.tokens.count(unknown) + bad.tokens.count(unknown),
            )
            for i, (pair, good, bad) in enumerate(read)
        ]


def score_bundled_pairs(
    bert: Model, *, on_fraction: Callable[[float], None] | None = None
) -> tuple[PairScore, ...]:
    """Return the scores of our pairs that fit the checkpoint; ValueError if none does."""
    bad_rows = BadRows(skip=True)
    parts = score_pairs(bert, bundled_pairs().pairs, bad_rows=bad_rows, progress=on_fraction)
    scores = tuple(score for part in parts for score in part)
    if not scores:
        raise ValueError(f"no pair can be scored. {bad_rows.first}")
    return scores


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAccuracy:
    """The accuracy on one group of pairs. Ties count as wrong."""

    column: str
    """The grouping column; "" of all pairs."""
    group: str
    """Its value; "all" of all pairs."""
    num_pairs: int
    num_right: int
    num_ties: int
    low: float
    """The lower end of the 95% interval (Wilson) of the accuracy."""
    high: float

    @property
    def accuracy(self) -> float:
        """The fraction of right pairs."""
        return self.num_right / self.num_pairs


def accuracies(scores: Sequence[PairScore], columns: Sequence[str] = ()) -> list[GroupAccuracy]:
    """Return the accuracy on all pairs, then by each column in order of its groups' names.

    ValueError if there is no score.
    """
    if not scores:
        raise ValueError("there is no pair to count. Give at least one.")
    margins = np.array([score.margin for score in scores])
    found = [_accuracy("", "all", margins)]
    for place, column in enumerate(columns):
        names = np.array([score.pair.groups[place] for score in scores])
        found += [_accuracy(column, str(name), margins[names == name]) for name in np.unique(names)]
    return found


def _accuracy(column: str, group: str, margins: NDArray[np.float64]) -> GroupAccuracy:
    num_right = int((margins > 0).sum())
    interval = wilson_interval(num_right, len(margins))
    return GroupAccuracy(
        column=column,
        group=group,
        num_pairs=len(margins),
        num_right=num_right,
        num_ties=int((margins == 0).sum()),
        low=float(interval.low),
        high=float(interval.high),
    )


def bundled_accuracies(
    bert: Model, *, on_fraction: Callable[[float], None] | None = None
) -> list[GroupAccuracy]:
    """Return the accuracy on our pairs: on all, then by group, the highest first.

    ValueError as for `score_bundled_pairs`.
    """
    scores = score_bundled_pairs(bert, on_fraction=on_fraction)
    everything, *groups = accuracies(scores, bundled_pairs().columns)
    return [everything, *sorted(groups, key=lambda group: -group.accuracy)]


class PretrainingExam:
    """The score of a training run on our own pairs, if its vocabulary can read them.

    If the run's tokenizer lacks words of the pairs, or splits them into more than MOST_PIECES
    pieces on average, it was made for another language: no exam. `max_length` is the network's
    longest input.
    """

    MOST_PIECES = 2.0

    def __init__(self, tokenizer: Tokenizer, max_length: int) -> None:
        self.tokenizer = tokenizer
        pairs = bundled_pairs().pairs
        encodings = [tokenizer.encode(text) for pair in pairs for text in (pair.good, pair.bad)]
        num_words = sum(len(set(encoding.word_ids) - {-1}) for encoding in encodings)
        num_pieces = sum(len(encoding) - 2 for encoding in encodings)
        can_read = (
            all(len(encoding) <= max_length for encoding in encodings)
            and not any(tokenizer.unk_id in encoding.input_ids for encoding in encodings)
            and num_pieces <= self.MOST_PIECES * num_words
        )
        self._pairs = pairs if can_read else ()

    def accuracy(self, network: Network) -> float | None:
        """Return the fraction of pairs that a network gets right; None if it cannot read them.

        The network has a masked-word head; its mode is restored afterwards.
        """
        if not self._pairs or network.mlm is None:
            return None
        was_training = network.training
        try:
            bert = Bert(network, self.tokenizer)
            scores = [score for part in score_pairs(bert, self._pairs) for score in part]
        finally:
            network.train(was_training)
        return accuracies(scores)[0].accuracy
