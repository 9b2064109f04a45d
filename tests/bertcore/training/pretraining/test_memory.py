"""Memory of packing and batching stays flat as the corpus grows."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from bertcore.training.pretraining import Batches, DataConfig
from bertcore.training.pretraining.data.corpus import pack_corpus_to
from tests.support.tiny import WORDS, tiny_tokenizer

CONFIG = DataConfig(max_seq_length=32, max_predictions_per_seq=6, batch_size=8)


def documents(num: int) -> Iterator[list[str]]:
    """Yield documents of ten sentences, made when they are asked for."""
    rng = Random(0)
    for _ in range(num):
        yield [" ".join(rng.choices(WORDS, k=8)) for _ in range(10)]


def test_memory_is_flat_from_one_to_ten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.training.pretraining.data.corpus._BATCH_SENTENCES", 100)
    monkeypatch.setattr("bertcore.training.pretraining.data.corpus._HASHED_AT_ONCE", 1000)
    monkeypatch.setattr("bertcore.training.pretraining.objectives.epochs.BLOCK_SENTENCES", 50)
    monkeypatch.setattr("bertcore.training.pretraining.objectives.epochs.WINDOW_BLOCKS", 4)
    tokenizer = tiny_tokenizer()
    peaks, sizes = [], []
    for num in (100, 1000):
        tracemalloc.start()
        corpus = pack_corpus_to(tmp_path / str(num), documents(num), tokenizer)
        batches = Batches(corpus, tokenizer, CONFIG, seed=0)
        for step in range(40):
            batches.batch(step)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        sizes.append(corpus.num_tokens)
    assert sizes[1] > 9 * sizes[0]
    assert peaks[1] < 1.2 * peaks[0]
