"""Score minimal pairs and count, by group, how often the good sentence is more probable."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.bert import Bert
from bertcore.data.files import BadRows
from bertcore.evaluation.intervals import wilson_interval
from bertcore.grammar.log_likelihood import (
    Scoring,
    log_likelihoods,
    longest_sentence,
    pseudo_log_likelihoods,
    reads_from_left,
)
from bertcore.grammar.pairs import MinimalPair, bundled_pairs
from bertcore.grammar.word_frequency import TokenCounts
from bertcore.model import Model
from bertcore.network import Network
from bertcore.tokenizer import Encoding, Tokenizer

PAIRS_AT_ONCE = 256
"""Pairs that are scored together: batches by length are full, and a stopped exam loses little."""
TIE = 1e-5
"""Nats. Two sentences whose scores differ by no more are a tie: float32 sums are no closer."""


@dataclass(frozen=True, slots=True)
class PairScore:
    """The scores of a pair's two sentences.

    `good` and `bad` have one number, or L+1 by layer, where index 0 is the embeddings' output and
    the last is the model's own answer.
    """

    pair: MinimalPair
    good: tuple[float, ...]
    """Pseudo-log-likelihood of the good sentence, nats, [1] or [L+1]; by a causal model its
    log-likelihood, [1]."""
    bad: tuple[float, ...]
    num_unknown: int = 0
    """[UNK] in the two sentences together."""
    frequency: tuple[float, float] | None = None
    """Log-likelihood of the good and the bad sentence by word frequency alone, nats."""

    def margin(self, state: int = -1) -> float:
        """Return how much more probable the good sentence is, in nats; a tie is 0."""
        difference = self.good[state] - self.bad[state]
        return 0.0 if abs(difference) <= TIE else difference

    def is_right(self, state: int = -1) -> bool:
        """Return whether the good sentence is more probable; False for a tie."""
        return self.margin(state) > 0


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
    frequency_right: int | None
    """Pairs that word frequency alone gets right; None where it is not known."""
    frequency_ties: int | None
    """Pairs it cannot decide, such as those with the same words in a different order."""

    @property
    def accuracy(self) -> float:
        """The fraction of right pairs."""
        return self.num_right / self.num_pairs

    @property
    def frequency_accuracy(self) -> float | None:
        """The fraction that word frequency alone gets right; ties count as wrong."""
        return None if self.frequency_right is None else self.frequency_right / self.num_pairs


def score_pairs(
    bert: Model,
    pairs: Sequence[MinimalPair],
    *,
    scoring: Scoring = "within-word",
    by_layer: bool = False,
    counts: TokenCounts | None = None,
    bad_rows: BadRows | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[list[PairScore]]:
    """Yield the scores of pairs, PAIRS_AT_ONCE at a time, in order.

    Args:
        bert: A checkpoint with a masked-word or next-token head.
        pairs: At least one.
        scoring, by_layer: As for `pseudo_log_likelihoods`; a causal model has no choice
            of scoring.
        counts: Counts for the word-frequency baseline; None leaves it out.
        bad_rows: Collects pairs with a sentence that is too long; None rejects them.
        progress: Called with the fraction done.

    ValueError if there is neither a masked-word nor a next-token head, layers cannot be read, a
    sentence has no token or too many, or its score is not finite.
    """
    is_causal = reads_from_left(bert)
    if by_layer or not is_causal:
        bert.require("lens" if by_layer else "mlm")
    bad_rows = BadRows() if bad_rows is None else bad_rows
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        part = pairs[start : start + PAIRS_AT_ONCE]
        read = [(pair, *_encode(bert, pair)) for pair in part]
        kept = []
        for pair, good, bad in read:
            problem = _problem(pair, good, bad, longest_sentence(bert))
            if problem is None:
                kept.append((pair, good, bad))
            else:
                bad_rows.add(problem)

        def report(fraction: float, start: int = start, number: int = len(part)) -> None:
            if progress is not None:
                progress((start + fraction * number) / len(pairs))

        encodings = [encoding for _, good, bad in kept for encoding in (good, bad)]
        if is_causal:
            scores = log_likelihoods(bert, encodings, progress=report)
        else:
            scores = pseudo_log_likelihoods(
                bert,
                encodings,
                scoring=scoring,
                by_layer=by_layer,
                progress=report,
            )
        states = np.atleast_2d(scores)  # [S, 2 N]
        if not np.isfinite(states).all():
            raise ValueError(
                "the scores contain NaN or infinity, so the sentences cannot be compared. The "
                "checkpoint's weights may contain NaN, or its precision may be too low: choose "
                "float32, or another checkpoint."
            )
        yield [
            PairScore(
                pair,
                tuple(states[:, 2 * i].tolist()),
                # The same tokens are a tie: in other batches they would differ by rounding.
                tuple(states[:, 2 * i + int(good.input_ids != bad.input_ids)].tolist()),
                _num_unknown(bert, good) + _num_unknown(bert, bad),
                None
                if counts is None
                else (counts.log_likelihood(good), counts.log_likelihood(bad)),
            )
            for i, (pair, good, bad) in enumerate(kept)
        ]


def accuracies(
    scores: Sequence[PairScore], columns: Sequence[str], *, state: int = -1
) -> list[GroupAccuracy]:
    """Return the accuracy on all pairs, then by each column in order of its groups' names.

    Args:
        scores: At least one.
        columns: Names of the grouping columns, [G].
        state: For scores by layer, which one to read.

    ValueError if there is no score.
    """
    if not scores:
        raise ValueError("there is no pair to count. Give at least one.")
    margins = np.array([score.margin(state) for score in scores])
    frequency = None
    if all(score.frequency is not None for score in scores):
        frequency = np.array([_frequency_margin(score) for score in scores])
    everything = np.ones(len(scores), dtype=bool)
    found = [_accuracy("", "all", everything, margins, frequency)]
    for place, column in enumerate(columns):
        names = np.array([score.pair.groups[place] for score in scores])
        found += [
            _accuracy(column, str(name), names == name, margins, frequency)
            for name in np.unique(names)
        ]
    return found


def _accuracy(
    column: str,
    group: str,
    chosen: NDArray[np.bool_],
    margins: NDArray[np.float64],
    frequency: NDArray[np.float64] | None,
) -> GroupAccuracy:
    number, num_right = int(chosen.sum()), int((margins[chosen] > 0).sum())
    interval = wilson_interval(num_right, number)
    return GroupAccuracy(
        column=column,
        group=group,
        num_pairs=number,
        num_right=num_right,
        num_ties=int((margins[chosen] == 0).sum()),
        low=float(interval.low),
        high=float(interval.high),
        frequency_right=None if frequency is None else int((frequency[chosen] > 0).sum()),
        frequency_ties=None if frequency is None else int((frequency[chosen] == 0).sum()),
    )


def _frequency_margin(score: PairScore) -> float:
    assert score.frequency is not None  # the caller's check
    good, bad = score.frequency
    return 0.0 if abs(good - bad) <= TIE else good - bad


def _encode(bert: Model, pair: MinimalPair) -> tuple[Encoding, Encoding]:
    return bert.tokenize(pair.good), bert.tokenize(pair.bad)


def _problem(pair: MinimalPair, good: Encoding, bad: Encoding, limit: int) -> str | None:
    """Return why a pair cannot be scored; None if it can."""
    for name, encoding in (("good", good), ("bad", bad)):
        cut = encoding.truncation
        num_tokens = len(encoding) if cut is None else cut.num_tokens_before
        if num_tokens > limit:
            return (
                f"row {pair.row}: the {name} sentence has {num_tokens:,} tokens, and this "
                f"checkpoint reads at most {limit:,}."
            )
        if all(encoding.special_tokens_mask):
            return f"row {pair.row}: the {name} sentence has no token."
    return None


def _num_unknown(bert: Model, encoding: Encoding) -> int:
    return encoding.tokens.count(bert.tokenizer.unk_token)


class PretrainingExam:
    """The score of a training run on our own pairs, if its vocabulary can read them.

    Args:
        tokenizer: The run's tokenizer. If it lacks words of the pairs, or splits them into more
            than MOST_PIECES pieces on average, it was made for another language: no exam.
        max_length: Longest input of the network, tokens.
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

        Args:
            network: A network with a masked-word head; its mode is restored afterwards.
        """
        if not self._pairs or network.mlm is None:
            return None
        was_training = network.training
        try:
            bert = Bert(network, self.tokenizer)
            scores = [score for part in score_pairs(bert, self._pairs) for score in part]
        finally:
            network.train(was_training)
        return accuracies(scores, [])[0].accuracy
