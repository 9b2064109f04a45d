"""Surprisal of each token of a sentence when it is hidden."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.shared.inputs import (
    mask_positions,
    masked_encoding,
    run_rows,
    text_positions,
    word_log_probabilities,
)
from bertcore.likelihood import Row
from bertcore.model import Model
from bertcore.tokenizer import Encoding

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
    progress: Callable[[float], None] | None = None,
) -> Surprise:
    """Return the surprisal of each token when it is hidden.

    One input for each token, run in batches. [MASK] typed in the text stays hidden throughout and
    has no number itself. The cost is T forward passes.

    Args:
        progress: Called with the fraction done after each batch.

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
    return _surprise_at(bert, encoding, positions, progress)


def _surprise_at(
    bert: Model,
    encoding: Encoding,
    positions: list[int],
    progress: Callable[[float], None] | None = None,
) -> Surprise:
    """Score some positions; [MASK] in the encoding stays."""
    rows = []
    for position in positions:
        input_ids = list(encoding.input_ids)
        input_ids[position] = bert.tokenizer.mask_id
        rows.append(Row(input_ids, encoding.segment_ids))
    bits = np.empty(len(rows), dtype=np.float32)
    best = np.empty(len(rows), dtype=np.float32)
    best_words = [""] * len(rows)
    num_done = 0
    for chosen, hidden in run_rows(bert, rows):
        at = torch.tensor([positions[i] for i in chosen], device=hidden.device)
        read = hidden[torch.arange(len(chosen), device=hidden.device), at]
        original_ids = torch.tensor([encoding.input_ids[positions[i]] for i in chosen])
        done = 0
        for log_p in word_log_probabilities(bert, read):
            part = chosen[done : done + len(log_p)]
            ids = original_ids[done : done + len(log_p)].to(log_p.device)
            original_log_p = log_p.gather(1, ids[:, None])[:, 0]
            top = log_p[:, : bert.tokenizer.vocab_size].max(-1)
            # -0.0 + 0.0 is 0.0: a certain token reads "0", not "-0".
            bits[part] = (-original_log_p / np.log(2)).cpu().numpy() + 0.0
            best[part] = top.values.exp().cpu().numpy()
            for row, token_id in zip(part, top.indices.tolist(), strict=True):
                best_words[row] = bert.tokenizer.id_to_token(token_id)
            done += len(log_p)
        num_done += len(chosen)
        if progress is not None:
            progress(num_done / len(rows))
    return Surprise(
        positions=tuple(positions),
        tokens=tuple(encoding.tokens[i] for i in positions),
        bits=bits,
        best_words=tuple(best_words),
        best_probabilities=best,
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

    Among the words of one piece and at least four letters (the longest, up to `most`), the one that
    BERT predicts best. Without such a word any token will do.

    Args:
        unique: Prefer words that occur only once: a word shared by two sentences ties them
            together.
        most: Maximum number of words tried, one run of BERT each.

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
    scored = _surprise_at(bert, encoding, tried)
    return scored.positions[int(scored.bits.argmin())]


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
