"""Compiled, and in two processes, an objective trains as it does plain and alone."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.training.compiler import missing_for_compile
from tests.bertcore.pretraining.objectives.test_objectives import build, metrics
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_tokenizer
from tests.support.together import run_together

OURS = ("wwm", "span-sbo", "causal", "unilm", "mlm+sop")
"""Beside BERT's own, which tests/bertcore/training compiles and spreads over processes."""
SIZE = "--layers 1 --hidden 32 --heads 2 --max-seq-length 24 --batch-size 8 --device cpu".split()
LENGTH = "--dtype float32 --steps 12 --evaluate-every 6 --save-every 6 --gradient-accumulation 2"


@pytest.mark.slow
@pytest.mark.skipif(
    missing_for_compile(torch.device("cpu")) is not None, reason="no compiler on this machine"
)
@pytest.mark.parametrize("objective", OURS)
def test_a_compiled_run_has_the_losses_of_a_plain_one(tmp_path: Path, objective: str) -> None:
    told: list[str] = []
    for kind in ("on", "off"):
        run = build(tmp_path / kind, objective, compile=kind, dtype="float32", steps=4)
        run.run(on_notice=told.append)
    assert [notice.startswith("compiled in ") for notice in told] == [True]
    compiled, plain = (
        [line["loss"] for line in metrics(tmp_path / kind)] for kind in ("on", "off")
    )
    assert compiled == pytest.approx(plain, abs=1e-3)
    assert compiled[0] == pytest.approx(plain[0], abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("objective", OURS)
def test_two_processes_train_as_one(tmp_path: Path, objective: str) -> None:
    write_documents(tmp_path / "train.txt", small_documents(60))
    write_documents(tmp_path / "valid.txt", small_documents(8, seed=5))
    tiny_tokenizer().save(tmp_path / "tokenizer")
    text = ["--corpus", tmp_path / "train.txt", "--valid", tmp_path / "valid.txt"]
    family = ["--family", "albert"] if objective == "mlm+sop" else []
    lines: list[list[dict[str, Any]]] = []
    for number in (1, 2):
        out = tmp_path / f"run-{number}"
        words = ["pretrain", *text, "--tokenizer", tmp_path / "tokenizer", "--out", out, *SIZE]
        run_together(number, [*words, "--objective", objective, *family, *LENGTH.split()])
        lines.append(
            [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        )
    assert len(lines[0]) == len(lines[1]) > 1
    for one, two in zip(*lines, strict=True):
        assert one.keys() == two.keys()
        for name in one.keys() - {"seconds", "valid_minimal_pairs"}:
            assert one[name] == pytest.approx(two[name], abs=1e-4), (one["step"], name)
