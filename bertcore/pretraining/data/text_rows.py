"""Packed rows one by one, in the form that `bertcore.objectives` reads, and T5's sentinels."""

from collections.abc import Sequence

import numpy as np
import torch

from bertcore.objectives import Pieces, Row, t5_num_spans
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.layout import lay_out_packed
from bertcore.pretraining.data.packed_rows import PackedRows
from bertcore.tokenizer import AddedToken, Tokenizer
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


NUM_SENTINELS = 100
"""Number of sentinels, as in T5's own vocabulary."""


def sentinel(number: int) -> str:
    """Return the token of a sentinel, named as in T5's tokenizer.

    >>> sentinel(0)
    '<extra_id_0>'
    """
    return f"<extra_id_{number}>"


def sentinel_ids(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return the ids of <extra_id_0>, <extra_id_1>, ..., up to the last one."""
    ids: list[int] = []
    while (found := tokenizer.token_to_id(sentinel(len(ids)))) is not None:
        ids.append(found)
    return tuple(ids)


def with_sentinels(tokenizer: Tokenizer, number: int = NUM_SENTINELS) -> Tokenizer:
    """Return a tokenizer with `number` sentinels after its pieces; itself if it has some."""
    if sentinel_ids(tokenizer):
        return tokenizer
    new = [AddedToken(sentinel(i)) for i in range(number)]
    return Tokenizer(
        tokenizer.vocab,
        do_lower_case=tokenizer.do_lower_case,
        strip_accents=tokenizer.strip_accents,
        tokenize_chinese_chars=tokenizer.tokenize_chinese_chars,
        model_max_length=tokenizer.model_max_length,
        added_tokens=(*tokenizer.added_tokens, *new),
    )


def check_sentinels(tokenizer: Tokenizer, max_seq_length: int, share: float) -> None:
    """Reject a vocabulary with fewer sentinels than a row may need.

    Args:
        max_seq_length: Length of the longest row, including its special tokens.
        share: Share of the pieces that are removed.

    ValueError if it has too few.
    """
    needed, there = t5_num_spans(max_seq_length - 2, share=share), len(sentinel_ids(tokenizer))
    if there < needed:
        others = ""
        if there < NUM_SENTINELS:
            others = f", or use a tokenizer with none, to which {NUM_SENTINELS} are added"
        raise ValueError(
            f"the vocabulary has {there} sentinel{'' if there == 1 else 's'} ({sentinel(0)}, ...), "
            f"but a row of {max_seq_length} tokens needs {needed} if {share:g} of it is "
            f"removed. Lower --max-seq-length or masked_lm_prob{others}."
        )
