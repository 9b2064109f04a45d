"""`bertscope finetune` and `evaluate`: from the command line, with one sentence for wrong input."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.support.cases import cases
from tests.support.command_line import invoke, recipe, refusal
from tests.support.kit import pickled, state, store

ROOT = Path(__file__).resolve().parents[3]

QUICK = "--epochs 1 --batch-size 8 --max-seq-length 32 --device cpu".split()


def words(files: Path, out: Path, *more: str | Path, train: Path | None = None) -> list[str]:
    inputs = ["--train", train or files / "train.tsv", "--dev", files / "dev.tsv"]
    return [
        *map(str, ["finetune", *inputs, "--checkpoint", files / "tiny", "--out", out]),
        *QUICK,
        *map(str, more),
    ]


def test_train_then_evaluate(files: Path, tmp_path: Path) -> None:
    """Several rates after --learning-rate; evaluate then says what the report says."""
    out = tmp_path / "out"
    result = invoke(*words(files, out, "--seeds", "2", "--learning-rate", "1e-3", "3e-3"))
    assert result.exit_code == 0, (result.stderr, result.exception)
    assert "Done. The model and its report.md are in" in result.stdout
    report = json.loads((out / "report.json").read_text())
    assert len(report["runs"]) == 4
    assert report["settings"]["learning_rates"] == [1e-3, 3e-3]
    assert report["settings"]["seeds"] == [1, 2]
    evaluated = ["evaluate", "--task", "classify", "--checkpoint", out, "--device", "cpu"]
    data = ["--data", files / "dev.tsv"]
    assert refusal("evaluate", "--checkpoint", out, *data).endswith(
        "score it with --task classify."
    )
    answers = tmp_path / "answers.jsonl"
    scored = invoke(*evaluated, *data, "--json", "--predictions", answers)
    assert scored.exit_code == 0, (scored.stderr, scored.exception)
    values = json.loads(scored.stdout)
    assert values["metrics"] == pytest.approx(report["best"]["scores"]["metrics"])
    assert values["max_seq_length"] == 32
    lines = [json.loads(line) for line in answers.read_text().splitlines()]
    assert [line["row"] for line in lines] == list(range(1, 17))
    right = sum(line["gold"] == line["predicted"] for line in lines)
    assert right / 16 == pytest.approx(values["metrics"]["accuracy"])
    attributions = tmp_path / "words.parquet"
    table = invoke(*evaluated, *data, "--attributions", attributions)
    assert "accuracy" in table.stdout
    by_row = pd.read_parquet(attributions).groupby("row")
    explained = by_row.agg({"attribution": "sum", "value": "first", "baseline": "first"})
    assert len(explained) == 16
    change = explained["value"] - explained["baseline"]
    assert explained["attribution"].to_numpy() == pytest.approx(change, abs=0.05)
    means = pd.read_parquet(tmp_path / "words-means.parquet")
    assert means.query("answers == 'all'")["rows"].max() <= 16
    assert sorted(path.name for path in tmp_path.glob("words*")) == [
        "words-means.parquet",
        "words.parquet",
    ]
    assert "95% interval" in table.stdout


@pytest.mark.parametrize(
    ("option", "number"), [("--checkpoint", "nan"), ("--checkpoint", "inf"), ("--teacher", "nan")]
)
def test_weights_that_are_not_finite_are_refused_before_training(
    files: Path, tmp_path: Path, option: str, number: str
) -> None:
    source, out, name = tmp_path / "task", tmp_path / "out", "encoder.layer.0.output.dense.weight"
    assert invoke(*words(files, source)).exit_code == 0
    weights = state(source)
    weights[f"bert.{name}"][0, 0] = float(number)
    store(source, weights)
    sentence = refusal(*words(files, out), option, source)
    assert f"the checkpoint {str(source)!r} has NaN or infinity in its weights" in sentence
    assert f"(bert.{name})" in sentence
    assert not out.exists()


def test_the_recipe_of_the_paper(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = invoke(*words(files, out, "--recipe", "paper", *recipe(dropout=0.2)))
    assert result.exit_code == 0, (result.stderr, result.exception)
    note = " ".join(result.stderr.split())
    assert "Note: differs from the recipe paper:" in note
    assert "dropout 0.2 instead of 0.1" in note
    settings = json.loads((out / "finetune.json").read_text())
    assert settings["learning_rates"] == [5e-5, 3e-5, 2e-5]
    assert settings["config"]["warmup_ratio"] == 0.1
    shape = json.loads((out / "config.json").read_text())
    for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
        assert shape[name] == 0.2
    assert "expected paper, tinybert, or a file" in refusal(
        *words(files, tmp_path / "x", "--recipe", "a")
    )


def test_a_zip_of_pickled_weights_is_fine_tuned_where_that_is_agreed_to(
    files: Path, tmp_path: Path
) -> None:
    """With the same result as from the folder; also by a relative path, which stays valid."""
    folder, out = tmp_path / "folder", tmp_path / "out"
    shutil.copytree(files / "tiny", folder)
    pickled(folder)
    archive = Path(shutil.make_archive(str(tmp_path / "mine"), "zip", folder))
    line = words(files, out, "--checkpoint", os.path.relpath(archive), "--json")
    assert "--allow-pickle" in refusal(*line)
    assert not out.exists()
    reports = []
    for more in ([*line, "--allow-pickle"], words(files, tmp_path / "same", "--json")):
        result = invoke(*more)
        assert result.exit_code == 0, (result.stderr, result.exception)
        reports.append(json.loads(result.stdout))
    assert reports[0]["best"]["scores"] == reports[1]["best"]["scores"]
    settings = json.loads((out / "finetune.json").read_text())
    assert (settings["checkpoint"], settings["allow_pickle"]) == (str(archive), True)
    assert invoke("finetune", "--out", out, "--resume").exit_code == 0


@pytest.mark.parametrize(("more", "settings", "start"), cases("mistakes_of_finetune"))
def test_mistakes_get_one_sentence(
    more: str, settings: dict[str, object], start: str, files: Path, tmp_path: Path
) -> None:
    tables = {"one": "a\tx\nb\tx\n", "none": "", "other": "a\tx\nb\ty\n"}
    for name, rows in tables.items():
        (tmp_path / name).write_text(f"sentence\tlabel\n{rows}")
    more = more.format(**{name: tmp_path / name for name in tables})
    out = tmp_path / "out"
    assert start in refusal(*words(files, out, *more.split(), *recipe(**settings)))
    assert not out.exists()


def test_what_is_missing_is_one_sentence(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "give --train FILE to learn" in refusal("finetune", "--out", out)
    assert "has no fine-tuning run" in refusal("finetune", "--out", out, "--resume")


def test_a_mistake_in_a_divided_file_names_the_file(files: Path, tmp_path: Path) -> None:
    assert invoke(*words(files, tmp_path / "a")).exit_code == 0
    other = tmp_path / "other.tsv"
    other.write_text("sentence\tlabel\n" + "It rained\twet\nThe sun shone\tdry\n" * 20)
    line = ["--train", other, "--held-out", "0.5", "--checkpoint", tmp_path / "a", *QUICK]
    sentence = refusal("finetune", *line, "--out", tmp_path / "b")
    assert f"'{other}' has the label" in sentence


@pytest.mark.parametrize(("more", "start"), cases("mistakes_of_evaluate"))
def test_mistakes_of_evaluate_get_one_sentence(more: str, start: str, files: Path) -> None:
    line = ["--checkpoint", files / "tiny", "--data", files / "dev.tsv"]
    assert start in refusal("evaluate", *line, *more.split())


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_keeps_what_there_is(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    line = words(files, out, "--epochs", "4000")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "bertscope", *line],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    best = out / "runs" / "lr-0.0001-seed-1" / "best" / "config.json"
    end = time.monotonic() + 240
    while not best.is_file() and time.monotonic() < end and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=240)
    assert process.returncode == 0
    assert "Stopped and saved. Continue with: bertscope finetune --out" in told
    assert best.is_file()
    assert (best.parents[1] / "training_state.pt").is_file()
