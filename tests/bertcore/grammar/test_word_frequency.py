"""Counts of pieces: kept beside a checkpoint and in a run, their entropy against scipy's."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import entropy

from bertcore.grammar import TokenCounts
from bertcore.grammar.word_frequency import COUNTS_FILE
from bertcore.pretraining import DataConfig, OptimizerConfig, TrainConfig, start_run
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_config, tiny_tokenizer


def test_counts_are_kept(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    ids = np.arange(50, dtype=np.uint16).repeat(3)
    counts = TokenCounts.of_ids(ids, tokenizer.vocab_size)
    counts.save(tmp_path)
    opened = TokenCounts.open(tmp_path, tokenizer)
    assert opened is not None
    np.testing.assert_array_equal(opened.counts, counts.counts)
    assert TokenCounts.open(tmp_path / "elsewhere", tokenizer) is None


@pytest.mark.parametrize("content", ["", "1\n2\n", "x\n" * 200, "-1\n" * 200, "9" * 40, "1.5\n"])
def test_damaged_counts_are_one_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / COUNTS_FILE).write_text(content)
    with pytest.raises(RuntimeError, match="Delete it to do without"):
        TokenCounts.open(tmp_path, tiny_tokenizer())


def test_entropy_is_scipys(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = np.random.default_rng(0).zipf(1.5, 5000).clip(max=99).astype(np.uint16)
    expected = entropy(np.bincount(ids))
    assert TokenCounts.of_ids(ids, 100).entropy == pytest.approx(expected)
    monkeypatch.setattr("bertcore.grammar.word_frequency._BLOCK", 7)
    assert TokenCounts.of_ids(ids, 100).entropy == pytest.approx(expected)


def test_no_token_is_refused() -> None:
    counts = TokenCounts.of_ids(np.array([], dtype=np.uint16), 10)
    with pytest.raises(ValueError, match="no token"):
        _ = counts.entropy


def test_a_run_keeps_counts_and_reports_their_entropy(tmp_path: Path) -> None:
    text = write_documents(tmp_path / "train.txt", small_documents(40))
    start_run(
        tmp_path / "run",
        corpus=[text],
        valid=text,
        tokenizer=tiny_tokenizer(),
        shape=tiny_config(),
        train_config=TrainConfig(steps=2, device="cpu"),
        data_config=DataConfig(max_seq_length=24, max_predictions_per_seq=5, batch_size=4),
        optimizer_config=OptimizerConfig(),
    )
    report = json.loads((tmp_path / "run" / "config.json").read_text())["data_report"]["train"]
    assert 2 < report["unigram_entropy"] < math.log(tiny_tokenizer().vocab_size)
    kept = TokenCounts.open(tmp_path / "run" / "checkpoints" / "step-2", tiny_tokenizer())
    assert kept is not None
    assert round(kept.entropy, 6) == report["unigram_entropy"]
