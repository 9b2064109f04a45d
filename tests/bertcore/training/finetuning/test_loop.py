"""The loop: it learns, resumes bit by bit, stops early, freezes, weighs classes, and reports."""

import json
import math
import os
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertcore.configs import numbers, optimizer
from bertcore.training.engine.loop import Progress
from bertcore.training.engine.run_folder import STATE_FILE
from bertcore.training.finetuning import Experiment, resume_experiment, start_experiment
from bertcore.training.finetuning.data.swap_words import Swapping
from bertcore.training.finetuning.state import ERRORS_FILE
from bertcore.training.finetuning.task_step import TaskStep
from bertcore.training.tasks import open_task_model
from tests.support.cases import cases
from tests.support.exhaustive import all_but
from tests.support.finetuning_files import WRITERS, quick_settings, scores_on, write_reviews
from tests.support.full_disk import largest_file
from tests.support.kit import same_weights, state
from tests.support.tiny_families import make

REACHED = {
    "classify": 0.95,
    "multilabel": 0.85,
    "regress": 0.8,
    "tag": 0.95,
    "qa": 0.7,
    "choice": 0.9,
}


def make_experiment(folder: Path, tiny: Path, task: str = "classify", **more: Any) -> Experiment:
    """Return a small experiment in folder/out, on files that are written beside it."""
    folder.mkdir(exist_ok=True)
    writer, ending = WRITERS[task]
    train, dev = folder / f"train{ending}", folder / f"dev{ending}"
    writer(train, more.pop("num_train", 48))
    writer(dev, 24, seed=1)
    more = {"task": task, "epochs": 2, "learning_rates": (2e-3,), **more}
    return start_experiment(folder / "out", quick_settings(tiny, train, dev, **more))


@pytest.mark.parametrize("task", all_but(["classify", "regress", "tag", "choice"], WRITERS))
def test_a_tiny_network_learns(task: str, tiny: Path, tmp_path: Path) -> None:
    """On data that one can learn it gets far beyond guessing, and what is saved scores the same."""
    length = {"qa": 24, "regress": 20}.get(task, 8)
    experiment = make_experiment(tmp_path, tiny, task, num_train=160, epochs=length)
    report = experiment.run()
    reached = report["best"]["value"]
    assert reached >= REACHED[task]
    out = tmp_path / "out"
    getattr(transformers, report["architecture"]).from_pretrained(out)
    model = open_task_model(out, device="cpu")
    assert (model.task.name, model.max_seq_length) == (task, 48)
    scores = scores_on(Path(report["dev"]), model)
    assert scores.metrics[report["metric"]] == pytest.approx(reached, abs=1e-6)
    assert scores.loss == pytest.approx(report["best"]["scores"]["loss"], abs=1e-5)


@pytest.mark.parametrize("more", [{}, {"swap": Swapping.of("gender")}])
def test_a_stop_at_any_step_changes_no_bit(
    more: dict[str, Any], tiny: Path, tmp_path: Path
) -> None:
    """Stopped and resumed twice, within and at the end of an epoch: the same run."""
    experiments = [
        make_experiment(tmp_path / name, tiny, evaluate_every=4, **more)
        for name in ("whole", "parts")
    ]
    whole, experiment = experiments[0].run(), experiments[1]
    assert whole is not None
    for stop_at in (3, 6):
        steps: list[int] = []

        def stop(at: int = stop_at, seen: list[int] = steps) -> bool:
            seen.append(1)
            return len(seen) >= at

        assert experiment.run(should_stop=stop) is None
        torch.manual_seed(99)  # the process's own state must not matter
        experiment = resume_experiment(tmp_path / "parts" / "out")
    parts = experiment.run()
    assert parts is not None
    assert _without_times(parts) == _without_times(whole)
    assert same_weights(*(tmp_path / name / "out" for name in ("whole", "parts")))
    errors = ((tmp_path / name).glob(f"out/runs/*/{ERRORS_FILE}") for name in ("whole", "parts"))
    assert len({next(paths).read_text() for paths in errors}) == 1


@pytest.mark.parametrize("has_products", [True, False])
def test_a_run_goes_on_in_its_format_on_another_processor(
    has_products: bool, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = [has_products]
    monkeypatch.setattr("bertcore.base.device.computes_bfloat16", lambda device: has[0])
    dtype = "bfloat16" if has_products else "float32"
    whole = make_experiment(tmp_path / "whole", tiny, dtype=dtype).run()
    experiment = make_experiment(tmp_path / "parts", tiny)
    assert experiment.format_note.startswith(f"Computing in {dtype}")
    assert ("no bfloat16 products" in experiment.format_note) == (not has_products)
    assert experiment.run(should_stop=lambda: True) is None
    recorded = json.loads((tmp_path / "parts" / "out" / "finetune.json").read_text())
    assert recorded["config"]["dtype"] == dtype
    has[0] = not has_products
    experiment = resume_experiment(tmp_path / "parts" / "out")
    assert ("float32 can be much faster" in experiment.format_note) == has_products
    parts = experiment.run()
    assert whole is not None
    assert parts["settings"]["config"]["dtype"] == dtype
    assert _without_times(parts) == _without_times(whole)


def _without_times(report: dict[str, Any]) -> Any:
    best = {k: v for k, v in report["best"].items() if k not in ("seconds", "examples_per_second")}
    lines = [{k: v for k, v in line.items() if k != "seconds"} for line in report["history"]]
    return best, lines


def test_a_grid_reports_medians_and_keeps_the_best(tiny: Path, tmp_path: Path) -> None:
    experiment = make_experiment(
        tmp_path, tiny, epochs=1, learning_rates=(1e-5, 3e-3), seeds=(1, 2, 3)
    )
    stopped: list[str] = []

    def stop() -> bool:
        return len(stopped) == 1

    def see(name: str, progress: Progress) -> None:
        if name.endswith("seed-2") and not stopped:
            stopped.append(name)

    assert experiment.run(on_progress=see, should_stop=stop) is None
    partial = json.loads((tmp_path / "out" / "report.json").read_text())
    assert len(partial["runs"]) < partial["num_planned"] == 6
    assert "Not finished" in (tmp_path / "out" / "report.md").read_text()
    report = resume_experiment(tmp_path / "out").run()
    assert [row["learning_rate"] for row in report["medians"]] == [1e-5, 3e-3]
    for row in report["medians"]:
        values = sorted(
            run["value"] for run in report["runs"] if run["learning_rate"] == row["learning_rate"]
        )
        assert row["median"] == values[1]
    assert report["best"]["value"] == max(run["value"] for run in report["runs"])
    markdown = (tmp_path / "out" / "report.md").read_text()
    for part in ("95% interval", "Confusion matrix", "median", "Curves", report["command"]):
        assert part in markdown
    assert not list((tmp_path / "out").glob("runs/*/training_state.pt"))
    assert not list((tmp_path / "out").glob("runs/*/best"))


def test_a_frozen_encoder_stays_as_it_is(tiny: Path, tmp_path: Path) -> None:
    report = make_experiment(tmp_path, tiny, frozen=True).run()
    assert report is not None
    before, after = (state(f) for f in (tiny, tmp_path / "out"))
    changed = {
        key for key in after if key not in before or not torch.equal(before[key], after[key])
    }
    head = {"classifier.weight", "classifier.bias"}
    assert changed == head | {"bert.pooler.dense.weight", "bert.pooler.dense.bias"}


@pytest.mark.parametrize(("trained", "learns"), cases("trained_parts"))
def test_only_the_chosen_parts_learn(trained: str, learns: str, tiny: Path, tmp_path: Path) -> None:
    report = make_experiment(tmp_path, tiny, epochs=1, num_train=16, trained=trained).run()
    assert report["settings"]["config"]["trained"] == trained
    before, after = (state(f) for f in (tiny, tmp_path / "out"))
    always = re.compile(r"classifier\..*|bert\.pooler\..*")
    encoder = {key for key in after if key in before and not always.match(key)}
    changed = {key for key in encoder if not torch.equal(before[key], after[key])}
    expected = {key for key in encoder if re.fullmatch(learns, key)}
    # A softmax does not see what is added to all of its scores: a key's bias has no gradient.
    no_gradient = {key for key in expected if key.endswith("key.bias")}
    assert expected - no_gradient <= changed <= expected


def test_parts_that_cannot_be_trained_alone_are_refused(tiny: Path, tmp_path: Path) -> None:
    for number, trained in enumerate(("top", "top 0", "top 2.5", "middle 2", "")):
        with pytest.raises(ValueError, match="top N or bottom N"):
            make_experiment(tmp_path / str(number), tiny, trained=trained)
    with pytest.raises(ValueError, match="has 2"):
        make_experiment(tmp_path / "more", tiny, trained="top 3").run()
    make("ModernBertForMaskedLM", tmp_path / "modern")
    with pytest.raises(ValueError, match="trained is 'biases', and this encoder has none"):
        make_experiment(tmp_path / "biases", tmp_path / "modern", trained="biases").run()
    with pytest.raises(ValueError, match="does not learn"):
        make_experiment(tmp_path / "both", tiny, trained="top 1", frozen=True)


def test_feature_based_tagging_leaves_the_encoder(tiny: Path, tmp_path: Path) -> None:
    """The BiLSTM learns; the encoder's tensors are the old ones; it opens again as what it is."""
    experiment = make_experiment(
        tmp_path, tiny, "tag", feature_based=True, epochs=12, num_train=160, learning_rates=(2e-2,)
    )
    report = experiment.run()
    assert report["best"]["value"] > 0.8
    before, after = (state(f) for f in (tiny, tmp_path / "out"))
    encoder = [key for key in after if key.startswith("bert.")]
    assert len(encoder) > 30
    assert all(torch.equal(before[key], after[key]) for key in encoder)
    model = open_task_model(tmp_path / "out", device="cpu")
    assert model.module.kind == "features"
    scores = scores_on(Path(report["dev"]), model)
    assert scores.metrics["f1"] == report["best"]["value"]
    transformers.BertModel.from_pretrained(tmp_path / "out")
    with pytest.raises(ValueError, match="Set feature_based, too"):
        make_experiment(tmp_path / "other", tiny, features="last")


def test_class_weights_shift_what_is_predicted(tiny: Path, tmp_path: Path) -> None:
    shares = {}
    for weights in ((1.0, 50.0), (50.0, 1.0)):
        experiment = make_experiment(
            tmp_path / str(weights[0]), tiny, epochs=1, class_weights=weights
        )
        report = experiment.run()
        confusion = report["best"]["scores"]["confusion"]
        shares[weights] = sum(row[1] for row in confusion) / 24
    assert shares[1.0, 50.0] > shares[50.0, 1.0]
    with pytest.raises(ValueError, match="holds 0 or less"):  # a batch of that class alone is 0/0
        make_experiment(tmp_path / "zero", tiny, class_weights=(0.0, 1.0))
    with pytest.raises(ValueError, match="3 numbers, but there are 2 labels: bad, good"):
        make_experiment(tmp_path / "wrong", tiny, class_weights=(1.0, 2.0, 3.0))
    assert not (tmp_path / "wrong" / "out").exists()  # told before anything is written


def test_a_full_disk_is_told_and_nothing_is_lost(tiny: Path, tmp_path: Path) -> None:
    experiment = make_experiment(tmp_path, tiny)
    with (
        largest_file(100_000),
        pytest.raises(RuntimeError, match=r"could not be saved: .* full.* --resume"),
    ):
        experiment.run()
    report = resume_experiment(tmp_path / "out").run()
    assert report["best"]["num_steps"] == 12


@pytest.fixture
def any_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rates pass that diverge at once."""
    monkeypatch.setattr(optimizer, "MAX_RATE", math.inf)
    monkeypatch.setattr(numbers, "MAX_FLOAT", math.inf)


@pytest.mark.usefixtures("any_rate")
def test_a_rate_that_is_much_too_high_is_told(tiny: Path, tmp_path: Path) -> None:
    experiment = make_experiment(tmp_path, tiny, epochs=20, learning_rates=(1e30,))
    with pytest.raises(RuntimeError, match=r"NaN or infinite in 20 steps in a row.*Lower"):
        experiment.run()


@pytest.mark.usefixtures("any_rate")
def test_a_run_that_diverged_counts_as_the_worst(tiny: Path, tmp_path: Path) -> None:
    """The grid goes on behind it, and what is written is JSON without NaN."""
    experiment = make_experiment(tmp_path, tiny, "regress", learning_rates=(1e8, 2e-3))
    report = experiment.run()
    assert report["best"]["learning_rate"] == 2e-3
    first, second = report["runs"]
    assert math.isnan(first["value"])
    assert "Lower the learning rate" in first["diverged"]
    assert [math.isnan(row["median"]) for row in report["medians"]] == [True, False]
    out = tmp_path / "out"
    assert "| 1e+08 | 1 | diverged | diverged | diverged |" in (out / "report.md").read_text()
    files = [out / "report.json", *out.glob("runs/*/*.json*")]
    assert {file.name for file in files} >= {"report.json", "result.json", "metrics.jsonl"}
    for file in files:
        lines = file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]
        for line in lines:
            json.loads(line, parse_constant=pytest.fail)
    again = resume_experiment(out).run()
    assert again["best"]["value"] == second["value"]


def test_a_run_without_any_step_is_told(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backward = TaskStep._backward
    monkeypatch.setattr(TaskStep, "_backward", lambda *args: backward(*args) * float("inf"))
    experiment = make_experiment(tmp_path, tiny)
    with pytest.raises(RuntimeError, match=r"in all 12 steps, so nothing was learned\. Lower"):
        experiment.run()


def test_a_step_that_is_left_out_leaves_no_nan(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loss that is no number now and then: nothing is updated, and the metrics stay JSON."""
    backward, calls = TaskStep._backward, []

    def sometimes_wrong(self: TaskStep, examples: Any) -> torch.Tensor:
        calls.append(1)
        loss = backward(self, examples)
        return loss * float("nan") if len(calls) in (2, 6) else loss  # 6: alone before a look

    monkeypatch.setattr(TaskStep, "_backward", sometimes_wrong)
    report = make_experiment(tmp_path, tiny, epochs=1, evaluate_every=5).run()
    assert report["best"]["num_steps"] == 6
    assert [line["step"] for line in report["history"]] == [5, 5, 6]
    json.dumps(report, allow_nan=False)
    weights = state(tmp_path / "out")
    assert all(bool(tensor.isfinite().all()) for tensor in weights.values())


def test_the_best_checkpoint_is_on_the_disk_before_the_state_that_names_it(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    fsync = os.fsync

    def recorded(descriptor: int) -> None:
        flushed.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", recorded)
    experiment = make_experiment(tmp_path, tiny)
    stops = iter([False] * 6)
    assert experiment.run(should_stop=lambda: next(stops, True)) is None
    (run,) = (tmp_path / "out" / "runs").iterdir()
    place = {number: at for at, number in enumerate(flushed)}
    last = place[(run / STATE_FILE).stat().st_ino]
    kept = [run, run / "best", *(run / "best").iterdir()]
    assert len(kept) > 4
    assert all(place[path.stat().st_ino] < last for path in kept)
    assert resume_experiment(tmp_path / "out").run() is not None
    moved = [path for path in (tmp_path / "out").iterdir() if path.name in {p.name for p in kept}]
    assert (tmp_path / "out").stat().st_ino in flushed
    assert all(path.stat().st_ino in flushed for path in moved)


def test_changed_data_are_refused_at_resume(tiny: Path, tmp_path: Path) -> None:
    experiment = make_experiment(tmp_path, tiny)
    assert experiment.run(should_stop=lambda: True) is None
    write_reviews(tmp_path / "train.tsv", 50)
    with pytest.raises(ValueError, match="changed since the run was started"):
        resume_experiment(tmp_path / "out")
    with pytest.raises(ValueError, match="has no fine-tuning run"):
        resume_experiment(tmp_path)


def test_folders_and_settings_that_cannot_be(tiny: Path, tmp_path: Path) -> None:
    make_experiment(tmp_path, tiny)
    with pytest.raises(ValueError, match="Continue it with --resume"):
        make_experiment(tmp_path, tiny)
    (tmp_path / "full" / "out").mkdir(parents=True)
    (tmp_path / "full" / "out" / "letter.txt").touch()
    with pytest.raises(ValueError, match="is not empty"):
        make_experiment(tmp_path / "full", tiny)
    for wrong, match in (
        ({"epochs": 0}, "epochs is 0"),
        ({"learning_rates": (-1.0,)}, "learning_rate is -1"),
        ({"learning_rates": (math.nan,)}, "learning_rate is nan; expected above 0"),
        (
            {"learning_rates": (1e-3, 1e30)},
            "learning_rate is 1e\\+30; expected above 0 and at most 1",
        ),
        ({"learning_rates": (1e-3, 1e-3)}, "each only once"),
        (
            {"learning_rates": (1e-4, 1.0000001e-4)},
            "two of the learning rates",
        ),
        ({"seeds": (2**64,)}, "seed is 18446744073709551616; expected 0 up to"),
        ({"doc_stride": 7}, "doc_stride is 7, but the task 'classify'"),
        ({"max_seq_length": 100}, "reads at most 64 tokens"),
        ({"dtype": "int8"}, "expected one of auto, bfloat16"),
        ({"metric": "bleu"}, "metric is 'bleu'; the task 'classify' has accuracy"),
        ({"class_weights": "unfair"}, "expected 'balanced' or numbers"),
        ({"warmup_ratio": 1.5}, "warmup_ratio"),
        ({"patience": 0}, "patience is 0"),
    ):
        with pytest.raises(ValueError, match=match):
            make_experiment(tmp_path / "new", tiny, **wrong)
    assert not (tmp_path / "new" / "out").exists()
