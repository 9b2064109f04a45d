"""Masking for masked language modelling, a batch at a time, as in pretraining."""

import operator
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Generator, Tensor

from bertcore.model.architecture.objectives import MASKED_LM_PROB
from bertcore.model.objectives.row import ACTIONS, Actions


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
    p = min(max_predictions, width)
    first, num_rows = rows_of or (0, rows)
    if not isinstance(generator, Generator):
        first, num_rows = 0, rows
    draws = Draws.of(num_rows, width, p, vocab_size, generator)
    keys, drawn_actions, random_ids = (tensor[first : first + rows] for tensor in draws)
    # The P largest random keys of a row are a random choice without replacement, in random order.
    chosen = keys.masked_fill(~maskable, -1.0).topk(p, dim=1).indices
    beyond = torch.arange(p, device=input_ids.device) >= counts[:, None]
    # Padding sorts to the end, then becomes position 0 with weight 0.
    positions = chosen.masked_fill(beyond, width).sort(dim=1).values
    return replace_chosen(
        input_ids,
        positions,
        action=draw_actions(drawn_actions, actions),
        random_ids=random_ids,
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
    """
    width, extra = input_ids.shape[1], (0, max_predictions - positions.shape[1])
    # Batches of short rows have the shape of all others.
    positions = F.pad(positions, extra, value=width)
    padded = positions == width
    action = F.pad(action, extra).masked_fill(padded, -1)
    # One extra column receives the writes of padding.
    extended = F.pad(input_ids, (0, 1))
    labels = extended.gather(1, positions)
    random_ids = F.pad(random_ids, extra)
    replacement = torch.where(action == 0, mask_id, torch.where(action == 2, random_ids, labels))
    return Masked(
        input_ids=extended.scatter(1, positions, replacement)[:, :width],
        positions=positions.masked_fill(padded, 0),
        labels=labels,
        weights=(~padded).float(),
        action=action,
    )


class Draws(NamedTuple):
    """The random numbers of some rows."""

    keys: Tensor
    """The order in which tokens are chosen, [rows, T]."""
    actions: Tensor
    """What becomes of the chosen tokens, 0 to 1, [rows, p]."""
    ids: Tensor
    """The random tokens, [rows, p]."""

    @classmethod
    def of(
        cls,
        rows: int,
        width: int,
        p: int,
        vocab_size: int,
        generator: Generator | Sequence[Generator],
    ) -> "Draws":
        """Draw for `rows` rows of `width` tokens, of which at most p are chosen.

        With one generator per row, each row is drawn separately.
        """
        if not isinstance(generator, Generator):
            parts = [cls.of(1, width, p, vocab_size, own) for own in generator]
            return cls(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))
        device = generator.device
        return cls(
            torch.rand(rows, width, generator=generator, device=device),
            torch.rand(rows, p, generator=generator, device=device),
            torch.randint(0, vocab_size, (rows, p), generator=generator, device=device),
        )


Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


def mask_words(
    input_ids: Tensor,
    *,
    maskable: Tensor,
    starts_word: Tensor,
    counts: Tensor,
    max_predictions: int,
    mask_id: int,
    vocab_size: int,
    generator: Generator | Sequence[Generator],
    actions: Actions = ACTIONS,
) -> Masked:
    """Hide whole words of each row, in random order, up to `counts` pieces.

    A word that would exceed the number is skipped. Each piece of a hidden word is replaced
    independently.

    Args:
        input_ids: int64, [B, T], on the CPU.
        maskable: True where a token may be hidden, [B, T].
        starts_word: False at pieces that continue a word, [B, T]; a piece after a token that may
            not be hidden always begins one.
        counts: Maximum number of pieces to hide in each row, int64, [B].
        max_predictions, mask_id, vocab_size, generator, actions: As for `mask_tokens`.

    Source: google-research/bert create_pretraining_data.py, do_whole_word_mask.
    """
    rows, width = input_ids.shape
    p = min(max_predictions, width)
    draws = Draws.of(rows, width, p, vocab_size, generator)
    word_of = words_of_rows(maskable.numpy(), starts_word.numpy())
    # A word's place in the order is the random number of its first piece.
    row, place = np.nonzero(word_of >= 0)
    word = word_of[row, place]
    sizes = np.zeros((rows, width), dtype=np.int64)
    np.add.at(sizes, (row, word), 1)
    keys = np.full((rows, width), 2.0)
    is_first = np.ones(len(row), dtype=bool)
    is_first[1:] = (row[1:] != row[:-1]) | (word[1:] != word[:-1])
    keys[row[is_first], word[is_first]] = draws.keys.numpy()[row[is_first], place[is_first]]
    order = keys.argsort(axis=1)
    chosen = _fill(np.take_along_axis(sizes, order, 1), counts.numpy())
    is_hidden = np.zeros((rows, width), dtype=bool)
    np.put_along_axis(is_hidden, order, chosen, 1)
    hidden = np.zeros((rows, width), dtype=bool)
    hidden[row, place] = is_hidden[row, word]
    return replace_chosen(
        input_ids,
        torch.from_numpy(_places(hidden, p)),
        action=draw_actions(draws.actions, actions),
        random_ids=draws.ids,
        max_predictions=max_predictions,
        mask_id=mask_id,
    )


class MaskedSpans(NamedTuple):
    """A batch with some spans hidden, and the tokens beside them."""

    masked: Masked
    left: Tensor
    """The place before the span of each hidden position, int64, [B, P]; 0 where padded."""
    right: Tensor
    """The place after it, int64, [B, P]; 0 where padded."""
    offset: Tensor
    """Which token of its span it is, from 1, int64, [B, P]; 0 where padded."""


def mask_spans_of_rows(
    input_ids: Tensor,
    *,
    maskable: Tensor,
    starts_word: Tensor,
    counts: Tensor,
    lengths: NDArray[np.float64],
    max_predictions: int,
    mask_id: int,
    unigrams: NDArray[np.generic],
    generator: Generator | Sequence[Generator],
    actions: Actions = ACTIONS,
) -> MaskedSpans:
    """Hide spans of whole words until `counts` pieces are hidden; a span is replaced as one.

    A span begins at a random piece that is not hidden yet, moved to the start of its word, and
    takes words until its length is reached; the last may be cut off once the number of pieces is
    reached. Adjacent spans are merged.

    Args:
        input_ids, maskable, starts_word: As for `mask_words`.
        counts: Pieces to hide in each row, at most those that may be, int64, [B].
        lengths: Probability of a span of 1, 2, ... words, from `span_lengths`.
        max_predictions: P, at least the largest count.
        mask_id: Id of [MASK].
        unigrams: Ids from which random pieces are drawn, such as a corpus.
        generator, actions: As for `mask_tokens`.

    Source: Joshi et al. 2020, section 3.1.
    """
    width = input_ids.shape[1]
    draws, hidden = _draw_spans(
        maskable, starts_word, counts, lengths, max_predictions, len(unigrams), generator
    )
    # Of each token its span, and of each span its first place and the place after its last.
    begins = hidden & ~np.pad(hidden, ((0, 0), (1, 0)))[:, :-1]
    first = np.maximum.accumulate(np.where(begins, np.arange(width), 0), axis=1)
    ends = np.where(~hidden, np.arange(width), width)
    after = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    positions = _places(hidden, draws.ids.shape[1])
    padded = positions == width
    at = np.where(padded, 0, positions)
    span = np.take_along_axis(np.where(hidden, begins.cumsum(axis=1) - 1, 0), at, 1)
    of_span = torch.from_numpy(np.take_along_axis(draws.actions.numpy(), span, 1))
    start = np.take_along_axis(first, at, 1)
    beside = (start - 1, np.take_along_axis(after, at, 1), at - start + 1)
    extra = (0, max_predictions - positions.shape[1])
    masked = replace_chosen(
        input_ids,
        torch.from_numpy(positions),
        action=draw_actions(of_span, actions),
        random_ids=torch.from_numpy(np.asarray(unigrams)[draws.ids.numpy()].astype(np.int64)),
        max_predictions=max_predictions,
        mask_id=mask_id,
    )
    widened = (F.pad(torch.from_numpy(np.where(padded, 0, x)), extra) for x in beside)
    return MaskedSpans(masked, *widened)


def mask_grams(
    input_ids: Tensor,
    *,
    maskable: Tensor,
    counts: Tensor,
    lengths: NDArray[np.float64],
    max_predictions: int,
    mask_id: int,
    vocab_size: int,
    generator: Generator | Sequence[Generator],
    actions: Actions = ACTIONS,
) -> Masked:
    """Hide runs of pieces until `counts` are hidden; each piece is replaced independently.

    A run begins at a random piece that is not hidden yet, and ends before one that is.

    Args:
        counts: Number of pieces to hide in each row, int64, [B]; all if there are fewer.
        lengths: Probability of a run of 1, 2, ... pieces.
        input_ids, maskable, max_predictions, mask_id, vocab_size, generator, actions: As for
            `mask_words`.

    Source: Dong et al. 2019, section 2.4.
    """
    counts = torch.minimum(counts, maskable.sum(1))
    draws, hidden = _draw_spans(
        maskable, maskable, counts, lengths, max_predictions, vocab_size, generator, apart=True
    )
    return replace_chosen(
        input_ids,
        torch.from_numpy(_places(hidden, draws.ids.shape[1])),
        action=draw_actions(draws.actions, actions),
        random_ids=draws.ids,
        max_predictions=max_predictions,
        mask_id=mask_id,
    )


def _draw_spans(
    maskable: Tensor,
    starts_word: Tensor,
    counts: Tensor,
    lengths: NDArray[np.float64],
    max_predictions: int,
    num_ids: int,
    generator: Generator | Sequence[Generator],
    *,
    apart: bool = False,
) -> tuple[Draws, Flags]:
    """Return the draws and which tokens are hidden, [B, T]; spans end there (apart) or skip it."""
    rows, width = maskable.shape
    p = min(max_predictions, width)
    draws = Draws.of(rows, width, p, num_ids, generator)
    # Where spans begin, and their lengths in words; each hides at least one token, so p suffice.
    starts = Draws.of(rows, p, p, 1, generator)
    drawn = np.searchsorted(lengths.cumsum(), starts.actions.numpy(), side="right")
    sizes = np.minimum(drawn, len(lengths) - 1) + 1
    can_hide, most = maskable.numpy(), counts.numpy()
    word_of = words_of_rows(can_hide, starts_word.numpy())
    hidden = np.zeros_like(can_hide)
    row = np.arange(rows)
    for anchor, size in zip(starts.keys.numpy().T, sizes.T, strict=True):
        room = most - hidden.sum(axis=1)
        if not (room > 0).any():
            break
        free = can_hide & ~hidden
        nth = (anchor * free.sum(axis=1)).astype(np.int64)
        place = (free.cumsum(axis=1) > nth[:, None]).argmax(axis=1)
        word = word_of[row, place][:, None]
        new = free & (word_of >= word) & (word_of < word + size[:, None])
        # A span ends before [SEP].
        stretch = (~(free if apart else can_hide)).cumsum(axis=1)
        new &= stretch == stretch[row, place][:, None]
        hidden |= new & (new.cumsum(axis=1) <= room[:, None])
    return draws, hidden


def words_of_rows(maskable: Flags, starts_word: Flags) -> Numbers:
    """Return the number of each token's word in its row, from 0; -1 where nothing may be hidden.

    Of `maskable` and `starts_word` as for `mask_words`, [B, T].
    """
    after_special = np.ones_like(maskable)
    after_special[:, 1:] = ~maskable[:, :-1]
    starts = maskable & (starts_word | after_special)
    return np.where(maskable, starts.cumsum(axis=1) - 1, -1)


def _fill(sizes: Numbers, most: Numbers) -> Flags:
    """Take items of sizes [B, N] in order that fit into each row's space, [B]; 0 is no item."""
    taken = np.zeros(sizes.shape, dtype=bool)
    total = np.zeros(len(sizes), dtype=np.int64)
    for place, size in enumerate(sizes.T):
        fits = (size > 0) & (total + size <= most)
        taken[:, place] = fits
        total += size * fits
        if ((total == most) | (size == 0)).all():
            break
    return taken


def _places(hidden: Flags, p: int) -> Numbers:
    """Return the places of True in each row, padded with T, [B, p]."""
    width = hidden.shape[1]
    places = np.where(hidden, np.arange(width), width)
    places.sort(axis=1)
    return places[:, :p]
