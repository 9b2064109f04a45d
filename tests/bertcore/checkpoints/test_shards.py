"""Weights in several files, and folders with links: what is ambiguous is refused in words."""

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import bertcore
from tests.support.kit import opened, state, store
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import make_other
from tests.support.what_opens import opens

NAMES = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_bert().save(tmp_path / "checkpoint")


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
    index = {"metadata": {}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


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


def test_a_shard_that_is_a_link_to_the_other_is_refused(folder: Path) -> None:
    part(folder)
    (folder / NAMES[1]).unlink()
    (folder / NAMES[1]).symlink_to(folder / NAMES[0])
    with pytest.raises(RuntimeError, match="which another weight file contains too"):
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


def test_overlapping_pickles_are_refused(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = ("pytorch_model-1.bin", "pytorch_model-2.bin")
    for name in names:
        torch.save(tensors, folder / name)
    where = {key: names[number % 2] for number, key in enumerate(tensors)}
    index = {"weight_map": where}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    with pytest.raises(RuntimeError, match="which another weight file contains too"):
        bertcore.load(folder, device="cpu", allow_pickle=True)


# --- links ----------------------------------------------------------------------------------------


def test_a_folder_that_links_to_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "up").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="contains no checkpoint"):
        opened(tmp_path)
    tiny_bert().save(tmp_path / "deeper" / "checkpoint")
    assert opened(tmp_path).report is not None


def test_links_that_lead_nowhere_are_no_folders(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ValueError, match="there is no folder"):
        opened(tmp_path / "a")
    (tmp_path / "model.safetensors").symlink_to(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="contains no checkpoint"):
        opened(tmp_path)


def test_a_link_to_a_checkpoint_beside_it_is_the_same_one(tmp_path: Path) -> None:
    tiny_bert().save(tmp_path / "step-1")
    (tmp_path / "latest").symlink_to(tmp_path / "step-1")
    assert opened(tmp_path).report is not None
    tiny_bert().save(tmp_path / "step-2")
    with pytest.raises(ValueError, match="several checkpoints"):
        opened(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a system with pipes")
def test_a_pipe_in_place_of_config_json_is_not_waited_for(folder: Path) -> None:
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")
    with pytest.raises(RuntimeError, match=r"config\.json is not a file"):
        opened(folder)


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
