"""Attributions of a whole file: those of each row alone, their means by hand, a resumed log."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bertcore.analysis.attribution import explain_file, explain_text, file_words
from bertcore.analysis.attribution.file_words import SCORE, RowWords, word_means
from bertcore.configs import Columns
from bertcore.data.examples import LabelsExample, TextExample
from bertcore.data.files import BadRows
from bertcore.training.tasks.read import read_examples
from tests.support.finetuning_files import write_labelled
from tests.support.rigged_models import bag_of_words, random_model

COLUMNS = {"multilabel": Columns(label="Toxic,insult,threat")}


@pytest.mark.parametrize("method", ["ig", "occlusion"])
@pytest.mark.parametrize("task", ["classify", "pair", "multilabel", "regress"])
def test_each_row_is_explained_as_its_text_alone(
    task: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, path = random_model(task), write_labelled(task, tmp_path)
    monkeypatch.setattr(file_words, "can_differentiate", lambda model: method == "ig")
    columns, bad = COLUMNS.get(task, Columns()), BadRows(skip=True)
    found = explain_file(model, path, columns=columns, skip_bad_rows=True, steps=20, most_rows=4)
    examples = {e.row: e for e in read_examples(path, model.task, columns=columns, bad_rows=bad)}
    assert (len(found.rows), found.method) == (4, method)
    assert any("first 4 rows" in note for note in found.notes)
    for row in found.rows:
        example = examples[row.row]
        assert isinstance(example, TextExample | LabelsExample)
        alone = explain_text(model, example.text, example.text_pair, steps=20)
        places = alone.source.text_words
        assert row.words == tuple(alone.source.words[place].text for place in places)
        np.testing.assert_allclose(row.attributions, alone.words[method][places], atol=1e-5)
        assert row.value == pytest.approx(alone.value, abs=1e-5)
        if method == "ig":  # complete: words sum to the change of the log-odds
            assert (row.baseline, row.delta) == pytest.approx((alone.baseline, alone.delta))
            change = row.value - alone.baseline + alone.delta
            assert sum(row.attributions) == pytest.approx(change, abs=1e-4)
        if task == "regress":
            assert (row.label, row.is_wrong) == (SCORE, False)
        if task in ("classify", "pair"):
            assert row.is_wrong == (row.gold != row.label)


def test_words_are_averaged_by_text_label_and_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bag of words says by itself what each word adds."""
    model = bag_of_words({"bad": (3.0, 0.0), "good": (0.0, 2.0)})
    monkeypatch.setattr(file_words, "can_differentiate", lambda model: False)
    path = tmp_path / "a.csv"
    texts = ["the bad film,bad", "Bad and bad,bad", "good film,good", "the good film,bad"]
    path.write_text("\n".join(["text,label", *texts]))
    found = explain_file(model, path)
    means = {(each.word, each.label, each.answers): each for each in found.means}
    bad, good = means["bad", "bad", "all"], means["good", "good", "all"]
    assert (bad.rows, good.rows) == (2, 2)
    assert (bad.mean, good.mean) == pytest.approx((3, 2))
    assert means["film", "good", "all"].mean == pytest.approx(0)
    assert {word for word, _, answers in means if answers == "wrong"} == {"the", "good", "film"}
    assert np.isnan(means["good", "good", "wrong"].low)


def test_the_interval_is_students_t_over_texts() -> None:
    def row(label: str, *attributions: float) -> RowWords:
        shown = ("a",) * len(attributions)
        ids = (0,) * len(attributions)
        return RowWords(1, "x", label, False, 0.0, None, None, shown, ids, attributions)

    (mean,) = word_means([row("x", 1.0, 3.0), row("x", 5.0), row("x", 0.0)], lower=True)
    expected = stats.ttest_1samp([2.0, 5.0, 0.0], 0).confidence_interval()
    assert (mean.rows, mean.mean) == (3, pytest.approx(7 / 3))
    assert (mean.low, mean.high) == pytest.approx((expected.low, expected.high))


def test_a_killed_run_resumes_from_its_log(tmp_path: Path) -> None:
    model, path, log = (
        random_model("classify"),
        write_labelled("classify", tmp_path),
        tmp_path / "l",
    )
    whole = explain_file(model, path, most_rows=4, steps=8)
    first = explain_file(model, path, most_rows=2, steps=8, log=log)
    assert first.rows == whole.rows[:2]
    with log.open("a") as file:
        file.write('[3, "go')  # killed while it wrote
    done: list[float] = []
    resumed = explain_file(model, path, most_rows=4, steps=8, log=log, on_fraction=done.append)
    assert resumed.rows == whole.rows
    assert done == [0.75, 1.0]
    assert str(resumed.means) == str(whole.means)  # NaN equals nothing
    with pytest.raises(ValueError, match="other steps and weights"):
        explain_file(random_model("classify", seed=1), path, steps=9, log=log)
    path.write_text(path.read_text().replace("film", "play") + "\n")
    with pytest.raises(ValueError, match="other data"):
        explain_file(model, path, steps=8, log=log)


@pytest.mark.parametrize("task", ["tag", "qa", "choice"])
def test_answers_that_are_not_one_of_a_text_are_refused(task: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{task!r} has no one answer"):
        explain_file(random_model(task), write_labelled(task, tmp_path))
