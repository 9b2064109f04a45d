"""Folders and zip files as people bring them: each opens, or a sentence names what to do today."""

import argparse
import gzip
import io
import pathlib
import re
import sys
import types
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn.utils import prune as prune_module

import bertcore
from bertcore.model.checkpoints.archive import unpack_checkpoint
from bertcore.model.checkpoints.folder import OnlyPickleError
from bertcore.model.interventions import Changes
from bertcore.training.tasks import open_task_model
from tests.support import command_line
from tests.support.adapters import make_adapter
from tests.support.cases import cases
from tests.support.exhaustive import spread
from tests.support.kit import (
    assert_same_states,
    edit,
    mini,
    opened,
    pickled,
    put,
    sentences,
    state,
    store,
)
from tests.support.tiny import tiny_bert
from tests.support.what_opens import opens

TEXT = "the food was cold"
QUERY = "bert.encoder.layer.0.attention.self.query"
WEIGHTS = "model.safetensors"
POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 123\n"
)
PAGE = b"\n<!DOCTYPE html>\n<html><body>model.safetensors</body></html>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mini(tmp_path / "bert")
    return tmp_path / "bert"


def refusal(source: Path | str, **options: Any) -> str:
    """Return the sentence with which a source is refused."""
    with pytest.raises((ValueError, RuntimeError)) as error:
        bertcore.load(source, device="cpu", **options)
    return str(error.value)


def zipped(folder: Path, prefix: str = "", separator: str = "/") -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                name = f"{prefix}{file.relative_to(folder).as_posix()}"
                target.writestr(name.replace("/", separator), file.read_bytes())
    out.seek(0)
    return out


# ---- what is there instead of weights ----

INSTEAD = dict(cases("instead_of_weights"))
"""Files in place of the weights, and what the sentence says."""


@opens("files in place of the weights")
@opens("other weights beside safetensors")
@pytest.mark.parametrize("name", INSTEAD)
def test_what_is_there_instead_of_weights(name: str, folder: Path, tmp_path: Path) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"x")
    assert opened(folder).config.hidden_size == 32  # they do no harm beside safetensors
    (folder / WEIGHTS).rename(folder / name)
    sentence = refusal(folder)
    assert f"({name})" in sentence
    assert re.search(INSTEAD[name], sentence)
    with pytest.raises(ValueError, match=INSTEAD[name]) as error:
        unpack_checkpoint(zipped(folder, "bert/"), tmp_path / "new")
    assert f"(bert/{name})" in str(error.value)
    assert str(tmp_path) not in str(error.value)


@opens("a pointer of Git LFS, or a web page")
@pytest.mark.parametrize(
    ("name", "content"),
    spread([WEIGHTS, "config.json", "vocab.txt", "tokenizer.json"], [POINTER, PAGE]),
)
def test_a_stand_in_for_a_file(name: str, content: bytes, folder: Path) -> None:
    (folder / name).write_bytes(content)
    sentence = refusal(folder)
    assert name in sentence
    assert ("git lfs pull" if content == POINTER else "a web page") in sentence


# ---- zip files ----


@opens("a zip file made on a Mac")
def test_what_a_mac_adds_is_left_out(folder: Path, tmp_path: Path) -> None:
    archive = zipped(folder, "bert/")
    with zipfile.ZipFile(archive, "a") as target:
        for name in ("config.json", WEIGHTS, "tf_model.h5"):
            target.writestr(f"__MACOSX/bert/._{name}", b"\0\5\x16\7")
    archive.seek(0)
    place = unpack_checkpoint(archive, tmp_path / "new")
    assert opened(place).config.hidden_size == 32


@opens("several models in a zip file")
def test_several_models_in_a_zip(folder: Path, tmp_path: Path) -> None:
    mini(folder.parent / "both" / "one")
    mini(folder.parent / "both" / "two")
    with pytest.raises(ValueError, match=r"several checkpoints: one, two\. Zip only one") as error:
        unpack_checkpoint(zipped(folder.parent / "both"), tmp_path / "new")
    assert str(tmp_path) not in str(error.value)


@opens("another archive")
@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("gzip", gzip.compress(b"bert", mtime=0)),
        ("tar", bytes(257) + b"ustar"),
        ("RAR", b"Rar!\x1a\x07\x01\x00"),
        ("7-Zip", b"7z\xbc\xaf\x27\x1c"),
    ],
)
def test_another_archive_is_named(kind: str, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"a {kind}.*archive, and only zip files.*Zip the folder"):
        unpack_checkpoint(io.BytesIO(content), tmp_path / "new")
    file = tmp_path / "model.tar.gz"
    file.write_bytes(content)
    assert f"a {kind}" in refusal(file)


def test_a_file_of_pytorch_is_a_zip_without_a_checkpoint(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "pytorch_model.zip"
    torch.save(state(folder), file)
    with pytest.raises(ValueError, match=r"one file of PyTorch.*as pytorch_model\.bin"):
        unpack_checkpoint(file, tmp_path / "new")


@opens("the path of a zip file")
def test_a_zip_opens_by_its_path(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "my model.zip"
    file.write_bytes(zipped(folder, "a/b/c/d/bert/").getvalue())
    wanted = opened(folder)
    model = bertcore.load(file, device="cpu")
    assert torch.equal(model.trace(TEXT).hidden_states, wanted.trace(TEXT).hidden_states)
    assert model.report.source == str(file)
    assert "Report" in command_line.succeed("inspect", "--checkpoint", file)
    assert open_task_model(str(file), device="cpu").task.name == "classify"
    table = tmp_path / "table.csv"
    table.write_text("text,label\n" + "the food was cold,LABEL_0\nfriendly waiter,LABEL_1\n" * 4)
    scored = command_line.succeed(
        "evaluate", "--task", "classify", "--checkpoint", file, "--data", table
    )
    assert "accuracy" in scored.lower()
    mini(folder, hidden_size=48)  # another one under the same name
    file.write_bytes(zipped(folder, "bert/").getvalue())
    assert bertcore.load(file, device="cpu").config.hidden_size == 48


def test_an_adapter_in_a_zip_opens_no_folder_of_this_machine(folder: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    mini(base, "BertModel")
    make_adapter(base, tmp_path / "adapter", target_modules=["query"])
    file = tmp_path / "adapter.zip"
    file.write_bytes(zipped(tmp_path / "adapter").getvalue())
    assert "comes from a zip file, but its base is" in refusal(file)


# ---- quantised, pruned ----


@opens("weights quantised by torch")
def test_weights_quantised_by_torch(folder: Path) -> None:
    model = mini(folder)
    quantised = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, torch.qint8)
    pickled(folder, quantised.state_dict())
    sentence = refusal(folder, allow_pickle=True)
    assert "quantised by torch (quantize_dynamic)" in sentence
    assert "Open the checkpoint that they were made from" in sentence


def test_a_checkpoint_pruned_by_bertscope_0_2_opens(tmp_path: Path) -> None:
    """0.2.0 wrote zeros for the heads that were removed, and named them as `zeroed_heads`."""
    whole, heads = tiny_bert(), ((0, 3), (1, 0))
    pruned = tiny_bert()
    with torch.no_grad():
        for layer, head in heads:
            block, part = pruned.module.layers[layer].attention, slice(8 * head, 8 * head + 8)
            block.value.weight[part] = 0
            block.value.bias[part] = 0
            block.output.weight[:, part] = 0
    pruned.save(tmp_path)
    edit(tmp_path, zeroed_heads={"0": [3], "1": [0]})
    again = opened(tmp_path).trace("the river", "it rained")
    gated = whole.trace("the river", "it rained", changes=Changes(heads_off=frozenset(heads)))
    torch.testing.assert_close(again.hidden_states, gated.hidden_states, atol=1e-6, rtol=0)
    torch.testing.assert_close(again.attentions, gated.attentions, atol=1e-6, rtol=0)


# ---- pickles with more than weights ----


def lightning(name: str) -> Any:
    """Return an object of a class of Lightning, which is not installed."""
    module, _, attribute = name.rpartition(".")
    kind = type(attribute, (dict,), {"__module__": module})
    parts = module.split(".")
    for end in range(len(parts)):
        sys.modules.setdefault(".".join(parts[: end + 1]), types.ModuleType(parts[end]))
    setattr(sys.modules[module], attribute, kind)
    return kind(lr=1e-3)


@opens("a pickle with settings")
@pytest.mark.parametrize(
    "beside",
    [
        {"args": argparse.Namespace(lr=1e-3, out=pathlib.PurePosixPath("/x"))},
        {"best": np.float64(0.9), "scores": np.arange(3.0)},
        {"hyper_parameters": lightning("pytorch_lightning.utilities.parsing.AttributeDict")},
        {"optimizer_states": [{"state": {}}], "epoch": 3, "pytorch-lightning_version": "2.1"},
    ],
    ids=lambda beside: next(iter(beside)),
)
def test_what_trainers_save_beside_the_weights(beside: dict[str, Any], folder: Path) -> None:
    wanted = opened(folder).trace(TEXT).hidden_states
    tensors = {f"model.{name}": tensor for name, tensor in state(folder).items()}
    pickled(folder, {"state_dict": tensors, **beside})
    model = opened(folder, allow_pickle=True)
    assert torch.equal(model.trace(TEXT).hidden_states, wanted)


@opens("weights under a name in a pickle")
@pytest.mark.parametrize("name", ["model_state_dict", "weights", "bert", "ema"])
def test_weights_under_a_name_in_a_pickle(name: str, folder: Path) -> None:
    wanted = opened(folder).trace(TEXT).hidden_states
    tensors = state(folder)
    rest = {"optimizer_state_dict": {"state": {0: {"exp_avg": torch.ones(9, 9)}}}}
    rest |= {"epoch": torch.tensor(3), "rng": torch.ones(5, dtype=torch.uint8)}
    file = pickled(folder, {name: tensors, **rest})
    model = opened(folder, allow_pickle=True)
    assert torch.equal(model.trace(TEXT).hidden_states, wanted)
    torch.save({"best": {"model": tensors}, **rest}, file)
    model = opened(folder, allow_pickle=True)
    assert torch.equal(model.trace(TEXT).hidden_states, wanted)
    torch.save({"best": tensors, "last": tensors, **rest}, file)
    assert "weights under several names (best; last)" in refusal(folder, allow_pickle=True)


@opens("a whole model in a pickle")
def test_a_whole_model_in_a_pickle_says_how_to_save_its_weights(folder: Path) -> None:
    pickled(folder, mini(folder))
    sentence = refusal(folder, allow_pickle=True)
    assert "torch.save(model.state_dict(), FILE)" in sentence
    assert "transformers.models.bert" in sentence


# ---- adapters ----


@opens("an adapter of peft")
def test_an_adapter_in_a_pickle(tmp_path: Path) -> None:
    base = tmp_path / "base"
    mini(base, "BertModel")
    merged = make_adapter(base, tmp_path / "a", target_modules=["query"])
    wanted = open_task_model(tmp_path / "a", device="cpu")
    weights = tmp_path / "a" / "adapter_model.safetensors"
    torch.save(load_file(weights), tmp_path / "a" / "adapter_model.bin")
    weights.unlink()
    with pytest.raises(OnlyPickleError, match=r"adapter_model\.bin, a pickle"):
        opened(tmp_path / "a")
    model = opened(tmp_path / "a", allow_pickle=True)
    assert model.report.format.endswith("and adapter_model.bin")
    ours = open_task_model(tmp_path / "a", device="cpu", allow_pickle=True)
    ids = torch.tensor([[2, 7, 9, 3]])
    torch.testing.assert_close(ours.module(ids), wanted.module(ids))
    torch.testing.assert_close(ours.module(ids), merged(ids).logits, atol=1e-5, rtol=0)


@opens("an adapter without its head")
def test_an_adapter_whose_head_was_not_saved(tmp_path: Path) -> None:
    base = tmp_path / "base"
    mini(base, "BertModel")
    make_adapter(base, tmp_path / "a", target_modules=["query"])
    weights = tmp_path / "a" / "adapter_model.safetensors"
    kept = {n: t for n, t in load_file(weights).items() if "lora_" in n}
    save_file(kept, weights, metadata={"format": "pt"})
    model = opened(tmp_path / "a")
    with pytest.raises(ValueError, match=r"trained with a head \(SEQ_CLS\).*modules_to_save"):
        open_task_model(tmp_path / "a", device="cpu")
    assert "trained with a head (SEQ_CLS)" in sentences(model)


@opens("SetFit")
@opens("the classifier of SetFit")
def test_the_classifier_of_setfit_is_named(folder: Path) -> None:
    (folder / "model_head.pkl").write_bytes(b"never read")
    put(folder, "config_setfit.json", {"labels": ["no", "yes"]})
    assert "model_head.pkl, the classifier of SetFit" in sentences(opened(folder))
    mini(folder, "BertModel")
    with pytest.raises(ValueError, match=r"model_head\.pkl, the classifier of SetFit"):
        open_task_model(folder, device="cpu")


def test_lora_on_a_head_that_was_not_saved(tmp_path: Path) -> None:
    """peft#577, #2027: the classifier is a target, and its own random weights are lost."""
    mini(tmp_path / "base", "BertModel")
    make_adapter(tmp_path / "base", tmp_path / "a", None, target_modules=["query"])
    file = tmp_path / "a" / "adapter_model.safetensors"
    pair = {"lora_A": torch.ones(4, 32), "lora_B": torch.ones(3, 4)}
    head = {f"base_model.model.classifier.{n}.weight": tensor for n, tensor in pair.items()}
    save_file({**load_file(file), **head}, file)
    assert "changes the head classifier, whose own weights" in refusal(tmp_path / "a")


# ---- files under wrong names, and weights of other programs ----


@opens("a pickle named safetensors, or the reverse")
@opens("the old name of config.json")
def test_files_under_wrong_names(folder: Path) -> None:
    """ComfyUI_DiffRhythm#43, safetensors#414, BERT_binary_text_classification#7."""
    tensors = {name: tensor.clone() for name, tensor in state(folder).items()}
    copy = folder / "pytorch_model.bin"
    (folder / WEIGHTS).rename(copy)
    assert "Rename it to model.safetensors" in refusal(folder, allow_pickle=True)
    copy.unlink()
    torch.save(tensors, folder / WEIGHTS)
    assert "Rename it to pytorch_model.bin" in refusal(folder)
    (folder / "config.json").rename(folder / "bert_config.json")
    assert "Rename bert_config.json to config.json" in refusal(folder)


@opens("TorchScript")
def test_a_program_of_torchscript(folder: Path) -> None:
    """triton-inference-server#3548, pytorch#56473."""
    traced = torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(1, 2))
    (folder / WEIGHTS).unlink()
    traced.save(str(folder / "pytorch_model.bin"))
    assert "a program (TorchScript)" in refusal(folder, allow_pickle=True)


@opens("tables that were resized")
@pytest.mark.parametrize(
    ("table", "field"),
    [
        ("word_embeddings", "vocab_size"),
        ("position_embeddings", "max_position_embeddings"),
        ("token_type_embeddings", "type_vocab_size"),
    ],
)
def test_a_table_that_was_resized(table: str, field: str, folder: Path) -> None:
    """transformers#851, #1730, #8843: config.json kept the old size."""
    name = f"bert.embeddings.{table}.weight"
    tensors = state(folder)
    rows = len(tensors[name]) + 5
    store(folder, {**tensors, name: torch.cat([tensors[name], torch.ones(5, 32)])})
    sentence = refusal(folder)
    assert f'write into config.json: "{field}": {rows}.' in sentence
    edit(folder, **{field: rows})
    assert opened(folder).report is not None


@pytest.mark.parity
@pytest.mark.parametrize(("name", "table", "decoder"), cases("decoders_as_tables"))
def test_a_file_that_has_the_decoder_instead_of_the_table(
    name: str, table: str, decoder: str, tmp_path: Path
) -> None:
    """text-embeddings-inference#564, safetensors#265: of two tied tensors one was dropped."""
    mini(tmp_path, name)
    tensors = state(tmp_path)
    tensors[decoder] = tensors.pop(table)
    store(tmp_path, tensors)
    assert_same_states(tmp_path, name)


def pruned(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Cut rows off, as transformers 4 did; 5 does not open them."""
    return tensors | {f"{QUERY}.weight": tensors[f"{QUERY}.weight"][:24]}


def masked(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    layer = torch.nn.Linear(32, 32)
    prune_module.l1_unstructured(layer, "weight", 0.5)
    rest = {name: tensor for name, tensor in tensors.items() if name != f"{QUERY}.weight"}
    return rest | {f"{QUERY}.{name}": tensor for name, tensor in layer.state_dict().items()}


def adapted(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the state dict of a whole PeftModel (transformers#26160)."""
    whole = {
        n.replace(f"{QUERY}.weight", f"{QUERY}.base_layer.weight"): tensors[n] for n in tensors
    }
    whole |= {f"{QUERY}.lora_{n}.default.weight": torch.ones(32, 32) for n in "AB"}
    return {f"base_model.model.{name}": tensor for name, tensor in whole.items()}


def named(name: str) -> Any:
    return lambda tensors: {name: torch.ones(32, 32)}


OTHER_WEIGHTS = {
    r"says that heads were cut off \(pruned_heads\)": pruned,
    r"prune.remove\(module, 'weight'\)": masked,
    r"model.merge_and_unload\(\).save_pretrained": adapted,
    "fairseq.*release 4.57": named("decoder.sentence_encoder.layers.0.self_attn.k_proj.weight"),
    "TensorFlow.*from_tf=True": named("bert/encoder/layer_0/attention/self/query/kernel"),
}
"""What the sentence says -> the change of the tensors (transformers#5917, fairseq#2472)."""


@opens("pruned heads")
@opens("masks of torch's pruning")
@opens("a model with its adapter inside")
@opens("names of fairseq or TensorFlow")
@pytest.mark.parametrize("said", OTHER_WEIGHTS)
def test_weights_that_are_not_those_of_config_json(said: str, folder: Path) -> None:
    change = OTHER_WEIGHTS[said]
    store(folder, change(state(folder)))
    edit(folder, pruned_heads={"0": [3]} if change is pruned else None)
    assert re.search(said, refusal(folder))
    with pytest.raises((ValueError, RuntimeError), match=said):  # and not that it has no head
        open_task_model(folder, device="cpu")
