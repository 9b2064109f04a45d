"""Objectives with a decoder: T5's spans and sentinels, BART's noising, MASS's fragment."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bertcore.model.objectives.row import (
    ACTIONS,
    SHARE,
    Actions,
    Corrupted,
    Flags,
    Ids,
    Pieces,
    Row,
    Span,
    check_actions,
    check_share,
    check_text,
    merged,
    replace_pieces,
)

MEAN_SPAN = 3.0
"""Pieces of T5's spans, in the mean."""
INFILLED, POISSON = 0.3, 3.5
"""BART's share of hidden words, and the mean of its span lengths (the paper says 3, the released
configuration 3.5). The paper gives the share for text infilling alone; masking and deletion have
the same here."""
FRAGMENT = 0.5
"""MASS's share of a text that the decoder writes."""


# ---- T5 ----


def t5_spans(
    row: Row, pieces: Pieces, rng: np.random.Generator, *, share: float = SHARE
) -> Corrupted:
    """Replace spans of the text with sentinels; the decoder writes what they stand for.

    Special tokens are left out except for the end token, which the encoder reads and the decoder
    writes. `share` is that of the pieces that are removed.

    ValueError if there are fewer than two pieces of text, too few sentinels, or the share is out of
    its range.

    Source: Raffel et al. 2020, section 3.1.4; google-research/text-to-text-transfer-transformer
        preprocessors.py, random_spans_helper and random_spans_noise_mask.
    """
    check_share(share)
    check_text(row, 2)
    places = row.text_places
    is_noise = t5_noise(len(places), rng, share=share)
    starts = is_noise & ~np.append(False, is_noise[:-1])
    if starts.sum() > len(pieces.sentinel_ids):
        needed = int(starts.sum())
        raise ValueError(
            f"the text needs {needed} sentinel{'' if needed == 1 else 's'} and the vocabulary has "
            f"{len(pieces.sentinel_ids)}. Give a shorter text."
        )
    source, target = [], []
    number = 0
    for place, noise, start in zip(places.tolist(), is_noise, starts, strict=True):
        if start:
            source.append(pieces.sentinel_ids[number])
            target.append(pieces.sentinel_ids[number])
            number += 1
        (target if noise else source).append(int(row.ids[place]))
    labels = np.array([*target, pieces.sep_id], dtype=np.int64)
    spans = merged([(place, place + 1) for place in places[is_noise].tolist()])
    return Corrupted(
        input_ids=np.array([*source, pieces.sep_id], dtype=np.int64),
        labels=labels,
        decoder_input_ids=np.append(pieces.cls_id, labels[:-1]),
        spans=spans,
        became=("sentinel",) * len(spans),
    )


def t5_noise(length: int, rng: np.random.Generator, *, share: float = SHARE) -> Flags:
    """Return which of `length` pieces are removed: spans of random lengths between clean ones, [N].

    A clean span comes first, so that the text begins with a word and ends with a sentinel.
    ValueError if `share` is out of its range.
    """
    noisy = _num_noisy(length, share)
    num_spans = t5_num_spans(length, share=share)
    lengths = np.empty(2 * num_spans, dtype=np.int64)
    lengths[::2] = _composition(length - noisy, num_spans, rng)
    lengths[1::2] = _composition(noisy, num_spans, rng)
    return np.repeat(np.arange(2 * num_spans) % 2 == 1, lengths)


def t5_num_spans(length: int, *, share: float = SHARE) -> int:
    """Return how many spans are removed from `length` pieces, one sentinel each.

    >>> t5_num_spans(568), t5_num_spans(2)
    (28, 1)

    ValueError if `share` is out of its range.
    """
    check_share(share)
    noisy = _num_noisy(length, share)
    return min(max(1, round(noisy / MEAN_SPAN)), noisy, length - noisy)


def _num_noisy(length: int, share: float) -> int:
    return int(np.clip(round(share * length), 1, length - 1))


def _composition(total: int, parts: int, rng: np.random.Generator) -> Ids:
    """Divide a number into positive parts, uniformly at random."""
    cuts = np.sort(rng.permutation(total - 1)[: parts - 1]) + 1
    return np.diff(np.concatenate([[0], cuts, [total]]))


# ---- BART ----


def bart_masking(
    row: Row, pieces: Pieces, rng: np.random.Generator, *, share: float = INFILLED
) -> Corrupted:
    """Replace random tokens with one [MASK] each."""
    chosen = _some(row, rng, share)
    input_ids = row.ids.copy()
    input_ids[chosen] = pieces.mask_id
    return _whole_text(row, input_ids, [(place, place + 1) for place in chosen.tolist()], "mask")


def bart_deletion(row: Row, rng: np.random.Generator, *, share: float = INFILLED) -> Corrupted:
    """Remove random tokens and put nothing in their place."""
    chosen = _some(row, rng, share)
    spans = [(place, place + 1) for place in chosen.tolist()]
    return _whole_text(row, np.delete(row.ids, chosen), spans, "gone")


def bart_infilling(
    row: Row, pieces: Pieces, rng: np.random.Generator, *, share: float = INFILLED
) -> Corrupted:
    """Replace spans of words, Poisson-distributed in length, with one [MASK] each.

    A span of length 0 inserts a [MASK] where nothing is missing. `share` is that of the words that
    are removed.

    ValueError if there is no text, or the share is out of its range.

    Source: Lewis et al. 2020, section 2.2; fairseq denoising_dataset.py. Overlapping spans are
        merged, so the real share is slightly lower.
    """
    check_share(share)
    check_text(row)
    words = row.words()
    budget = int(np.ceil(share * len(words)))
    lengths: list[int] = []
    while sum(lengths) < budget:
        lengths.append(int(rng.poisson(POISSON)))
    lengths[-1] -= sum(lengths) - budget
    num_empty = lengths.count(0)
    starts = rng.permutation(len(words))
    hidden = [
        (words[first][0], words[min(first + length, len(words)) - 1][1])
        for first, length in zip(starts.tolist(), filter(None, lengths), strict=False)
    ]
    spans = merged(hidden)
    gone = np.zeros(len(row), dtype=bool)
    filled: list[int] = []
    first_of = {start for start, _ in spans}
    for start, end in spans:
        gone[start:end] = True
    gone &= ~row.is_special
    for place, token in enumerate(row.ids.tolist()):
        if place in first_of:
            filled.append(pieces.mask_id)
        if not gone[place]:
            filled.append(token)
    for _ in range(num_empty):
        # Never before [CLS] or after the last [SEP].
        filled.insert(int(rng.integers(1, len(filled))), pieces.mask_id)
    return _whole_text(row, np.array(filled, dtype=np.int64), spans, "mask")


def bart_sentences(row: Row, rng: np.random.Generator) -> Corrupted:
    """Shuffle the sentences of one document.

    ValueError if the sentences are not known, or there is only one.

    Source: Lewis et al. 2020, section 2.2.
    """
    row = one_document(row)
    if row.starts_sentence is None or (row.starts_sentence & ~row.is_special).sum() < 2:
        raise ValueError("there is one sentence; shuffling needs at least two. Write a second one.")
    places = row.text_places
    input_ids = row.ids.copy()
    input_ids[places] = row.ids[_by_sentence(row.starts_sentence, places, rng)]
    return _whole_text(row, input_ids, [], "")


def bart_noise(
    row: Row, pieces: Pieces, rng: np.random.Generator, *, share: float = INFILLED
) -> Corrupted:
    """Shuffle the sentences of each text, then replace spans: BART's own noise.

    A row of one sentence keeps its order. `spans` are not returned, as a span of the shuffled text
    may come from several places.

    Args and errors are those of `bart_infilling`.

    Source: Lewis et al. 2020, section 2.2; fairseq denoising_dataset.py, in its order. Differs:
        sentences stay in their text, between two special tokens.
    """
    starts = row.starts_sentence
    if starts is None:
        raise ValueError(
            "the sentences of the row are not known; give the places where they start."
        )
    order = np.arange(len(row))
    borders = np.flatnonzero(row.is_special)
    for before, after in pairwise([-1, *borders.tolist(), len(row)]):
        places = np.arange(before + 1, after)
        if len(places):
            order[places] = _by_sentence(starts, places, rng)
    shuffled = Row(row.ids[order], row.is_special, row.starts_word[order])
    found = bart_infilling(shuffled, pieces, rng, share=share)
    return _whole_text(row, found.input_ids, [], "")


def _by_sentence(starts: Flags, places: Ids, rng: np.random.Generator) -> Ids:
    """Return places in a random order of the sentences that begin at `starts`, [N]."""
    # Everything before the first start belongs to the first sentence.
    number = np.maximum(np.cumsum(starts[places]) - 1, 0)
    order = rng.permutation(int(number[-1]) + 1)
    return np.concatenate([places[number == one] for one in order])


def bart_rotation(row: Row, rng: np.random.Generator) -> Corrupted:
    """Rotate one document to begin at a random token, moving the part before it to the end."""
    check_text(row)
    row = one_document(row)
    places = row.text_places
    start = int(rng.integers(len(places)))
    input_ids = row.ids.copy()
    input_ids[places] = np.roll(row.ids[places], -start)
    return _whole_text(row, input_ids, [], "")


def one_document(row: Row) -> Row:
    """Return a row without the special tokens between its texts: BART's noising has one document.

    Otherwise a [SEP] would keep its place, and split a sentence that moves across it.
    """
    places = row.text_places
    kept = ~row.is_special
    if len(places):
        kept[: places[0]] = kept[places[-1] + 1 :] = True
    starts = row.starts_sentence
    return Row(
        row.ids[kept],
        row.is_special[kept],
        row.starts_word[kept],
        None if starts is None else starts[kept],
    )


def _some(row: Row, rng: np.random.Generator, share: float) -> Ids:
    check_share(share)
    check_text(row)
    places = row.text_places
    number = min(len(places), max(1, int(np.ceil(share * len(places)))))
    return np.sort(rng.permutation(places)[:number])


def _whole_text(row: Row, input_ids: Ids, spans: Sequence[Span], became: str) -> Corrupted:
    """Return an input whose decoder writes the whole original row."""
    return Corrupted(
        input_ids=input_ids,
        labels=row.ids,
        decoder_input_ids=np.append(row.ids[-1], row.ids[:-1]),
        spans=tuple(spans),
        became=(became,) * len(spans) if became else (),
    )


# ---- MASS ----


def mass(
    row: Row,
    pieces: Pieces,
    rng: np.random.Generator,
    *,
    share: float = FRAGMENT,
    actions: Actions = ACTIONS,
) -> Corrupted:
    """Hide one fragment of the text; the decoder writes it and reads nothing else of the text.

    The fragment, a share of the pieces, starts at the beginning of the text in 20% of the draws,
    ends at its end in 20%, and is anywhere in the others.

    ValueError if there are fewer than two pieces of text, or a value is out of its range.

    Source: Song et al. 2019, section 3.2; microsoft/MASS trainer.py, restricted_mask_sent.
    """
    check_share(share)
    check_actions(actions)
    check_text(row, 2)
    places = row.text_places
    length = min(len(places) - 1, max(1, round(share * len(places))))
    last = len(places) - length
    draw = rng.random()
    start = 0 if draw < 0.2 else last if draw < 0.4 else int(rng.integers(last + 1))
    chosen = places[start : start + length]
    found = replace_pieces(row, pieces, rng, chosen, actions)
    return Corrupted(
        input_ids=found.input_ids,
        labels=row.ids[chosen],
        decoder_input_ids=row.ids[chosen - 1],
        decoder_positions=chosen - 1,
        spans=merged([(place, place + 1) for place in chosen.tolist()]),
    )
