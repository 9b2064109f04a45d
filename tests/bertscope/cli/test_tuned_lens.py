"""`bertscope tuned-lens`: fits, prints the gain, writes a file that opens, or says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bertcore
from bertcore.analysis.tuned_lens import FILE_NAME, read_tuned_lens
from bertscope.cli.main import build_app
from tests.support.tiny import WORDS, tiny_bert

runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb"})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    sentences = [f"{word} the water and the house was old." for word in WORDS * 5]
    path.write_text("\n".join(sentences) + "\n")
    return path


def run(*words: object) -> tuple[int, str]:
    result = runner.invoke(build_app(), ["tuned-lens", *map(str, words)])
    return result.exit_code, result.output


def test_it_is_written_beside_the_checkpoint(tmp_path: Path, data: Path) -> None:
    folder = tmp_path / "tiny"
    tiny_bert().save(folder)
    status, output = run("--data", data, "--checkpoint", folder, "--steps", 3, "--device", "cpu")
    assert status == 0, output
    assert "embeddings" in output
    assert "bits" in output
    model = bertcore.load(folder, device="cpu")
    lens = read_tuned_lens(folder / FILE_NAME, model)
    assert lens.num_steps == 3
    assert lens.text == str(data)
    out = tmp_path / "else" / "lens.safetensors"
    words = ["--data", data, "--checkpoint", folder, "--steps", 3, "--out", out, "--json"]
    status, output = run(*words)
    assert status == 0, output
    told = json.loads(output[output.index("{") :])
    assert told["file"] == str(out)
    assert told["held_out"] == lens.gain.to_json()


def test_a_target_that_cannot_be_is_told_before_the_checkpoint_is_opened(
    tmp_path: Path, data: Path
) -> None:
    for out, problem in ((tmp_path, "which is a folder"), (data / "lens", "is a file")):
        status, output = run("--data", data, "--checkpoint", "none", "--out", out)
        assert status == 2
        assert problem in output


def test_what_cannot_be_fitted_is_told(tmp_path: Path, data: Path) -> None:
    folder = tmp_path / "headless"
    tiny_bert(heads=frozenset({"pooler"})).save(folder)
    status, output = run("--data", data, "--checkpoint", folder)
    assert status != 0
    assert "masked-word" in output
    data.write_text("one sentence.\n")
    tiny_bert().save(tmp_path / "tiny")
    status, output = run("--data", data, "--checkpoint", tmp_path / "tiny")
    assert status != 0
    assert "longer text" in output
