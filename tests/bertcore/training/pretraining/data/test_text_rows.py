"""Packed rows one by one: their tokens, and where words and sentences start."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from bertcore.model.objectives import Row
from bertcore.model.tokenizer import open_wordpiece
from bertcore.training.pretraining import create_packed_rows
from bertcore.training.pretraining.data.layout import (
    check_sentinels,
    row_sources,
    sentinel_ids,
    text_rows,
    with_sentinels,
)
from tests.support.small_corpus import small_corpus, small_documents
from tests.support.tiny import tiny_tokenizer

TOKENIZER = tiny_tokenizer()


def rows_of(width: int) -> list[Row]:
    corpus = small_corpus()
    return text_rows(corpus, create_packed_rows(corpus, max_seq_length=width), TOKENIZER)


def test_sentences_and_words_start_where_they_do_in_the_text() -> None:
    """All rows one after another give each sentence of the text, cut where rows end."""
    expected = [
        TOKENIZER.encode_ids([sentence])[0] for doc in small_documents() for sentence in doc
    ]
    found: list[list[int]] = []
    is_whole = []
    for row in rows_of(24):
        assert row.starts_sentence is not None
        first = True
        for place in row.text_places:
            if row.starts_sentence[place]:
                found.append([])
                is_whole.append(not first)
            found[-1].append(int(row.ids[place]))
            first = False
            starts = not TOKENIZER.vocab[row.ids[place]].startswith("##")
            assert row.starts_word[place] == (starts or place == row.text_places[0])
    # A row's first sentence may be the rest of the last one before it.
    joined: list[list[int]] = []
    for sentence, whole in zip(found, is_whole, strict=True):
        rest = expected[len(joined) - 1][len(joined[-1]) :] if joined else []
        if not whole and rest:
            joined[-1] += sentence
        else:
            joined.append(sentence)
    assert joined == expected


def test_a_row_has_its_source_in_every_part_of_a_batch() -> None:
    def draws(sources: list[np.random.Generator]) -> list[int]:
        return [int(source.integers(10**9)) for source in sources]

    whole = draws(row_sources(torch.Generator().manual_seed(3), 6))
    assert whole == draws(row_sources(torch.Generator().manual_seed(3), 6))
    assert len(set(whole)) == 6
    own = [torch.Generator().manual_seed(seed) for seed in (7, 8, 9)]
    some = [torch.Generator().manual_seed(seed) for seed in (8, 9)]
    assert draws(row_sources(own, 3))[1:] == draws(row_sources(some, 2))


def test_sentinels_are_added_behind_the_pieces(tmp_path: Path) -> None:
    more = with_sentinels(TOKENIZER, 12)
    size = TOKENIZER.vocab_size
    assert more.vocab[:size] == TOKENIZER.vocab
    assert sentinel_ids(more) == tuple(range(size, size + 12))
    assert with_sentinels(more) is more
    text = "the river bank was steep"
    assert more.encode(text).input_ids == TOKENIZER.encode(text).input_ids
    more.save(tmp_path)
    again = open_wordpiece(tmp_path)
    assert (again.vocab, sentinel_ids(again)) == (more.vocab, sentinel_ids(more))
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert theirs.convert_tokens_to_ids("<extra_id_3>") == size + 3
    assert theirs("a <extra_id_0> b").input_ids[2] == size


def test_too_few_sentinels_are_refused_in_a_sentence() -> None:
    check_sentinels(with_sentinels(TOKENIZER), 512, 0.15)
    for few, length, needed in ((12, 512, 25), (3, 128, 6)):
        with pytest.raises(ValueError, match=rf"has {few} .* of {length} tokens needs {needed}"):
            check_sentinels(with_sentinels(TOKENIZER, few), length, 0.15)
