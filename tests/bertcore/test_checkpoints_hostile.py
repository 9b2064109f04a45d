"""Wrong, damaged and malicious checkpoints: each gets a sentence, none takes memory or runs code.

Run: pytest tests/bertcore/test_checkpoints_hostile.py
"""

from __future__ import annotations

import json
import pickle
import resource
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

import bertcore
from bertcore import Bert
from tests.bertcore.tiny import tiny_bert

REFUSALS = (ValueError, RuntimeError, FileNotFoundError)
"""What the command line and the app turn into a sentence."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("saved") / "checkpoint")


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    target = tmp_path / "checkpoint"
    target.mkdir()
    for file in saved.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    return target


def opened(source: Path | str, **options: Any) -> Bert:
    return bertcore.load(source, device="cpu", **options)


def refused(source: Path | str, match: str, **options: Any) -> str:
    """Open, expect a refusal that matches, and return its text; it takes no memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(REFUSALS, match=match) as caught:
        opened(source, **options)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kB on Linux
    text = str(caught.value)
    assert len(text) < 3000
    return text


def change_config(folder: Path, **changes: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


# --- the place -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    ["/no/such/folder", "./no", "../no", "~/no/such", "a/b/c", "no such", "C:\\models\\bert"],
)
def test_a_folder_that_is_not_there(source: str) -> None:
    refused(source, "there is no folder")


@pytest.mark.parametrize("source", ["", "  ", "a\0b", "x" * 5000, "/" + "x" * 5000])
def test_what_cannot_be_a_name(source: str) -> None:
    refused(source, "expected 'default'|cannot be a folder")


def test_a_file_instead_of_its_folder(folder: Path) -> None:
    text = refused(folder / "model.safetensors", "is a file. Open the folder")
    assert str(folder) in text


def test_an_empty_folder(tmp_path: Path) -> None:
    refused(tmp_path, "holds no checkpoint.*model.safetensors, config.json and vocab.txt")


def test_config_without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    refused(folder, "has a config.json but no weights")


def test_weights_without_config(folder: Path) -> None:
    (folder / "config.json").unlink()
    refused(folder, "has weights but no config.json")


def test_a_missing_tokenizer_is_named(folder: Path) -> None:
    for name in ("vocab.txt", "tokenizer.json"):
        (folder / name).unlink()
    refused(folder, "neither vocab.txt nor tokenizer.json")


def test_several_checkpoints_in_one_folder_are_listed(folder: Path) -> None:
    for name in ("best", "last"):
        (folder / name).mkdir()
        (folder / name / "model.safetensors").write_bytes(b"")
    (folder / "model.safetensors").unlink()
    refused(folder, "several checkpoints: best, last. Choose one")


def test_a_training_run_names_its_newest_checkpoint(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    (run / "config.json").write_text("{}")
    folder.rename(run / "checkpoints" / "step-100")
    refused(run, "is a training run.*step-100")


@pytest.mark.parametrize("name", ["tf_model.h5", "flax_model.msgpack", "bert_model.ckpt.index"])
def test_tensorflow_weights(name: str, folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / name)
    refused(folder, f"TensorFlow or Flax .{name}")


def test_weights_under_another_name_are_mentioned(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "adapter_model.safetensors")
    refused(folder, "adapter_model.safetensors, which BERT does not use")


# --- safetensors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 100, 5000, 50_000, -1])
def test_a_file_that_was_cut_off(length: int, folder: Path) -> None:
    file = folder / "model.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[:length])
    refused(folder, "model.safetensors is damaged or cut off")


def safetensors_header(header: dict[str, Any], data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


TEN_GIGABYTES = 10 * 2**30
HEADERS = {
    "claims 10 GB": safetensors_header(
        {"a": {"dtype": "F32", "shape": [TEN_GIGABYTES // 4], "data_offsets": [0, TEN_GIGABYTES]}}
    ),
    "header of 10 GB": struct.pack("<Q", TEN_GIGABYTES) + b"{}",
    "header of 2^63": struct.pack("<Q", 2**63) + b"{}",
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
    "negative shape": safetensors_header(
        {"a": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}}, b"\0" * 8
    ),
    "a web page": b"<!DOCTYPE html><html>404</html>" * 10,
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_false_header(name: str, folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(HEADERS[name])
    refused(folder, "damaged or cut off, or is no safetensors file")


def test_a_git_lfs_pointer(folder: Path) -> None:
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid x")
    refused(folder, "Git LFS pointer.*git lfs pull")


def test_a_file_without_tensors(folder: Path) -> None:
    save_file({}, folder / "model.safetensors")
    refused(folder, "holds no BERT encoder.*It has 0 tensors")


def test_the_weights_of_another_model(folder: Path) -> None:
    save_file({"transformer.wte.weight": torch.ones(5, 5)}, folder / "model.safetensors")
    refused(folder, "holds no BERT encoder.*transformer.wte.weight")


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ({"weight_map": {"a": "model-1.safetensors"}}, "lacks model-1.safetensors"),
        ({"weight_map": {"a": "../../etc/passwd"}}, "lies outside the checkpoint folder"),
        ({"weight_map": {"a": "/etc/passwd"}}, "lies outside the checkpoint folder"),
        ({"weight_map": {str(i): f"{i}.safetensors" for i in range(99)}}, "and 89 more"),
        ({"weight_map": {}}, "has no weight_map"),
        ({"weight_map": ["a"]}, "has no weight_map"),
        ({}, "has no weight_map"),
        ([], "expected a JSON object"),
    ],
)
def test_wrong_indices(index: object, message: str, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(folder, message)


def test_mis_shaped_and_missing_tensors_are_all_named_in_one_error(folder: Path) -> None:
    file = folder / "model.safetensors"
    tensors = load_file(file)
    tensors["bert.embeddings.LayerNorm.bias"] = torch.ones(31)
    tensors["bert.embeddings.word_embeddings.weight"] = torch.ones(149, 32, dtype=torch.int8)
    del tensors["bert.encoder.layer.1.output.dense.bias"]
    save_file(tensors, file)
    text = refused(folder, "1 tensors are missing")
    assert "bert.encoder.layer.1.output.dense.bias [32]" in text
    assert "bert.embeddings.LayerNorm.bias is [31], expected [32]" in text
    assert "word_embeddings.weight holds I8, expected F32" in text


def test_more_than_ten_wrong_tensors_are_counted(folder: Path) -> None:
    change_config(folder, intermediate_size=65, hidden_size=16)
    text = refused(folder, r"and \d+ more")
    assert text.count("expected [") == 10


# --- config.json ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe{}", "not UTF-8"),
        (b"{", r"not valid JSON \(line 1"),
        (b"", "not valid JSON"),
        (b"[]", "holds a list; expected a JSON object"),
        (b"null", "holds a NoneType"),
        (b"[" * 100_000, "nested too deeply|not valid JSON"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "not valid JSON"),
        (b"{}", "lacks vocab_size"),
        (b'{"model_type": "gpt2"}', "model_type 'gpt2'"),
    ],
)
def test_damaged_config(content: bytes, message: str, folder: Path) -> None:
    (folder / "config.json").write_bytes(content)
    assert "config.json" in refused(folder, message)


def test_a_config_with_a_byte_order_mark_is_refused_as_in_transformers(folder: Path) -> None:
    file = folder / "config.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    refused(folder, "BOM")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_hidden_layers": 10**9}, "asks for 1000000000 layers but the weights have 2"),
        ({"hidden_size": 160_000}, r"expected \[149, 160000\]"),
        ({"vocab_size": 10**9}, r"expected \[1000000000, 32\]"),
        ({"hidden_size": 4 * 10**12}, "impossible size"),
        ({"max_position_embeddings": 10**30}, "impossible size"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0"),
        ({"num_hidden_layers": "two"}, "num_hidden_layers is 'two'"),
        ({"num_attention_heads": 7}, "not divisible"),
        ({"layer_norm_eps": "nan"}, "layer_norm_eps is 'nan'"),
        ({"layer_norm_eps": float("inf")}, "layer_norm_eps is inf"),
        ({"hidden_act": {"a": 1}}, "hidden_act is"),
        ({"vocab_size": 100}, r"expected \[100, 32\]"),
    ],
)
def test_absurd_config_values(changes: dict[str, Any], message: str, folder: Path) -> None:
    change_config(folder, **changes)
    refused(folder, message)


# --- pickles -------------------------------------------------------------------------------------


def pickled(folder: Path, content: object) -> Path:
    (folder / "model.safetensors").unlink()
    torch.save(content, folder / "pytorch_model.bin")
    return folder


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def test_a_pickle_is_refused_until_it_is_allowed(folder: Path) -> None:
    wanted = opened(folder).trace("the river").hidden_states
    pickled(folder, weights_of(folder))
    refused(folder, "a pickle, which can carry programs.*allow_pickle=True")
    loaded = opened(folder, allow_pickle=True)
    assert torch.equal(loaded.trace("the river").hidden_states, wanted)
    assert loaded.report is not None
    assert loaded.report.format == "pytorch_model.bin"


@pytest.mark.parametrize("key", ["state_dict", "model", "model_state_dict"])
def test_a_nested_pickle(key: str, folder: Path) -> None:
    pickled(folder, {key: weights_of(folder), "epoch": 3})
    assert opened(folder, allow_pickle=True).config.hidden_size == 32


def test_safetensors_are_preferred_to_a_pickle(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"never read")
    loaded = opened(folder, allow_pickle=True)
    assert loaded.report is not None
    assert loaded.report.format == "safetensors"


class Attack:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.target,))


@pytest.mark.parametrize("legacy", [False, True])
def test_a_pickle_with_a_program_is_never_run(legacy: bool, folder: Path) -> None:
    mark = folder / "attacked"
    content = {**weights_of(folder), "x": Attack(mark)}
    (folder / "model.safetensors").unlink()
    torch.save(content, folder / "pytorch_model.bin", _use_new_zipfile_serialization=not legacy)
    refused(folder, "pickle")
    refused(folder, "holds more than weights", allow_pickle=True)
    assert not mark.exists()
    # The attack itself works, so the test means something.
    pickle.loads(pickle.dumps(Attack(mark)))
    assert mark.exists()


def test_a_pickle_of_old_torch_opens(folder: Path) -> None:
    tensors = weights_of(folder)
    (folder / "model.safetensors").unlink()
    torch.save(tensors, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    assert opened(folder, allow_pickle=True).config.hidden_size == 32


@pytest.mark.parametrize("content", [b"", b"garbage" * 100, b"PK\x03\x04" + b"\0" * 100])
def test_a_damaged_pickle(content: bytes, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(content)
    refused(folder, "damaged", allow_pickle=True)


@pytest.mark.parametrize("content", [{}, [1, 2], {"a": 1}, {"state_dict": {}}])
def test_a_pickle_without_weights(content: object, folder: Path) -> None:
    refused(pickled(folder, content), "holds no weights", allow_pickle=True)


# --- the tokenizer -------------------------------------------------------------------------------


def test_a_vocabulary_that_is_larger_than_the_table(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with (folder / "vocab.txt").open("a") as file:
        file.write("surplus\n")
    refused(folder, "150 pieces but the network has 149 token embeddings")


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe", b"", b"{", b"[]", b"null", b'{"model": []}', b'{"model": {"vocab": 3}}'],
)
def test_damaged_tokenizer_files(content: bytes, folder: Path) -> None:
    (folder / "vocab.txt").unlink()
    (folder / "tokenizer.json").write_bytes(content)
    refused(folder, ".")


# --- anything ------------------------------------------------------------------------------------


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


# --- shards and the doctor's facts ----------------------------------------------------------------


def test_pickled_shards_open_after_consent(folder: Path) -> None:
    wanted = opened(folder).trace("the river").hidden_states
    tensors = weights_of(folder)
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    files = {"pytorch_model-1.bin": names[::2], "pytorch_model-2.bin": names[1::2]}
    for file, chosen in files.items():
        torch.save({name: tensors[name] for name in chosen}, folder / file)
    index = {"weight_map": {name: file for file, chosen in files.items() for name in chosen}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    refused(folder, "a pickle, which can carry programs")
    loaded = opened(folder, allow_pickle=True)
    assert loaded.report is not None
    assert loaded.report.format == "pytorch_model.bin in 2 files"
    assert torch.equal(loaded.trace("the river").hidden_states, wanted)


def test_a_checkpoint_three_folders_deep_is_found(folder: Path, tmp_path: Path) -> None:
    deep = tmp_path / "top" / "a" / "b" / "c"
    deep.parent.mkdir(parents=True)
    folder.rename(deep)
    assert opened(tmp_path / "top").report.folder == deep  # type: ignore[union-attr]
    (tmp_path / "deeper").mkdir()
    (tmp_path / "top").rename(tmp_path / "deeper" / "top")
    refused(tmp_path / "deeper", "holds no checkpoint")


def test_labels_are_told_and_held_against_the_head(folder: Path) -> None:
    file = folder / "model.safetensors"
    tensors = load_file(file)
    save_file({**tensors, "classifier.weight": torch.ones(3, 32)}, file)
    names = {"0": "bad", "2": "good", "1": "so-so"}
    change_config(folder, architectures=["BertForSequenceClassification"], id2label=names)
    report = opened(folder).report
    assert report is not None
    text = " ".join(report.sentences())
    assert "BertForSequenceClassification, which predicts a class or a number" in text
    assert "Labels: bad, so-so, good." in text
    assert report.task.num_outputs == 3
    change_config(folder, id2label={"0": "bad"})
    text = " ".join(opened(folder).report.sentences())  # type: ignore[union-attr]
    assert "config.json names 1 labels but the head has 3 outputs" in text


@pytest.mark.parametrize(
    "changes",
    [
        {"architectures": "x", "id2label": [1]},
        {"architectures": [3], "id2label": {"a": "b"}},
        {"architectures": [], "id2label": {"1": {"x": 1}, "0": None}},
        {"architectures": {"a": 1}, "id2label": None},
    ],
)
def test_strange_labels_do_no_harm(changes: dict[str, Any], folder: Path) -> None:
    change_config(folder, **changes)
    report = opened(folder).report
    assert report is not None
    json.dumps(report.to_dict())


def test_the_tied_decoder_is_told(folder: Path) -> None:
    report = opened(folder).report
    assert report is not None
    assert "off the token table itself (tied)" in " ".join(report.sentences())
