"""A labelled file by a column: each group's numbers are those of a file of the group alone."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from bertcore.analysis.attribution import FileRun, run_file
from bertcore.bias import GroupAudit, audit_groups
from bertcore.bias.group_audit import EMPTY, MOST_GROUPS
from bertcore.configs import Columns
from bertcore.tasks.column import column_names, column_values
from bertcore.tasks.model import TaskModel
from tests.support.finetuning_files import write_choices, write_label_lists, write_questions
from tests.support.rigged_models import bag_of_words, random_model

WORDS = {"bad": (3.0, 0.0), "old": (1.0, 0.0), "good": (0.0, 2.0), "new": (0.0, 1.0)}
GROUPS = ("women", "men", "")


def rows_of(task: str, folder: Path, num: int = 60) -> list[dict[str, str]]:
    """Return rows of a table with a column of three groups; the last one is empty."""
    who = ("she", "he", "the dog")
    if task == "classify":
        words = ("good", "bad", "new", "old", "good bad")
        rows = [
            {
                "text": f"{who[i % 3]} was {words[i % 5]}",
                "label": ("bad", "good")[(i * 7) % 4 < 2],
            }
            for i in range(num)
        ]
    elif task == "regress":
        rows = [
            {"text": f"{who[i % 3]} was {('good', 'bad')[i % 2]}", "score": str(i % 5)}
            for i in range(num)
        ]
    else:
        path = folder / "as_it_is"
        writer = write_label_lists if task == "multilabel" else write_choices
        writer(path, num)
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if task == "multilabel" else ","))
    return [{**row, "group": GROUPS[i % 3]} for i, row in enumerate(rows)]


def write_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def model_of(task: str) -> TaskModel:
    return bag_of_words(WORDS) if task == "classify" else random_model(task)


def audited(run: FileRun, path: Path, **more: int) -> GroupAudit:
    return audit_groups(run, column_values(path, run.task.name, "group"), "group", **more)


@pytest.mark.parametrize("task", ["classify", "multilabel", "regress", "choice"])
def test_a_group_is_scored_as_its_own_file_would_be(task: str, tmp_path: Path) -> None:
    rows, model = rows_of(task, tmp_path), model_of(task)
    run = run_file(model, write_csv(tmp_path / "all.csv", rows), rows_at_once=7)
    found = audited(run, tmp_path / "all.csv")
    assert found.names == (EMPTY, "men", "women")
    assert found.num_examples == (20, 20, 20)
    assert any("20" in note and "value" in note for note in found.notes)
    rates = {(one.measure, one.label): one.groups for one in found.rates}
    for g, name in enumerate(found.names):
        own = [row for row in rows if row["group"] == name.replace(EMPTY, "")]
        alone = run_file(model, write_csv(tmp_path / "one.csv", own))
        if task == "regress":
            errors = alone.predicted - alone.gold
            assert rates["mean error", None][g].mean == pytest.approx(errors.mean(), abs=1e-5)
            continue
        metrics = alone.metrics().metrics
        assert rates["accuracy", None][g].mean == pytest.approx(metrics["accuracy"])
        if task == "choice":
            assert len(found.rates) == 1
            continue
        assert rates["macro F1", None][g].mean == pytest.approx(metrics["macro_f1"])
        for c, label in enumerate(run.labels):
            given = alone.predicted[:, c] if task == "multilabel" else alone.predicted == c
            assert rates["selection rate", label][g].mean == pytest.approx(given.mean())
    assert found.gaps


def test_tags_and_questions_have_their_metric_by_group(tmp_path: Path) -> None:
    path = tmp_path / "tags.jsonl"
    lines = [
        {
            "tokens": ["she", "was", "in", "paris"][: 2 + i % 3],
            "tags": ["O", "O", "O", "B-LOC"][: 2 + i % 3],
            "group": GROUPS[i % 2],
        }
        for i in range(12)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    model = random_model("tag")
    run = run_file(model, path, rows_at_once=5)
    found = audited(run, path)
    assert found.names == ("men", "women")
    assert found.gaps == ()
    path.write_text("\n".join(json.dumps(line) for line in lines if line["group"] == "men"))
    alone = run_file(model, path).metrics()
    for one in found.rates:
        assert one.groups[0].mean == pytest.approx(alone.metrics[one.measure])
        assert (one.groups[0].low, one.groups[0].high) == alone.intervals[one.measure]

    path = write_questions(tmp_path / "qa.json", 12)
    content = json.loads(path.read_text())
    paragraphs = content["data"][0]["paragraphs"]
    content["data"] = [
        {"title": "he", "paragraphs": paragraphs[::2]},
        {"title": "she", "paragraphs": paragraphs[1::2]},
    ]
    path.write_text(json.dumps(content))
    model = random_model("qa")
    assert column_names(path, model.task.name) == ("title",)
    run = run_file(model, path)
    found = audit_groups(run, column_values(path, model.task.name, "title"), "title")
    f1 = next(one for one in found.rates if one.measure == "f1").groups
    assert [one.mean for one in f1] == [
        pytest.approx(run.quality[:6].mean()),
        pytest.approx(run.quality[6:].mean()),
    ]


def test_bad_rows_do_not_shift_the_groups(tmp_path: Path) -> None:
    rows = rows_of("classify", tmp_path, 12)
    rows[0]["label"] = rows[4]["text"] = ""
    path = write_csv(tmp_path / "all.csv", rows)
    run = run_file(bag_of_words(WORDS), path, skip_bad_rows=True)
    assert run.rows.tolist() == [2, 3, 4, 6, 7, 8, 9, 10, 11, 12]
    assert audited(run, path).num_examples == (4, 3, 3)


def test_columns_without_names_have_numbers(tmp_path: Path) -> None:
    path = tmp_path / "all.tsv"
    path.write_text("\n".join(f"the film was good\tgood\t{'ab'[i % 2]}" for i in range(6)))
    columns = Columns(text="1", label="2")
    run = run_file(bag_of_words(WORDS), path, columns=columns)
    values = column_values(path, run.task.name, "3", columns=columns)
    assert audit_groups(run, values, "3").num_examples == (3, 3)


def test_a_stopped_run_is_compared_as_far_as_it_went(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "all.csv", rows_of("classify", tmp_path))
    run = run_file(bag_of_words(WORDS), path, rows_at_once=9, should_stop=lambda: True)
    assert sum(audited(run, path).num_examples) == run.num_examples == 9


def test_columns_that_do_not_do_are_sentences(tmp_path: Path) -> None:
    rows = rows_of("classify", tmp_path)
    for i, row in enumerate(rows):
        row |= {
            "same": "x",
            "many": str(i),
            "hostile": ("<img src=x onerror=alert(1)>", "b")[i % 2],
        }
    path = write_csv(tmp_path / "all.csv", rows)
    run = run_file(bag_of_words(WORDS), path)

    def audit(column: str, **more: int) -> GroupAudit:
        return audit_groups(run, column_values(path, run.task.name, column), column, **more)

    with pytest.raises(ValueError, match="one value"):
        audit("same")
    with pytest.raises(ValueError, match=f"60 different .* {MOST_GROUPS} groups"):
        audit("many")
    with pytest.raises(ValueError, match="no column 'absent'"):
        audit("absent")
    with pytest.raises(ValueError, match="least is 0"):
        audit("group", least=0)
    assert audit("hostile").names[0].startswith("<img")
    conll = tmp_path / "tags.txt"
    conll.write_text("she O\n\nhe O\n")
    with pytest.raises(ValueError, match="one word per line"):
        column_names(conll, "tag")


def test_groups_too_small_are_named_and_kept(tmp_path: Path) -> None:
    rows = rows_of("classify", tmp_path)
    rows[0]["group"] = "tiny"
    path = write_csv(tmp_path / "all.csv", rows)
    found = audited(run_file(bag_of_words(WORDS), path), path)
    assert "tiny" in found.names
    assert any("tiny" in note and "gap" in note for note in found.notes)
    assert all("tiny" not in (one.highest, one.lowest) for one in found.gaps)
    accuracy = found.rates[0].groups[found.names.index("tiny")]
    assert accuracy.high - accuracy.low > 0.7
    assert np.isfinite(accuracy.low)
