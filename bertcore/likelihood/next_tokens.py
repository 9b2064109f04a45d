"""Log-probabilities of tokens given those before them, the basis of causal models' scores."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.likelihood.hidden_tokens import LOGITS_PER_CHUNK, Row, padded_batches
from bertcore.model import Model


class NextTokenScores(NamedTuple):
    """A model's scores for each token of a row, from the second on."""

    number: int
    """Index of the row."""
    log_p: NDArray[np.float64]
    """Log-probability of each token given those before it, nats, [T - 1]."""
    is_best: NDArray[np.bool_]
    """Whether it is the most probable token there, [T - 1]."""


@torch.inference_mode()
def next_token_scores(bert: Model, rows: Sequence[Row]) -> Iterator[NextTokenScores]:
    """Yield the scores of many rows, the longest first, with one run for all tokens of a row.

    Args:
        bert: A model that predicts the next token (GPT-2, causal BERT).
        rows: Rows of at least two tokens each.

    ValueError if the model does not predict the next token.
    """
    bert.require("next")
    network = bert.module
    for chosen, ids, segments, mask in padded_batches(bert, rows):
        states = network.word_states(ids, segments, mask)[:, :-1].flatten(0, 1)
        targets = ids[:, 1:].flatten()
        log_p, is_best = [], []
        for part, wanted in zip(
            torch.split(states, LOGITS_PER_CHUNK),
            torch.split(targets, LOGITS_PER_CHUNK),
            strict=True,
        ):
            logits = network.next_logits(part).float()
            own = logits.gather(1, wanted[:, None])[:, 0].double()
            log_p.append(own - logits.logsumexp(-1).double())
            is_best.append(logits.argmax(-1) == wanted)
        shape = (len(chosen), ids.shape[1] - 1)
        found = torch.cat(log_p).view(shape).cpu().numpy()
        best = torch.cat(is_best).view(shape).cpu().numpy()
        for place, number in enumerate(chosen):
            end = len(rows[number].input_ids) - 1
            yield NextTokenScores(number, found[place, :end], best[place, :end])


def first_id(bert: Model) -> int:
    """Return the id of the token that a text begins with: [CLS], GPT-2's <|endoftext|>.

    ValueError if the tokenizer has none, so that nothing predicts the first word.
    """
    found = bert.tokenizer.bos_id
    if found is None:
        raise ValueError(
            f"the tokenizer of {bert.name} has no token that begins a text (bos_token), so nothing "
            "predicts the first word. Name it in tokenizer_config.json."
        )
    return found
