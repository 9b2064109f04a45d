"""Checkpoints with odd tokenizers, by every way in: Python, a zip and the commands."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import transformers

import bertcore
from tests.support import command_line
from tests.support.kit import assert_same_states, mini
from tests.support.odd_tokenizers import W, added, check_same, from_json, made, token

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
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.BertConfig(vocab_size=len(W) + 2, **shape, max_position_embeddings=64)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.mark.parity
@pytest.mark.parametrize("name", ODD)
def test_it_opens_with_the_same_ids_by_every_way(name: str, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "odd", name)
    if name != "mark and spaces":
        check_same(folder)
    opened, text = bertcore.load(folder, device="cpu"), PAIRS[0][0]
    said = command_line.succeed("inspect", "--checkpoint", folder, "--json")
    assert all(remark in said for remark in map(json.dumps, opened.tokenizer.remarks))
    split = command_line.succeed("tokenize", text, "--checkpoint", folder, "--json")
    assert json.loads(split)["input_ids"] == opened.tokenize(text).input_ids


@pytest.mark.parametrize("name", ["twice", "flags"])
def test_what_is_fine_tuned_from_it_splits_alike(name: str, tmp_path: Path) -> None:
    folder, file = checkpoint(tmp_path / "odd", name), tmp_path / "train.jsonl"
    file.write_text("\n".join(json.dumps({"text": t, "label": n}) for t, n in PAIRS))
    words = ("--task", "classify", "--checkpoint", folder, "--train", file, "--dev", file)
    command_line.succeed("finetune", *words, "--out", tmp_path / "out", "--epochs", "1")
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
