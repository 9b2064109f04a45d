"""The loop: an interrupted run ends as if it had not been, and no bad step is ever saved."""

import itertools
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from bertcore import load
from bertcore.training.pretraining import Pretraining, Progress, RunFolder, check_settings
from bertcore.training.pretraining.objectives.masked_words import MaskedWords
from tests.support.command_line import metrics
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_network
from tests.support.tiny_runs import DATA, assert_same_weights, trained
from tests.support.tiny_runs import TRAIN as TINY
from tests.support.tiny_runs import build as tiny_run

TRAIN = replace(TINY, steps=24, log_every=2, evaluate_every=10, evaluate_rows=16, save_every=7)


def build(path: Path, **changes: Any) -> Pretraining:
    """Build the run that these tests disturb."""
    own = {"steps": 24, "log_every": 2, "evaluate_every": 10, "evaluate_rows": 16, "save_every": 7}
    return tiny_run(path, **{**own, **changes})


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize(
    "changes",
    [
        {"dtype": "float32"},
        {"dtype": "bfloat16"},
        {"dtype": "bfloat16", "dropout": 0.2, "start": "noise"},
        {"dtype": "float32", "optimizer": "adamw", "dropout": 0.1},
    ],
)
def test_stopping_and_resuming_changes_nothing(tmp_path: Path, changes: dict[str, Any]) -> None:
    whole = build(tmp_path / "whole", **changes)
    scores = whole.run()
    assert scores is not None
    part = build(tmp_path / "part", **changes)
    stops = iter((1, 9, 16))
    while True:
        stop_at = next(stops, None)
        position = part.progress
        if part.run(should_stop=lambda p=position, s=stop_at: p.step == s) is not None:
            break
        part = build(tmp_path / "part", resume=True, **changes)
        assert part.progress.step == stop_at
    assert metrics(tmp_path / "part") == metrics(tmp_path / "whole")
    assert_same_weights(part, whole)


def test_metrics_say_what_happened(tmp_path: Path) -> None:
    seen: list[Progress] = []
    run = build(tmp_path)
    scores = run.run(on_progress=seen.append)
    assert scores is not None
    assert [progress.step for progress in seen] == list(range(1, 25))
    assert [progress.fraction for progress in seen] == [step / 24 for step in range(1, 25)]
    lines = metrics(tmp_path)
    assert [line["step"] for line in lines] == list(range(2, 25, 2))
    assert [line["step"] for line in lines if "valid_mlm_loss" in line] == [10, 20, 24]
    last = {name.removeprefix("valid_"): lines[-1][name] for name in lines[-1] if "valid_" in name}
    assert last == asdict(scores)
    tokens = sum(run.batches.batch(step).num_tokens for step in range(24))
    assert lines[-1]["num_tokens"] == run.progress.num_tokens == tokens
    for line in lines:
        assert line["loss"] == pytest.approx(line["mlm_loss"] + line["nsp_loss"], abs=1e-5)
        rate = run.optimizer_config.rate_at((line["step"] - 1) / 24)
        assert line["learning_rate_share"] == rate
        assert line["gradient_norm"] > 0


def test_a_finished_run_is_scored_again_and_not_trained(tmp_path: Path) -> None:
    run = build(tmp_path, steps=5)
    scores = run.run()
    before = metrics(tmp_path)
    again = build(tmp_path, steps=5, resume=True)
    assert again.run() == scores
    assert again.progress.step == 5
    assert metrics(tmp_path) == before


def test_a_run_without_a_checkpoint_resumes_from_its_start(tmp_path: Path) -> None:
    build(tmp_path / "whole", steps=6).run()
    (tmp_path / "part").mkdir()
    RunFolder(tmp_path / "part").append_metrics({"step": 2, "loss": 0.0})
    resumed = build(tmp_path / "part", steps=6, resume=True)
    assert resumed.progress.step == 0
    resumed.run()
    assert metrics(tmp_path / "part") == metrics(tmp_path / "whole")


def test_another_corpus_is_not_resumed(tmp_path: Path) -> None:
    build(tmp_path, steps=2).run()
    with pytest.raises(ValueError, match="packed corpus is not the one"):
        build(tmp_path, steps=2, corpus=small_corpus(30), resume=True)


@pytest.mark.parametrize("broken", ["loss", "gradient"])
def test_a_step_that_is_not_a_number_stops_before_it_does_harm(
    tmp_path: Path, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = build(tmp_path)
    good = run.batches.batch

    def batch(step: int, **where: Any) -> Any:
        if step == 9:
            if broken == "loss":
                with torch.no_grad():
                    run.network.embeddings.word_embeddings.weight[:] = float("nan")
            else:
                parameter = run.network.embeddings.word_embeddings.weight
                parameter.register_hook(lambda gradient: gradient * float("inf"))
        return good(step, **where)

    monkeypatch.setattr(run.batches, "batch", batch)
    with pytest.raises(
        RuntimeError, match=r"diverged at step 10 .*step-7 is kept.*lower"
    ) as caught:
        run.run()
    assert "\n" not in str(caught.value)
    assert run.progress.step == 9
    *_, before, last = metrics(tmp_path)
    assert before["step"] == 8
    assert last["step"] == 10
    assert last["diverged"].startswith("loss ")
    resumed = build(tmp_path, resume=True)
    assert resumed.progress.step == 7
    assert all(bool(torch.isfinite(value).all()) for value in trained(resumed))
    assert resumed.run() is not None


def test_a_run_by_the_clock_ends_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: 0.02 * next(ticks))
    monkeypatch.setattr(
        "bertcore.training.pretraining.run.time", clock
    )  # of which it uses nothing else
    run = build(tmp_path, steps=None, minutes=0.6 / 60)
    assert run.run(should_stop=lambda: run.progress.step == 3) is None
    used = run.progress.elapsed_seconds
    resumed = build(tmp_path, steps=None, minutes=0.6 / 60, resume=True)
    assert resumed.progress.elapsed_seconds == used > 0
    assert resumed.run() is not None
    assert resumed.progress.elapsed_seconds >= 0.6
    rates = [line["learning_rate_share"] for line in metrics(tmp_path)]
    assert 0 <= rates[-1] < max(rates)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": None}, "neither was given"),
        ({"steps": 0}, "steps is 0; expected at least 1"),
        ({"steps": None, "minutes": 0.0}, "minutes is 0.0; expected above 0"),
        ({"steps": None, "minutes": float("nan")}, "minutes is nan"),
        ({"keep_checkpoints": 0}, "keep_checkpoints is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"start": "hot"}, "start is 'hot'; expected one of warm, noise"),
    ],
)
def test_wrong_settings_get_a_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TRAIN, **changes)


def test_settings_that_do_not_fit_each_other() -> None:
    with pytest.raises(ValueError, match=r"short_seq_prob is 0\.5, but the objective 'mlm'"):
        check_settings(tiny_config(), TRAIN, replace(DATA, objective="mlm", short_seq_prob=0.5))


def test_tokenizer_and_network_must_agree(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Give both the same size"):
        build(tmp_path, shape=tiny_config(vocab_size=999))
    for start, begin in (("checkpoint", None), ("warm", tiny_network())):
        with pytest.raises(ValueError, match=f"start is '{start}', but"):
            build(tmp_path, start=start, start_from=begin)


@pytest.mark.gpu
def test_a_gpu_learns_as_the_cpu_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A GPU draws other masks, and a step's loss depends on them by a fifth.
    monkeypatch.setattr(MaskedWords, "draws_on_device", False)
    losses = []
    for device in ("cpu", "cuda"):
        run = build(tmp_path / device, device=device, dtype="float32", optimizer="adamw")
        assert run.run() is not None
        losses.append([line["loss"] for line in metrics(tmp_path / device)])
        assert load(run.folder.checkpoints()[-1], device=device).device.type == device
    assert losses[1] == pytest.approx(losses[0], rel=0.05)
