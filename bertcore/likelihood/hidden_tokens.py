"""Log-probabilities of tokens at hidden positions, the basis of every masked-word score."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.model import Model

TOKENS_PER_BATCH = 8192
"""Padded tokens per batch; bounds memory."""
CPU_TOKENS_PER_BATCH = 2048
"""The same on a CPU, whose caches then hold the activations: a tenth faster than 8,192."""
LOGITS_PER_CHUNK = 512
"""Positions whose vocabulary logits exist at the same time: 62 MB with 30,522 pieces."""


class Row(NamedTuple):
    """One input of a batch: ids and segment ids, both of length T."""

    input_ids: list[int]
    segment_ids: list[int]


class HiddenToken(NamedTuple):
    """An input, and the token whose probability at one of its positions is requested."""

    row: Row
    """The input of the model, with [MASK] at the position."""
    position: int
    """0 to T - 1."""
    token_id: int


@torch.inference_mode()
def hidden_log_probabilities(
    bert: Model, asked: Sequence[HiddenToken]
) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """Yield the log-probabilities of tokens at hidden positions, in batches of similar length.

    Requests for the same position of the same input run once. The last layer and the masked-word
    head run at that position alone.

    Args:
        bert: A model with a masked-word head.
        asked: The requests, [N].

    Yields:
        The indices of the requests of a batch, [n], and their log-probabilities in nats, [n].

    ValueError if there is no masked-word head, or a segment id is not in the checkpoint's table.
    """
    bert.require("mlm")
    numbers: dict[tuple[object, ...], list[int]] = {}
    for number, each in enumerate(asked):
        key = tuple(each.row.input_ids), tuple(each.row.segment_ids), each.position
        numbers.setdefault(key, []).append(number)
    groups = list(numbers.values())
    rows = [asked[group[0]].row for group in groups]
    for chosen, ids, segments, mask in padded_batches(bert, rows):
        places = torch.tensor([asked[groups[i][0]].position for i in chosen], device=ids.device)
        states = bert.module.word_states_at(ids, segments, mask, places)
        found = [number for i in chosen for number in groups[i]]
        owners = torch.tensor([row for row, i in enumerate(chosen) for _ in groups[i]])
        wanted = torch.tensor([asked[number].token_id for number in found])
        yield found, token_log_probabilities(bert, states, wanted, owners).cpu().numpy()


def hits_at_masks(bert: Model, asked: Sequence[HiddenToken]) -> NDArray[np.bool_]:
    """Return whether the most probable token at each hidden position is the requested one, [N].

    Args:
        bert: A model with a masked-word head.
        asked: The requests, [N].

    ValueError if there is no masked-word head, or a segment id is not in the checkpoint's table.
    """
    rows, places = [each.row for each in asked], [each.position for each in asked]
    best = _best_at_masks(bert, rows, places, lambda logits: logits.argmax(-1, keepdim=True))
    hits: NDArray[np.bool_] = best[:, 0] == [each.token_id for each in asked]
    return hits


def top_at_masks(
    bert: Model, rows: Sequence[Row], positions: Sequence[int], k: int
) -> NDArray[np.int64]:
    """Return the `k` most probable tokens of the vocabulary at a position of each input, [N, k].

    Args:
        bert: A model with a masked-word head.
        rows: The inputs, with [MASK] at the position, [N].
        positions: 0 to T - 1 of each, [N].
        k: 1 or more; of a smaller vocabulary, all are returned.

    ValueError if there is no masked-word head, or a segment id is not in the checkpoint's table.
    """
    # Rows beyond the tokenizer's vocabulary (a padded table) have no name.
    size = bert.tokenizer.vocab_size
    k = min(k, size)
    return _best_at_masks(bert, rows, positions, lambda logits: logits[:, :size].topk(k).indices)


@torch.inference_mode()
def _best_at_masks(
    bert: Model,
    rows: Sequence[Row],
    positions: Sequence[int],
    best_of: Callable[[Tensor], Tensor],
) -> NDArray[np.int64]:
    """Return what `best_of` makes of the logits at each position, [N, k]."""
    bert.require("mlm")
    found: dict[int, NDArray[np.int64]] = {}
    for chosen, ids, segments, mask in padded_batches(bert, rows):
        places = torch.tensor([positions[i] for i in chosen], device=ids.device)
        states = bert.module.word_states_at(ids, segments, mask, places)
        chunks = torch.split(states, LOGITS_PER_CHUNK)
        best = torch.cat([best_of(bert.module.mlm_logits(chunk)) for chunk in chunks])
        found.update(zip(chosen, best.cpu().numpy(), strict=True))
    if not found:
        return np.zeros((0, 1), dtype=np.int64)
    return np.stack([found[i] for i in range(len(rows))])


@torch.inference_mode()
def token_log_probabilities(
    bert: Model, hidden: Tensor, token_ids: Tensor, owners: Tensor | None = None
) -> Tensor:
    """Return log p of tokens given hidden states, in nats, float64 [N].

    Args:
        hidden: Input of the masked-word head, [R, D], on the device.
        token_ids: int64, [N].
        owners: The row of `hidden` of each token, ascending, int64 [N]; None: one token per row.

    ValueError if the checkpoint has no masked-word head.
    """
    device, size = hidden.device, LOGITS_PER_CHUNK
    token_ids = token_ids.to(device)
    owners = torch.arange(len(hidden)) if owners is None else owners
    starts = torch.searchsorted(owners, torch.arange(0, len(hidden) + size, size)).tolist()
    parts = []
    for number, (start, end) in enumerate(pairwise(starts)):
        logits = bert.module.mlm_logits(hidden[number * size : (number + 1) * size]).float()
        own = owners[start:end].to(device) - number * size
        chosen = logits[own, token_ids[start:end]].double()
        parts.append(chosen - logits.logsumexp(-1).double()[own])
    return torch.cat(parts)


def padded_batches(
    bert: Model, rows: Sequence[Row]
) -> Iterator[tuple[list[int], Tensor, Tensor, Tensor | None]]:
    """Pad many inputs in batches of similar length, the longest first.

    Yields:
        The indices of the rows of a batch, [B]; on the device their ids and segment ids, int64
        [B, T], and True at tokens [B, T], or None if nothing is padded.

    ValueError if a segment id is not in the checkpoint's table.
    """
    limit = bert.config.type_vocab_size
    if any(segment >= max(limit, 1) for row in rows for segment in row.segment_ids):
        raise ValueError(
            f"a pair needs segment ids 0 and 1, but this checkpoint has {limit} segment "
            f"embedding{'' if limit == 1 else 's'}. Use a single text, or a checkpoint with two."
        )
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].input_ids))
    while order:
        # Longest rows first: the largest batch runs first, so memory cannot run out late.
        longest = len(rows[order[-1]].input_ids)
        most = TOKENS_PER_BATCH
        if bert.device.type == "cpu":
            most = min(most, CPU_TOKENS_PER_BATCH)
        count = max(1, most // longest)
        chosen, order = order[-count:], order[:-count]
        yield chosen, *_padded(bert, [rows[i] for i in chosen], longest)


def _padded(bert: Model, rows: Sequence[Row], longest: int) -> tuple[Tensor, Tensor, Tensor | None]:
    ids = torch.full((len(rows), longest), bert.tokenizer.pad_id)
    segments = torch.zeros(len(rows), longest, dtype=torch.long)
    attention_mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    for i, row in enumerate(rows):
        length = len(row.input_ids)
        ids[i, :length] = torch.tensor(row.input_ids)
        segments[i, :length] = torch.tensor(row.segment_ids)
        attention_mask[i, :length] = True
    # Without padding there is nothing to hide, and attention is faster without a mask.
    mask = None if bool(attention_mask.all()) else attention_mask.to(bert.device)
    return ids.to(bert.device), segments.to(bert.device), mask
