"""`bertscope probe`: prints what the core says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bertcore import load
from bertcore.probes import ProbeSettings, bundled_data, run_probes
from bertscope.cli.main import app
from tests.support.tiny import tiny_bert

runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
FEW = ("--sentences", "60", "--no-code")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")


def run(*words: str | Path) -> str:
    result = runner.invoke(app, ["probe", *map(str, words), "--device", "cpu"])
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refusal(*words: str | Path) -> str:
    result = runner.invoke(app, ["probe", *map(str, words)])
    assert result.exit_code == 2, (result.stdout, result.stderr, result.exception)
    assert result.stderr.lstrip().startswith("Error: ")  # a bar stood there
    return result.stderr


def test_json_has_the_numbers_of_the_core(folder: Path) -> None:
    words = (folder, *FEW, "--task", "dep", "--layers", "0", "-1", "--seed", "2", "--json")
    found = json.loads(run(*words))
    settings = ProbeSettings(layers=(0, -1), code=False, seed=2, max_sentences=60)
    report = run_probes(load(folder, device="cpu"), bundled_data("dep"), settings)
    (own,) = found["checkpoints"]
    assert [row["layer"] for row in own["layers"]] == [0, 2]
    for row, result in zip(own["layers"], report.layers, strict=True):
        assert result.selectivity is not None
        assert row["scores"]["accuracy"]["value"] == pytest.approx(result.main.value)
        assert row["selectivity"]["low"] == pytest.approx(result.selectivity.low)
        assert row["code"] is None
    assert own["baselines"]["word"]["accuracy"]["value"] == pytest.approx(
        report.baselines["word"]["accuracy"].value
    )
    assert own["num_words"] == report.num_words
    assert found["data"] == "bundled"


def test_the_table_has_a_row_for_each_layer_of_each_checkpoint(folder: Path) -> None:
    words = (folder, *FEW, "--no-mix", "--against", folder)
    out = run(*words)
    assert out.count("embeddings") == 2
    assert "selectivity" in out
    assert "most common label" in out
    assert "Expected layer" not in out
    assert "60 of 1,378 sentences" in out


def test_code_length_is_in_the_table(folder: Path) -> None:
    out = run(folder, "--sentences", "40", "--no-mix", "--no-twin", "--layers", "1")
    assert "compression" in out
    assert "untrained" not in out


def test_bad_input_is_a_sentence(folder: Path, tmp_path: Path) -> None:
    assert "'tree'" in refusal(folder, "--task", "tree")
    assert "does not exist" in refusal(folder, "--data", tmp_path / "no.conllu")
    assert "layer 7" in refusal(folder, *FEW, "--layers", "7")
    assert "numbers" in refusal(folder, "--layers", "a")
    assert "no entities" in refusal(folder, "--task", "ner")
    assert "mean or first" in refusal(folder, "--pooling", "last")
