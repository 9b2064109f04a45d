"""Lay out instances as rows of token ids, with special tokens, text and padding."""

import functools
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.instances import Instances
from bertcore.pretraining.data.packed_rows import PackedRows, document_places
from bertcore.tokenizer import WORD_MARKS, LibraryTokenizer, Tokenizer


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
