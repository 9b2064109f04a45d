"""`bertscope inspect`: the load report on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from bertcore.analysis.health.checkpoint_doctor import PROBE_TEXTS
from tests.support.command_line import app
from tests.support.tiny import tiny_bert


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_bert(heads=frozenset({"mlm"})).save(tmp_path / "checkpoint")


runner = CliRunner()


def test_the_table_names_shape_heads_and_what_is_missing(folder: Path) -> None:
    result = runner.invoke(app, ["inspect", "--checkpoint", str(folder)])
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    for part in ("2 layers, 32 wide, 4 heads", "149 pieces", "bert.pooler.dense.weight [32, 32]"):
        assert part in words


def test_json_holds_the_whole_report(folder: Path) -> None:
    result = runner.invoke(app, ["inspect", "--checkpoint", str(folder), "--json"])
    assert result.exit_code == 0, result.output
    values = json.loads(result.stdout)
    assert values["heads"] == ["mlm"]
    assert values["matched"]["cls.predictions.bias"] == [149]
    assert values["config"]["hidden_size"] == 32
    assert len(values["fingerprint"]) == 64


def test_words_of_your_own_texts_are_guessed(tmp_path: Path) -> None:
    file = tmp_path / "own.txt"
    file.write_text("\n".join(PROBE_TEXTS))
    found = runner.invoke(
        app, ["inspect", "--checkpoint", "default", "--texts", str(file), "--json"]
    )
    assert found.exit_code == 0, found.output
    assert "of 8 given sentences the right piece is" in " ".join(
        json.loads(found.stdout)["doctor"]["sentences"]
    )
    file.write_text("One.\nTwo.\n")
    refused = runner.invoke(app, ["inspect", "--texts", str(file)])
    assert refused.exit_code == 2
    assert "2 sentences given to guess words of; expected at least 8" in refused.stderr


def test_names_from_strangers_are_no_markup(folder: Path) -> None:
    file = folder / "model.safetensors"
    save_file({**load_file(file), "[red]x[/nonsense]": torch.ones(2)}, file)
    result = runner.invoke(app, ["inspect", "--checkpoint", str(folder)])
    assert result.exit_code == 0, result.output
    assert "[red]x[/nonsense] [2]" in result.stdout


def test_wrong_input_is_one_sentence_and_exit_code_2(folder: Path) -> None:
    result = runner.invoke(app, ["inspect", "--checkpoint", str(folder / "nowhere")])
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: there is no folder")
    assert result.stderr.count("\n") == 1


def test_a_pickle_needs_the_flag(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(tensors, folder / "pytorch_model.bin")
    refused = runner.invoke(app, ["inspect", "--checkpoint", str(folder)])
    assert refused.exit_code == 2
    assert "--allow-pickle" in refused.stderr
    allowed = runner.invoke(app, ["inspect", "--checkpoint", str(folder), "--allow-pickle"])
    assert allowed.exit_code == 0
    assert "pytorch_model.bin" in allowed.stdout
