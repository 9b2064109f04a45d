"""Predictions at each [MASK], and rank and probability of the hidden word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.shared.inputs import mask_positions, masked_encoding, word_log_probabilities
from bertcore.analysis.words.lens import ranks_of
from bertcore.model import Model


@dataclass(frozen=True, slots=True)
class MaskPredictions:
    """The last layer's predictions at each of M masks, independent of each other."""

    positions: tuple[int, ...]
    """Positions in the encoded input, [M]."""
    words: NDArray[np.str_]
    """The k most probable pieces, best first, [M, k]."""
    probabilities: NDArray[np.float32]
    """Their probabilities, [M, k]."""
    originals: tuple[str | None, ...]
    """The token that was hidden, [M]; None where [MASK] was typed."""
    original_ranks: tuple[int | None, ...]
    """Its rank, 1 = the most probable piece, [M]."""
    original_probabilities: tuple[float | None, ...]
    """Its probability, [M]."""
    mask: str = "[MASK]"
    """The token in its place: the tokenizer's mask."""


@dataclass(frozen=True, slots=True)
class Filled:
    """One step of filling several masks one after another."""

    position: int
    """The mask that was filled."""
    word: str
    """The piece that was put there."""
    probability: float
    """Its probability, given what had been filled before."""


@torch.inference_mode()
def predict_masks(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    masked: Sequence[int] = (),
    top_k: int = 5,
) -> MaskPredictions:
    """Return the most probable words for each [MASK], typed or chosen by position.

    The same numbers as `Bert.fill_mask`, for masks given by position, with the hidden tokens.

    Args:
        masked: Positions to replace by [MASK].
        top_k: Words for each mask, at least 1.

    ValueError if there is no mask, a position does not exist, top_k is below 1, or the checkpoint
    has no masked-word head.
    """
    if top_k < 1:
        raise ValueError(f"top_k is {top_k}; expected at least 1.")
    tokenizer = bert.tokenizer
    encoding = masked_encoding(bert, text, text_pair, masked)
    positions = mask_positions(encoding, tokenizer.mask_id)
    if not positions:
        raise ValueError(
            f"nothing is hidden. Write {tokenizer.mask_token} in the text, or choose a token."
        )
    before = bert.tokenize(text, text_pair).input_ids
    hidden = bert.word_states(encoding)[positions]
    words: list[list[str]] = []
    probabilities: list[list[float]] = []
    ranks: list[int | None] = []
    original_probabilities: list[float | None] = []
    for log_p in word_log_probabilities(bert, hidden):
        named = log_p[:, : tokenizer.vocab_size].cpu()
        best = named.topk(min(top_k, tokenizer.vocab_size))
        words += [[tokenizer.id_to_token(i) for i in row] for row in best.indices.tolist()]
        probabilities += best.values.exp().tolist()
        for row in named:
            token_id = before[positions[len(ranks)]]
            if token_id == tokenizer.mask_id:
                ranks.append(None)
                original_probabilities.append(None)
            else:
                ranks.append(int(ranks_of(row[None], torch.tensor([token_id]))))
                original_probabilities.append(float(row[token_id].exp()))
    return MaskPredictions(
        positions=tuple(positions),
        words=np.array(words),
        probabilities=np.array(probabilities, dtype=np.float32),
        originals=tuple(
            None if rank is None else tokenizer.id_to_token(before[position])
            for position, rank in zip(positions, ranks, strict=True)
        ),
        original_ranks=tuple(ranks),
        original_probabilities=tuple(original_probabilities),
        mask=tokenizer.mask_token,
    )


@dataclass(frozen=True, slots=True)
class ReplacedToken:
    """What ELECTRA's discriminator says of a token."""

    token: str
    probability: float
    """Of having been replaced by another."""


def replaced_tokens(
    bert: Model, text: str, text_pair: str | None = None
) -> tuple[ReplacedToken, ...]:
    """Return the tokens of a text or pair with the numbers of `Model.replaced_tokens`."""
    probabilities = bert.replaced_tokens(text, text_pair).tolist()
    return tuple(map(ReplacedToken, bert.tokenize(text, text_pair).tokens, probabilities))


def tracked_words(
    bert: Model,
    predictions: MaskPredictions,
    position: int,
    words: Sequence[str] = (),
    num_best: int = 3,
) -> tuple[str, ...]:
    """Return the pieces to follow through the layers at one mask.

    The hidden token, the `num_best` most probable pieces, and those of `words` that are one piece,
    in this order, without duplicates. ValueError if there is no mask at `position`.
    """
    if position not in predictions.positions:
        raise ValueError(
            f"token {position} is not a [MASK]. Choose one of {predictions.positions}."
        )
    index = predictions.positions.index(position)
    original = predictions.originals[index]
    split = bert.tokenizer.encode_ids(list(words)) if words else []
    typed = [bert.tokenizer.id_to_token(ids[0]) for ids in split if len(ids) == 1]
    best = [str(word) for word in predictions.words[index, :num_best]]
    return tuple(dict.fromkeys([*([original] if original is not None else []), *best, *typed]))


@torch.inference_mode()
def fill_in_turn(
    bert: Model, text: str, text_pair: str | None = None, masked: Sequence[int] = ()
) -> tuple[Filled, ...]:
    """Fill all masks one by one, the most certain first, each given those filled before.

    One run for each mask. The product of the probabilities is that of the whole filling in this
    order; it is a greedy choice, not the best of all fillings.

    Args:
        masked: Positions to replace by [MASK]; typed ones are filled too.

    ValueError if there is no mask, a position does not exist, or there is no masked-word head.

    Source: ours; the greedy case of Ghazvininejad et al. 2019 ("mask-predict"), one token a step.
    """
    encoding = masked_encoding(bert, text, text_pair, masked)
    left = mask_positions(encoding, bert.tokenizer.mask_id)
    if not left:
        raise ValueError(
            f"nothing is hidden. Write {bert.tokenizer.mask_token} in the text, or choose a token."
        )
    ids = list(encoding.input_ids)
    steps: list[Filled] = []
    while left:
        hidden = bert.word_states(replace(encoding, input_ids=ids))[left]
        best = [row for log_p in word_log_probabilities(bert, hidden) for row in _best(bert, log_p)]
        surest = max(range(len(left)), key=lambda i: best[i][0])
        value, token_id = best[surest]
        position = left.pop(surest)
        ids[position] = token_id
        steps.append(Filled(position, bert.tokenizer.id_to_token(token_id), value))
    return tuple(steps)


def _best(bert: Model, log_p: torch.Tensor) -> list[tuple[float, int]]:
    """Return the probability and id of each row's best piece that is not a special token."""
    named = log_p[:, : bert.tokenizer.vocab_size].clone()
    # A filled-in [MASK] would never end, and [SEP] would start another sentence.
    named[:, bert.tokenizer.special_ids] = -torch.inf
    top = named.max(-1)
    return list(zip(top.values.exp().tolist(), top.indices.tolist(), strict=True))
