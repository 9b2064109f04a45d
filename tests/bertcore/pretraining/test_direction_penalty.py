"""Pretraining on from a checkpoint with a penalty: it works, resumes bit by bit, is recorded."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from bertcore import load
from tests.support.command_line import make_texts, metrics, recipe, refusal, succeed
from tests.support.tiny import tiny_bert


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.txt, valid.txt and the checkpoint tiny."""
    folder = make_texts(tmp_path_factory.mktemp("texts"))
    tiny_bert().save(folder / "tiny")
    return folder


def words(texts: Path, out: Path, *more: str | Path) -> list[str]:
    inputs = ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt"]
    start = ["--checkpoint", texts / "tiny", "--out", out]
    shape = "--batch-size 4 --max-seq-length 24 --device cpu --seed 7 --save-every 3".split()
    return [*map(str, ["pretrain", *inputs, *start, *shape, *more])]


@pytest.mark.parametrize("objective", ["mlm", "mlm+nsp"])
def test_the_penalty_falls_and_a_resumed_run_is_the_same(
    objective: str, texts: Path, tmp_path: Path
) -> None:
    more = ["--steps", "12", "--objective", objective, *recipe(gradient_accumulation=2)]
    whole, free = tmp_path / "whole", tmp_path / "free"
    for run, weight in ((whole, 50.0), (free, 1e-9)):
        succeed(*words(texts, run, *more, "--dtype", "float32", *recipe(direction_penalty=weight)))
    assert _last_penalty(whole) < _last_penalty(free) / 2
    settings = json.loads((whole / "config.json").read_text())
    assert (settings["direction"]["name"], settings["direction"]["weight"]) == ("gender", 50.0)
    part = tmp_path / "part"
    shutil.copytree(whole, part)
    shutil.rmtree(part / "checkpoints" / "step-12")
    assert "Done." in succeed("pretrain", "--out", part, "--resume")
    assert metrics(part) == metrics(whole)
    ours, theirs = (load(run / "checkpoints" / "step-12", device="cpu") for run in (part, whole))
    for a, b in zip(ours.module.parameters(), theirs.module.parameters(), strict=True):
        assert torch.equal(a, b)


def _last_penalty(run: Path) -> float:
    found = [line["direction_penalty"] for line in metrics(run) if "direction_penalty" in line]
    return float(found[-1])


def test_refusals(texts: Path, tmp_path: Path) -> None:
    out, steps = tmp_path / "run", ["--steps", "3"]
    assert "direction_words would have no effect" in refusal(
        *words(texts, out, *steps, *recipe(direction_words="gender"))
    )
    penalty = [*recipe(direction_penalty=1)]
    assert "compile would have no effect" in refusal(
        *words(texts, out, *steps, *penalty, *recipe(compile="on"))
    )
    assert "direction_penalty is 0.0" in refusal(
        *words(texts, out, *steps, *recipe(direction_penalty=0))
    )
    assert "mlm+nsp, mlm or wwm" in refusal(
        *words(texts, out, *steps, *penalty, "--objective", "span-sbo")
    )
    plain = [*words(texts, out, *steps, *penalty)]
    place = plain.index("--checkpoint")
    del plain[place : place + 2]
    assert "--checkpoint" in refusal(*plain)
    assert not out.exists()
