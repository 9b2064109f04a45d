"""Runs of other objectives that were killed: they resume to the last bit."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.support.command_line import invoke, make_texts, metrics, recipe, succeed, words_of
from tests.support.tiny_runs import killed_at

OPTIONS = {
    "rtd": [*recipe(embedding_sharing="gdes", dropout=0.1)],
    "plm": [*recipe(dropout=0.1)],
    "denoise-t5": [*recipe(dropout=0.1)],
    "denoise-bart": [],
    "mass": [],
}


def weights(run: Path) -> dict[str, torch.Tensor]:
    """All tensors of the last checkpoint, of each of its networks."""
    folder = run / "checkpoints" / "step-8"
    return {
        f"{file.relative_to(folder)}: {name}": tensor
        for file in sorted(folder.rglob("*.safetensors"))
        for name, tensor in load_file(file).items()
    }


@pytest.mark.parametrize("objective", list(OPTIONS))
def test_a_killed_run_repeats_what_came_after_its_checkpoint(
    tmp_path: Path, objective: str
) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    make_texts(texts)
    more = ["--objective", objective, "--steps", "8", *recipe(evaluate_every=2)]
    more += OPTIONS[objective]
    succeed(*words_of(texts, tmp_path / "whole", *more))
    run = tmp_path / "run"
    with killed_at(5):  # two steps after the checkpoint of step 3
        invoke(*words_of(texts, run, *more))
    assert metrics(run)[-1]["step"] == 4
    assert [folder.name for folder in (run / "checkpoints").iterdir()] == ["step-3"]
    succeed("pretrain", "--out", run, "--resume")
    assert metrics(run) == metrics(tmp_path / "whole")
    ours, theirs = weights(run), weights(tmp_path / "whole")
    assert ours.keys() == theirs.keys()
    assert any(name.startswith("generator") for name in ours) == (objective == "rtd")
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in ours.items())
