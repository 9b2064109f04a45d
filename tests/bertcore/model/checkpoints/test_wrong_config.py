"""Wrong settings, labels and vocabularies of checkpoints: refused or reported in a sentence."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.training.tasks.model import read_task_head
from tests.support.kit import edit, state, store
from tests.support.reopened import opened, refused
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe{}", "not UTF-8"),
        (b"{", r"not valid JSON \(line 1"),
        (b"[]", "contains a list; expected a JSON object"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"[" * 100_000, "nested too deeply|not valid JSON"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "not valid JSON"),
        (b"{}", "lacks vocab_size"),
        (b'{"model_type": "gpt2"}', "model_type 'gpt2'"),
    ],
)
def test_damaged_config(content: bytes, message: str, folder: Path) -> None:
    (folder / "config.json").write_bytes(content)
    assert "config.json" in refused(folder, message)


def test_a_config_that_is_a_link_is_read_in_its_folder_and_in_the_hubs_cache_alone(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.json").write_bytes((folder / "config.json").read_bytes())
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to(tmp_path / "elsewhere.json")
    assert "config.json is a link to a file outside" in refused(folder, "link")
    (folder / "own.json").write_bytes((tmp_path / "elsewhere.json").read_bytes())
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("own.json")
    opened(folder)
    snapshot = tmp_path / "models--a--b" / "snapshots" / "c0ffee"
    snapshot.parent.mkdir(parents=True)
    (snapshot.parent.parent / "blobs").mkdir()
    folder.rename(snapshot)
    (snapshot / "own.json").rename(snapshot.parent.parent / "blobs" / "1")
    (snapshot / "config.json").unlink()
    (snapshot / "config.json").symlink_to("../../blobs/1")
    opened(snapshot)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_hidden_layers": 10**9}, "asks for 1,000,000,000 layers; at most 1,000"),
        ({"num_hidden_layers": 1000}, "asks for 1000 layers but the weights have 2"),
        ({"hidden_size": 160_000}, r"expected \[149, 160000\]"),
        ({"vocab_size": 10**9}, r"expected \[1000000000, 32\]"),
        ({"hidden_size": 4 * 10**12}, "impossible size"),
        ({"max_position_embeddings": 10**30}, "impossible size"),
        ({"num_attention_heads": 7}, "not divisible"),
        ({"layer_norm_eps": float("inf")}, "layer_norm_eps is inf"),
        ({"hidden_act": {"a": 1}}, "hidden_act is"),
    ],
)
def test_absurd_config_values(changes: dict[str, Any], message: str, folder: Path) -> None:
    edit(folder, **changes)
    refused(folder, message)


@pytest.mark.parametrize("name", ["AlbertForMaskedLM", "ModernBertForMaskedLM", "MPNetForMaskedLM"])
def test_a_billion_layers_are_never_listed(name: str, tmp_path: Path) -> None:
    """ALBERT's share one layer's weights, and ModernBERT's config lists a kind for each."""
    other = name.startswith("MPNet")
    (make_other if other else make)(name, tmp_path)
    edit(tmp_path, num_hidden_layers=10**9, layer_types=None)
    refused(tmp_path, "at most 1,000")
    if other:
        edit(tmp_path, num_hidden_layers=1, num_labels=10**9)
        refused(tmp_path, "num_labels is 1000000000; at most 100,000")


def test_a_vocabulary_that_is_much_larger_than_the_table(folder: Path) -> None:
    """A few pieces more are read: test_surplus_vocabulary.py."""
    (folder / "tokenizer.json").unlink()
    with (folder / "vocab.txt").open("a") as file:
        file.writelines(f"surplus{i}\n" for i in range(9))
    refused(folder, "158 pieces but the network has 149 token embeddings")
    refused(folder, "for tokens you added, resize_token_embeddings")


def test_labels_are_told_and_held_against_the_head(folder: Path) -> None:
    head = {"classifier.weight": torch.ones(3, 32), "classifier.bias": torch.ones(3)}
    store(folder, {**state(folder), **head})
    names = {"0": "bad", "2": "good", "1": "so-so"}
    edit(folder, architectures=["BertForSequenceClassification"], id2label=names)
    report = opened(folder).report
    text = " ".join(report.sentences())
    assert "BertForSequenceClassification, which predicts a class or a number" in text
    assert "Labels: bad, so-so, good." in text
    assert report.task.num_outputs == 3
    edit(folder, id2label={"0": "bad"})
    text = " ".join(opened(folder).report.sentences())  # type: ignore[union-attr]
    assert "config.json names 1 labels but the head has 3 outputs" in text
    edit(folder, id2label={"10": "J", "2": "C", "0": "A"})
    bert = opened(folder)
    assert bert.report.task.label_names == ()
    assert "3 outputs; config.json has no names" in " ".join(bert.report.sentences())
    assert read_task_head(bert).labels == ("LABEL_0", "LABEL_1", "LABEL_2")


@pytest.mark.parametrize(
    "changes",
    [
        {"architectures": "x", "id2label": [1]},
        {"architectures": [3], "id2label": {"a": "b"}},
        {"architectures": {"a": 1}, "id2label": {"1": {"x": 1}, "0": None}},
    ],
)
def test_strange_labels_do_no_harm(changes: dict[str, Any], folder: Path) -> None:
    edit(folder, **changes)
    report = opened(folder).report
    json.dumps(report.to_dict())
