"""`bertscope ablate` and `bertscope prune` print what the core says; mistakes get a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bertcore import Bert, load
from bertcore.analysis.heads.importance import rank_heads
from bertcore.checkpoints.save import zeroed_heads
from bertcore.tasks.checkpoint_head import read_task_head
from bertscope.cli.main import app
from tests.support.tiny import tiny_bert
from tests.support.tiny_tasks import make_task

TEXT = "The river [MASK] was steep."
runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")


@pytest.fixture(scope="module")
def bert(folder: Path) -> Bert:
    return load(folder, device="cpu")


def run(*words: str | Path) -> str:
    result = runner.invoke(app, [*map(str, words)])
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refusal(*words: str | Path) -> str:
    result = runner.invoke(app, [*map(str, words)])
    assert result.exit_code == 2, (result.stdout, result.stderr)
    assert "Traceback" not in result.stderr
    return result.stderr.splitlines()[-1]


def test_ablate_follows_a_label(tmp_path: Path, folder: Path) -> None:
    make_task(tmp_path)
    bert = load(tmp_path, device="cpu")
    found = rank_heads(bert, bert.tokenize(TEXT), task=read_task_head(bert), label="good")
    said = json.loads(run("ablate", TEXT, "--label", "good", "--json", "--checkpoint", tmp_path))
    assert (said["measure"], said["label"], said["task"]) == ("label", "good", "classes")
    assert found.label is not None
    np.testing.assert_allclose(said["effects"]["label"], found.label, atol=1e-6)
    table = run("ablate", TEXT, "--label", "good", "--checkpoint", tmp_path)
    assert "by change of p of the label, or of the score, 'good'" in " ".join(table.split())
    assert "this checkpoint has 'bad', 'good', 'so-so'" in refusal(
        "ablate", TEXT, "--label", "x", "--checkpoint", tmp_path
    )
    assert "has no task head" in refusal("ablate", TEXT, "--label", "x", "--checkpoint", folder)


def test_ablate_prints_the_strongest_first(folder: Path, bert: Bert) -> None:
    found = rank_heads(bert, bert.tokenize(TEXT), word="bank")
    said = run("ablate", TEXT, "--word", "bank", "--top", "3", "--checkpoint", folder)
    lines = [line.split() for line in said.splitlines() if line.strip()[:1].isdigit()]
    assert [line[0] for line in lines] == [
        f"{layer}.{head}" for layer, head, _ in found.strongest("word", 3)
    ]
    assert float(lines[0][1]) == pytest.approx(found.strongest("word", 1)[0][2], rel=1e-3)
    assert "'bank' at token 3" in " ".join(said.split())


def test_ablate_gives_every_effect_as_json(folder: Path, bert: Bert) -> None:
    told = json.loads(run("ablate", TEXT, "it had rained", "--json", "--checkpoint", folder))
    found = rank_heads(bert, bert.tokenize(TEXT, "it had rained"))
    assert told["measure"] == "word"
    assert (told["word"], told["position"]) == (found.chosen, 3)
    assert set(told["effects"]) == set(found.measures())
    assert found.next_sentence is not None
    np.testing.assert_allclose(told["effects"]["next_sentence"], found.next_sentence, atol=1e-6)
    assert len(told["strongest"]) == 8


def test_ablate_without_a_mask_ranks_by_what_there_is(folder: Path) -> None:
    assert "1 - cosine" in run("ablate", "the river", "--checkpoint", folder)
    pair = json.loads(run("ablate", "the river", "a bank", "--json", "--checkpoint", folder))
    assert pair["measure"] == "next_sentence"


def test_prune_writes_a_checkpoint_without_the_heads(folder: Path, tmp_path: Path) -> None:
    for number, words in enumerate(
        (["--heads", "0.3", "1.2"], ["0.3", "1.2"], ["--heads", "0.3", "--heads", "1.2"])
    ):
        out = tmp_path / str(number)
        assert "without heads 0.3, 1.2" in run("prune", folder, *words, "--out", out)
        assert zeroed_heads(load(out, device="cpu").module) == {0: [3], 1: [2]}
    told = json.loads(run("prune", folder, "0.1", "--out", tmp_path / "j", "--json"))
    assert told == {"out": str(tmp_path / "j"), "heads": [[0, 1]]}


def test_mistakes_get_a_sentence(folder: Path, tmp_path: Path) -> None:
    checkpoint: list[str | Path] = ["--checkpoint", folder]
    assert "blank" in refusal("ablate", " ", *checkpoint)
    assert "not a piece of this" in refusal("ablate", TEXT, "--word", "zebra", *checkpoint)
    assert "measure is 'size'" in refusal("ablate", TEXT, "--measure", "size", *checkpoint)
    out: list[str | Path] = ["--out", tmp_path / "out"]
    assert "no head was chosen" in refusal("prune", folder, *out)
    assert "'3' is not a head" in refusal("prune", folder, "3", *out)
    assert "no head 7.0" in refusal("prune", folder, "7.0", *out)
    assert "already exists" in refusal("prune", folder, "0.0", "--out", folder)
