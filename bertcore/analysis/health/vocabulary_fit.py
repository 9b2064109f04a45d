"""Whether the vocabulary is the one that the weights were trained with.

Two tests that need no corpus: pieces of similar spelling have similar vectors in a trained table,
whatever its language, and a trained model guesses a hidden word better in its own sentence than in
others.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import log_p_at, masked_rows, text_positions
from bertcore.model.model import Model
from bertcore.model.tokenizer import Encoding

MOST_PAIRS = 5000
"""Pairs of pieces that are compared, spread evenly over the vocabulary."""
LEAST_PAIRS = 80
"""Pairs without which a vocabulary is not judged by its spelling."""
LEAST_TEXTS = 8
"""Texts of one piece or more without which guesses are not judged."""
MOST_TOKENS, MOST_PIECES = 64, 12
"""Tokens of a text that are read, and pieces of it that are hidden, one at a time."""
_PREFIX = 3  # letters or digits with which both pieces of a pair begin


@dataclass(frozen=True, slots=True)
class Gap:
    """A difference that is 0 if the vocabulary says nothing about the weights."""

    value: float
    """The mean difference; NaN if there were too few cases to judge."""
    error: float
    """Its standard error."""
    count: int
    """Number of cases: pairs of pieces, or hidden pieces."""

    @property
    def is_positive(self) -> bool:
        """Whether it is above 0 by more than three standard errors (chance: 0.1%)."""
        return self.value > 3 * self.error


@torch.inference_mode()
def spelling_gap(table: Tensor, vocab: Sequence[str]) -> Gap:
    """Return by how much similarly spelt pieces are closer than others, as mean cosine in [V, E].

    Each piece (walk) is paired with the next of the sorted vocabulary (walked) that begins with the
    same three letters or digits, and for comparison with one of another pair. Pieces beyond the
    table are left out.
    """
    spelt = sorted(
        (piece.lstrip("#▁Ġ").lower(), number) for number, piece in enumerate(vocab[: len(table)])
    )
    pairs = [
        (one, other)
        for (first, one), (second, other) in pairwise(spelt)
        if first[:_PREFIX] == second[:_PREFIX]
        and first[:_PREFIX].isalnum()
        and len(first) >= _PREFIX
    ]
    if len(pairs) < LEAST_PAIRS:
        return Gap(math.nan, math.nan, len(pairs))
    chosen = np.linspace(0, len(pairs) - 1, min(len(pairs), MOST_PAIRS)).astype(int)
    ids = torch.tensor(pairs)[chosen].to(table.device)
    vectors = table[ids].float()  # [N, 2, E]
    first, second = F.normalize(vectors - vectors.mean((0, 1)), dim=-1).unbind(1)
    other = second.roll(len(second) // 2, 0)  # far away in the alphabet
    gap = ((first * second).sum(-1) - (first * other).sum(-1)).double()
    return Gap(float(gap.mean()), float(gap.std()) / math.sqrt(len(gap)), len(gap))


def strange_ids(table: Tensor, vocab: Sequence[str]) -> list[tuple[int, int]]:
    """Return the quarters of a vocabulary in which spelling says nothing: first and last id.

    They were not trained, or a line that was added or lost in front of them has shifted their ids.
    """
    edges = [len(vocab) * quarter // 4 for quarter in range(5)]
    quarters = list(pairwise(edges))
    gaps = [spelling_gap(table[start:end], vocab[start:end]) for start, end in quarters]
    return [
        (start, end - 1)
        for (start, end), gap in zip(quarters, gaps, strict=True)
        if not (math.isnan(gap.value) or gap.is_positive)
    ]


@torch.inference_mode()
def guess_gap(bert: Model, texts: Sequence[str]) -> Gap:
    """Return by how much hidden pieces are more probable in their own place than in others.

    Each piece that occurs once in its text is hidden (a causal model guesses it as the next one).
    Its log-probability is compared with that of its mean probability at the hidden pieces of other
    texts, which is its frequency as far as the model knows it: a model that knows frequencies
    alone has 0. The standard error counts texts, not pieces.
    """
    encodings = [bert.tokenize(text, max_length=bert.limit(MOST_TOKENS)) for text in texts]
    asked = [
        (number, place)
        for number, encoding in enumerate(encodings)
        for place in _hidden(bert, encoding)
    ]
    owners = np.array([number for number, _ in asked])
    count = len(set(owners.tolist()))
    if count < LEAST_TEXTS:
        return Gap(math.nan, math.nan, len(asked))
    log_p = _log_p(bert, encodings, asked)
    elsewhere = np.where(owners[:, None] == owners, -np.inf, log_p)
    most = elsewhere.max(1)
    frequency = most + np.log(
        np.exp(elsewhere - most[:, None]).sum(1) / np.isfinite(elsewhere).sum(1)
    )
    gain = np.diagonal(log_p) - frequency
    means = np.array([gain[owners == number].mean() for number in set(owners.tolist())])
    return Gap(float(gain.mean()), float(means.std(ddof=1)) / math.sqrt(count), len(asked))


def whole_words(bert: Model, texts: Sequence[str]) -> float:
    """Return the fraction of the words of the texts that are single pieces of the vocabulary."""
    words = [word for text in texts for word in re.findall(r"\w+", text)]
    unknown = bert.tokenizer.unk_id
    encoded = bert.tokenizer.encode_ids([f"a {word}" for word in words])
    start = len(bert.tokenizer.encode_ids(["a"])[0])
    whole = [len(ids) == start + 1 and ids[-1] != unknown for ids in encoded]
    return sum(whole) / len(whole)


def _hidden(bert: Model, encoding: Encoding) -> list[int]:
    """Return the places of pieces that are known and cannot be copied from the rest of the text."""
    ids, unknown = encoding.input_ids, bert.tokenizer.unk_id
    places = text_positions(encoding)
    told = [p for p in places if p > 0 and ids[p] != unknown and ids.count(ids[p]) == 1]
    return told[:: math.ceil(len(told) / MOST_PIECES) or 1]


def _log_p(
    bert: Model, encodings: Sequence[Encoding], asked: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    """Return the log-probability of each piece (row) at the place of each (column), [N, N]."""
    pieces = [encodings[number].input_ids[place] for number, place in asked]
    result = np.empty((len(asked), len(asked)))
    if "mlm" not in bert.capabilities:
        for number, encoding in enumerate(encodings):
            columns = [column for column, (owner, _) in enumerate(asked) if owner == number]
            before = [asked[column][1] - 1 for column in columns]
            logits = bert.module.next_logits(bert.word_states(encoding)[before]).float()
            result[:, columns] = logits.log_softmax(-1)[:, pieces].T.double().cpu().numpy()
        return result
    rows = [masked_rows(bert, encodings[number], [place])[0] for number, place in asked]
    for column, log_p in log_p_at(bert, rows, [place for _, place in asked]):
        result[:, column] = log_p[pieces]
    return result
