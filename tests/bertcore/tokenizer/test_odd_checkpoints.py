"""Checkpoints with odd tokenizers, by every way in: Python, a zip and the commands."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from typer.testing import CliRunner

import bertcore
from bertcore.checkpoints.archive import unpack_checkpoint
from tests.support.command_line import app
from tests.support.kit import assert_same_states, mini
from tests.support.odd_tokenizers import CLASS, W, added, check_same, from_json, made, put, token

ODD: dict[str, Callable[[Path], Path]] = {
    "twice": lambda path: made(path, [*W, "bank", "a"]),
    "mark and spaces": lambda path: made(
        path, ["bank " if word == "bank" else word for word in W], start=b"\xef\xbb\xbf"
    ),
    "flags": lambda path: added(path, token("corp", single_word=True, normalized=True)),
    "hole": lambda path: from_json(path, lambda c: c["model"]["vocab"].pop("bank")),
}
PAIRS = [("the bank was cold", 0), ("corp or corporate", 1), ("our waiter", 0), ("xcorp", 1)] * 3


def checkpoint(folder: Path, name: str) -> Path:
    """Return a checkpoint with one of the odd tokenizers and a head for two classes."""
    ODD[name](folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(W) + 2,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    model = transformers.BertForSequenceClassification(config)
    torch.nn.init.normal_(model.classifier.bias)
    model.save_pretrained(folder)
    return folder


@pytest.mark.parity
@pytest.mark.parametrize("name", ODD)
def test_it_opens_by_every_way_with_the_same_ids(name: str, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "odd", name)
    if name != "mark and spaces":
        check_same(folder)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"model/{file.name}")
    packed.seek(0)
    ways = [folder, unpack_checkpoint(packed, tmp_path / "zip")]
    opened = [bertcore.load(way, device="cpu") for way in ways]
    texts = [text for text, _ in PAIRS[:4]]
    ids = [[model.tokenize(text).input_ids for text in texts] for model in opened]
    assert ids[0] == ids[1]
    said = CliRunner().invoke(app, ["inspect", "--checkpoint", str(folder), "--json"])
    assert said.exit_code == 0, said.output
    assert all(remark in said.output for remark in map(json.dumps, opened[0].tokenizer.remarks))
    cut = CliRunner().invoke(app, ["tokenize", texts[0], "--checkpoint", str(folder), "--json"])
    assert json.loads(cut.stdout)["input_ids"] == ids[0][0]


@pytest.mark.parametrize("name", ODD)
def test_what_is_fine_tuned_from_it_splits_alike(name: str, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "odd", name)
    file = tmp_path / "train.jsonl"
    file.write_text("\n".join(json.dumps({"text": t, "label": n}) for t, n in PAIRS))
    words = ["--task", "classify", "--checkpoint", str(folder)]
    for command in (
        ["evaluate", *words, "--data", str(file)],
        ["finetune", *words, "--train", str(file), "--dev", str(file), "--out",
         str(tmp_path / "out"), "--epochs", "1"],
    ):  # fmt: skip
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    before = bertcore.load(folder, device="cpu").tokenizer
    after = bertcore.load(tmp_path / "out", device="cpu").tokenizer
    for text, _ in PAIRS[:4]:
        assert after.encode(text).input_ids == before.encode(text).input_ids
    assert after.ids == before.ids


@pytest.mark.parity
@pytest.mark.parametrize("name", ["ConvBertForMaskedLM", "ElectraForMaskedLM"])
def test_a_piece_twice_in_other_families(name: str, tmp_path: Path) -> None:
    """transformers#16252: YituTech/conv-bert-base has such pieces."""
    mini(tmp_path, name, words=[*W, "bank"])
    model = assert_same_states(tmp_path, name, "the river bank was cold")
    assert model.tokenize("bank").input_ids[1] == len(W)
    assert any(
        f"no text has, as in transformers: 1 ({W.index('bank')})" in remark
        for remark in model.tokenizer.remarks
    )


def test_a_class_with_a_program_is_refused_alike_by_every_way(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "odd", "twice")
    put(folder, "tokenizer_config.json", {**CLASS, "tokenizer_class": "BertweetTokenizer"})
    with pytest.raises(RuntimeError, match="BertweetTokenizer, which does more"):
        bertcore.load(folder, device="cpu")
    for command in (
        ["inspect", "--checkpoint", str(folder)],
        ["tokenize", "a", "--checkpoint", str(folder)],
    ):
        said = CliRunner().invoke(app, command)
        assert said.exit_code != 0
        assert "BertweetTokenizer, which does more" in " ".join(said.output.split())
