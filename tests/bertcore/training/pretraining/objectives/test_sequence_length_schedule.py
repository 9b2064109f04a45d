"""Two phases: short rows, then long ones, resumed anywhere to the last bit."""

from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.model.loading import load_bert
from bertcore.training.pretraining import DataConfig, Pretraining, TrainConfig, check_settings
from bertcore.training.pretraining.objectives.epochs import Phases
from tests.support.command_line import metrics
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_tokenizer
from tests.support.tiny_runs import assert_same_weights
from tests.support.tiny_runs import build as tiny_run

DATA: dict[str, Any] = {
    "max_seq_length": 16,
    "max_predictions_per_seq": 3,
    "batch_size": 8,
    "long_ratio": 0.25,
    "long_seq_length": 32,
}


def build(path: Path, **changes: Any) -> Pretraining:
    return tiny_run(
        path, **{"steps": 20, "dtype": "float32", "save_every": 1000, **DATA, **changes}
    )


def widths(run: Pretraining) -> list[tuple[int, int]]:
    """Note rows and tokens of each batch that the run trains on."""
    seen: list[tuple[int, int]] = []
    good = run.phases.parts

    def parts(step: int, share: float) -> Any:
        found = good(step, share)
        seen.append(tuple(found[0].input_ids.shape))
        return found

    run.phases.parts = parts  # type: ignore[method-assign]
    return seen


def test_the_last_part_of_the_steps_has_long_rows(tmp_path: Path) -> None:
    run = build(tmp_path)
    seen = widths(run)
    run.run()
    assert seen == [(8, 16)] * 15 + [(4, 32)] * 5  # as many tokens a step
    last = run.phases.parts(19, 0.95)[0]
    assert last.num_tokens > 16 * 4  # the rows are not short ones that were padded


@pytest.mark.parametrize("stops", [(4, 14), (15, 18), (16, 17)])
def test_resuming_in_either_phase_changes_nothing(tmp_path: Path, stops: tuple[int, int]) -> None:
    whole = build(tmp_path / "whole")
    whole.run()
    part = build(tmp_path / "part")
    for stop_at in stops:
        position = part.progress
        part.run(should_stop=lambda p=position, s=stop_at: p.step == s)
        part = build(tmp_path / "part", resume=True)
        assert part.progress.step == stop_at
    part.run()
    assert metrics(tmp_path / "part") == metrics(tmp_path / "whole")
    assert_same_weights(part, whole)


def test_a_run_by_the_clock_remembers_where_the_second_phase_began(tmp_path: Path) -> None:
    clock: dict[str, Any] = {"steps": None, "minutes": 60.0, "compile": "off"}
    run = build(tmp_path, **clock)
    run.progress.elapsed_seconds = 44.9 * 60  # just before three quarters
    seen = widths(run)
    run.run(should_stop=lambda: run.progress.step == 2)
    run.progress.elapsed_seconds = 45.1 * 60
    run.run(should_stop=lambda: run.progress.step == 5)
    assert seen == [(8, 16)] * 2 + [(4, 32)] * 3
    again = build(tmp_path, **clock, resume=True)
    assert again.phases.state() == run.phases.state()
    assert again.phases.state()["long_start"] == 2
    ours, theirs = (r.phases.parts(5, 0.8)[0] for r in (again, run))
    assert torch.equal(ours.input_ids, theirs.input_ids)


def test_samples_have_each_shape_that_is_to_come(tmp_path: Path) -> None:
    phases = build(tmp_path).phases
    for share, shapes in ((0.0, [(8, 16), (4, 32)]), (0.8, [(4, 32)])):
        found = phases.samples(0, share)
        assert [tuple(batch.input_ids.shape) for batch in found] == shapes


def test_long_rows_must_fit_too() -> None:
    with pytest.raises(ValueError, match="long_seq_length is 128; expected more than"):
        DataConfig(long_ratio=0.1, long_seq_length=128)
    train, data = TrainConfig(steps=1, device="cpu"), DataConfig(long_ratio=0.1)
    check_settings(tiny_config(max_position_embeddings=512), train, data)
    with pytest.raises(ValueError, match="long_seq_length is 512, but the network has"):
        check_settings(tiny_config(max_position_embeddings=256), train, data)
    thirds = TrainConfig(steps=1, device="cpu", gradient_accumulation=16)
    with pytest.raises(ValueError, match="batch_size is 8; expected a multiple of 16"):
        check_settings(tiny_config(max_position_embeddings=512), thirds, data)


def phases(run: Pretraining, *, make_ahead: bool) -> Phases:
    return Phases(
        small_corpus(),
        tiny_tokenizer(),
        DataConfig(**DATA),
        seed=1,
        processes=run.processes,
        num_parts=1,
        make_ahead=make_ahead,
    )


def test_batches_made_ahead_are_the_same(tmp_path: Path) -> None:
    """Also across the change to long rows, and where a step is asked for again."""
    run = build(tmp_path)
    plain, ahead = phases(run, make_ahead=False), phases(run, make_ahead=True)
    for step in (0, 1, 2, 2, 5, 15, 16, 17):
        (expected,), (made,) = (one.parts(step, step / 20) for one in (plain, ahead))
        assert torch.equal(made.input_ids, expected.input_ids), step
        assert torch.equal(made.labels, expected.labels)
    assert ahead.state()["long_start"] == plain.state()["long_start"] == 15


def test_a_batch_made_ahead_that_fails_ends_only_the_step_that_needs_it(tmp_path: Path) -> None:
    ahead = phases(build(tmp_path), make_ahead=True)
    good = ahead.short.batch

    def batch(step: int, **where: Any) -> Any:
        if step == 1:
            raise ValueError("no window follows")
        return good(step, **where)

    ahead.short.batch = batch  # type: ignore[method-assign]
    ahead.parts(0, 0.0)
    assert ahead.state()["long"] is None  # a run that ends here is saved
    with pytest.raises(ValueError, match="no window follows"):
        ahead.parts(1, 0.05)


def test_the_mean_of_the_weights_is_of_the_decay_and_survives_a_stop(tmp_path: Path) -> None:
    run = build(tmp_path / "whole", average_weights=True)
    steps: list[list[torch.Tensor]] = []
    take = run.take_step

    def take_step() -> Any:
        metrics = take()
        steps.append([p.detach().clone() for p in run.network.parameters()])
        return metrics

    run.take_step = take_step  # type: ignore[method-assign]
    run.run()
    opened = load_bert(run.folder.average, device="cpu").module
    # Long rows begin with step 15, after the rate began to fall.
    late = steps[15:]
    for number, mean in enumerate(opened.parameters()):
        total = sum((t + 1) * weights[number] for t, weights in enumerate(late))
        torch.testing.assert_close(mean, total / sum(range(1, 6)))
    for at in (3, 17):
        part = build(tmp_path / str(at), average_weights=True)
        position = part.progress
        part.run(should_stop=lambda p=position, s=at: p.step == s)
        assert not part.folder.average.exists()
        part = build(tmp_path / str(at), resume=True, average_weights=True)
        part.run()
        again = load_bert(part.folder.average, device="cpu").module
        for ours, theirs in zip(again.parameters(), opened.parameters(), strict=True):
            assert torch.equal(ours, theirs)
