"""Pickled weights: opened when that is allowed, and their programs never run."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.model.checkpoints.folder import WeightFiles
from bertcore.model.checkpoints.weights import open_weights
from tests.support.kit import pickled, put, state
from tests.support.reopened import opened, refused


@pytest.mark.parametrize("legacy", [False, True])
def test_a_pickle_is_refused_until_it_is_allowed(legacy: bool, folder: Path) -> None:
    file = folder / "pytorch_model.bin"
    file.write_bytes(b"never read beside safetensors")
    bert = opened(folder, allow_pickle=True)
    assert bert.report.format == "safetensors"
    pickled(folder, _use_new_zipfile_serialization=not legacy)
    refused(folder, "a pickle, which can contain code.*allow_pickle=True")
    loaded = opened(folder, allow_pickle=True)
    wanted = bert.trace("the river").hidden_states
    assert torch.equal(loaded.trace("the river").hidden_states, wanted)
    assert loaded.report.format == "pytorch_model.bin"


class Attack:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.target,))


@pytest.mark.parametrize("legacy", [False, True])
def test_a_pickle_with_a_program_is_never_run(legacy: bool, folder: Path) -> None:
    mark = folder / "attacked"
    content = {**state(folder), "x": Attack(mark)}
    pickled(folder, content, _use_new_zipfile_serialization=not legacy)
    refused(folder, "pickle")
    refused(folder, "contains more than weights", allow_pickle=True)
    assert not mark.exists()
    # The attack itself works, so the test means something.
    pickle.loads(pickle.dumps(Attack(mark)))
    assert mark.exists()


@pytest.mark.parametrize("content", [b"", b"garbage" * 100, b"PK\x03\x04" + b"\0" * 100])
def test_a_damaged_pickle(content: bytes, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(content)
    refused(folder, "damaged", allow_pickle=True)


def test_a_pickle_of_old_torch_that_was_cut_off(folder: Path) -> None:
    tensors = {"bert.pooler.dense.weight": torch.ones(2, 2)}
    file = pickled(folder, tensors, _use_new_zipfile_serialization=False)
    content = file.read_bytes()
    for length in range(len(content)):
        file.write_bytes(content[:length])
        with pytest.raises(RuntimeError, match="damaged"), open_weights(WeightFiles((file,), True)):
            pass


@pytest.mark.parametrize("content", [{}, [1, 2], {"a": 1}, {"state_dict": {}}])
def test_a_pickle_without_weights(content: object, folder: Path) -> None:
    pickled(folder, content)
    refused(folder, "contains no weights", allow_pickle=True)


def test_pickled_shards_open_after_consent(folder: Path) -> None:
    wanted = opened(folder).trace("the river").hidden_states
    tensors = state(folder)
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    files = {"pytorch_model-1.bin": names[::2], "pytorch_model-2.bin": names[1::2]}
    for file, chosen in files.items():
        torch.save({name: tensors[name] for name in chosen}, folder / file)
    index = {"weight_map": {name: file for file, chosen in files.items() for name in chosen}}
    put(folder, "pytorch_model.bin.index.json", index)
    refused(folder, "a pickle, which can contain code")
    loaded = opened(folder, allow_pickle=True)
    assert loaded.report.format == "pytorch_model.bin in 2 files"
    assert torch.equal(loaded.trace("the river").hidden_states, wanted)
