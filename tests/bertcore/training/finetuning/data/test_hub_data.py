"""Data sets of the hub: names, splits, labels, every task's form, and what can go wrong.

No network: a module of our own stands in the place of `datasets`.
"""

import errno
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from bertcore.data.files import BadRows
from bertcore.data.read_rows import read_questions
from bertcore.data.read_tags import read_tags
from bertcore.training.finetuning import resume_experiment, start_experiment
from bertcore.training.finetuning.data.hub_data import HubName, fetch_hub_data, parse_hub_name
from bertcore.training.tasks import find_task
from bertcore.training.tasks.read import read_examples
from tests.support.command_line import refusal
from tests.support.finetuning_files import quick_settings
from tests.support.tiny import tiny_bert

LABELS = SimpleNamespace(names=["bad", "good"])
REVIEWS = [
    {"sentence": f"the film was {'good' if i % 2 else 'bad'}", "label": i % 2, "idx": i}
    for i in range(24)
]


class Rows:
    """A data set as it comes from the network, row by row."""

    def __init__(self, rows: list[dict[str, Any]], features: dict[str, Any]) -> None:
        self.rows, self.features = rows, features

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            if row.get("broken"):
                raise ConnectionError("connection reset by peer")
            yield row


class Hub(ModuleType):
    """In the place of the library."""

    def __init__(self) -> None:
        super().__init__("datasets")
        self.sets: dict[tuple[str, str | None], dict[str, Rows]] = {}
        self.asked: list[Any] = []

    def get_dataset_split_names(self, name: str, config: str | None) -> list[str]:
        if (name, config) not in self.sets:
            raise FileNotFoundError(f"Dataset '{name}' doesn't exist on the Hub")
        return list(self.sets[name, config])

    def load_dataset(self, name: str, config: str | None, *, split: str, streaming: bool) -> Rows:
        self.asked.append((name, config, split, streaming))
        if split not in self.get_dataset_split_names(name, config):
            raise ValueError(f"Bad split: {split}. Available splits: ['train']")
        return self.sets[name, config][split]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    hub = Hub()
    features = {"sentence": SimpleNamespace(dtype="string"), "label": LABELS}
    hub.sets["nyu-mll/glue", "sst2"] = {
        "train": Rows(REVIEWS, features),
        "validation": Rows(REVIEWS[:10], features),
        "test": Rows([{**row, "label": -1} for row in REVIEWS[:4]], features),
    }
    monkeypatch.setitem(sys.modules, "datasets", hub)
    return hub


def test_names() -> None:
    assert parse_hub_name("hub:imdb") == HubName("imdb", None, None)
    assert parse_hub_name("hub:imdb@test[:100]") == HubName("imdb", None, "test[:100]")
    full = "hub:nyu-mll/glue:sst2@validation"
    assert parse_hub_name(full) == HubName("nyu-mll/glue", "sst2", "validation")
    assert str(parse_hub_name(full)) == full
    for wrong in ("hub:", "hub:a b", "hub:a:b:c", "hub:@train"):
        with pytest.raises(ValueError, match="expected hub:DATASET"):
            parse_hub_name(wrong)


def test_labels_get_their_names(hub: Hub, tmp_path: Path) -> None:
    path = fetch_hub_data("hub:nyu-mll/glue:sst2", tmp_path, task="classify", is_train=True)
    found = list(find_task("classify").read(path, bad_rows=BadRows(skip=False)))
    assert [(e.text, e.answer) for e in found] == [
        (row["sentence"], LABELS.names[row["label"]]) for row in REVIEWS
    ]
    assert hub.asked == [("nyu-mll/glue", "sst2", "train", True)]
    dev = fetch_hub_data("hub:nyu-mll/glue:sst2", tmp_path, task="classify", is_train=False)
    assert len(dev.read_text().splitlines()) == 10  # validation, not the test without labels
    secret = fetch_hub_data("hub:nyu-mll/glue:sst2@test", tmp_path, task="classify", is_train=False)
    bad = BadRows()
    assert list(read_examples(secret, find_task("classify"), bad_rows=bad)) == []
    assert "have no label (empty), as in test splits" in bad.why_empty()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_full_disk_is_told_and_other_errors_are_the_systems(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def write(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("bertcore.training.finetuning.data.hub_data.write_rows", write)
    is_full = number == errno.ENOSPC
    with pytest.raises(RuntimeError if is_full else OSError) as raised:
        fetch_hub_data("hub:nyu-mll/glue:sst2", tmp_path, task="classify", is_train=True)
    assert ("could not be saved" in str(raised.value)) == is_full


def test_tags_and_questions(hub: Hub, tmp_path: Path) -> None:
    tags = SimpleNamespace(feature=SimpleNamespace(names=["O", "B-PER"]))
    hub.sets["conll2003", None] = {
        "train": Rows([{"tokens": ["he", "ran"], "ner_tags": [1, 0]}], {"ner_tags": tags})
    }
    path = fetch_hub_data("hub:conll2003", tmp_path, task="tag", is_train=True)
    (example,) = read_tags(path, bad_rows=BadRows(skip=False))
    assert (example.words, example.tags) == (["he", "ran"], ["B-PER", "O"])
    rows = [
        {
            "id": str(i),
            "context": "paris is the capital",
            "question": "what is it?",
            "answers": {"text": ["paris"][:i], "answer_start": [0][:i]},
        }
        for i in (1, 0)
    ]
    hub.sets["squad_v2", None] = {"train": Rows(rows, {})}
    path = fetch_hub_data("hub:squad_v2", tmp_path, task="qa", is_train=True)
    found = list(read_questions(path, bad_rows=BadRows(skip=False)))
    assert [example.answers for example in found] == [[("paris", 0)], []]
    with pytest.raises(ValueError, match="not in SQuAD format: it has the columns sentence"):
        fetch_hub_data("hub:nyu-mll/glue:sst2", tmp_path, task="qa", is_train=True)


def test_a_run_keeps_its_data_and_resumes_without_a_network(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = Path("hub:nyu-mll/glue:sst2")
    settings = quick_settings(tiny_bert().save(tmp_path / "tiny"), name, name)
    experiment = start_experiment(tmp_path / "out", settings)
    assert experiment.run(should_stop=lambda: True) is None
    hub.sets.clear()
    monkeypatch.setitem(sys.modules, "datasets", None)
    report = resume_experiment(tmp_path / "out").run()
    assert report["train"] == "hub:nyu-mll/glue:sst2"
    assert report["labels"] == ["bad", "good"]
    assert (report["num_train"], report["num_dev"]) == (24, 10)
    data = tmp_path / "out" / "data" / "train.jsonl"
    assert json.loads(data.read_text().splitlines()[0])["label"] == "bad"


def test_what_goes_wrong_is_one_sentence(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(name: str) -> Path:
        return fetch_hub_data(name, tmp_path, task="classify", is_train=True)

    with pytest.raises(ValueError, match=r"'hub:nobody/none'.*doesn't exist on the Hub.*give a f"):
        fetch("hub:nobody/none")
    with pytest.raises(ValueError, match="Bad split: dev"):
        fetch("hub:nyu-mll/glue:sst2@dev")
    hub.sets["only-test", None] = {"test": Rows(REVIEWS, {})}
    with pytest.raises(ValueError, match=r"has the splits test. Name one: hub:only-test@test"):
        fetch("hub:only-test")
    hub.sets["cut-off", None] = {"train": Rows([*REVIEWS, {"broken": True}], {})}
    with pytest.raises(ValueError, match=r"could not be read from the hub \(connection reset by"):
        fetch("hub:cut-off")
    monkeypatch.setitem(sys.modules, "datasets", None)  # as if it were not installed
    words = ["finetune", "--out", str(tmp_path / "out"), "--dev", "hub:imdb"]
    said = refusal(*words, "--train", "hub:imdb")
    assert "needs the Python package datasets, which is not installed" in said
    assert not (tmp_path / "out").exists()
