"""Masking for masked language modelling, a batch at a time, as in pretraining."""

import operator
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from bertcore.configs.data import MASKED_LM_PROB
from bertcore.objectives.replacement import ACTIONS, Actions


class Masked(NamedTuple):
    """A batch with some tokens hidden."""

    input_ids: Tensor
    """Token ids with the hidden ones replaced, int64, [B, T]."""
    positions: Tensor
    """Hidden positions of each row in ascending order, padded with 0, int64, [B, P]."""
    labels: Tensor
    """The original id at each hidden position; 0 where padded, int64, [B, P]."""
    weights: Tensor
    """1 at hidden positions, 0 at padding, float32, [B, P]."""
    action: Tensor
    """0: became [MASK], 1: kept, 2: random token, -1: padding, int64, [B, P]."""


def num_masked(length: int, max_predictions: int, masked_lm_prob: float = MASKED_LM_PROB) -> int:
    """Return how many of `length` tokens (including special tokens) are hidden.

    >>> num_masked(128, 20), num_masked(5, 20), num_masked(512, 20)
    (19, 1, 20)
    """
    return min(max_predictions, max(1, round(masked_lm_prob * length)))


def mask_tokens(
    input_ids: Tensor,
    *,
    maskable: Tensor,
    counts: Tensor,
    max_predictions: int,
    mask_id: int,
    vocab_size: int,
    generator: Generator | Sequence[Generator],
    rows_of: tuple[int, int] | None = None,
    actions: Actions = ACTIONS,
) -> Masked:
    """Hide `counts` random tokens of each row: 80% [MASK], 10% kept, 10% any other token.

    Args:
        input_ids: int64, [B, T].
        maskable: True where a token may be hidden ([CLS], [SEP] and padding may not), [B, T].
        counts: Number of tokens to hide in each row, int64, [B].
        max_predictions: P, at least the largest count.
        mask_id: Id of [MASK].
        vocab_size: Random tokens are drawn uniformly from 0 .. vocab_size - 1, including special
            tokens, as in Google's code.
        generator: Fixes the result; on the device of `input_ids`. One per row fixes the row in any
            batch.
        rows_of: (first, num_rows) if these B rows are rows first .. first + B - 1 of a batch of
            num_rows with one generator: they get the same masks as in that batch.
        actions: Shares of [MASK], kept and random among the hidden tokens, 1 in all.

    ValueError if a row has fewer maskable tokens than its count, or a count exceeds P.

    Source: Devlin et al. 2019, section 3.1; google-research/bert create_pretraining_data.py,
        create_masked_lm_predictions.
    """
    if bool((counts > maskable.sum(1)).any()) or bool((counts > max_predictions).any()):
        raise ValueError(
            "more tokens are to be hidden than there are. "
            "Lower masked_lm_prob, or raise max_predictions_per_seq."
        )
    rows, width = input_ids.shape
    device = input_ids.device
    p = min(max_predictions, width)
    if isinstance(generator, Generator):
        first, num_rows = rows_of or (0, rows)
        own_rows = slice(first, first + rows)
        draws = Draws.of(num_rows, width, p, vocab_size, generator).take(own_rows)
    else:
        draws = Draws.of_rows(rows, width, p, vocab_size, generator)
    # The P largest random keys of a row are a random choice without replacement, in random order.
    keys = draws.keys.masked_fill(~maskable, -1.0)
    chosen = keys.topk(p, dim=1).indices
    beyond = torch.arange(p, device=device) >= counts[:, None]
    # Padding sorts to the end, then becomes position 0 with weight 0.
    positions = chosen.masked_fill(beyond, width).sort(dim=1).values
    return replace_chosen(
        input_ids,
        positions,
        action=draw_actions(draws.actions, actions),
        random_ids=draws.ids,
        max_predictions=max_predictions,
        mask_id=mask_id,
    )


def mask_text(
    input_ids: Sequence[int],
    is_special: Sequence[int],
    *,
    mask_id: int,
    vocab_size: int,
    seed: int = 0,
    masked_lm_prob: float = MASKED_LM_PROB,
    actions: Actions = ACTIONS,
) -> Masked:
    """Hide tokens of one text or pair as in pretraining, as a batch of one row.

    round(masked_lm_prob * T) of the T tokens are hidden, at least one; special tokens count but are
    never chosen.

    Args:
        input_ids: [T].
        is_special: Whether a token was added and cannot be hidden, [T].
        mask_id, vocab_size, actions: As for `mask_tokens`.
        seed: Fixes the draw, 0 up to below 2 to the 63rd.
        masked_lm_prob: 0 < p < 1.

    ValueError if the seed or the share is out of its range, or the text has no token.
    """
    check_hiding(seed, masked_lm_prob)
    maskable = ~torch.tensor([is_special], dtype=torch.bool)
    count = min(num_masked(len(input_ids), len(input_ids), masked_lm_prob), int(maskable.sum()))
    if count == 0:
        raise ValueError("the text has no token to mask. Write at least one word.")
    return mask_tokens(
        torch.tensor([input_ids]),
        maskable=maskable,
        counts=torch.tensor([count]),
        max_predictions=count,
        mask_id=mask_id,
        vocab_size=vocab_size,
        generator=torch.Generator().manual_seed(seed),
        actions=actions,
    )


def check_hiding(seed: int, masked_lm_prob: float) -> None:
    """Reject a seed or a share of hidden tokens that is out of range; ValueError if one is."""
    try:
        number = operator.index(seed)
    except TypeError:  # 1.5
        number = -1
    if not 0 <= number < 2**63:
        raise ValueError(
            f"seed is {seed}; expected a whole number from 0 up to below 2 to the 63rd."
        )
    if not 0 < masked_lm_prob < 1:
        raise ValueError(f"masked_lm_prob is {masked_lm_prob}; expected above 0, below 1.")


def draw_actions(draws: Tensor, actions: Actions) -> Tensor:
    """Turn numbers from 0 to 1 into actions by their shares: 0 [MASK], 1 kept, 2 random."""
    to_mask, kept = actions[0], actions[0] + actions[1]
    return torch.where(draws < to_mask, 0, torch.where(draws < kept, 1, 2))


def replace_chosen(
    input_ids: Tensor,
    positions: Tensor,
    *,
    action: Tensor,
    random_ids: Tensor,
    max_predictions: int,
    mask_id: int,
) -> Masked:
    """Replace the tokens at chosen positions.

    Args:
        input_ids: int64, [B, T].
        positions: Positions of each row in ascending order, padded with T, int64, [B, p].
        action: 0: becomes [MASK], 1: stays, 2: becomes random, int64, [B, p].
        random_ids: Ids for the random ones, int64, [B, p].
        max_predictions: P, at least p.
        mask_id: Id of [MASK].
    """
    rows, width = input_ids.shape
    padded = positions == width
    positions = positions.masked_fill(padded, 0)
    labels = input_ids.gather(1, positions).masked_fill(padded, 0)
    action = action.masked_fill(padded, -1)
    replacement = torch.where(action == 0, mask_id, torch.where(action == 2, random_ids, labels))
    # One extra column receives the writes of padding.
    extended = torch.cat([input_ids, input_ids.new_zeros(rows, 1)], dim=1)
    extended.scatter_(1, positions.masked_fill(padded, width), replacement)
    hidden = Masked(
        input_ids=extended[:, :width],
        positions=positions,
        labels=labels,
        weights=(~padded).float(),
        action=action,
    )
    if positions.shape[1] == max_predictions:
        return hidden
    return _pad_predictions(hidden, max_predictions)


class Draws(NamedTuple):
    """The random numbers of some rows."""

    keys: Tensor
    """The order in which tokens are chosen, [rows, T]."""
    actions: Tensor
    """What becomes of the chosen tokens, 0 to 1, [rows, p]."""
    ids: Tensor
    """The random tokens, [rows, p]."""

    @classmethod
    def of_rows(
        cls,
        rows: int,
        width: int,
        p: int,
        vocab_size: int,
        generator: Generator | Sequence[Generator],
    ) -> "Draws":
        """Draw for a batch, or for each row separately if there is one generator per row."""
        if isinstance(generator, Generator):
            return cls.of(rows, width, p, vocab_size, generator)
        return cls.join([cls.of(1, width, p, vocab_size, own) for own in generator])

    @classmethod
    def of(cls, rows: int, width: int, p: int, vocab_size: int, generator: Generator) -> "Draws":
        """Draw for `rows` rows of `width` tokens, of which at most p are chosen."""
        device = generator.device
        return cls(
            torch.rand(rows, width, generator=generator, device=device),
            torch.rand(rows, p, generator=generator, device=device),
            torch.randint(0, vocab_size, (rows, p), generator=generator, device=device),
        )

    @classmethod
    def join(cls, parts: "Sequence[Draws]") -> "Draws":
        """Return the numbers of all parts, in order."""
        return cls(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))

    def take(self, rows: slice) -> "Draws":
        return Draws(*(tensor[rows] for tensor in self))


def _pad_predictions(masked: Masked, max_predictions: int) -> Masked:
    """Widen [B, p] to [B, P], so that batches of short rows have the shape of all others."""
    extra = max_predictions - masked.positions.shape[1]
    pad = torch.nn.functional.pad
    return Masked(
        input_ids=masked.input_ids,
        positions=pad(masked.positions, (0, extra)),
        labels=pad(masked.labels, (0, extra)),
        weights=pad(masked.weights, (0, extra)),
        action=pad(masked.action, (0, extra), value=-1),
    )
