"""The wrong dev examples beside a run's metrics: the same as the scores say, and no more."""

import json
from pathlib import Path
from typing import Any

import pytest

from bertcore.data.files import BadRows
from bertcore.training.finetuning import Experiment, Settings, resume_experiment, start_experiment
from bertcore.training.finetuning import run as run_module
from bertcore.training.finetuning.state import (
    ERRORS_FILE,
    MAX_ERRORS,
    find_dev_errors,
    forget_errors_after,
    read_dev_errors,
)
from bertcore.training.tasks import TASKS
from tests.support.finetuning_files import WRITERS, quick_settings, write_reviews
from tests.support.kit import edit


def settings_of(folder: Path, tiny: Path, task: str = "classify", **more: Any) -> Settings:
    writer, ending = WRITERS[task]
    more = {"task": task, "learning_rates": (1e-4,), "held_out": 0.4, **more}
    return quick_settings(tiny, writer(folder / f"all{ending}", 64), **more)


def experiment_of(folder: Path, tiny: Path, task: str = "classify", **more: Any) -> Experiment:
    return start_experiment(folder / "out", settings_of(folder, tiny, task, **more))


def errors_file(folder: Path) -> Path:
    (run,) = (folder / "out" / "runs").iterdir()
    return run / ERRORS_FILE


@pytest.mark.parametrize("task", WRITERS)
def test_they_are_those_that_the_score_counts(task: str, tiny: Path, tmp_path: Path) -> None:
    experiment = experiment_of(tmp_path, tiny, task)
    report = experiment.run()
    wrong = read_dev_errors(errors_file(tmp_path))
    last = report["history"][-1]
    assert (wrong.step, wrong.num_examples) == (last["step"], report["num_dev"])
    metric = {"classify": "accuracy", "choice": "accuracy", "qa": "exact_match"}.get(task)
    if metric is not None:
        assert 1 - wrong.num_wrong / wrong.num_examples == pytest.approx(last[f"dev_{metric}"])
    assert len(wrong.errors) == min(wrong.num_wrong, MAX_ERRORS) > 0
    severities = [error.severity for error in wrong.errors]
    assert severities == sorted(severities, reverse=True)
    # The texts are those of the file, and the answers are told apart.
    written = (tmp_path / "out" / "data").glob("dev.*")
    content = json.dumps(next(written).read_text())
    for error in wrong.errors:
        assert error.gold != error.predicted
        first_words = error.text.split()[0]
        assert first_words in content


def test_a_later_evaluation_is_forgotten_at_resume(tmp_path: Path) -> None:
    path = tmp_path / ERRORS_FILE
    forget_errors_after(tmp_path, 5)  # none there
    for content, kept in (('{"step": 5', False), (None, False)):
        path.write_text(content or json.dumps(_values(6)))
        forget_errors_after(tmp_path, 5)
        assert path.exists() is kept
    path.write_text(json.dumps(_values(5)))
    forget_errors_after(tmp_path, 5)
    assert read_dev_errors(path).step == 5


def _values(step: int) -> dict[str, Any]:
    return {"step": step, "num_examples": 3, "num_wrong": 0, "errors": []}


def test_few_are_kept_and_long_texts_are_cut(tmp_path: Path) -> None:
    task = TASKS["classify"]
    path = tmp_path / "t.tsv"
    path.write_text("text\tlabel\n" + f"{'long ' * 1000}\ta\n" * 300)
    examples = task.read(path, bad_rows=BadRows())
    predictions = [{"gold": "a", "predicted": "b", "confidence": i / 300} for i in range(300)]
    wrong = find_dev_errors(task, examples, predictions, step=1)
    assert (wrong.num_wrong, len(wrong.errors)) == (300, MAX_ERRORS)
    assert wrong.errors[0].severity == pytest.approx(299 / 300)
    assert all(len(error.text) <= 500 for error in wrong.errors)


def test_a_folder_of_an_older_version_resumes(tiny: Path, tmp_path: Path) -> None:
    """Its settings say nothing of a division, of the numbers of examples, or of notes."""
    dev = write_reviews(tmp_path / "dev.tsv", 16, seed=1)
    settings = settings_of(tmp_path, tiny, dev=dev, held_out=None)
    assert start_experiment(tmp_path / "out", settings).run(should_stop=lambda: True) is None
    edit(tmp_path / "out", "finetune.json", held_out=None, sample=None, data=None)
    report = resume_experiment(tmp_path / "out").run()
    assert report["dev"] == str(dev)


def test_a_full_disk_at_the_metrics_is_one_sentence(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = experiment_of(tmp_path, tiny)
    for what, written in (("the metrics", "append_line"), ("the wrong dev", "write_dev_errors")):

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(run_module, written, full)
            with pytest.raises(RuntimeError, match=f"{what}.* full. Free some space.*--resume"):
                experiment.run()
    assert resume_experiment(tmp_path / "out").run() is not None
