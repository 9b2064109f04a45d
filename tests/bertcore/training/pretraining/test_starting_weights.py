"""Runs that begin with the weights of a checkpoint."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore import Bert, load
from bertcore.model.network import ALL_HEADS
from bertcore.training.pretraining import DataConfig, Pretraining, TrainConfig, resume_run
from bertcore.training.pretraining.run import check_objective
from bertcore.training.pretraining.starting_weights import check_start, starting_network
from tests.support.command_line import RHYTHM, invoke, make_texts, metrics, recipe, refusal, succeed
from tests.support.kit import state, store
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_runs import killed_at


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.txt, valid.txt and the checkpoint begin."""
    folder = make_texts(tmp_path_factory.mktemp("texts"))
    tiny_bert(tiny_config(num_hidden_layers=1), seed=3).save(folder / "begin")
    return folder


def words_of(texts: Path, out: Path, *more: str | Path) -> list[str | Path]:
    """Return the command line of a tiny run from the checkpoint."""
    text = ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt"]
    data = ["--batch-size", "4", "--max-seq-length", "24", "--device", "cpu", *RHYTHM]
    return ["pretrain", *text, "--checkpoint", texts / "begin", "--out", out, *data, *more]


def weights_of(run: Pretraining) -> dict[str, torch.Tensor]:
    return dict(run.network.state_dict())


def assert_equal(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert torch.equal(found[name], value), name


def test_the_first_weights_are_the_checkpoints(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[dict[str, torch.Tensor]] = []

    def look(self: Pretraining, *_: Any) -> None:
        begun.append({name: value.clone() for name, value in self.network.state_dict().items()})

    monkeypatch.setattr(Pretraining, "_train", look)
    invoke(*words_of(texts, tmp_path / "run", "--steps", "2"))
    begin = load(texts / "begin", device="cpu")
    assert_equal(begun[0], dict(begin.module.state_dict()))
    settings = json.loads((tmp_path / "run" / "config.json").read_text())
    assert settings["train"]["start"] == "checkpoint"
    assert settings["start_from"]["name"] == str(texts / "begin")
    assert settings["start_from"]["fingerprint"] == begin.report.fingerprint
    assert settings["model"]["num_hidden_layers"] == 1
    kept = load(tmp_path / "run" / "data" / "start", device="cpu")
    assert kept.tokenizer.fingerprint == begin.tokenizer.fingerprint


def test_a_run_killed_before_its_first_checkpoint_begins_from_the_kept_copy(
    texts: Path, tmp_path: Path
) -> None:
    place = tmp_path / "texts"
    shutil.copytree(texts, place)
    run = tmp_path / "run"
    with killed_at(2):  # the first checkpoint is of step 3
        invoke(*words_of(place, run, "--steps", "5"))
    assert not (run / "checkpoints").exists()
    shutil.rmtree(place / "begin")  # the run does not need it any more
    again = resume_run(run)
    assert_equal(weights_of(again), dict(load(texts / "begin").module.cpu().state_dict()))
    assert "Done." in succeed("pretrain", "--out", run, "--resume")
    succeed(*words_of(texts, tmp_path / "whole", "--steps", "5"))
    assert metrics(run) == metrics(tmp_path / "whole")


def test_a_damaged_kept_copy_is_told(texts: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    succeed(*words_of(texts, run, "--steps", "2"))
    weights = run / "data" / "start" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-9])
    assert "model.safetensors" in refusal("pretrain", "--out", run, "--resume")


@pytest.mark.parametrize(
    ("heads", "told"),
    [
        (
            ALL_HEADS - {"nsp"},
            "the checkpoint has no next-sentence head, so noise is used instead.",
        ),
        (
            frozenset[str](),
            "the checkpoint has no pooler and no masked-word head and no next-sentence head, "
            "so noise is used instead.",
        ),
    ],
)
def test_heads_that_a_checkpoint_lacks_are_told_and_start_from_noise(
    heads: frozenset[str], told: str
) -> None:
    notices: list[str] = []
    begin = tiny_network(heads=heads)
    config = TrainConfig(steps=1, start="checkpoint", device="cpu")
    network = starting_network(
        tiny_config(), config, small_corpus(), begin, on_notice=notices.append
    )
    assert notices == [told]
    found = dict(network.state_dict())
    theirs = dict(begin.state_dict())
    assert_equal({name: found[name] for name in theirs}, theirs)
    noise = TrainConfig(steps=1, start="noise", device="cpu")
    drawn = starting_network(
        tiny_config(), noise, small_corpus(), None, on_notice=notices.append
    ).state_dict()
    for name in found.keys() - theirs.keys():
        assert torch.equal(found[name], drawn[name]), name


@pytest.mark.parametrize(
    "more",
    [
        ["--layers", "2"],
        ["--vocab-size", "90"],
        [*recipe(uncased=False)],
        [*recipe(start="noise")],
        ["--tokenizer", "tok"],
    ],
)
def test_what_the_checkpoint_brings_is_refused_by_name(
    texts: Path, tmp_path: Path, more: list[str]
) -> None:
    sentence = refusal(*words_of(texts, tmp_path / "run", "--steps", "2", *more))
    assert "would have no effect: --checkpoint brings its own" in sentence
    assert list(tmp_path.iterdir()) == []


def test_checkpoints_with_which_no_run_can_begin(texts: Path, tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    wide = tiny_config(vocab_size=tokenizer.vocab_size + 6, num_hidden_layers=1)
    Bert(tiny_network(wide), tokenizer).save(tmp_path / "wide")
    damaged = tiny_bert(tiny_config(num_hidden_layers=1)).save(tmp_path / "damaged")
    weights = state(damaged)
    weights["bert.pooler.dense.bias"][0] = float("nan")
    store(damaged, weights)
    (tmp_path / "runs").mkdir()
    for begin, told in (
        (tmp_path / "wide", "training needs a piece for each row"),
        (damaged, "has NaN or infinity in its weights (bert.pooler.dense.bias)"),
        (tmp_path / "nowhere", "nowhere"),
    ):
        words = words_of(texts, tmp_path / "runs" / "run", "--steps", "2")
        words[words.index("--checkpoint") + 1] = begin
        assert told in refusal(*words)
        assert list((tmp_path / "runs").iterdir()) == []
    check_start(load(texts / "begin", device="cpu"))


def test_rows_before_the_first_token_are_no_positions() -> None:
    shape = tiny_config(model_type="roberta", position_offset=2, type_vocab_size=1)  # 64 rows
    check_objective(shape, DataConfig(objective="mlm", max_seq_length=62), goes_on=False)
    for config in (
        DataConfig(objective="mlm", max_seq_length=63),
        DataConfig(objective="mlm", max_seq_length=32, long_ratio=0.5, long_seq_length=63),
    ):
        with pytest.raises(
            ValueError, match="is 63, but the network has positions for only 62 tokens"
        ):
            check_objective(shape, config, goes_on=False)
