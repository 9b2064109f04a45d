"""Whole words and spans of a batch, hidden at once, as in pretraining.

The same as `mask_whole_words` and `mask_spans` for one row; here each decision is taken for all
rows at once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from bertcore.objectives.masking import Draws, Masked, draw_actions, replace_chosen
from bertcore.objectives.replacement import ACTIONS, Actions

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
    draws = Draws.of_rows(rows, width, p, vocab_size, generator)
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
    rows, width = input_ids.shape
    p = min(max_predictions, width)
    draws = Draws.of_rows(rows, width, p, len(unigrams), generator)
    starts = Draws.of_rows(rows, p, p, 1, generator)
    can_hide, number = maskable.numpy(), counts.numpy()
    hidden = _spans(
        can_hide,
        words_of_rows(can_hide, starts_word.numpy()),
        number,
        anchors=starts.keys.numpy(),
        lengths=_drawn_lengths(lengths, starts.actions),
    )
    positions = _places(hidden, p)
    # Of each token its span, and of each span its first place and the place after its last.
    begins = hidden & ~np.pad(hidden, ((0, 0), (1, 0)))[:, :-1]
    span_of = np.where(hidden, begins.cumsum(axis=1) - 1, 0)
    first = np.maximum.accumulate(np.where(begins, np.arange(width), 0), axis=1)
    ends = np.where(~hidden, np.arange(width), width)
    after = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    padded = positions == width
    at = np.where(padded, 0, positions)
    span = np.take_along_axis(span_of, at, 1)
    of_span = torch.from_numpy(np.take_along_axis(draws.actions.numpy(), span, 1))
    random_ids = torch.from_numpy(np.asarray(unigrams)[draws.ids.numpy()].astype(np.int64))
    start = np.take_along_axis(first, at, 1)
    extra = max_predictions - p

    def widened(numbers: Numbers) -> Tensor:
        return torch.from_numpy(np.pad(np.where(padded, 0, numbers), ((0, 0), (0, extra))))

    return MaskedSpans(
        masked=replace_chosen(
            input_ids,
            torch.from_numpy(positions),
            action=draw_actions(of_span, actions),
            random_ids=random_ids,
            max_predictions=max_predictions,
            mask_id=mask_id,
        ),
        left=widened(start - 1),
        right=widened(np.take_along_axis(after, at, 1)),
        offset=widened(at - start + 1),
    )


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
        input_ids, maskable: As for `mask_words`.
        counts: Number of pieces to hide in each row, int64, [B]; all if there are fewer.
        lengths: Probability of a run of 1, 2, ... pieces.
        max_predictions, mask_id, vocab_size, generator, actions: As for `mask_tokens`.

    Source: Dong et al. 2019, section 2.4.
    """
    rows, width = input_ids.shape
    p = min(max_predictions, width)
    draws = Draws.of_rows(rows, width, p, vocab_size, generator)
    starts = Draws.of_rows(rows, p, p, 1, generator)
    can_hide = maskable.numpy()
    hidden = _spans(
        can_hide,
        words_of_rows(can_hide, can_hide),
        np.minimum(counts.numpy(), can_hide.sum(axis=1)),
        anchors=starts.keys.numpy(),
        lengths=_drawn_lengths(lengths, starts.actions),
        passes_hidden=False,
    )
    return replace_chosen(
        input_ids,
        torch.from_numpy(_places(hidden, p)),
        action=draw_actions(draws.actions, actions),
        random_ids=draws.ids,
        max_predictions=max_predictions,
        mask_id=mask_id,
    )


def _drawn_lengths(probabilities: NDArray[np.float64], draws: Tensor) -> Numbers:
    """Map numbers from 0 to 1 to lengths from 1."""
    drawn = np.searchsorted(probabilities.cumsum(), draws.numpy(), side="right")
    lengths: Numbers = np.minimum(drawn, len(probabilities) - 1) + 1
    return lengths


def _spans(
    maskable: Flags,
    word_of: Numbers,
    counts: Numbers,
    *,
    anchors: NDArray[np.float32],
    lengths: Numbers,
    passes_hidden: bool = True,
) -> Flags:
    """Return which tokens are hidden, [B, T].

    Args:
        maskable: [B, T].
        word_of: From `words_of_rows`.
        counts: Tokens to hide, [B].
        anchors: Random numbers from 0 to 1 that choose where spans begin, [B, p].
        lengths: Lengths of the spans in words, [B, p]; each hides at least one token, so p suffice.
        passes_hidden: Whether a span skips tokens that are already hidden; otherwise it ends there.
    """
    hidden = np.zeros_like(maskable)
    row = np.arange(len(maskable))
    for anchor, length in zip(anchors.T, lengths.T, strict=True):
        room = counts - hidden.sum(axis=1)
        if not (room > 0).any():
            break
        free = maskable & ~hidden
        nth = (anchor * free.sum(axis=1)).astype(np.int64)
        place = (free.cumsum(axis=1) > nth[:, None]).argmax(axis=1)
        word = word_of[row, place][:, None]
        new = free & (word_of >= word) & (word_of < word + length[:, None])
        # A span ends before [SEP].
        stretch = (~(maskable if passes_hidden else free)).cumsum(axis=1)
        new &= stretch == stretch[row, place][:, None]
        hidden |= new & (new.cumsum(axis=1) <= room[:, None])
    return hidden


def words_of_rows(maskable: Flags, starts_word: Flags) -> Numbers:
    """Return the number of each token's word in its row, from 0; -1 where nothing may be hidden.

    Args:
        maskable, starts_word: As for `mask_words`, [B, T].
    """
    after_special = np.ones_like(maskable)
    after_special[:, 1:] = ~maskable[:, :-1]
    starts = maskable & (starts_word | after_special)
    return np.where(maskable, starts.cumsum(axis=1) - 1, -1)


def _fill(sizes: Numbers, most: Numbers) -> Flags:
    """Take items in order as long as they fit into each row's space, skipping those too large.

    Args:
        sizes: Sizes, 0 after the last item, [B, N].
        most: Space in each row, [B].
    """
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
