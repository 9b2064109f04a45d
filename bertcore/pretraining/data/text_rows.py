"""Packed rows one by one, in the form that `bertcore.objectives` reads."""

from collections.abc import Sequence

import numpy as np
import torch

from bertcore.objectives import Pieces, Row
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.layout import lay_out_packed
from bertcore.pretraining.data.packed_rows import PackedRows
from bertcore.pretraining.data.sentinels import sentinel_ids
from bertcore.tokenizer import Tokenizer
from bertcore.tokenizer.training import PREFIX

CPU = torch.device("cpu")


def text_rows(corpus: PackedCorpus, rows: PackedRows, tokenizer: Tokenizer) -> list[Row]:
    """Return rows without padding, with the starts of words and sentences.

    A row begins in the middle of a sentence, or of a word, where the one before ended there; its
    first token counts as a start of both.

    Args:
        corpus: The rows' tokens.
        rows: The rows of a batch, or a part of one.
        tokenizer: The corpus's tokenizer, with word pieces.
    """
    laid_out = lay_out_packed(corpus, rows, tokenizer, int(rows.lengths.max()), CPU)
    continues = np.array([token.startswith(PREFIX) for token in tokenizer.vocab])
    found = []
    for number, length in enumerate(rows.lengths.tolist()):
        ids = laid_out.ids[number, :length].numpy()
        is_special = laid_out.is_special[number, :length].numpy()
        places = np.flatnonzero(~is_special)
        starts_word = is_special | ~continues[ids]
        starts_word[places[0]] = True
        starts_sentence = np.zeros(length, dtype=bool)
        starts_sentence[places[_sentence_starts(corpus, rows, number)]] = True
        starts_sentence[places[0]] = True
        found.append(Row(ids, is_special, starts_word, starts_sentence))
    return found


def _sentence_starts(corpus: PackedCorpus, rows: PackedRows, number: int) -> np.ndarray:
    """Return which tokens of a row's text begin a sentence."""
    start, end = rows.spans[number, :2].tolist()
    borders = np.asarray(corpus.sentence_starts)
    first, last = np.searchsorted(borders, [start, end])
    starts: np.ndarray = borders[first:last] - start
    return starts


def row_sources(
    generator: torch.Generator | Sequence[torch.Generator], num_rows: int
) -> list[np.random.Generator]:
    """Return a random source for each row of a batch.

    Args:
        generator: That of the batch, or one for each of its rows.
        num_rows: Rows of the whole batch, so that a part gets the same sources as in the batch.
    """
    if isinstance(generator, torch.Generator):
        seeds = torch.randint(2**62, (num_rows,), generator=generator, device=generator.device)
        return [np.random.default_rng(seed) for seed in seeds.tolist()]
    own = [torch.randint(2**62, (), generator=each, device=each.device) for each in generator]
    return [np.random.default_rng(int(seed)) for seed in own]


def pieces_of(tokenizer: Tokenizer) -> Pieces:
    """Return the facts about a tokenizer's vocabulary that the objectives need."""
    return Pieces(
        size=tokenizer.vocab_size,
        mask_id=tokenizer.mask_id,
        cls_id=tokenizer.cls_id,
        sep_id=tokenizer.sep_id,
        sentinel_ids=sentinel_ids(tokenizer),
    )
