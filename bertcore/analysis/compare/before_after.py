"""The effect of a change on words, next sentence, hidden states and attention."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import word_log_probabilities
from bertcore.model.model import Model, NextSentence
from bertcore.model.trace import Trace

SMALL_KL, SMALL_POINTS = 0.05, 5
"""Nats, and points of the probability of a yes, below which an answer has not changed to speak of:
switched off alone, three of four heads of the shipped checkpoint move its guess by less."""


@dataclass(frozen=True, slots=True)
class WordShift:
    """The best words at one [MASK], before and after."""

    position: int
    """Position of the [MASK] in the input."""
    words: tuple[str, ...]
    """The k best before, best first, then those that are among the k best only after, [n]."""
    before: NDArray[np.float32]
    """Their probabilities before, [n]."""
    after: NDArray[np.float32]
    """Their probabilities after, [n]."""
    divergence: float
    """KL(before || after) over the whole vocabulary, in nats; 0: nothing changed."""


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """Two runs of the same tokens, compared."""

    shifts: tuple[WordShift, ...]
    """One for each [MASK]; none without a masked-word head."""
    next_before: NextSentence | None
    """None for a single text, or without a next-sentence head."""
    next_after: NextSentence | None
    hidden_change: NDArray[np.float32]
    """1 - cosine of each token's vector before and after, [L+1, T]; 0: the same direction."""
    attention_change: NDArray[np.float32]
    """Jensen-Shannon divergence of each head's rows, mean over tokens, in bits, [L, H]; 0 to 1."""


@torch.no_grad()
def compare_runs(bert: Model, before: Trace, after: Trace, top_k: int = 5) -> BeforeAfter:
    """Compare two runs of the same tokens, such as a plain one and one with `changes`.

    `bert` is the model of both: its heads read the last hidden states. ValueError if the tokens
    differ, or a run holds NaN.
    """
    if before.input_ids != after.input_ids:
        raise ValueError("the two runs have different tokens; run the same input twice.")
    for trace in (before, after):
        check_finite(trace)
    mask_id = bert.tokenizer.mask_id
    masks = [(i, i) for i, token_id in enumerate(before.input_ids) if token_id == mask_id]
    return BeforeAfter(
        shifts=word_shifts(bert, before, after, masks, top_k),
        next_before=next_sentence_of(bert, before),
        next_after=next_sentence_of(bert, after),
        hidden_change=cosine_change(before.hidden_states, after.hidden_states).numpy(),
        attention_change=attention_change(before.attentions, after.attentions).numpy(),
    )


def check_finite(trace: Trace) -> None:
    """Check that a run can be compared.

    ValueError if its last hidden state holds NaN or infinity.
    """
    if not bool(trace.hidden_states[-1].isfinite().all()):
        raise ValueError(
            "the hidden states contain NaN or infinity, so nothing can be compared. The "
            "checkpoint's weights may contain NaN, or its precision may be too low: choose "
            "float32, or another checkpoint."
        )


def cosine_change(before: Tensor, after: Tensor) -> Tensor:
    """Return 1 - cosine of vectors [..., D] and [..., D], float32 [...]; exactly 0 if equal."""
    before, after = before.float(), after.float()
    change: Tensor = (1 - F.cosine_similarity(before, after, dim=-1)).clamp_min(0)
    return torch.where((before == after).all(-1), 0.0, change)


def attention_change(before: Tensor, after: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence of each head's rows, mean over rows, in bits.

    Of [L, H, T, T], whose rows sum to 1: float32, [L, H], between 0 (the same) and 1 (no weight in
    common).

    Source: Lin 1991, equation 4.1 with equal weights; between heads, Clark et al. 2019, section 6
        (they sum over the tokens of a data set; here the mean over one input).
    """
    # One layer at a time: at 512 tokens a float32 copy of all layers would be 150 MB.
    return torch.stack(
        [
            divergence_of_rows(old.float(), new.float()).mean(-1)
            for old, new in zip(before, after, strict=True)
        ]
    )


def divergence_of_rows(first: Tensor, second: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence in bits of distributions [..., N], [...]."""
    mean = (first + second) / 2
    entropies = torch.special.entr(torch.stack([mean, first, second])).sum(-1)
    nats = entropies[0] - (entropies[1] + entropies[2]) / 2
    bits: Tensor = nats / math.log(2)
    return bits.clamp(0, 1)


def word_shifts(
    bert: Model, before: Trace, after: Trace, masks: Sequence[tuple[int, int]], top_k: int
) -> tuple[WordShift, ...]:
    """Compare the `top_k` best words at each [MASK]; none without a masked-word head.

    `masks` has the position of each before and after.
    """
    if "mlm" not in bert.capabilities or not masks:
        return ()

    def log_p(trace: Trace, positions: list[int]) -> Tensor:
        hidden = trace.word_states[positions].to(bert.device)
        return torch.cat([part.cpu() for part in word_log_probabilities(bert, hidden)])

    olds = log_p(before, [position for position, _ in masks])
    news = log_p(after, [position for _, position in masks])
    shifts = []
    for (position, _), old, new in zip(masks, olds, news, strict=True):
        # Rows beyond the tokenizer's vocabulary (a padded table) have no name.
        named = [row[: bert.tokenizer.vocab_size] for row in (old, new)]
        best = [row.topk(min(top_k, len(row))).indices.tolist() for row in named]
        ids = list(dict.fromkeys([*best[0], *best[1]]))
        shifts.append(
            WordShift(
                position=position,
                words=tuple(bert.tokenizer.id_to_token(i) for i in ids),
                before=old[ids].exp().numpy(),
                after=new[ids].exp().numpy(),
                divergence=float(kl_divergence(old, new)),
            )
        )
    return tuple(shifts)


def kl_divergence(before: Tensor, after: Tensor) -> Tensor:
    """Return KL(before || after) in nats of log-probabilities [..., V] and [..., V], [...]."""
    return (before.exp() * (before - after)).sum(-1).clamp_min(0)


def next_sentence_of(bert: Model, trace: Trace) -> NextSentence | None:
    """Return the next-sentence answer of a run; None for a single text, or without the head."""
    if "nsp" not in bert.capabilities or trace.text_b is None:
        return None
    hidden = trace.hidden_states[-1].to(bert.device)
    logits = bert.module.nsp_logits(hidden[None])[0]
    is_next, not_next = torch.softmax(logits.float(), -1).tolist()
    return NextSentence(is_next=is_next, not_next=not_next)
