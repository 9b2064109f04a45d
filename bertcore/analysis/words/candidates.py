"""Score candidate words at a [MASK], including words of several pieces.

A word of pieces w_1 .. w_n gets n masks instead of one. With the rest of the text as c,

    log p(w | c, n) = sum over i of log p(w_i | c, w_1 .. w_(i-1), [MASK] for w_i .. w_n)

which is the chain rule from left to right under BERT's masked-word head. For n = 1 it is the
probability that `Bert.fill_mask` shows. Each n is a separate question ("which n pieces stand
here?"), so probabilities of words of different lengths are not directly comparable; the mean per
piece is given too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from bertcore.analysis.shared.inputs import log_p_at, mask_positions, masked_encoding
from bertcore.analysis.words.lens import ranks_of
from bertcore.model.likelihood import Row
from bertcore.model.model import Model
from bertcore.model.tokenizer import Encoding


@dataclass(frozen=True, slots=True)
class Candidate:
    """One word and its probability at the mask."""

    word: str
    pieces: tuple[str, ...]
    """The pieces that it was split into, n."""
    piece_log_probabilities: tuple[float, ...]
    """Natural logarithm of each factor of the chain rule, n; empty if it has no score."""
    rank: int | None
    """1 = most probable piece of the vocabulary; None for a word of several pieces."""
    problem: str | None
    """Why it has no score, in one sentence, or None."""

    @property
    def log_probability(self) -> float | None:
        """Natural logarithm of the word's probability, or None without a score."""
        return None if self.problem else math.fsum(self.piece_log_probabilities)

    @property
    def probability(self) -> float | None:
        """Probability of the word among all words with the same number of pieces, or None."""
        log_p = self.log_probability
        return None if log_p is None else math.exp(log_p)

    @property
    def probability_per_piece(self) -> float | None:
        """Geometric mean of the factors, to compare words of different lengths; or None."""
        log_p = self.log_probability
        return None if log_p is None else math.exp(log_p / len(self.pieces))


def parse_candidates(line: str) -> tuple[str, ...]:
    """Split a comma-separated line into words, in order, without blanks and duplicates.

    >>> parse_candidates(" bank, river , ,bank")
    ('bank', 'river')
    """
    words = (word.strip() for word in line.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def score_candidates(
    bert: Model,
    text: str,
    text_pair: str | None,
    masked: Sequence[int],
    position: int,
    words: Sequence[str],
) -> tuple[Candidate, ...]:
    """Return the score of each word at one [MASK]; other masks stay masks.

    All steps of all words run in batches. A word that cannot be scored is returned with its
    `problem`, so that the others are still scored. "##ing" is read as that piece if the vocabulary
    has it.

    ValueError if there is no [MASK] at `position`, or no masked-word head.

    Source: ours; the chain rule over masks is the step-wise form of Salazar et al. 2020, section 2.
    """
    encoding = masked_encoding(bert, text, text_pair, masked)
    masks = mask_positions(encoding, bert.tokenizer.mask_id)
    if position not in masks:
        raise ValueError(
            f"token {position} is not a [MASK]; the masks are at "
            f"{', '.join(map(str, masks)) or 'no position'}. Choose one of them, or mask a token."
        )
    split = [_split(bert, word, room=bert.max_length - len(encoding) + 1) for word in words]
    rows: list[Row] = []
    steps: list[tuple[int, int]] = []  # (word, piece) of each row
    for index, (ids, problem) in enumerate(split):
        for step in range(0 if problem else len(ids)):
            rows.append(_row(encoding, position, ids, step, bert.tokenizer.mask_id))
            steps.append((index, step))
    scores: list[list[float]] = [[0.0] * (0 if problem else len(ids)) for ids, problem in split]
    ranks: dict[int, int] = {}
    places = [position + step for _, step in steps]
    for number, log_p in log_p_at(bert, rows, places):
        index, step = steps[number]
        ids, _ = split[index]
        scores[index][step] = float(log_p[ids[step]])
        if len(ids) == 1:
            named = log_p[None, : bert.tokenizer.vocab_size]
            ranks[index] = int(ranks_of(named, torch.tensor(ids)))
    return tuple(
        Candidate(
            word=word,
            pieces=tuple(bert.tokenizer.id_to_token(i) for i in ids),
            piece_log_probabilities=tuple(scores[index]),
            rank=ranks.get(index),
            problem=problem,
        )
        for index, (word, (ids, problem)) in enumerate(zip(words, split, strict=True))
    )


def _split(bert: Model, word: str, room: int) -> tuple[list[int], str | None]:
    """Return the ids of a word's pieces and the reason if it cannot be scored."""
    tokenizer = bert.tokenizer
    whole = tokenizer.token_to_id(word) if word.startswith("##") else None
    try:
        ids = [whole] if whole is not None else tokenizer.encode_word(word)
    except ValueError as error:  # no valid Unicode, or a piece without a row in the token table
        return [], f"{word!r} cannot be scored: {error}"
    if not ids:
        return ids, f"{word!r} has no visible characters, so there is nothing to score."
    if tokenizer.unk_id in ids:
        return ids, (
            f"{word!r} cannot be written with this vocabulary: part of it becomes "
            f"{tokenizer.unk_token}, because a character in it is not in the vocabulary (or it is "
            "over 100 letters long)."
        )
    special = [i for i in ids if i in tokenizer.special_ids]
    if special:
        return ids, f"{tokenizer.id_to_token(special[0])} is a special token, not a word."
    reason = bert.config.family.absent.get("pieces")
    if len(ids) > 1 and reason is not None:
        return ids, f"{word!r} has {len(ids)} pieces. {reason}"
    if len(ids) > room:
        return ids, (
            f"{word!r} needs {len(ids)} masks, but the input has room for {room}. Shorten the text."
        )
    return ids, None


def _row(encoding: Encoding, position: int, ids: list[int], step: int, mask_id: int) -> Row:
    """Return the input of one step: pieces before `step` filled in, the rest masked."""
    filled = ids[:step] + [mask_id] * (len(ids) - step)
    input_ids, segment_ids = list(encoding.input_ids), list(encoding.segment_ids)
    input_ids[position : position + 1] = filled
    segment_ids[position : position + 1] = [segment_ids[position]] * len(ids)
    return Row(input_ids, segment_ids)
