"""A text's head over the mean of its tokens: equal to plain torch, saved, opened, and refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file

from bertcore import load
from bertcore.configs.finetune import FinetuneConfig
from bertcore.model.architecture.families import CLS, POOLINGS
from bertcore.training.finetuning import start_experiment
from bertcore.training.tasks import find_task, open_task_model
from bertcore.training.tasks.model import TaskModel, head_fits, poolings
from tests.support.adapters import make_adapter
from tests.support.finetuning_files import quick_settings, scores_on, write_reviews
from tests.support.rigged_models import started
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

TEXTS = ("good", "The good film was long, and the bad river ran down the bank.", "bad day")
LABELS = ("bad", "good")
DENSE = {
    "DistilBertModel": ("pre_classifier", torch.relu),
    "RobertaModel": ("classifier.dense", torch.tanh),
    "ElectraModel": ("classifier.dense", torch.nn.functional.gelu),
}
"""The layer before the last, and its activation, in the classes of `transformers`."""


def start(source: Path | str, task: str = "classify", **more: Any) -> TaskModel:
    return started(source, task, **{"labels": LABELS, "pooling": "mean", **more})


def settings(folder: Path, source: Path, **more: Any) -> Any:
    folder.mkdir(exist_ok=True)
    data = {name: folder / f"{name}.csv" for name in ("train", "dev")}
    for name, path in data.items():
        write_reviews(path, 32, seed=len(name))
    return quick_settings(source, **data, **{"learning_rates": (2e-3,), **more})


@pytest.mark.parametrize(
    "kind", ["", "DistilBertModel", "RobertaModel", "ElectraModel", "AlbertModel"]
)
def test_the_logits_are_those_of_plain_torch(kind: str, tiny: Path, tmp_path: Path) -> None:
    """From the hidden states of transformers, each text alone; padding changes nothing."""
    source = tmp_path / "encoder" if kind else tiny
    if kind:
        make(kind, source)
    folder = start(source).save(tmp_path / "out")
    ours = open_task_model(folder, device="cpu")
    assert ours.task.pooling == "mean"
    theirs = transformers.AutoModel.from_pretrained(folder).eval()
    head = load_file(folder / "model.safetensors")
    tokenizer = ours.tokenizer
    rows = [tokenizer.encode(text).input_ids for text in TEXTS]
    wanted = []
    for row in rows:
        hidden = theirs(torch.tensor([row])).last_hidden_state[0]
        vector = sum(hidden[i] for i in range(len(row))) / len(row)  # with [CLS] and [SEP]
        if kind in DENSE:
            name, activate = DENSE[kind]
            linear = head[f"mean.{name}.weight"], head[f"mean.{name}.bias"]
            vector = activate(torch.nn.functional.linear(vector, *linear))
        last = "classifier.out_proj" if kind in ("RobertaModel", "ElectraModel") else "classifier"
        wanted.append(head[f"mean.{last}.weight"] @ vector + head[f"mean.{last}.bias"])
    longest = max(map(len, rows))
    ids = torch.full((len(rows), longest), tokenizer.pad_id)
    mask = torch.zeros(ids.shape, dtype=torch.bool)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
        mask[place, : len(row)] = True
    with torch.no_grad():
        together = ours.module(ids, None, mask)
        alone = torch.cat([ours.module(torch.tensor([row])) for row in rows])
    torch.testing.assert_close(together, torch.stack(wanted).detach(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    by_cls = start(source, pooling=CLS).module(ids, None, mask)
    assert not torch.allclose(by_cls, together, atol=1e-3)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_run_is_saved_and_opens_as_it_was_scored(
    frozen: bool, tiny: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    experiment = start_experiment(out, settings(tmp_path, tiny, pooling="mean", frozen=frozen))
    report = experiment.run()
    config = json.loads((out / "config.json").read_text())
    assert config["bertscope"]["pooling"] == "mean"
    assert config["architectures"] == ["BertModel"]
    model = open_task_model(out, device="cpu")
    scores = scores_on(tmp_path / "dev.csv", model, max_length=48)
    assert scores.metrics["accuracy"] == report["best"]["value"]
    assert scores.loss == pytest.approx(report["best"]["scores"]["loss"], rel=1e-4)
    assert "mean of all tokens" in " ".join(model.notes)
    assert not any("pooler" in name for name in load_file(out / "model.safetensors"))


def test_transformers_does_not_take_it_for_its_own_head(tmp_path: Path) -> None:
    """RoBERTa's class would read <s> without a word if the tensors had its names."""
    make("RobertaModel", tmp_path / "encoder")
    folder = start(tmp_path / "encoder").save(tmp_path / "out")
    kind = transformers.AutoModelForSequenceClassification
    _, info = kind.from_pretrained(folder, output_loading_info=True)
    lost = {"classifier.dense.weight", "classifier.out_proj.weight"}
    assert lost <= set(info["missing_keys"])
    assert "mean.classifier.out_proj.weight" in set(info["unexpected_keys"])


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("AutoModelForSequenceClassification", "classify"),
        ("AutoModelForTokenClassification", "tag"),
    ],
)
@pytest.mark.parametrize("kind", ["", "RobertaModel"])
def test_a_head_that_transformers_saved_over_the_encoder_is_read(
    name: str, task: str, kind: str, tiny: Path, tmp_path: Path
) -> None:
    """save_pretrained keeps our field of config.json, with a head that reads something else."""
    if kind:
        make(kind, tmp_path / "encoder")
    folder = start(tmp_path / "encoder" if kind else tiny).save(tmp_path / "ours")
    theirs = getattr(transformers, name).from_pretrained(folder).eval()
    theirs.save_pretrained(tmp_path / "theirs")
    for file in (
        file for file in folder.iterdir() if not (tmp_path / "theirs" / file.name).exists()
    ):
        shutil.copy(file, tmp_path / "theirs")
    assert (
        json.loads((tmp_path / "theirs/config.json").read_text())["bertscope"]["pooling"] == "mean"
    )
    model = open_task_model(tmp_path / "theirs", device="cpu")
    assert (model.task.name, model.task.pooling) == (task, CLS)
    ids = torch.tensor([model.tokenizer.encode(TEXTS[1]).input_ids])
    with torch.no_grad():
        torch.testing.assert_close(model.module(ids), theirs(ids).logits, rtol=1e-4, atol=1e-5)


def test_an_adapters_own_head_over_a_base_with_a_mean_is_read(tmp_path: Path) -> None:
    make("RobertaModel", tmp_path / "encoder")
    base = start(tmp_path / "encoder").save(tmp_path / "base")
    merged = make_adapter(base, tmp_path / "a", target_modules=["query", "value"])
    model = open_task_model(tmp_path / "a", task="classify", device="cpu")
    assert (model.task.pooling, len(model.labels)) == (CLS, 3)
    ids = torch.tensor([model.tokenizer.encode(TEXTS[1]).input_ids])
    with torch.no_grad():
        torch.testing.assert_close(model.module(ids), merged(ids).logits, rtol=1e-4, atol=1e-5)
    report = load(tmp_path / "a", device="cpu").report
    assert report.task.num_outputs == 3


def test_a_head_is_kept_with_its_own_pooling_only(tiny: Path, tmp_path: Path) -> None:
    folder = start(tiny).save(tmp_path / "out")
    kept = start(folder)
    before = open_task_model(folder, device="cpu").module.head_tensors()
    for name, tensor in kept.module.head_tensors().items():
        assert torch.equal(tensor.cpu(), before[name])
    with pytest.raises(ValueError, match="with pooling 'mean', not cls"):
        start(folder, pooling=CLS)
    assert start(folder, pooling=CLS, new_head=True).task.pooling == CLS
    for pooling in POOLINGS:
        fits = head_fits(folder, task="classify", labels=LABELS, pooling=pooling)
        assert fits == (pooling == "mean")
    with pytest.raises(ValueError, match="not for the task 'tag'"):
        open_task_model(folder, task="tag", device="cpu")


def test_what_has_no_mean_is_refused(tiny: Path, tmp_path: Path) -> None:
    sources = tmp_path / "modern", tmp_path / "deberta"
    make("ModernBertModel", sources[0])
    make_other("DebertaModel", sources[1])
    for source, name in zip(sources, ("ModernBERT", "DeBERTa"), strict=True):
        assert poolings(load(source, device="cpu")) == (CLS,)
        with pytest.raises(ValueError, match=f"head of {name}.* always reads"):
            start(source)
    assert poolings(load(tiny, device="cpu")) == POOLINGS
    with pytest.raises(ValueError, match="pooling is 'max'; expected one of cls, mean"):
        FinetuneConfig(learning_rate=1e-4, pooling="max")
    with pytest.raises(ValueError, match="a feature-based head reads a BiLSTM"):
        FinetuneConfig(learning_rate=1e-4, pooling="mean", feature_based=True)
    for task in ("classify", "tag"):
        with pytest.raises(ValueError, match="a feature-based head reads a BiLSTM"):
            find_task(task, features="last", pooling="mean")
    with pytest.raises(ValueError, match="does not read one vector"):
        settings(tmp_path, tiny, pooling="mean", task="tag")
