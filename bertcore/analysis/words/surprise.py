"""Surprisal of each token of a sentence when it is hidden."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import (
    best_pieces,
    log_p_at,
    mask_positions,
    masked_encoding,
    masked_rows,
    text_positions,
)
from bertcore.model.model import Model
from bertcore.model.tokenizer import Encoding
from bertcore.model.trace import Trace

_LONG_ENOUGH = 4
"""Minimum number of letters of a word suggested for masking, to avoid function words."""
_MOST_FOR_EXAMPLE = 64
"""Maximum number of tokens of a text in which several words are tried for an example."""
_MOST_TRIED = 32  # number of tokens tried when a mask is suggested
_MOST_TRIED_FOR_EXAMPLE = 5  # fewer, since each edit of a text has another example


@dataclass(frozen=True, slots=True)
class Surprise:
    """The surprisal of each scored token given all the others."""

    positions: tuple[int, ...]
    """Positions in the encoded input, [N]: the texts' tokens without [MASK]."""
    tokens: tuple[str, ...]
    """The tokens themselves, [N]."""
    bits: NDArray[np.float32]
    """-log2 p(token | all other tokens), [N]: 0 is fully expected, each bit halves p."""
    best_words: tuple[str, ...]
    """BERT's prediction there, [N]."""
    best_probabilities: NDArray[np.float32]
    """Its probability, [N]."""

    @property
    def pseudo_perplexity(self) -> float:
        """2 to the power of the mean bits: the equivalent number of equally likely pieces."""
        return float(2 ** np.mean(self.bits, dtype=np.float64))


def surprise(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    *,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Surprise:
    """Return the surprisal of each token when it is hidden.

    One input for each token, run in batches. [MASK] typed in the text stays hidden throughout and
    has no number itself. The cost is T forward passes.

    ValueError if the text has no token to hide, or the checkpoint has no masked-word head.

    Source: Salazar et al. 2020, "Masked language model scoring": the sum of the bits is their
        pseudo-log-likelihood (in bits), the perplexity is theirs for one sentence.
    """
    bert.require("mlm")
    encoding = bert.tokenize(text, text_pair)
    masks = set(mask_positions(encoding, bert.tokenizer.mask_id))
    positions = [i for i in text_positions(encoding) if i not in masks]
    if not positions:
        raise ValueError("the text has no token to mask. Write at least one word besides [MASK].")
    log_p = log_p_at(bert, masked_rows(bert, encoding, positions), positions)
    return surprise_of(bert, encoding, positions, log_p, progress)


def surprise_of(
    bert: Model,
    read: Encoding | Trace,
    positions: Sequence[int],
    log_p: Iterable[tuple[int, Tensor]],
    progress: Callable[[float], None] = lambda fraction: None,
) -> Surprise:
    """Return the surprisal of tokens from the log-probabilities of all pieces in their places.

    `log_p` yields, in any order, an index into `positions` and log-probabilities there, [V].
    """
    bits = np.empty(len(positions), dtype=np.float32)
    best = [("", 0.0)] * len(positions)
    for done, (number, row) in enumerate(log_p, 1):
        # -0.0 + 0.0 is 0.0: a certain token reads "0", not "-0".
        bits[number] = -float(row[read.input_ids[positions[number]]]) / np.log(2) + 0.0
        (best[number],) = best_pieces(bert, row, 1)
        progress(done / len(positions))
    words, probabilities = zip(*best, strict=True)
    return Surprise(
        positions=tuple(positions),
        tokens=tuple(read.tokens[i] for i in positions),
        bits=bits,
        best_words=words,
        best_probabilities=np.array(probabilities, dtype=np.float32),
    )


def suggest_mask(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    masked: Sequence[int] = (),
    *,
    unique: bool = False,
    most: int = _MOST_TRIED,
) -> int:
    """Suggest a token to hide, besides those already masked; return its position.

    Among the words of one piece and at least four letters (the longest, up to `most`, one run of
    BERT each), the one that BERT predicts best. Without such a word any token will do. `unique`
    prefers words that occur only once: a word shared by two sentences ties them together.

    ValueError if the text has no token left, or the checkpoint has no masked-word head.
    """
    encoding = masked_encoding(bert, text, text_pair, masked)
    hidden = set(mask_positions(encoding, bert.tokenizer.mask_id))
    positions = [i for i in text_positions(encoding) if i not in hidden]
    if not positions:
        raise ValueError("the text has no token to mask. Write at least one more word.")
    word_ids = encoding.word_ids
    whole = [i for i in positions if word_ids.count(word_ids[i]) == 1]
    letters = [i for i in whole if encoding.tokens[i].isalpha()]
    # In Chinese each character is a word.
    words = [i for i in letters if len(encoding.tokens[i]) >= _LONG_ENOUGH] or letters
    if unique:
        words = [i for i in words if encoding.input_ids.count(encoding.input_ids[i]) == 1] or words
    lengths = [len(token) for token in encoding.tokens]
    tried = sorted(words or whole or positions, key=lambda i: -lengths[i])[:most]
    scored = log_p_at(bert, masked_rows(bert, encoding, tried), tried)
    p = {number: float(row[encoding.input_ids[tried[number]]]) for number, row in scored}
    return tried[max(range(len(tried)), key=p.__getitem__)]


def example_mask(bert: Model, text: str, text_pair: str | None = None) -> int:
    """Return the position of a token to hide as an example, with a few runs at most.

    The choice of `suggest_mask` among 5 unique words in a text of up to 64 tokens; in a longer one,
    which would take long runs, the longest whole word of the first 64 tokens. ValueError as
    `suggest_mask`.
    """
    encoding = bert.tokenize(text, text_pair)
    if len(encoding) <= _MOST_FOR_EXAMPLE:
        return suggest_mask(bert, text, text_pair, unique=True, most=_MOST_TRIED_FOR_EXAMPLE)
    positions = text_positions(encoding)[:_MOST_FOR_EXAMPLE]
    if not positions or "mlm" not in bert.capabilities:
        return suggest_mask(bert, text, text_pair)  # which says what is missing
    whole = [i for i in positions if encoding.word_ids.count(encoding.word_ids[i]) == 1]
    words = [i for i in whole if encoding.tokens[i].isalpha()]
    return max(words or whole or positions, key=lambda i: len(encoding.tokens[i]))
