"""An encoder that is not trained runs once; what it says is kept in memory or in a file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bertcore.model.network.task_heads import TaskNetwork
from bertcore.training.finetuning import resume_experiment
from bertcore.training.tasks import find_task, open_task_model, read_task_data
from bertcore.training.tasks.features import compute_features
from bertcore.training.tasks.rows import ordered_batches
from bertcore.training.tasks.scoring import score_model
from tests.bertcore.training.finetuning.test_loop import make_experiment
from tests.support.finetuning_files import WRITERS
from tests.support.rigged_models import started
from tests.support.tiny import tiny_bert
from tests.support.tiny_tasks import make_task


def opened(task: str, tiny: Path, folder: Path, *, features: str | None = None) -> Any:
    writer, ending = WRITERS[task]
    path = folder / f"data{ending}"
    writer(path, 20)
    chosen = find_task(task)
    plain = tiny_bert().tokenizer
    data = read_task_data(path, chosen, plain, max_length=40, is_train=False)
    return started(tiny, task, labels=data.labels, features=features).module, data


def test_a_head_that_pools_all_tokens_gets_them_all(tmp_path: Path) -> None:
    make_task(tmp_path, "SequenceClassification", "modernbert", classifier_pooling="mean")
    model = open_task_model(tmp_path, device="cpu")
    path = tmp_path / "data.tsv"
    path.write_text("text\tlabel\nthe river bank\tbad\nthe dog\tgood\na\tso-so\n")
    data = read_task_data(path, model.task, model.tokenizer, max_length=40, labels=model.labels)
    found = compute_features(model.module, data.rows, tmp_path)
    batch = data.rows.batch([0, 1, 2])
    with torch.no_grad():
        hidden = found.batch(np.arange(3))
        logits = model.module.read(hidden, batch.attention_mask, (3,))
        whole = model.module(batch.input_ids, batch.segment_ids, batch.attention_mask)
    torch.testing.assert_close(logits, whole, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("task", [*WRITERS, "features"])
@pytest.mark.parametrize("in_memory_bytes", [0, 10**9], ids=["file", "memory"])
def test_the_top_reads_the_same_from_what_was_kept(
    task: str, tiny: Path, tmp_path: Path, in_memory_bytes: int
) -> None:
    is_lstm = task == "features"
    features = "weighted-all" if is_lstm else None
    module, data = opened("tag" if is_lstm else task, tiny, tmp_path, features=features)
    module.train()  # dropout on: the encoder must be run without
    before = set(tmp_path.iterdir())
    found = compute_features(module, data.rows, tmp_path, in_memory_bytes=in_memory_bytes)
    assert isinstance(found.values, np.memmap) == (in_memory_bytes == 0)
    assert set(tmp_path.iterdir()) == before  # a kill would leave nothing
    assert module.network.training
    module.eval()
    with torch.no_grad():
        for examples in ordered_batches(data.rows, 7):
            batch = data.rows.batch(examples)
            expected = module(batch.input_ids, batch.segment_ids, batch.attention_mask)
            got = module.read(
                found.batch(examples), batch.attention_mask, batch.input_ids.shape[:-1]
            )
            kept = batch.attention_mask
            if kept is not None and expected.dim() == 3 and task != "choice":
                expected, got = expected[kept], got[kept]
            torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)
    chosen = find_task("tag" if is_lstm else task)
    plain = score_model(module, data, chosen, in_full=False)
    quick = score_model(module, data, chosen, in_full=False, features=found)
    assert quick.predictions == plain.predictions
    assert quick.scores.loss == pytest.approx(plain.scores.loss, abs=1e-5)


def test_the_encoder_runs_once_and_learns_as_if_it_ran_each_epoch(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []
    encode = TaskNetwork.encode

    def counted(self: TaskNetwork, input_ids: torch.Tensor, *more: Any, **named: Any) -> Any:
        calls.append(len(input_ids))
        return encode(self, input_ids, *more, **named)

    monkeypatch.setattr(TaskNetwork, "encode", counted)
    usual = {"frozen": True, "epochs": 4, "dtype": "float32"}
    report = make_experiment(tmp_path / "kept", tiny, **usual).run()
    assert report is not None
    # 48 for training, 24 to score, 24 to score what was saved; not 4 times as many.
    assert sum(calls) == 48 + 24 + 24
    calls.clear()
    assert not caplog.text
    monkeypatch.setattr("bertcore.training.tasks.features._room_for", lambda *_: None)
    other = make_experiment(tmp_path / "anew", tiny, **usual).run()
    assert other is not None
    assert sum(calls) == 4 * (48 + 24) + 24
    assert "has no room for the frozen encoder's outputs" in caplog.text
    losses = [
        [line.get("loss", line.get("dev_loss")) for line in r["history"]] for r in (report, other)
    ]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


def test_a_stop_while_the_encoder_runs_is_one_that_resumes(tiny: Path, tmp_path: Path) -> None:
    experiment = make_experiment(tmp_path, tiny, frozen=True)
    assert experiment.run(should_stop=lambda: True) is None
    report = resume_experiment(tmp_path / "out").run()
    assert report["best"]["num_steps"] == 12
