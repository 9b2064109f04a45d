"""Wrong, damaged and malicious checkpoints: one sentence each, no memory taken, no code run."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.cases import cases
from tests.support.kit import put, state, store
from tests.support.reopened import REFUSALS, opened, refused
from tests.support.what_opens import opens


@pytest.mark.parametrize(
    "source",
    ["/no/such/folder", "../no", "~/no/such", "a/b/c", "no such", "C:\\models\\bert"],
)
def test_a_folder_that_is_not_there(source: str) -> None:
    refused(source, "there is no folder")


@pytest.mark.parametrize("source", ["", "  ", "a\0b", "x" * 5000, "/" + "x" * 5000])
def test_what_cannot_be_a_name(source: str) -> None:
    refused(source, "expected 'default'|cannot be a folder")


@pytest.mark.parametrize(("lost", "message"), cases("missing_files"))
def test_a_missing_file_is_named(lost: list[str] | None, message: str, folder: Path) -> None:
    for file in folder.iterdir():
        if lost is None or file.name in lost:
            file.unlink()
    refused(folder, message)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [({}, "It has 0 tensors"), ({"transformer.wte.weight": torch.ones(5, 5)}, "transformer.wte")],
)
def test_weights_without_an_encoder(
    tensors: dict[str, torch.Tensor], message: str, folder: Path
) -> None:
    store(folder, tensors)
    refused(folder, f"contains no BERT encoder.*{message}")


@opens("several checkpoints in a folder")
def test_several_checkpoints_in_one_folder_are_listed(folder: Path) -> None:
    for name in ("best", "last"):
        (folder / name).mkdir()
        (folder / name / "model.safetensors").write_bytes(b"")
    (folder / "model.safetensors").unlink()
    refused(folder, "several checkpoints: best, last. Choose one")
    file = folder / "best" / "model.safetensors"
    assert str(file.parent) in refused(file, "is a file. Open the folder")


@pytest.mark.parametrize("length", [0, 7, 8, 100, 50_000, -1])
def test_a_file_that_was_cut_off(length: int, folder: Path) -> None:
    file = folder / "model.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[:length])
    refused(folder, "model.safetensors is damaged, truncated")


def safetensors_header(header: dict[str, Any], data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


TEN_GIGABYTES = 10 * 2**30
HEADERS = {
    "claims 10 GB": safetensors_header(
        {"a": {"dtype": "F32", "shape": [TEN_GIGABYTES // 4], "data_offsets": [0, TEN_GIGABYTES]}}
    ),
    "header of 10 GB": struct.pack("<Q", TEN_GIGABYTES) + b"{}",
    "no JSON": struct.pack("<Q", 5) + b"hello",
    "overlapping": safetensors_header(
        {
            "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
            "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
        },
        b"\0" * 12,
    ),
    "shape is not the size": safetensors_header(
        {"a": {"dtype": "F32", "shape": [1000], "data_offsets": [0, 8]}}, b"\0" * 8
    ),
    "a web page": b"<!DOCTYPE html><html>404</html>" * 10,
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_false_header(name: str, folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(HEADERS[name])
    page = name == "a web page"
    refused(folder, "is a web page" if page else "damaged, truncated or not a safetensors file")


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ({"weight_map": {"a": "model-1.safetensors"}}, "lacks model-1.safetensors"),
        ({"weight_map": {"a": "../../etc/passwd"}}, "is outside the checkpoint folder"),
        ({"weight_map": {str(i): f"{i}.safetensors" for i in range(99)}}, "and 89 more"),
        ({"weight_map": {}}, "has no weight_map"),
        ({"weight_map": ["a"]}, "has no weight_map"),
        ([], "expected a JSON object"),
    ],
)
def test_wrong_indices(index: object, message: str, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    put(folder, "model.safetensors.index.json", index)
    refused(folder, message)


def test_mis_shaped_and_missing_tensors_are_all_named_in_one_error(folder: Path) -> None:
    tensors = state(folder)
    tensors["bert.embeddings.LayerNorm.bias"] = torch.ones(31)
    tensors["bert.embeddings.word_embeddings.weight"] = torch.ones(149, 32, dtype=torch.int8)
    del tensors["bert.encoder.layer.1.output.dense.bias"]
    store(folder, tensors)
    text = refused(folder, "1 tensors are missing")
    assert "bert.encoder.layer.1.output.dense.bias [32]" in text
    assert "bert.embeddings.LayerNorm.bias is [31], expected [32]" in text
    assert "word_embeddings.weight is I8, expected F32" in text


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_flipped_bytes_open_or_are_refused_in_words(data: st.DataObject, folder: Path) -> None:
    name = data.draw(
        st.sampled_from(["config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"])
    )
    file = folder / name
    original = file.read_bytes()
    limit = min(len(original), 6000)  # the head of the weights file: its header
    content = bytearray(original)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, limit - 1))] = data.draw(st.integers(0, 255))
    file.write_bytes(content)
    if name == "vocab.txt":
        (folder / "tokenizer.json").rename(folder / "aside")
    try:
        opened(folder)
    except REFUSALS as error:
        message = str(error)
    else:
        message = "opened"
    finally:
        file.write_bytes(original)
        if name == "vocab.txt":
            (folder / "aside").rename(folder / "tokenizer.json")
    assert message.strip()


@opens("a checkpoint within folders")
def test_a_checkpoint_three_folders_deep_is_found(folder: Path, tmp_path: Path) -> None:
    deep = tmp_path / "top" / "a" / "b" / "c"
    deep.parent.mkdir(parents=True)
    folder.rename(deep)
    assert opened(tmp_path / "top").report.folder == deep  # type: ignore[union-attr]
    (tmp_path / "deeper").mkdir()
    (tmp_path / "top").rename(tmp_path / "deeper" / "top")
    refused(tmp_path / "deeper", "contains no checkpoint")
