"""The commands pretrain and evaluate: interrupted, and what they say."""

import inspect
import json
import re
import signal
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertcore import Bert, load
from bertcore.configs import OptimizerConfig
from bertcore.configs.recipe import read_recipes
from bertcore.model.architecture.families import FAMILIES
from bertcore.training.pretraining import (
    DataConfig,
    Pretraining,
    causal_rows,
    evaluate_next_tokens,
    evaluate_pretraining,
    fixed_batches,
    read_documents,
)
from bertscope.cli.commands import pretrain
from bertscope.cli.options import chosen
from tests.support.cases import cases
from tests.support.command_line import invoke, metrics, recipe, refusal, succeed, words_of
from tests.support.exhaustive import all_but
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_others import make_other

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a checkpoint of masked words, one of next tokens, and a text without words."""
    folder = tmp_path_factory.mktemp("checkpoints")
    tiny_bert().save(folder / "masked")
    causal_checkpoint(folder / "causal")
    (folder / "empty").write_text("\n\n")
    return folder


@pytest.mark.parametrize("number", all_but([signal.SIGINT], [signal.SIGINT, signal.SIGTERM]))
def test_ctrl_c_saves_and_leaves_with_0(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    step = Pretraining.take_step

    def interrupted(self: Pretraining) -> dict[str, Any]:
        if self.progress.step == 4:
            signal.raise_signal(number)
        return step(self)

    before = signal.getsignal(number)
    run = tmp_path / "my run"
    with monkeypatch.context() as patch:
        patch.setattr(Pretraining, "take_step", interrupted)
        shown = succeed(*words_of(texts, run, "--steps", "8"))
    assert f"Continue with: bertscope pretrain --out '{run}' --resume" in shown
    assert signal.getsignal(number) is before
    assert [folder.name for folder in sorted((run / "checkpoints").iterdir())] == [
        "step-3",
        "step-5",
    ]
    assert "Done." in succeed("pretrain", "--out", run, "--resume")
    succeed(*words_of(texts, tmp_path / "whole", "--steps", "8"))
    assert metrics(run) == metrics(tmp_path / "whole")
    assert "Done." in succeed("pretrain", "--out", run, "--resume")  # nothing left to do
    assert metrics(run) == metrics(tmp_path / "whole")


def test_divergence_is_one_sentence_and_keeps_the_checkpoint(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Pretraining.take_step

    def broken(self: Pretraining) -> dict[str, Any]:
        if self.progress.step == 4:
            with torch.no_grad():
                self.network.embeddings.norm.weight[0] = float("nan")
        return step(self)

    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Pretraining, "take_step", broken)
        sentence = refusal(*words_of(texts, run, "--steps", "8"))
    assert "training diverged at step 5 (loss nan" in sentence
    assert "step-3 is kept" in sentence
    assert [folder.name for folder in (run / "checkpoints").iterdir()] == ["step-3"]
    assert "Done." in succeed("pretrain", "--out", run, "--resume")


def test_folders_in_use_and_runs_that_are_not_there(texts: Path, tmp_path: Path) -> None:
    used = tmp_path / "used"
    used.mkdir()
    (used / "thesis.txt").write_text("mine")
    assert "is not empty" in refusal(*words_of(texts, used, "--steps", "3"))
    assert [path.name for path in used.iterdir()] == ["thesis.txt"]
    assert "is a file" in refusal(*words_of(texts, used / "thesis.txt", "--steps", "3"))
    for missing in (used, tmp_path / "nowhere"):
        sentence = refusal("pretrain", "--out", missing, "--resume")
        assert "is not a training run that can be resumed" in sentence
        assert "Errno" not in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["used"]
    bare = ["pretrain", "--out", tmp_path / "x", "--steps", "3"]
    assert "--corpus and --valid are missing" in refusal(*bare)
    assert "--valid is missing" in refusal(*bare, "--corpus", texts / "train.txt")
    sentence = refusal("pretrain", "--out", used, "--resume", "--minutes", "3", "--seed", "2")
    assert "--minutes" in sentence
    assert "--seed" in sentence
    assert "would have no effect" in sentence


def test_pretrain_learns_its_own_vocabulary(texts: Path, tmp_path: Path) -> None:
    words = words_of(texts, tmp_path / "run", "--steps", "2", "--vocab-size", "90")
    at = words.index("--tokenizer")
    succeed(*words[:at], *words[at + 2 :])
    bert = load(tmp_path / "run" / "checkpoints" / "step-2", device="cpu")
    assert bert.config.vocab_size == bert.tokenizer.vocab_size == 90
    words = words_of(texts, tmp_path / "few", "--steps", "1", "--vocab-size", "30")
    succeed(*words[:at], *words[at + 2 :], *recipe(alphabet=10))
    vocab = load(tmp_path / "few" / "checkpoints" / "step-1", device="cpu").tokenizer.vocab
    assert sum(len(piece) == 1 for piece in vocab) == 10
    assert "alphabet" in refusal(*words, *recipe(alphabet=10))


def test_evaluate_prints_what_the_core_computes(texts: Path, tmp_path: Path) -> None:
    bert = tiny_bert()
    folder = bert.save(tmp_path / "tiny")
    command = ["evaluate", "--data", texts / "valid.txt", "--checkpoint", folder, "--device", "cpu"]
    found = json.loads(succeed(*command, "--json", "--rows", "12"))
    config = DataConfig.for_length(64)
    batches = fixed_batches(small_corpus(8, seed=5), bert.tokenizer, config, seed=0, num_rows=12)
    expected = evaluate_pretraining(load(folder, device="cpu").module, batches, bert.tokenizer)
    assert found["max_seq_length"] == 64  # this checkpoint has no more positions
    assert found["num_pairs"] == expected.num_pairs == 12
    for name in ("mlm_loss", "mlm_top1", "nsp_loss", "nsp_accuracy", "bits_per_character"):
        assert found[name] == getattr(expected, name)
    table = succeed(*command, "--rows", "12")
    for number in (
        f"{expected.mlm_loss:.4g}",
        f"{expected.nsp_accuracy:.4g}",
        f"{expected.bits_per_character:.4g}",
    ):
        assert number in table


def test_evaluate_of_a_text_without_pairs(texts: Path, tmp_path: Path) -> None:
    folder = tiny_bert().save(tmp_path / "tiny")
    lone, one = tmp_path / "lone.txt", tmp_path / "one.txt"
    lone.write_text("the dog sat on the mat.\n")
    one.write_text("the dog sat on the mat.\n" * 30)
    line = ["evaluate", "--checkpoint", folder, "--device", "cpu", "--json", "--data"]
    found = json.loads(succeed(*line, lone))
    assert "two sentences" in found["notes"][0]
    assert (found["objective"], found["num_rows"]) == ("mlm", 1)
    assert "num_pairs" not in found
    found = json.loads(succeed(*line, one))
    assert "single document" in found["notes"][0]
    assert found["objective"] == "mlm+nsp"
    assert json.loads(succeed(*line, texts / "valid.txt"))["notes"] == []


@pytest.mark.parametrize("kind", ["T5ForConditionalGeneration", "BartForConditionalGeneration"])
def test_masked_words_of_a_decoder_are_scored_otherwise(
    texts: Path, tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "other"
    make_other(kind, folder)
    family = "T5" if kind.startswith("T5") else "BART"
    data = ["--data", texts / "valid.txt", "--device", "cpu", "--checkpoint", folder]
    sentence = refusal("evaluate", *data)
    assert all(part in sentence for part in (family, "--task minimal-pairs", "bertscope loss"))
    inputs = ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt", "--steps", "2"]
    run = ["pretrain", *inputs, "--out", tmp_path / "run", "--checkpoint", folder]
    sentence = refusal(*run)
    assert all(part in sentence for part in (family, "--checkpoint", "BERT family"))
    sentence = refusal(*run, "--objective", "denoise-t5")
    assert "starts from noise. Leave --checkpoint out" in sentence


def test_a_teacher_names_the_objectives_beside_it(texts: Path, tmp_path: Path) -> None:
    inputs = ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt", "--steps", "2"]
    run = ["pretrain", *inputs, "--out", tmp_path / "run", "--student-layers", "1", "--teacher"]
    folder = tiny_bert().save(tmp_path / "tiny")
    for objective in ("mass", "rtd", "causal"):
        sentence = refusal(*run, folder, "--objective", objective)
        assert all(name in sentence for name in (objective, "mlm+nsp", "mlm", "wwm"))
        assert "--checkpoint" not in sentence
    sentence = refusal(*run, causal_checkpoint(tmp_path / "causal"))
    assert "predicts next tokens" in sentence
    assert "objective" not in sentence


def test_evaluate_causal_prints_what_the_core_computes(texts: Path, tmp_path: Path) -> None:
    folder = causal_checkpoint(tmp_path / "causal")
    command = ["evaluate", "--task", "causal", "--data", texts / "valid.txt", "--device", "cpu"]
    command += ["--checkpoint", folder]
    found = json.loads(succeed(*command, "--json", "--rows", "5"))
    bert = load(folder, device="cpu")
    rows = causal_rows(
        read_documents([texts / "valid.txt"]), bert, max_seq_length=64, seed=0, num_rows=5
    )
    expected = evaluate_next_tokens(bert, rows)
    assert {name: found[name] for name in expected.to_dict()} == expected.to_dict()
    assert (found["task"], found["max_seq_length"], found["num_rows"]) == ("causal", 64, len(rows))
    table = succeed(*command, "--rows", "5")
    for number in (
        f"{expected.loss:.4g}",
        f"{expected.perplexity:.4g}",
        f"{expected.bits_per_character:.4g}",
    ):
        assert number in table


def causal_checkpoint(folder: Path) -> Path:
    network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    return Bert(network, tiny_tokenizer()).save(folder)


@pytest.mark.parametrize(("line", "start"), cases("mistakes_of_evaluate_mlm"))
def test_evaluate_refuses_a_text_with_a_sentence(
    line: str, start: str, texts: Path, checkpoints: Path
) -> None:
    files = {name: checkpoints / name for name in ("masked", "causal", "none", "empty")}
    files |= {"valid": texts / "valid.txt"}
    sentence = refusal("evaluate", "--device", "cpu", *line.format(**files).split())
    assert sentence.startswith(f"Error: {start.format(**files)}")


def test_the_recipe_of_the_paper(texts: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = words_of(texts, run, "--recipe", "paper", "--steps", "12", *recipe(long_seq_length=48))
    more = ["--batch-size", "16", *recipe(gradient_accumulation=4, long_batch_size=8)]
    result = invoke(*words, *more)
    assert result.exit_code == 0, (result.stderr, result.exception)
    note = " ".join(result.stderr.split())
    assert "Note: differs from the recipe paper" in note
    assert "steps 12 instead of 1000000" in note
    assert "batch_size 16 instead of 256" in note
    settings = json.loads((run / "config.json").read_text())
    train, data, optimizer = (settings[name] for name in ("train", "data", "optimizer"))
    assert (train["start"], train["dropout"], data["dupe_factor"]) == ("noise", 0.1, 10)
    assert (data["long_ratio"], data["long_seq_length"], data["masked_lm_prob"]) == (0.1, 48, 0.15)
    assert (optimizer["optimizer"], optimizer["learning_rate"]) == ("adamw", 1e-4)
    assert (optimizer["adam_beta2"], optimizer["warmup_ratio"]) == (0.999, 0.01)
    assert (data["batch_size"], train["gradient_accumulation"]) == (16, 4)  # what is typed wins
    assert data["long_batch_size"] == 8
    words[words.index(str(run))] = str(tmp_path / "ours")
    at = words.index("paper")
    succeed(*words[: at - 1], *words[at + 1 : -2])
    settings = json.loads((tmp_path / "ours" / "config.json").read_text())
    defaults = json.loads(json.dumps(asdict(OptimizerConfig())))
    assert settings["optimizer"] == defaults
    assert settings["data"]["dupe_factor"] == 0


def test_the_recipe_of_the_paper_is_berts_whole_one() -> None:
    """Devlin et al. 2019, section 3 (BERT-base) and A.2."""
    paper = read_recipes(["paper"], "pretrain", pretrain.RECIPE).settings
    size = {"vocab_size": 30_522, "layers": 12, "hidden": 768, "heads": 12, "steps": 1_000_000}
    assert paper.items() >= size.items()
    short = DataConfig.for_length(**chosen(DataConfig, dict(paper)))
    long = short.long_phase()
    assert (short.batch_size, short.max_seq_length) == (256, 128)
    assert (long.batch_size, long.max_seq_length) == (256, 512)


def test_recipes_are_refused_by_a_sentence(texts: Path, tmp_path: Path) -> None:
    words = words_of(texts, tmp_path / "run", "--steps", "3")
    assert "expected paper, tinybert, or a file" in refusal(*words, "--recipe", "theirs")
    sentence = refusal(*words, "--recipe", "paper", *recipe(muon_learning_rate=0.001))
    assert "AdamW does not use it" in sentence
    sentence = refusal(*words, *recipe(long_seq_length=64))
    assert "long_seq_length would have no effect: it is for a run with long_ratio" in sentence
    sentence = refusal(*words, "--recipe", "paper")  # 4 rows in 8 parts
    assert "batch" in sentence
    assert not (tmp_path / "run").exists()


def test_help_shows_each_setting_once() -> None:
    shown = succeed("pretrain", "--help").partition("\nOptions:\n")[2]
    listed = re.findall(r"^  (?:-\w, )?(--[\w-]+)", shown, flags=re.M)
    # `context` is no option, --help no parameter.
    assert len({*listed}) == len(listed) == len(inspect.signature(pretrain.pretrain).parameters)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "bert"])
def test_every_family_is_pretrained_and_opens_in_transformers(
    family: str, texts: Path, tmp_path: Path
) -> None:
    """On masked words alone; interrupted, it goes on to the same end."""
    run = tmp_path / "run"
    words = words_of(texts, run, *recipe(family=str(family)), "--steps", "8")
    step = Pretraining.take_step

    def interrupted(self: Pretraining) -> dict[str, Any]:
        if self.progress.step == 4:
            signal.raise_signal(signal.SIGINT)
        return step(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pretraining, "take_step", interrupted)
        succeed(*words)
    assert "Done." in succeed("pretrain", "--out", run, "--resume")
    words[words.index(str(run))] = str(tmp_path / "whole")
    succeed(*words)
    assert metrics(run) == metrics(tmp_path / "whole")
    folder = run / "checkpoints" / "step-8"
    ours = load(folder, device="cpu")
    assert ours.config.model_type == family
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    ids = torch.tensor([ours.tokenize("the river bank was steep").input_ids])
    with torch.no_grad():
        expected = model(input_ids=ids).logits
        found = ours.module.mlm_logits(ours.module(ids))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    sentence = refusal(
        *words_of(
            texts,
            tmp_path / "x",
            *recipe(family=str(family)),
            "--steps",
            "2",
            "--objective",
            "mlm+nsp",
        )
    )
    assert "a next-sentence head" in sentence
