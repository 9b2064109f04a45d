"""How probable continuations of a text are: of each of their tokens, given the text before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.model.likelihood import Scoring, token_log_likelihoods
from bertcore.model.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class ContinuationScore:
    """The score of one continuation; a [MASK] typed in it has none."""

    text: str
    tokens: tuple[str, ...]
    """Of the continuation, without [MASK], [N]."""
    log_p: NDArray[np.float64]
    """Log-probability of each, nats, [N]."""

    @property
    def total(self) -> float:
        """The sum, nats: log p of the continuation by a causal model, else a pseudo-likelihood."""
        return float(self.log_p.sum())

    @property
    def mean(self) -> float:
        """The mean of a token, nats, to compare continuations of different lengths."""
        return float(self.log_p.mean())


def score_continuations(
    bert: Model,
    text: str,
    continuations: Sequence[str],
    *,
    scoring: Scoring = "within-word",
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> tuple[ContinuationScore, ...]:
    """Score texts that might follow a text; its own tokens are read, but not counted.

    Args:
        text: What they continue, with one space between; blank for none.
        scoring: For masked words, of SCORINGS.

    ValueError if a continuation is empty, does not fit after the text, or the checkpoint predicts
    no words.

    Source: `conditional_score` of the package minicons, whose default is the mean, and for masked
        words "single".
    """
    before = text.strip()
    if "next" not in bert.capabilities:
        bert.require("mlm")
    scores = []
    for number, continuation in enumerate(continuations):
        whole = f"{before} {continuation.strip()}".strip()
        encoding = bert.tokenize(whole)
        if encoding.truncation is not None:
            raise ValueError(
                f"{continuation[:40]!r} does not fit after the text: together they have "
                f"{encoding.truncation.num_tokens_before} tokens, and the limit is "
                f"{encoding.truncation.limit}. Shorten the text."
            )

        def report(fraction: float, done: int = number) -> None:
            on_fraction((done + fraction) / len(continuations))

        log_p = token_log_likelihoods(bert, whole, given=before, scoring=scoring, progress=report)
        places = [
            i
            for i in np.flatnonzero(~np.isnan(log_p))
            if encoding.input_ids[i] != bert.tokenizer.mask_id
        ]
        if not places:
            raise ValueError(
                f"{continuation[:40]!r} has no token to score. Write at least one word."
            )
        tokens = tuple(encoding.tokens[i] for i in places)
        scores.append(ContinuationScore(continuation, tokens, log_p[places]))
    return tuple(scores)
