"""The log-probabilities of the tokens of a text, whose sum is the text's score in the exam."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bertcore.grammar.exam import longest_sentence, reads_from_left
from bertcore.grammar.pseudo_log_likelihood import pseudo_log_likelihoods
from bertcore.likelihood.hidden_tokens import Row
from bertcore.likelihood.next_tokens import first_id, next_token_scores
from bertcore.model import Model
from bertcore.tokenizer import Encoding


def token_log_likelihoods(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> NDArray[np.float64]:
    """Return the log-probability of each token, in nats, [T]; NaN for added ones.

    Their sum is the exam's score: `pseudo_log_likelihoods` (within-word), or `log_likelihoods` for
    a causal model.

    Args:
        progress: Called with the fraction done.

    ValueError if the checkpoint gives tokens no probability, or the text is too long for a causal
    model.
    """
    encoding = bert.tokenize(text, text_pair)
    found = np.full(len(encoding), np.nan)
    places = [i for i, added in enumerate(encoding.special_tokens_mask) if not added]
    if reads_from_left(bert):
        found[places] = _from_left(bert, encoding)[places]
    else:
        found[places] = pseudo_log_likelihoods(
            bert,
            [encoding] * len(places),
            positions=[[place] for place in places],
            progress=progress,
        )
    return found


def _from_left(bert: Model, encoding: Encoding) -> NDArray[np.float64]:
    """Return the log-probability of each token given those before it, [T]; NaN for the first if it
    begins a text.
    """
    limit = longest_sentence(bert)
    if len(encoding) > limit:
        raise ValueError(
            f"the text has {len(encoding)} tokens; expected at most {limit}. Shorten it."
        )
    ids, segments = list(encoding.input_ids), list(encoding.segment_ids)
    has_first = bool(encoding.special_tokens_mask) and encoding.special_tokens_mask[0]
    row = Row(ids, segments) if has_first else Row([first_id(bert), *ids], [0, *segments])
    (scores,) = next_token_scores(bert, [row])
    return np.concatenate([[np.nan] * has_first, scores.log_p])
