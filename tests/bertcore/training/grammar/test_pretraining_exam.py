"""The exam as a curve of a pretraining run."""

import json
from pathlib import Path

from bertcore import load
from bertcore.training.grammar import PretrainingExam
from bertcore.training.pretraining import DataConfig, OptimizerConfig, TrainConfig, start_run
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_config


def test_a_run_whose_vocabulary_reads_english_records_its_exam(tmp_path: Path) -> None:
    tokenizer = load("default", device="cpu").tokenizer
    text = write_documents(tmp_path / "train.txt", small_documents(40))
    run = start_run(
        tmp_path / "run",
        corpus=[text],
        valid=text,
        tokenizer=tokenizer,
        shape=tiny_config(vocab_size=tokenizer.vocab_size),
        train_config=TrainConfig(steps=2, device="cpu", dtype="float32", evaluate_every=1),
        data_config=DataConfig(max_seq_length=24, max_predictions_per_seq=5, batch_size=4),
        optimizer_config=OptimizerConfig(),
    )
    run.run()
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    recorded = [json.loads(line).get("valid_minimal_pairs") for line in lines]
    assert len([value for value in recorded if value is not None]) == 2
    network = load(tmp_path / "run" / "checkpoints" / "step-2", device="cpu").module
    assert recorded[-1] == PretrainingExam(tokenizer, 64).accuracy(network)  # type: ignore[arg-type]
    assert run.network.training  # the exam leaves the run as it was
