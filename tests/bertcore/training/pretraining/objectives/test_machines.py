"""Compiled, and in two processes, an objective trains as it does plain and alone."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.training.engine.processes import missing_for_compile
from tests.support.command_line import metrics, recipe
from tests.support.exhaustive import all_but
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_tokenizer
from tests.support.tiny_runs import build
from tests.support.together import run_together

OURS = ("wwm", "span-sbo", "causal", "unilm", "mlm+sop")
"""Beside BERT's own, which tests/bertcore/training/engine spreads over processes."""
SIZE = "--layers 1 --hidden 32 --heads 2 --max-seq-length 24 --batch-size 8 --device cpu".split()
LENGTH = [
    *"--dtype float32 --steps 12 --save-every 6".split(),
    *recipe(evaluate_every=6, gradient_accumulation=2),
]


@pytest.mark.slow
@pytest.mark.skipif(
    missing_for_compile(torch.device("cpu")) is not None, reason="no compiler on this machine"
)
@pytest.mark.parametrize("objective", all_but(["mlm+nsp", "causal"], ("mlm+nsp", "mlm", *OURS)))
def test_a_compiled_run_has_the_losses_of_a_plain_one(tmp_path: Path, objective: str) -> None:
    told: list[str] = []
    for kind in ("on", "off"):
        run = build(tmp_path / kind, objective, compile=kind, dtype="float32", steps=4)
        run.run(on_notice=told.append)
        assert run.progress.elapsed_seconds < 5  # the wait for the compiler is not in it
    assert sum(notice.startswith("compiled in ") for notice in told) == 1
    compiled, plain = (
        [line["loss"] for line in metrics(tmp_path / kind)] for kind in ("on", "off")
    )
    assert compiled == pytest.approx(plain, abs=1e-3)
    assert compiled[0] == pytest.approx(plain[0], abs=1e-5)


def train(folder: Path, objective: str, number: int) -> list[dict[str, Any]]:
    """Train in so many processes; return the lines of metrics."""
    write_documents(folder / "train.txt", small_documents(60))
    write_documents(folder / "valid.txt", small_documents(8, seed=5))
    tiny_tokenizer().save(folder / "tokenizer")
    text = ["--corpus", folder / "train.txt", "--valid", folder / "valid.txt"]
    family = [*recipe(family="albert")] if objective == "mlm+sop" else []
    out = folder / f"run-{number}"
    words = ["pretrain", *text, "--tokenizer", folder / "tokenizer", "--out", out, *SIZE]
    run_together(number, [*words, "--objective", objective, *family, *LENGTH])
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("objective", all_but(["causal"], OURS))
def test_two_processes_train_as_one(tmp_path: Path, objective: str) -> None:
    one, two = train(tmp_path, objective, 1), train(tmp_path, objective, 2)
    assert len(one) == len(two) > 1
    for mine, other in zip(one, two, strict=True):
        free = {name: mine[name] for name in ("seconds", "valid_minimal_pairs") if name in mine}
        assert mine == pytest.approx({**other, **free}, abs=1e-4)
