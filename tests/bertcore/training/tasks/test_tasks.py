"""A seventh task is one class: it is trained, saved, opened, scored and explained like the six."""

from pathlib import Path

import numpy as np
import pytest

from bertcore.analysis.attribution import answer, run_file, task_input
from bertcore.data.columns import TextForm
from bertcore.training.tasks import TASKS, Classify, find_task, open_task_model
from tests.support.finetuning_files import scores_on, write_reviews
from tests.support.rigged_models import started
from tests.support.tiny import tiny_bert


class Mood(Classify):
    """A classification with a name, a metric and a form of its own."""

    name = "mood"
    metrics = ("macro_f1",)
    form = TextForm(task="mood")


def test_a_seventh_task_is_one_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "mood", Mood())
    path = write_reviews(tmp_path / "reviews.tsv", 24)
    checkpoint = tiny_bert().save(tmp_path / "tiny")
    start = started(checkpoint, "mood", labels=("bad", "good"))
    model = open_task_model(start.save(tmp_path / "mood"), device="cpu")
    assert (model.task.name, model.labels) == ("mood", ("bad", "good"))
    scores = scores_on(path, model)
    run = run_file(model, path, max_length=32)
    assert run.metrics().metrics["macro_f1"] == pytest.approx(scores.metrics["macro_f1"])
    found = answer(model, task_input(model, "the film was good"))
    np.testing.assert_allclose(found.probabilities.sum(), 1, atol=1e-6)  # type: ignore[attr-defined]


def test_two_tasks_have_feature_based_forms() -> None:
    for name, kind in (("tag", "token"), ("classify", "sequence")):
        task = find_task(name, features="last")
        assert find_task(name, features="last") is task
        assert (task.features, task.head_kind) == ("last", kind)
        assert task.why_no_decision
        assert find_task(name).features is None
    for name in ("qa", "pair"):
        with pytest.raises(ValueError, match=f"'tag' and 'classify', not '{name}'"):
            find_task(name, features="last")
    with pytest.raises(ValueError, match="'mood'; expected one of classify"):
        find_task("mood")
