"""One view a task."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.task_model.choices import COLUMNS
from app.task_model.file_choice import rough_number
from app.task_model.task_views import TASK_VIEWS, view_of
from bertcore.tasks import TASKS
from tests.support.finetuning_files import (
    write_choices,
    write_label_lists,
    write_questions,
    write_reviews,
    write_tags,
)


def test_every_task_has_a_view() -> None:
    assert TASKS.keys() == TASK_VIEWS.keys()
    for task in TASKS.values():
        view = view_of(task)
        assert view.upload
        assert view.columns.keys() <= COLUMNS.keys()


@pytest.mark.parametrize(
    ("task", "write", "ending"),
    [
        ("classify", write_reviews, ".tsv"),
        ("multilabel", write_label_lists, ".tsv"),
        ("tag", write_tags, ".txt"),
        ("qa", write_questions, ".json"),
        ("choice", write_choices, ".csv"),
    ],
)
def test_the_rough_number_is_near(task: str, write: object, ending: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"file{ending}", 20)  # type: ignore[operator]
    assert rough_number(path, TASK_VIEWS[task].marks) == pytest.approx(20, abs=1)
    assert bool(TASK_VIEWS[task].column_names(path)) == (
        task in ("classify", "multilabel", "choice")
    )


def test_columns_of_all_labels_are_found_together() -> None:
    """Whatever their order and capitals; not where one is missing, or has a comma in its name."""
    view = TASK_VIEWS["multilabel"]
    labels = ("insult", "threat")
    assert view.joint_columns(("text", "Threat", "insult"), labels) == "Threat,insult"
    assert view.joint_columns(("text", "insult"), labels) is None
    assert view.joint_columns(("a,b", "c"), ("a,b", "c")) is None
    assert TASK_VIEWS["classify"].joint_columns(("insult", "threat"), labels) is None
