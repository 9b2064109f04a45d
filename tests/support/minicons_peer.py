"""minicons, the reference of pseudo-log-likelihoods; a test that lacks it is skipped."""

from collections.abc import Sequence
from pathlib import Path

import pytest

METRICS = {"within-word": "within_word_l2r", "single": "original"}
"""Our names of the scorings -> theirs."""


def left_to_right_sums(
    folder: str | Path, texts: Sequence[str], *, puts_bos: bool
) -> list[list[float]]:
    """Return the log-probability of each token of each text by a causal model, nats.

    `puts_bos` puts the token before each that begins a text; BERT's tokenizer does it by itself.
    """
    scorer = pytest.importorskip("minicons.scorer").IncrementalLMScorer(str(folder), "cpu")
    scorer.tokenizer.batch_encode_plus = scorer.tokenizer.__call__
    scores: list[list[float]] = scorer.sequence_score(
        list(texts), reduction=lambda log_p: log_p.tolist(), bos_token=puts_bos
    )
    return scores


class MiniconsPeer:
    """A checkpoint's folder opened by minicons."""

    def __init__(self, folder: str | Path, device: str = "cpu") -> None:
        scorer = pytest.importorskip("minicons.scorer")
        self._scorer = scorer.MaskedLMScorer(str(folder), device)
        # minicons 0.3 calls a method that tokenizers of transformers 5 do not have any more.
        self._scorer.tokenizer.batch_encode_plus = self._scorer.tokenizer.__call__

    def scores(self, texts: Sequence[str], scoring: str) -> list[float]:
        """Return the sum of the log-probabilities of each text, nats."""
        sums: list[float] = self._scorer.sequence_score(
            list(texts),
            reduction=lambda log_p: log_p.sum().item(),
            PLL_metric=METRICS[scoring],
        )
        return sums

    def token_scores(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the log-probability of each token of each text, hidden alone, nats.

        [CLS] and [SEP] are not among them.
        """
        scores: list[list[float]] = self._scorer.sequence_score(
            list(texts), reduction=lambda log_p: log_p.tolist(), PLL_metric=METRICS["single"]
        )
        return scores


def conditional_scores(
    folder: str | Path, given: str, continuations: Sequence[str], scoring: str | None
) -> list[list[float]]:
    """Return the log-probability of each token of each continuation of a text, nats.

    `scoring` is a key of METRICS; None for a causal model whose tokenizer adds nothing to a text.
    """
    scorer = pytest.importorskip("minicons.scorer")
    opened = scorer.IncrementalLMScorer if scoring is None else scorer.MaskedLMScorer
    peer = opened(str(folder), "cpu")
    peer.tokenizer.batch_encode_plus = peer.tokenizer.__call__
    more = {"bos_token": True} if scoring is None else {"PLL_metric": METRICS[scoring]}
    scores: list[list[float]] = peer.conditional_score(
        [given] * len(continuations),
        list(continuations),
        reduction=lambda log_p: log_p.tolist(),
        **more,
    )
    return scores
