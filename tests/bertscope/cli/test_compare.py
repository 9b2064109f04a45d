"""`bertscope compare` prints what the core says; mistakes get a sentence."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from bertcore import load
from bertcore.analysis.compare.checkpoints import compare_text, questions
from bertcore.analysis.compare.decision import open_decisions
from bertcore.analysis.compare.texts import compare_texts
from bertcore.analysis.compare.weight_drift import weight_drift
from bertcore.data.texts_file import Sentence
from bertscope.cli.main import app
from tests.support.finetuning_files import write_reviews
from tests.support.task_checkpoints import save_task_checkpoint
from tests.support.tiny import tiny_bert
from tests.support.tiny_tasks import make_task

TEXT, PAIR = "the film was very good", "she sat on the mat"
runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb"})


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("checkpoints")
    return tiny_bert().save(folder / "start"), save_task_checkpoint(folder, "classify")


def run(*words: str | Path) -> str:
    result = runner.invoke(app, ["compare", *map(str, words)])
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refusal(*words: str | Path) -> str:
    result = runner.invoke(app, ["compare", *map(str, words)])
    assert result.exit_code == 2, (result.stdout, result.stderr)
    assert "Traceback" not in result.stderr
    return result.stderr.splitlines()[-1]


def test_one_text_as_json_is_the_cores(folders: tuple[Path, Path]) -> None:
    found = json.loads(run(*folders, "--text", TEXT, "--pair", PAIR, "--json"))
    first, second = (load(folder, device="cpu") for folder in folders)
    asked = questions(
        first, second, (open_decisions(first, folders[0]), open_decisions(second, folders[1]))
    )
    traces = (first.trace(TEXT, PAIR), second.trace(TEXT, PAIR))
    true = compare_text(first, second, traces, asked)
    np.testing.assert_allclose(found["head_divergence_bits"], true.divergence, atol=1e-6)
    assert [answer["question"] for answer in found["answers"]] == ["class", "next"]
    assert found["answers"][0]["head_of_the_other"] == str(folders[0])
    _, one, two = true.answers[0]
    assert one is not None
    assert two is not None
    for side, read in (("first", one), ("second", two)):
        (told,) = found["answers"][0][side]
        assert told["answer"] == read.final[0]
        assert told["settled"] == read.settled[0]
        np.testing.assert_allclose(told["by_layer"], read.of_final()[:, 0], atol=1e-6)
    drift = weight_drift(first, second)
    assert found["weights"]["same"] is False
    told_drift = {t["name"]: t["relative_change"] for t in found["weights"]["tensors"]}
    for tensor in drift.tensors:
        assert told_drift[tensor.name] == pytest.approx(tensor.drift.relative)
    assert found["weights"]["only_first"] == list(drift.only_first)


def test_a_file_as_json_is_the_cores(folders: tuple[Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "texts.txt.xz"
    path.write_bytes(lzma.compress(f"{TEXT}\n{PAIR} ||| {TEXT}\na dog runs\n".encode()))
    found = json.loads(run(*folders, "--text", path, "--json"))
    first, second = (load(folder, device="cpu") for folder in folders)
    asked = questions(
        first, second, (open_decisions(first, folders[0]), open_decisions(second, folders[1]))
    )
    sentences = [Sentence(TEXT), Sentence(PAIR, TEXT), Sentence("a dog runs")]
    true = compare_texts(first, second, sentences, asked)
    assert found["texts"] == 3
    np.testing.assert_allclose(found["cka"]["plain"], true.similarity.plain, atol=1e-6)
    np.testing.assert_allclose(found["cka"]["debiased"], true.similarity.debiased, atol=1e-6)
    assert found["cka"]["examples"] == true.similarity.num_examples
    assert [a["changed"] for a in found["answers"]] == [a.is_changed for a in true.answers]


def test_people_get_tables(folders: tuple[Path, Path]) -> None:
    said = run(*folders, "--text", f"{TEXT} [MASK]")
    for words in ("weights that moved most", "head of the other", "word at the [MASK]", "bits"):
        assert words in said
    assert "only in the first: 7 tensors" in said
    many = run(*folders)  # our sixty sentences
    assert "CKA over" in many
    assert "answers differ" in many
    assert "trust the debiased column" not in many  # tokens enough for vectors of 32
    few = run(folders[0], "untrained", "--text", TEXT)
    assert "weights that moved most" in few


def test_the_same_twice_says_so(folders: tuple[Path, Path]) -> None:
    said = run(folders[1], folders[1], "--text", TEXT)
    assert "The weights are the same: every difference is zero." in said


def test_nan_is_told_and_no_traceback(folders: tuple[Path, Path], tmp_path: Path) -> None:
    broken = tiny_bert()
    broken.module.layers[0].attention.key.weight.data[0, 0] = torch.nan
    where = broken.save(tmp_path / "broken")
    assert "contain NaN or infinity" in refusal(folders[0], where, "--text", TEXT)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--text", " "), "--text is empty"),
        (("--pair", PAIR), "--pair is given without --text"),
        (("--text", "missing.tsv"), "there is no file 'missing.tsv'"),
    ],
)
def test_wrong_words_are_one_sentence(
    folders: tuple[Path, Path], words: tuple[str, ...], said: str
) -> None:
    assert said in refusal(*folders, *words)


def test_a_pair_beside_a_file_is_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(TEXT, encoding="utf-8")
    assert "can only be the second one" in refusal("untrained", folders[0], "--text", TEXT)
    assert "Write pairs in the file with |||" in refusal(*folders, "--text", path, "--pair", PAIR)
    assert "no folder" in refusal(folders[0], tmp_path / "none", "--text", TEXT)


def test_size_speed_and_score(tmp_path: Path) -> None:
    labels = ("bad", "good")
    for name in ("bert", "distilbert"):
        (tmp_path / name).mkdir()
        make_task(tmp_path / name, model_type=name, labels=labels)
    file = write_reviews(tmp_path / "reviews.tsv", 24)
    words = (tmp_path / "bert", tmp_path / "distilbert", "--speed", "--data", file)
    record = json.loads(run(*words, "--json"))
    assert [side["size"]["family"] for side in record["sides"]] == ["BERT", "DistilBERT"]
    assert record["num_examples"] == 24
    shown = run(*words, "--task", "classify")
    for side in record["sides"]:
        assert f"{side['size']['num_parameters']:,}" in shown
        low, high = side["intervals"]["accuracy"]
        assert f"{side['metrics']['accuracy']:.3f} ({low:.3f} to {high:.3f})" in shown
    assert "McNemar's exact test: p = " in shown
    assert "keeps" in shown


def test_size_and_speed_at_a_text(folders: tuple[Path, Path]) -> None:
    words = (*folders, "--speed", "--text", TEXT)
    record = json.loads(run(*words, "--json"))
    for folder, side in zip(folders, record["sides"], strict=True):
        bert = load(folder, device="cpu")
        assert side["speed"]["num_tokens"] == len(bert.tokenize(TEXT).input_ids)
        assert side["size"]["num_parameters"] == sum(p.numel() for p in bert.module.parameters())
        assert side["speed"]["alone"] > 0
    assert "texts per second, one at a time" in run(*words)


def test_speed_needs_its_file_and_heads(folders: tuple[Path, Path], tmp_path: Path) -> None:
    start, tuned = folders
    file = write_reviews(tmp_path / "reviews.tsv", 8)
    assert "Give --data FILE" in refusal(tuned, tuned, "--speed")
    assert "--task goes with --data" in refusal(
        tuned, tuned, "--speed", "--text", "a", "--task", "classify"
    )
    assert "has no task head" in refusal(start, tuned, "--speed", "--data", file)
    assert "not both" in refusal(tuned, tuned, "--speed", "--text", "a", "--data", file)
    assert "go with --speed" in refusal(tuned, tuned, "--data", file)
