"""Log-likelihood: the log-probabilities of a sentence's tokens, each given those before it."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bertcore.likelihood.hidden_tokens import Row
from bertcore.likelihood.next_tokens import first_id, next_token_scores
from bertcore.model import Model
from bertcore.tokenizer import Encoding

_ENCODINGS_AT_ONCE = 256  # sentences scored between two reports of progress


def log_likelihoods(
    bert: Model,
    encodings: Sequence[Encoding],
    *,
    progress: Callable[[float], None] | None = None,
) -> NDArray[np.float64]:
    """Return the log-likelihood of each encoded text by a causal model, nats, [N].

    The first token is predicted from the start token ([CLS], or GPT-2's <|endoftext|>, which is
    prepended); the [SEP] that BERT's tokenizer appends is not counted.

    Args:
        bert: A model that predicts the next token.
        encodings: From `bert.tokenize`.
        progress: Called with the fraction done.

    ValueError if the model does not predict the next token, or there is no start token.
    """
    start = first_id(bert)
    sums = np.zeros(len(encodings))
    for at in range(0, len(encodings), _ENCODINGS_AT_ONCE):
        part = encodings[at : at + _ENCODINGS_AT_ONCE]
        rows, counted = [], []
        for encoding in part:
            added = list(encoding.special_tokens_mask)
            ids, segments = list(encoding.input_ids), list(encoding.segment_ids)
            if not added or not added[0]:
                ids, segments, added = [start, *ids], [0, *segments], [True, *added]
            # A model of T places reads no more: the last token predicts nothing.
            rows.append(Row(ids, segments))
            counted.append(~np.array(added[1:], dtype=np.bool_))
        for scores in next_token_scores(bert, rows):
            sums[at + scores.number] = scores.log_p[counted[scores.number]].sum()
        if progress is not None:
            progress((at + len(part)) / len(encodings))
    return sums
