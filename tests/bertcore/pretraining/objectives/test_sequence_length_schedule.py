"""Two phases: short rows, then long ones, resumed anywhere to the last bit."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.loading import load_bert
from bertcore.pretraining import (
    DataConfig,
    OptimizerConfig,
    Pretraining,
    RunFolder,
    TrainConfig,
    check_settings,
)
from bertcore.pretraining.objectives.epochs import Phases
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_tokenizer

DATA = DataConfig(
    max_seq_length=16,
    max_predictions_per_seq=3,
    batch_size=8,
    long_ratio=0.25,
    long_seq_length=32,
)


def build(path: Path, *, resume: bool = False, **changes: Any) -> Pretraining:
    settings: dict[str, Any] = {"steps": 20, **changes}
    return Pretraining(
        RunFolder(path),
        shape=tiny_config(num_hidden_layers=1),
        tokenizer=tiny_tokenizer(),
        train=small_corpus(),
        valid=small_corpus(8, seed=5),
        train_config=TrainConfig(
            device="cpu", dtype="float32", log_every=1, evaluate_rows=8, **settings
        ),
        data_config=DATA,
        optimizer_config=OptimizerConfig(),
        resume=resume,
    )


def widths(run: Pretraining) -> list[tuple[int, int]]:
    """Note rows and tokens of each batch that the run trains on."""
    seen: list[tuple[int, int]] = []
    good = run.phases.parts

    def parts(step: int, share: float) -> Any:
        found = good(step, share)
        seen.append(tuple(found[0].masked.input_ids.shape))
        return found

    run.phases.parts = parts  # type: ignore[method-assign]
    return seen


def metrics(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        line.pop("seconds")
    return lines


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
    for ours, theirs in zip(part.network.parameters(), whole.network.parameters(), strict=True):
        assert torch.equal(ours, theirs)


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
    assert torch.equal(ours.masked.input_ids, theirs.masked.input_ids)


def test_samples_have_each_shape_that_is_to_come(tmp_path: Path) -> None:
    phases = build(tmp_path).phases
    for share, shapes in ((0.0, [(8, 16), (4, 32)]), (0.8, [(4, 32)])):
        found = phases.samples(0, share)
        assert [tuple(batch.masked.input_ids.shape) for batch in found] == shapes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"long_ratio": 1.5}, "long_ratio is 1.5; expected 0 to 1"),
        ({"long_ratio": float("nan")}, "long_ratio is nan"),
        ({"long_ratio": 0.1, "long_seq_length": 128}, "long_seq_length is 128; expected more than"),
    ],
)
def test_wrong_settings_get_a_sentence(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DataConfig(**change)


def test_long_rows_must_fit_too() -> None:
    train, data = TrainConfig(steps=1, device="cpu"), DataConfig(long_ratio=0.1)
    check_settings(tiny_config(max_position_embeddings=512), train, data)
    with pytest.raises(
        ValueError,
        match="long_seq_length is 512, but the network has positions for only 256 tokens",
    ):
        check_settings(tiny_config(max_position_embeddings=256), train, data)
    thirds = TrainConfig(steps=1, device="cpu", gradient_accumulation=16)
    with pytest.raises(ValueError, match="batch_size is 8; expected a multiple of 16"):
        check_settings(tiny_config(max_position_embeddings=512), thirds, data)


def test_batches_made_ahead_are_the_same(tmp_path: Path) -> None:
    """Also across the change to long rows, and where a step is asked for again."""
    run = build(tmp_path)
    processes = run.processes

    def phases(*, make_ahead: bool) -> Phases:
        return Phases(
            small_corpus(),
            tiny_tokenizer(),
            DATA,
            seed=1,
            processes=processes,
            num_parts=1,
            make_ahead=make_ahead,
        )

    plain, ahead = phases(make_ahead=False), phases(make_ahead=True)
    for step in (0, 1, 2, 2, 5, 15, 16, 17):
        (expected,), (made,) = (one.parts(step, step / 20) for one in (plain, ahead))
        assert torch.equal(made.masked.input_ids, expected.masked.input_ids), step
        assert torch.equal(made.masked.labels, expected.masked.labels)
    assert ahead.state()["long_start"] == plain.state()["long_start"] == 15


def test_a_batch_made_ahead_that_fails_ends_only_the_step_that_needs_it(tmp_path: Path) -> None:
    run = build(tmp_path)
    phases = Phases(
        small_corpus(),
        tiny_tokenizer(),
        DATA,
        seed=1,
        processes=run.processes,
        num_parts=1,
        make_ahead=True,
    )
    good = phases.short.batch

    def batch(step: int, **where: Any) -> Any:
        if step == 1:
            raise ValueError("no window follows")
        return good(step, **where)

    phases.short.batch = batch  # type: ignore[method-assign]
    phases.parts(0, 0.0)
    assert phases.state()["long"] is None  # a run that ends here is saved
    with pytest.raises(ValueError, match="no window follows"):
        phases.parts(1, 0.05)


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
