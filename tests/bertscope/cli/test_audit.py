"""`bertscope audit`: what the core says, as tables and JSON; bad input is a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bertcore.analysis.attribution import run_file
from bertcore.bias import audit_groups, flip_file
from bertcore.tasks import open_task_model
from bertcore.tasks.column import column_values
from bertscope.cli.main import app
from tests.support.tiny_tasks import make_task

runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
HOSTILE = "[red]<img src=x onerror=alert(1)>\x1b[31m"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint")
    make_task(folder)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "dev.tsv"
    lines = ["text\tlabel\tgender\tsource\tsame"]
    for i in range(60):
        group, label = ("women", HOSTILE)[i % 2], ("bad", "good", "so-so")[i % 3]
        text = f"{('she', 'he')[i % 2]} was {('good', 'bad', 'new', 'old')[i % 4]}"
        lines.append(f"{text}\t{label}\t{group}\t{'abc'[i % 3]}\tx")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def run(*words: str | Path) -> str:
    result = runner.invoke(app, ["audit", *map(str, words), "--device", "cpu"])
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refusal(*words: str | Path) -> str:
    result = runner.invoke(app, ["audit", *map(str, words), "--device", "cpu"])
    assert result.exit_code == 2, (result.stdout, result.stderr, result.exception)
    return result.stderr


def test_json_is_what_the_core_says(folder: Path, data: Path) -> None:
    found = json.loads(run(folder, data, "--by", "gender", "--by", "source", "--json"))
    assert list(found["groups"]) == ["gender", "source"]
    model = open_task_model(folder, device="cpu")
    answers = run_file(model, data)
    expected = audit_groups(answers, column_values(data, model.task.name, "gender"), "gender")
    ours = found["groups"]["gender"]
    assert ours["names"] == list(expected.names)
    assert [one["measure"] for one in ours["gaps"]] == [one.measure for one in expected.gaps]
    for one, core in zip(ours["gaps"], expected.gaps, strict=True):
        assert one["value"] == pytest.approx(core.value)
        assert one["chance"] == pytest.approx(core.chance)
    accuracy = ours["rates"][0]["groups"][0]
    assert accuracy["mean"] == pytest.approx(expected.rates[0].groups[0].mean)
    assert "Barocas" in found["notes"][-1]


def test_tables_show_groups_and_gaps_and_hostile_names_as_text(folder: Path, data: Path) -> None:
    shown = run(folder, data, "--by", "gender")
    for word in ("women", "accuracy", "macro F1", "recall", "demographic parity", "so-so"):
        assert word in shown
    assert "[red]<img" in shown
    assert "\x1b" not in shown


def test_swapped_words_are_those_of_the_core(folder: Path, data: Path, tmp_path: Path) -> None:
    expected = flip_file(open_task_model(folder, device="cpu"), data, [("she", "he")])
    assert expected.changed is not None
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("she,he\n")
    for typed in ("she=he", "gender", pairs):
        found = json.loads(run(folder, data, "--flip", typed, "--json"))
        assert found["groups"] == {}
        assert found["flips"]["num_with_words"] == expected.num_with_words == 60
        assert found["flips"]["changed"]["mean"] == pytest.approx(expected.changed.mean)
        assert found["flips"]["texts"][0]["flipped"] == expected.texts[0].flipped
    shown = run(folder, data, "--flip", "she=he")
    assert "answers that change" in shown
    assert expected.texts[0].flipped in shown


def test_bad_input_is_a_sentence(folder: Path, data: Path) -> None:
    assert "--by" in refusal(folder, data)
    assert "no set of words 'ages'" in refusal(folder, data, "--flip", "ages")
    assert "is not a pair" in refusal(folder, data, "--flip", "she=he,=")
    assert "one value" in refusal(folder, data, "--by", "same")
    assert "no column 'age'" in refusal(folder, data, "--by", "age")
    assert "no task head" in refusal("default", data, "--by", "gender")
    assert "--max-seq-length" in refusal(folder, data, "--by", "gender", "--max-seq-length", "4")
