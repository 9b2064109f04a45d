"""`--keep-epochs`: each epoch's checkpoint stays, whole, to be opened and compared."""

from pathlib import Path
from typing import Any

import pytest
import transformers

import bertcore
from bertcore.analysis.compare.decision import open_decisions
from bertcore.training.engine.loop import Progress
from bertcore.training.finetuning import resume_experiment
from bertcore.training.finetuning.state import kept_epochs
from bertcore.training.tasks import open_task_model
from tests.bertcore.training.finetuning.test_loop import make_experiment
from tests.support.command_line import recipe, succeed
from tests.support.kit import same_weights

RUN = "lr-0.002-seed-1"


@pytest.fixture(scope="module")
def whole(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of a fine-tuning of two epochs that nobody disturbed, and its report."""
    folder = tmp_path_factory.mktemp("whole")
    report = make_experiment(folder, tiny, keep_epochs=True).run()
    assert report is not None
    return folder / "out", report


def test_both_epochs_open_with_their_labels_and_differ(
    whole: tuple[Path, dict[str, Any]], tiny: Path
) -> None:
    out, report = whole
    (first, second) = kept_epochs(out)[RUN]
    assert (first.name, second.name) == ("epoch-1", "epoch-2")
    for path in (first, second):
        assert open_decisions(bertcore.load(path, device="cpu"), path).of("class") is not None
        model = open_task_model(path, device="cpu")
        assert (model.task.name, model.labels, model.max_seq_length) == (
            "classify",
            ("bad", "good"),
            48,
        )
        theirs = transformers.BertForSequenceClassification.from_pretrained(path)
        assert theirs.config.id2label == {0: "bad", 1: "good"}
        assert not same_weights(path, first if path == second else second)
    best = first if report["best"]["best_step"] == 6 else second
    assert same_weights(out, best)
    # Their scores are those of the curve.
    assert [one["folder"] for one in report["best"]["kept_epochs"]] == [
        f"runs/{RUN}/checkpoints/epoch-{n}" for n in (1, 2)
    ]
    markdown = (out / "report.md").read_text()
    looks = [line for line in report["history"] if "dev_loss" in line]
    for number, line in enumerate(looks, 1):
        cells = f"| {number} | {line['dev_loss']:.4f} | {line['dev_accuracy']:.4f} |"
        assert cells in markdown
    assert not kept_epochs(tiny.parent)


def test_a_kill_or_a_stop_keeps_what_there_is(
    whole: tuple[Path, dict[str, Any]], tiny: Path, tmp_path: Path
) -> None:
    """Stopped in epoch 2 and killed before its end is saved: the same epochs in the end."""

    class Killed(BaseException):
        pass

    def kill(name: str, progress: Progress) -> None:
        if progress.step == 12 and progress.is_scored:
            raise Killed

    experiment = make_experiment(tmp_path, tiny, keep_epochs=True)
    steps: list[int] = []

    def stop() -> bool:
        steps.append(1)
        return len(steps) == 8

    assert experiment.run(should_stop=stop) is None
    out = tmp_path / "out"
    assert [path.name for path in kept_epochs(out)[RUN]] == ["epoch-1"]
    with pytest.raises(Killed):
        resume_experiment(out).run(on_progress=kill)
    assert [path.name for path in kept_epochs(out)[RUN]] == ["epoch-1"]
    assert resume_experiment(out).run() is not None
    ours, theirs = kept_epochs(out)[RUN], kept_epochs(whole[0])[RUN]
    assert len(ours) == 2
    assert all(same_weights(a, b) for a, b in zip(ours, theirs, strict=True))


def test_the_command_line_keeps_them_also_of_a_student(
    whole: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    teacher = whole[0]
    files = ["--train", teacher.parent / "train.tsv", "--dev", teacher.parent / "dev.tsv"]
    usual = ["--epochs", 2, "--batch-size", 16, "--max-seq-length", 32, "--device", "cpu"]
    line = ["finetune", "--teacher", teacher, "--student-layers", 1, *files, *usual]
    succeed(*line, "--out", tmp_path / "s", *recipe(keep_epochs=True))
    line = ["finetune", "--checkpoint", teacher, *files, *usual, "--learning-rate", "1e-3"]
    succeed(*line, "--out", tmp_path / "f", *recipe(keep_epochs=True))
    # Seen from the folder that both lie in, as the Compare page looks.
    found = kept_epochs(tmp_path)
    assert sorted(found) == ["f/lr-0.001-seed-1", "s/lr-0.0001-seed-1"]
    assert all(len(paths) == 2 for paths in found.values())
    student = bertcore.load(found["s/lr-0.0001-seed-1"][1], device="cpu")
    assert student.config.num_hidden_layers == 1
