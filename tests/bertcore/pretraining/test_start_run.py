"""What a run records of its text as it starts: the entropy of its pieces against scipy's."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import entropy

from bertcore.pretraining import DataConfig, OptimizerConfig, TrainConfig, start_run
from bertcore.pretraining.start_run import unigram_entropy
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_config, tiny_tokenizer


@pytest.mark.parametrize("number", [5000, 2**20 + 7])
def test_entropy_is_scipys(number: int) -> None:
    ids = np.random.default_rng(0).zipf(1.5, number).clip(max=99).astype(np.uint16)
    assert unigram_entropy(ids, 100) == pytest.approx(entropy(np.bincount(ids)))


def test_a_run_reports_the_entropy_of_its_text(tmp_path: Path) -> None:
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
