"""Two checkpoints by size, speed and score: counts by hand, families with other tokenizers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bertcore.analysis.compare.trade_off import trade_off
from bertcore.tasks import open_task_model, read_task_data, score_model
from tests.support.finetuning_files import (
    write_questions,
    write_reviews,
    write_scored_pairs,
    write_tags,
)
from tests.support.rigged_models import bag_of_words, random_model
from tests.support.tiny_tasks import make_task


def test_the_split_and_its_probability_are_those_by_hand(tmp_path: Path) -> None:
    """One model knows "good" alone, the other "bad" too: it is right more often."""
    file = tmp_path / "reviews.tsv"
    first = bag_of_words({"good": (0.0, 9.0), "film": (0.0, 1.0), "house": (0.0, 1.0)})
    second = bag_of_words({"good": (0.0, 9.0), "bad": (9.0, 0.0), "house": (1.0, 0.0)})
    no, yes = first.labels
    rows = [("the film was good", yes)] * 6 + [("the film was bad", no)] * 4
    rows += [("the house", yes)] * 2
    lines = [f"{text}\t{label}" for text, label in rows]
    file.write_text("sentence\tlabel\n" + "\n".join(lines) + "\n")
    found = trade_off(first, second, file, rounds=1)
    assert found.paired is not None
    # "good": both right; "bad": the second alone; "house": the first alone.
    assert (found.paired.both, found.paired.only_first) == (6, 2)
    assert (found.paired.only_second, found.paired.neither) == (4, 0)
    # Of 6 answers that one alone got right, 2 or fewer, or 4 or more, are the first's.
    expected = 2 * sum(math.comb(6, k) for k in range(3)) / 2**6
    assert found.paired.p_value == pytest.approx(expected)
    assert [side.metrics["accuracy"] for side in found.sides] == pytest.approx([8 / 12, 10 / 12])
    assert found.kept == pytest.approx(10 / 8)
    again = trade_off(first, first, file, rounds=1)
    assert again.paired is not None
    assert (again.paired.only_first, again.paired.p_value, again.kept) == (0, 1.0, 1.0)


@pytest.mark.parametrize("family", ["distilbert", "roberta", "albert", "modernbert"])
def test_families_with_other_tokenizers_answer_the_same_file(family: str, tmp_path: Path) -> None:
    labels = ("bad", "good")
    for name in ("bert", family):
        (tmp_path / name).mkdir()
        make_task(tmp_path / name, model_type=name, labels=labels)
    file = write_reviews(tmp_path / "reviews.tsv", 40)
    models = [open_task_model(tmp_path / name, device="cpu") for name in ("bert", family)]
    found = trade_off(models[0], models[1], file, rounds=1)
    assert (found.num_examples, found.num_timed, found.metric) == (40, 40, "accuracy")
    for model, side in zip(models, found.sides, strict=True):
        data = read_task_data(
            file, model.task, model.tokenizer, max_length=model.default_length, labels=labels
        )
        scores = score_model(model.module, data, model.task).scores
        assert side.metrics == pytest.approx(scores.metrics)
        assert side.intervals["accuracy"] == pytest.approx(scores.intervals["accuracy"])
        assert side.size.num_parameters == sum(p.numel() for p in model.module.parameters())
        assert side.size.num_bytes == 4 * side.size.num_parameters
        assert side.mean_tokens == pytest.approx(float(np.diff(data.rows.starts).mean()))
        ratio = side.tokens_per_second / side.examples_per_second
        assert ratio == pytest.approx(side.mean_tokens)
    assert found.paired is not None
    paired = found.paired
    assert paired.both + paired.only_first + paired.only_second + paired.neither == 40


@pytest.mark.parametrize("task", ["tag", "qa", "regress"])
def test_other_tasks(task: str, tmp_path: Path) -> None:
    write = {"tag": write_tags, "qa": write_questions, "regress": write_scored_pairs}[task]
    ending = {"tag": "conll", "qa": "json", "regress": "tsv"}[task]
    file = write(tmp_path / f"data.{ending}", 12)
    model = random_model(task)
    found = trade_off(model, model, file, rounds=1)
    assert found.task == task
    assert (found.paired is None) == (task == "regress")
    assert found.speed_up > 0


def test_two_tasks_are_refused(tmp_path: Path) -> None:
    file = write_reviews(tmp_path / "reviews.tsv", 8)
    with pytest.raises(ValueError, match=r"for the task 'classify' and .* for 'tag'"):
        trade_off(random_model("classify"), random_model("tag"), file)
