"""minicons, the reference of pseudo-log-likelihoods; a test that lacks it is skipped."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

METRICS = {"within-word": "within_word_l2r", "single": "original"}
"""Our names of the scorings -> theirs."""


def _opened(class_name: str, folder: str | Path, device: str = "cpu") -> Any:
    scorer = getattr(pytest.importorskip("minicons.scorer"), class_name)(str(folder), device)
    # minicons 0.3 calls a method that tokenizers of transformers 5 do not have any more.
    scorer.tokenizer.batch_encode_plus = scorer.tokenizer.__call__
    return scorer


def left_to_right_sums(
    folder: str | Path, texts: Sequence[str], *, puts_bos: bool
) -> list[list[float]]:
    """Return the log-probability of each token of each text by a causal model, nats.

    `puts_bos` puts the token before each that begins a text; BERT's tokenizer does it by itself.
    """
    scorer = _opened("IncrementalLMScorer", folder)
    scores: list[list[float]] = scorer.sequence_score(
        list(texts), reduction=lambda log_p: log_p.tolist(), bos_token=puts_bos
    )
    return scores


class MiniconsPeer:
    """A checkpoint's folder opened by minicons."""

    def __init__(self, folder: str | Path, device: str = "cpu") -> None:
        self._scorer = _opened("MaskedLMScorer", folder, device)

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
    peer = _opened("IncrementalLMScorer" if scoring is None else "MaskedLMScorer", folder)
    more = {"bos_token": True} if scoring is None else {"PLL_metric": METRICS[scoring]}
    scores: list[list[float]] = peer.conditional_score(
        [given] * len(continuations),
        list(continuations),
        reduction=lambda log_p: log_p.tolist(),
        **more,
    )
    return scores
