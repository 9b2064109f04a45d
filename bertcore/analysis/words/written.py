"""Measures of a model's continuation: repetition, and how another model would score it."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bertcore.analysis.shared.inputs import text_positions
from bertcore.analysis.words.next_words import next_surprise
from bertcore.grammar.pseudo_log_likelihood import pseudo_log_likelihoods
from bertcore.model import Model


@dataclass(frozen=True, slots=True)
class WrittenScores:
    """Scores of a text that was written after another one."""

    num_tokens: int
    """Number of written tokens, as tokenised by the masked-word model."""
    num_different: int
    """Different ones among them."""
    num_pairs: int
    """Pairs of neighbours that end in them: one for each."""
    num_repeated: int
    """Pairs that occur earlier in the text."""
    perplexity: float | None
    """Perplexity of the written tokens, each given those before it, by the next-token model; None
    without such a model."""
    pseudo_perplexity: float | None
    """Pseudo-perplexity of the written tokens, each hidden in turn, by the masked-word model. A
    text that repeats itself gives each token away, so it is low there."""


def score_written(masked: Model, causal: Model | None, text: str, written: str) -> WrittenScores:
    """Return how repetitive a continuation is, and how two models score it.

    Args:
        masked: A checkpoint with a masked-word head; its tokens are counted.
        causal: A model of next tokens, or None.
        text: The text before the continuation.
        written: The continuation, as text.

    ValueError if a head is absent, nothing was written, or the continuation is not read to its end.

    Sources: repeated pairs: Holtzman et al. 2020 and Welleck et al. 2020, "rep" of n-grams, with n
        = 2; pseudo-perplexity: Salazar et al. 2020.
    """
    joined, start = f"{text} {written}", len(text) + 1
    encoding = masked.tokenize(joined)
    if encoding.truncation is not None:
        raise ValueError(
            f"the text with its continuation is too long for {masked.name}. Write less."
        )
    of_text = text_positions(encoding)
    ids = [encoding.input_ids[place] for place in of_text]
    num_before = sum(encoding.offsets[place][0] < start for place in of_text)
    places = of_text[num_before:]
    if not places:
        raise ValueError("the continuation has nothing to score. Write more.")
    pairs = list(pairwise(ids))
    # Pair k ends in token k + 1.
    own_pairs = range(max(num_before - 1, 0), len(pairs))
    (score,) = pseudo_log_likelihoods(masked, [encoding], scoring="single", positions=[places])
    return WrittenScores(
        num_tokens=len(places),
        num_different=len(set(ids[num_before:])),
        num_pairs=len(own_pairs),
        num_repeated=sum(pairs[number] in pairs[:number] for number in own_pairs),
        perplexity=None if causal is None else _perplexity(causal, joined, start),
        pseudo_perplexity=float(np.exp(-score / len(places))),
    )


def _perplexity(causal: Model, joined: str, start: int) -> float:
    surprise = next_surprise(causal, joined)
    encoding = causal.tokenize(joined)
    bits = [
        float(bits)
        for place, bits in zip(surprise.positions, surprise.bits, strict=True)
        if encoding.text_ids[place] >= 0 and encoding.offsets[place][0] >= start
    ]
    if not bits:
        raise ValueError(f"{causal.name} has no room to read the continuation. Shorten the text.")
    return float(2 ** np.mean(bits))
