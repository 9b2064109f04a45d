"""Weights in several files, and folders with links: what is ambiguous is refused in words."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from tests.support.kit import opened, put, state, store
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import make_other
from tests.support.what_opens import opens

NAMES = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def part(folder: Path, *, doubled: str | None = None, names: tuple[str, str] = NAMES) -> None:
    """Part the weights of a folder in two files; `doubled` is put into both."""
    tensors = state(folder)
    (folder / "model.safetensors").unlink()
    keys = sorted(tensors)
    halves = [keys[: len(keys) // 2], keys[len(keys) // 2 :]]
    where = {key: name for name, half in zip(names, halves, strict=True) for key in half}
    for name, half in zip(names, halves, strict=True):
        chosen = {key: tensors[key] for key in half}
        if doubled is not None:
            chosen[doubled] = tensors[doubled] + len(chosen)
        save_file(chosen, folder / name)
    put(folder, "model.safetensors.index.json", {"metadata": {}, "weight_map": where})


@opens("weights in several files")
@pytest.mark.parametrize("kind", ["bert", "other"])
def test_two_files_are_as_one(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    if kind == "bert":
        tiny_bert().save(folder)
    else:
        make_other("DebertaV2ForMaskedLM", folder)
    whole = opened(folder)
    part(folder)
    parted = opened(folder)
    assert torch.equal(parted.trace("a dog").hidden_states, whole.trace("a dog").hidden_states)
    assert parted.report.fingerprint == whole.report.fingerprint
    assert parted.report.format == "safetensors in 2 files"


def test_a_tensor_in_two_files_is_refused(folder: Path) -> None:
    part(folder, doubled="bert.pooler.dense.bias")
    with pytest.raises(RuntimeError, match=r"contains bert\.pooler\.dense\.bias, which another"):
        opened(folder)


def test_weights_that_are_a_link_out_of_the_folder_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    file = folder / "model.safetensors"
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RuntimeError, match="link to a file outside its folder"):
        opened(folder)
    file.unlink()
    (tmp_path / "elsewhere").rename(folder / "beside")
    file.symlink_to("beside")
    opened(folder)


# --- links ----------------------------------------------------------------------------------------


def test_links_of_folders(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ValueError, match="there is no folder"):
        opened(tmp_path / "a")
    (tmp_path / "model.safetensors").symlink_to(tmp_path / "model.safetensors")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "up").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="contains no checkpoint"):
        opened(tmp_path)
    tiny_bert().save(tmp_path / "deeper" / "step-1")
    (tmp_path / "latest").symlink_to(tmp_path / "deeper" / "step-1")
    assert opened(tmp_path).report is not None
    tiny_bert().save(tmp_path / "step-2")
    with pytest.raises(ValueError, match="several checkpoints"):
        opened(tmp_path)


# --- numbers --------------------------------------------------------------------------------------


def test_a_task_head_that_was_never_trained_is_told(folder: Path) -> None:
    tensors = state(folder)
    head = {"classifier.weight": torch.randn(3, 32) * 0.02, "classifier.bias": torch.zeros(3)}
    store(folder, {**tensors, **head})
    report = opened(folder).report
    assert report.sentences("numbers") == [
        "Warning: exactly 0, as in a head that was added and never trained: classifier.bias."
    ]
    store(folder, {**tensors, **head, "classifier.bias": torch.tensor([0.0, 1e-3, 0.0])})
    report = opened(folder).report
    assert not report.sentences("numbers")
