"""Predictions at each [MASK], and rank and probability of the hidden word."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import (
    best_pieces,
    mask_positions,
    masked_encoding,
    word_log_probabilities,
)
from bertcore.analysis.words.lens import ranks_of
from bertcore.model.model import Model
from bertcore.model.trace import Trace


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
    bert: Model, text: str, text_pair: str | None = None, masked: Sequence[int] = (), top_k: int = 5
) -> MaskPredictions:
    """Return the most probable words for each [MASK], typed or chosen by position.

    The same numbers as `Bert.fill_mask`, for masks given by position, with the hidden tokens.

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
    ids = [None if before[i] == tokenizer.mask_id else before[i] for i in positions]
    hidden = bert.word_states(encoding)[positions]
    log_p = (row for part in word_log_probabilities(bert, hidden) for row in part.cpu())
    return predictions_of(bert, log_p, positions, ids, top_k, tokenizer.mask_token)


def predictions_of(
    bert: Model,
    log_p: Iterable[Tensor],
    positions: Sequence[int],
    original_ids: Sequence[int | None],
    top_k: int,
    mask: str,
) -> MaskPredictions:
    """Return the predictions from the log-probabilities of all pieces at each position, [V] each.

    The original id is None where none is known; `mask` is what stands in its place.
    """
    best, ranks, probabilities = [], [], []
    for row, token_id in zip(log_p, original_ids, strict=True):
        best.append(best_pieces(bert, row, top_k))
        named = row[None, : bert.tokenizer.vocab_size]
        is_known = token_id is not None
        ranks.append(int(ranks_of(named, torch.tensor([token_id]))) if is_known else None)
        probabilities.append(float(row[token_id].exp()) if is_known else None)
    name = bert.tokenizer.id_to_token
    return MaskPredictions(
        positions=tuple(positions),
        words=np.array([[word for word, _ in row] for row in best]),
        probabilities=np.array([[p for _, p in row] for row in best], dtype=np.float32),
        originals=tuple(None if token_id is None else name(token_id) for token_id in original_ids),
        original_ranks=tuple(ranks),
        original_probabilities=tuple(probabilities),
        mask=mask,
    )


@dataclass(frozen=True, slots=True)
class ReplacedToken:
    """What ELECTRA's discriminator says of a token."""

    token: str
    probability: float
    """Of having been replaced by another."""


@torch.inference_mode()
def replaced_tokens(bert: Model, trace: Trace) -> tuple[ReplacedToken, ...]:
    """Return each token with its probability of having been replaced, by a discriminator.

    ValueError if the checkpoint has no replaced-token head.
    """
    bert.require("replaced")
    last = trace.hidden_states[-1].to(bert.device, bert.dtype)[None]
    probabilities = torch.sigmoid(bert.module.replaced_logits(last)[0].float()).tolist()
    return tuple(map(ReplacedToken, trace.tokens, probabilities))


def tracked_words(
    bert: Model, predictions: MaskPredictions, position: int, words: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the pieces to follow through the layers at one mask.

    The hidden token, the three most probable pieces, and those of `words` that are one piece, in
    this order, without duplicates. ValueError if there is no mask at `position`.
    """
    if position not in predictions.positions:
        raise ValueError(
            f"token {position} is not a [MASK]. Choose one of {predictions.positions}."
        )
    index = predictions.positions.index(position)
    original = predictions.originals[index]
    split = bert.tokenizer.encode_ids(list(words)) if words else []
    typed = [bert.tokenizer.id_to_token(ids[0]) for ids in split if len(ids) == 1]
    best = [str(word) for word in predictions.words[index, :3]]
    return tuple(dict.fromkeys([*([original] if original is not None else []), *best, *typed]))


@torch.inference_mode()
def fill_in_turn(
    bert: Model, text: str, text_pair: str | None = None, masked: Sequence[int] = ()
) -> tuple[Filled, ...]:
    """Fill all masks one by one, the most certain first, each given those filled before.

    One run for each mask. The product of the probabilities is that of the whole filling in this
    order; it is a greedy choice, not the best of all fillings.

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
    special = bert.tokenizer.special_ids
    while left:
        hidden = bert.word_states(replace(encoding, input_ids=ids))[left]
        log_p = torch.cat(list(word_log_probabilities(bert, hidden)))
        # A filled-in [MASK] would never end, and [SEP] would start another sentence.
        log_p[:, special] = -torch.inf
        best = log_p[:, : bert.tokenizer.vocab_size].max(-1)
        surest = int(best.values.argmax())
        position, token_id = left.pop(surest), int(best.indices[surest])
        ids[position] = token_id
        probability = float(best.values[surest].exp())
        steps.append(Filled(position, bert.tokenizer.id_to_token(token_id), probability))
    return tuple(steps)
