"""Lay out instances as rows of token ids, for BERT or for the objectives; T5's sentinels."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.model.objectives import Pieces, Row, t5_num_spans
from bertcore.model.tokenizer import WORD_MARKS, AddedToken, LibraryTokenizer, Tokenizer
from bertcore.training.pretraining.data.corpus import PackedCorpus
from bertcore.training.pretraining.data.rows import Instances, PackedRows, document_places

CPU = torch.device("cpu")


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

    @property
    def inputs(self) -> dict[str, Tensor]:
        """What a network reads beside the ids, as tensors of a `Batch`."""
        return {"segment_ids": self.segment_ids, "attention_mask": self.attention_mask}


def lay_out(
    corpus: PackedCorpus,
    rows: Instances | PackedRows,
    tokenizer: Tokenizer,
    width: int,
    device: torch.device = CPU,
) -> Rows:
    """Return rows of pairs or of running text, padded to `width` tokens.

    Pairs are [CLS] A [SEP] B [SEP]: segment 0 goes up to the first [SEP], 1 to the second, and
    padding is 0 again. Running text is [CLS] text [SEP], with [SEP] between documents, all of it
    segment 0.
    """
    places = np.arange(width)
    lasts = rows.lengths[:, None] - 1
    special = (places == 0) | (places >= lasts)
    segments = np.zeros(special.shape, dtype=np.int64)
    if isinstance(rows, PackedRows):
        separators = _separators(corpus, rows, width)
        special |= separators
        index = rows.spans[:, [0]] + places - 1 - separators.cumsum(axis=1)
    else:
        a_start, a_end, b_start, _ = (rows.spans[:, [column]] for column in range(4))
        middles = a_end - a_start + 1  # the first [SEP]
        special |= places == middles
        segments[(places > middles) & (places <= lasts)] = 1
        index = np.where(places > middles, b_start + places - middles - 1, a_start + places - 1)
    # Special places read token 0 of the corpus, and are replaced.
    ids = np.asarray(corpus.ids)[np.where(special, 0, index)].astype(np.int64)
    ids[special] = tokenizer.sep_id
    ids[places > lasts] = tokenizer.pad_id
    ids[:, 0] = tokenizer.cls_id

    def tensor(array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(device)

    return Rows(tensor(ids), tensor(special), tensor(segments), tensor(places <= lasts), index)


def _separators(corpus: PackedCorpus, rows: PackedRows, width: int) -> NDArray[np.bool_]:
    """Return which places have the [SEP] between two documents, [B, T]."""
    starts, _, documents, num_inside = rows.spans.T
    # The separators of all rows in one list: the row of each, and its index in that row.
    row = np.repeat(np.arange(len(rows)), num_inside)
    number = np.arange(len(row)) - np.repeat(np.cumsum(num_inside) - num_inside, num_inside)
    begins = document_places(corpus, documents[row] + 1 + number)
    is_separator = np.zeros((len(rows), width), dtype=bool)
    is_separator[row, 1 + begins - starts[row] + number] = True
    return is_separator


def starts_of_words(corpus: PackedCorpus, rows: Rows, tokenizer: Tokenizer) -> Tensor:
    """Return False at pieces that continue a word, [B, T], on the CPU.

    The first piece of a sentence begins a word, even if the vocabulary marks only the spaces
    between words (byte-level BPE).
    """
    return _begins_word(tokenizer)[rows.ids.cpu()] | torch.from_numpy(_begins(corpus, rows))


def _begins(corpus: PackedCorpus, rows: Rows) -> NDArray[np.bool_]:
    """Return which tokens begin a sentence of the corpus, [B, T]."""
    sentences = np.asarray(corpus.sentence_starts)
    after = np.searchsorted(sentences, rows.corpus_index).clip(max=len(sentences) - 1)
    begins: NDArray[np.bool_] = sentences[after] == rows.corpus_index
    return begins


@functools.lru_cache(maxsize=4)
def _begins_word(tokenizer: Tokenizer) -> Tensor:
    """Return whether each piece begins a word, [V]; WordPiece marks those that do not (##ing)."""
    begins = [piece.startswith(tuple(WORD_MARKS)) for piece in tokenizer.vocab]
    continues = [piece.startswith("##") and len(piece) > 2 for piece in tokenizer.vocab]
    is_wordpiece = not isinstance(tokenizer, LibraryTokenizer) or sum(continues) > sum(begins)
    return ~torch.tensor(continues) if is_wordpiece else torch.tensor(begins)


def text_rows(corpus: PackedCorpus, rows: PackedRows, tokenizer: Tokenizer) -> list[Row]:
    """Return rows without padding, with the starts of words and sentences.

    A row begins in the middle of a sentence, or of a word, where the one before ended there; its
    first token counts as a start of both.
    """
    laid_out = lay_out(corpus, rows, tokenizer, int(rows.lengths.max()))
    is_special = laid_out.is_special.numpy()
    starts_word = starts_of_words(corpus, laid_out, tokenizer).numpy() | is_special
    starts_sentence = _begins(corpus, laid_out) & ~is_special
    starts_word[:, 1] = starts_sentence[:, 1] = True
    parts = (laid_out.ids.numpy(), is_special, starts_word, starts_sentence)
    return [
        Row(*(part[number, :length] for part in parts))
        for number, length in enumerate(rows.lengths.tolist())
    ]


def row_sources(
    generator: torch.Generator | Sequence[torch.Generator], num_rows: int
) -> list[np.random.Generator]:
    """Return a random source for each row of a batch, from that of the batch or one for each row.

    `num_rows` is that of the whole batch, so that a part gets the same sources as in the batch.
    """
    if isinstance(generator, torch.Generator):
        seeds = torch.randint(2**62, (num_rows,), generator=generator).tolist()
    else:
        seeds = [int(torch.randint(2**62, (), generator=own)) for own in generator]
    return [np.random.default_rng(seed) for seed in seeds]


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
    """Return the token of a sentinel, named as in T5's tokenizer: <extra_id_0>."""
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
    """Reject a vocabulary with fewer sentinels than the longest row may need; ValueError if so.

    The row's length includes its special tokens; `share` of its pieces is removed.
    """
    needed, there = t5_num_spans(max_seq_length - 2, share=share), len(sentinel_ids(tokenizer))
    if there < needed:
        raise ValueError(
            f"the vocabulary has {there} sentinel{'' if there == 1 else 's'} ({sentinel(0)}, ...), "
            f"but a row of {max_seq_length} tokens needs {needed} if {share:g} of it is removed. "
            "Lower --max-seq-length or masked_lm_prob, or use a tokenizer with none, to which "
            f"{NUM_SENTINELS} are added."
        )
