"""Lay out instances as rows of token ids, for BERT or for `bertcore.objectives`; T5's sentinels."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.objectives import Pieces, Row, t5_num_spans
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.rows import Instances, PackedRows, document_places
from bertcore.tokenizer import WORD_MARKS, AddedToken, LibraryTokenizer, Tokenizer
from bertcore.tokenizer.training import PREFIX


class Rows(NamedTuple):
    """Rows before any token is hidden."""

    ids: Tensor
    """Padded, int64, [B, T]."""
    is_special: Tensor
    """True at [CLS], [SEP] and padding, [B, T]."""
    segment_ids: Tensor
    """int64, [B, T]"""
    attention_mask: Tensor
    """True at tokens, False at padding, [B, T]."""
    corpus_index: NDArray[np.int64]
    """Index of each token of text in the corpus, [B, T]; meaningless at special tokens."""


def lay_out(
    corpus: PackedCorpus,
    rows: Instances | PackedRows,
    tokenizer: Tokenizer,
    width: int,
    device: torch.device,
) -> Rows:
    """Return rows of pairs or of running text, padded to `width` tokens."""
    if isinstance(rows, PackedRows):
        return lay_out_packed(corpus, rows, tokenizer, width, device)
    return lay_out_pairs(corpus, rows, tokenizer, width, device)


def starts_of_words(corpus: PackedCorpus, rows: Rows, tokenizer: Tokenizer) -> Tensor:
    """Return False at pieces that continue a word, [B, T], on the CPU.

    The first piece of a sentence begins a word, even if the vocabulary marks only the spaces
    between words (byte-level BPE).
    """
    begins = _begins_word(tokenizer)[rows.ids.cpu()]
    sentences = np.asarray(corpus.sentence_starts)
    after = np.searchsorted(sentences, rows.corpus_index).clip(max=len(sentences) - 1)
    return begins | torch.from_numpy(sentences[after] == rows.corpus_index)


@functools.lru_cache(maxsize=4)
def _begins_word(tokenizer: Tokenizer) -> Tensor:
    """Return whether each piece of the vocabulary begins a word, [V].

    WordPiece marks pieces that continue a word (##ing); other vocabularies mark those that begin
    one.
    """
    begins = [piece.startswith(tuple(WORD_MARKS)) for piece in tokenizer.vocab]
    continues = [piece.startswith("##") and len(piece) > 2 for piece in tokenizer.vocab]
    is_wordpiece = not isinstance(tokenizer, LibraryTokenizer) or sum(continues) > sum(begins)
    return ~torch.tensor(continues) if is_wordpiece else torch.tensor(begins)


def lay_out_pairs(
    corpus: PackedCorpus, pairs: Instances, tokenizer: Tokenizer, width: int, device: torch.device
) -> Rows:
    """Return rows [CLS] A [SEP] B [SEP], padded to `width` tokens.

    Segment 0 goes up to the first [SEP], 1 to the second; padding is 0 again.
    """
    places = np.arange(width)
    a_start, a_end, b_start, _ = (pairs.spans[:, [column]] for column in range(4))
    middles = a_end - a_start + 1  # the first [SEP]
    lasts = pairs.lengths[:, None] - 1
    in_b = (places > middles) & (places < lasts)
    special = ((places == 0) | (places == middles)) | (places >= lasts)
    index = np.where(in_b, b_start + places - middles - 1, a_start + places - 1)
    ids = _look_up(corpus, index, special, device)
    place = torch.arange(width, device=device)
    middle, last = (torch.from_numpy(ends).to(device) for ends in (middles, lasts))
    is_special = (place == 0) | (place == middle) | (place >= last)
    return Rows(
        ids=_with_special_tokens(ids, is_special, place > last, tokenizer),
        is_special=is_special,
        segment_ids=((place > middle) & (place <= last)).long(),
        attention_mask=place <= last,
        corpus_index=index,
    )


def lay_out_packed(
    corpus: PackedCorpus, rows: PackedRows, tokenizer: Tokenizer, width: int, device: torch.device
) -> Rows:
    """Return rows [CLS] text [SEP], with [SEP] between documents, padded to `width` tokens.

    All of a row is segment 0.
    """
    starts, _, documents, num_inside = rows.spans.T
    lasts = rows.lengths[:, None] - 1
    # The separators of all rows in one list: the row of each, and its index in that row.
    row = np.repeat(np.arange(len(rows)), num_inside)
    number = np.arange(len(row)) - np.repeat(np.cumsum(num_inside) - num_inside, num_inside)
    begins = document_places(corpus, documents[row] + 1 + number)
    is_separator = np.zeros((len(rows), width), dtype=bool)
    is_separator[row, 1 + begins - starts[row] + number] = True
    places = np.arange(width)
    special = is_separator | (places == 0) | (places >= lasts)
    index = starts[:, None] + places - 1 - is_separator.cumsum(axis=1)
    ids = _look_up(corpus, index, special, device)
    is_special = torch.from_numpy(special).to(device)
    is_padding = torch.from_numpy(places > lasts).to(device)
    return Rows(
        ids=_with_special_tokens(ids, is_special, is_padding, tokenizer),
        is_special=is_special,
        segment_ids=torch.zeros_like(ids),
        attention_mask=~is_padding,
        corpus_index=index,
    )


def _look_up(
    corpus: PackedCorpus,
    index: NDArray[np.int64],
    special: NDArray[np.bool_],
    device: torch.device,
) -> Tensor:
    """Return the text's ids in one look-up; special positions read token 0 and are replaced."""
    text = np.asarray(corpus.ids)[np.where(special, 0, index)].astype(np.int64)
    return torch.from_numpy(text).to(device)


def _with_special_tokens(
    ids: Tensor, is_special: Tensor, is_padding: Tensor, tokenizer: Tokenizer
) -> Tensor:
    ids = torch.where(is_padding, tokenizer.pad_id, torch.where(is_special, tokenizer.sep_id, ids))
    ids[:, 0] = tokenizer.cls_id
    return ids


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
