"""Event files against metrics.jsonl, by TensorBoard's own reader, through stop and resume."""

import importlib.util
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from bertcore.pretraining import Pretraining
from bertcore.training.event_files import check_tensorboard, has_events
from tests.support.command_line import make_texts, metrics, refusal, succeed, words_of


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_texts(tmp_path_factory.mktemp("texts"))


def events(run: Path) -> dict[str, dict[int, float]]:
    """Return the value of each step by tag."""
    found = EventAccumulator(str(run / "tensorboard"), size_guidance={"scalars": 0}).Reload()
    return {
        tag: {event.step: event.value for event in found.Scalars(tag)}
        for tag in found.Tags()["scalars"]
    }


def test_events_are_the_metrics_also_after_a_resume(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    step = Pretraining.take_step

    def interrupted(self: Pretraining) -> dict[str, Any]:
        if self.progress.step == 4:
            signal.raise_signal(signal.SIGINT)
        return step(self)

    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Pretraining, "take_step", interrupted)
        succeed(*words_of(texts, run, "--steps", "8"), "--tensorboard")
    assert has_events(run)
    succeed("pretrain", "--out", run, "--resume")
    torch.set_num_threads(threads)
    lines, found = metrics(run), events(run)
    for line in lines:
        assert found["train/mlm_loss"][line["step"]] == pytest.approx(line["mlm_loss"], rel=1e-6)
        assert found["train/nsp_accuracy"][line["step"]] == pytest.approx(line["nsp_accuracy"])
        assert found["tokens_per_second"][line["step"]] > 0
    scored = {line["step"]: line["valid_mlm_top1"] for line in lines if "valid_mlm_top1" in line}
    assert scored
    assert found["valid/mlm_top1"] == pytest.approx(scored)
    assert set(found["train/loss"]) == {line["step"] for line in lines}


def test_without_the_package_one_sentence_says_what_to_do(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "tensorboard" else real(name)
    )
    with pytest.raises(ValueError, match="pip install"):
        check_tensorboard()
    run = tmp_path / "run"
    said = refusal(*words_of(texts, run, "--steps", "8"), "--tensorboard")
    assert "need the package tensorboard" in said
    assert not run.exists()
    succeed(*words_of(texts, run, "--steps", "2"))
    assert not has_events(run)
