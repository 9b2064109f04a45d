"""Log-probabilities of words at a place in a text, with words of several pieces as wholes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.likelihood import HiddenToken, Row, hidden_log_probabilities
from bertcore.model import Model

MASK = "[MASK]"


class Slot(NamedTuple):
    """A text and the places of a word whose probability is requested."""

    row: Row
    """What the model reads before pieces are hidden."""
    positions: list[int]
    """The places of the word's pieces, in order, [n]."""
    piece_ids: list[int]
    """The word's pieces, [n]."""


def slot_log_probabilities(bert: Model, slots: Sequence[Slot]) -> NDArray[np.float64]:
    """Return log p of each slot's word, nats, [N].

    The chain rule from left to right: each piece is scored with itself and the later pieces of the
    word hidden. For a word of one piece it is the probability at its [MASK].

    Args:
        bert: With a masked-word head.
        slots: [N], each of at most `bert.max_length` tokens.

    ValueError if there is no masked-word head.
    """
    bert.require("mlm")
    asked: list[HiddenToken] = []
    owners: list[int] = []
    for number, slot in enumerate(slots):
        for step, place in enumerate(slot.positions):
            ids = list(slot.row.input_ids)
            for before, piece in zip(slot.positions[:step], slot.piece_ids[:step], strict=True):
                ids[before] = piece
            for later in slot.positions[step:]:
                ids[later] = bert.tokenizer.mask_id
            asked.append(HiddenToken(Row(ids, slot.row.segment_ids), place, slot.piece_ids[step]))
            owners.append(number)
    scores = np.zeros(len(slots))
    for chosen, log_p in hidden_log_probabilities(bert, asked):
        np.add.at(scores, [owners[i] for i in chosen], log_p)
    return scores


def word_pieces(bert: Model, word: str) -> list[int]:
    """Return the pieces of a word.

    ValueError if it is empty, is a special token, or has an unknown piece.
    """
    tokenizer = bert.tokenizer
    ids = tokenizer.encode_word(word)
    if not ids:
        raise ValueError(f"{word!r} has no visible characters. Give a word.")
    if tokenizer.unk_id in ids:
        raise ValueError(
            f"{word!r} cannot be written with this vocabulary: part of it becomes "
            f"{tokenizer.unk_token}. Leave it out, or use another word."
        )
    special = [i for i in ids if i in tokenizer.special_ids]
    if special:
        raise ValueError(f"{tokenizer.id_to_token(special[0])!r} is a special token, not a word.")
    return ids


def known_words(bert: Model, words: Iterable[str]) -> tuple[str, ...]:
    """Return the words that the vocabulary can write, in order."""
    known = []
    for word in words:
        try:
            word_pieces(bert, word)
        except ValueError:
            continue
        known.append(word)
    return tuple(known)


def left_out_note(before: Iterable[str], after: Iterable[str]) -> str | None:
    """Return a sentence about the words that were left out; None if none was."""
    kept = set(after)
    gone = [word for word in dict.fromkeys(before) if word not in kept]
    if not gone:
        return None
    listed = ", ".join(gone[:8]) + (" ..." if len(gone) > 8 else "")
    return f"Left out, because this vocabulary cannot write them ({len(gone)}): {listed}."


def fill_masks(
    bert: Model, text: str, fills: Sequence[Sequence[int]]
) -> tuple[Row, list[list[int]]]:
    """Put pieces in the places of a text's [MASK] tokens, in order.

    Args:
        text: A text with as many [MASK] as there are fills.
        fills: The pieces of each place.

    Returns:
        The text with the pieces filled in, each in the segment of its [MASK], and the positions of
        each fill in it.

    ValueError if the number of [MASK] differs from that of fills, or the filled text is longer than
    the checkpoint reads.
    """
    encoding = bert.tokenize(text)
    masks = [
        i for i, input_id in enumerate(encoding.input_ids) if input_id == bert.tokenizer.mask_id
    ]
    if encoding.truncation is not None:
        raise ValueError(
            f"{text[:60]!r} has more tokens than this checkpoint reads at most, "
            f"{bert.max_length}. Shorten it."
        )
    if len(masks) != len(fills):
        raise ValueError(f"{text!r} has {len(masks)} masks, but {len(fills)} words to fill them.")
    ids: list[int] = []
    segments: list[int] = []
    positions: list[list[int]] = []
    waiting = iter(fills)
    for i, (token_id, segment) in enumerate(
        zip(encoding.input_ids, encoding.segment_ids, strict=True)
    ):
        pieces = [token_id]
        if i in masks:
            pieces = list(next(waiting))
            positions.append([*range(len(ids), len(ids) + len(pieces))])
        ids += pieces
        segments += [segment] * len(pieces)
    if len(ids) > bert.max_length:
        raise ValueError(
            f"{text!r} has {len(ids)} tokens once filled; this checkpoint reads at most "
            f"{bert.max_length}. Shorten it."
        )
    return Row(ids, segments), positions
