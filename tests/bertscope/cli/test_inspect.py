"""`bertscope inspect`: the load report on the command line."""

import json
from pathlib import Path

import pytest
import torch

from bertcore.analysis.health.checkpoint_doctor import PROBE_TEXTS
from tests.support.command_line import refusal, succeed
from tests.support.kit import pickled, state, store
from tests.support.tiny import tiny_bert


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_bert(heads=frozenset({"mlm"})).save(tmp_path / "checkpoint")


def test_the_table_names_shape_heads_and_what_is_missing(folder: Path) -> None:
    words = " ".join(succeed("inspect", "--checkpoint", folder).split())
    for part in ("2 layers, 32 wide, 4 heads", "149 pieces", "bert.pooler.dense.weight [32, 32]"):
        assert part in words


def test_json_holds_the_whole_report(folder: Path) -> None:
    values = json.loads(succeed("inspect", "--checkpoint", folder, "--json"))
    assert values["heads"] == ["mlm"]
    assert values["matched"]["cls.predictions.bias"] == [149]
    assert values["config"]["hidden_size"] == 32
    assert len(values["fingerprint"]) == 64


def test_words_of_your_own_texts_are_guessed(tmp_path: Path) -> None:
    file = tmp_path / "own.txt"
    file.write_text("\n".join(PROBE_TEXTS))
    found = json.loads(succeed("inspect", "--texts", file, "--json"))
    assert "of 8 given sentences the right piece is" in " ".join(found["doctor"]["sentences"])
    file.write_text("One.\nTwo.\n")
    assert "2 sentences given to guess words of" in refusal("inspect", "--texts", file)


def test_names_from_strangers_are_no_markup(folder: Path) -> None:
    store(folder, {**state(folder), "[red]x[/nonsense]": torch.ones(2)})
    assert "[red]x[/nonsense] [2]" in succeed("inspect", "--checkpoint", folder)


def test_a_pickle_needs_the_flag(folder: Path) -> None:
    pickled(folder)
    line = ("inspect", "--checkpoint", folder)
    assert "--allow-pickle" in refusal(*line)
    assert "pytorch_model.bin" in succeed(*line, "--allow-pickle")
    assert "there is no folder" in refusal("inspect", "--checkpoint", folder / "nowhere")
