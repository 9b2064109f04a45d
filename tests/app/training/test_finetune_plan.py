"""How much a fine-tuning does before it is started, and how long that takes."""

from __future__ import annotations

import math
from dataclasses import asdict

import pytest

from app.training.finetune_plan import (
    Plan,
    SeriesPlan,
    read_numbers,
    rounded,
    sample_sizes,
    usual_numbers,
)
from bertcore.finetuning.speed import Speed

SPEED = Speed(
    train_examples=50, score_examples=200, tokens_per_example=20, longest=60, fraction_cut=0
)


def plan(**more: object) -> Plan:
    usual = {
        "num_examples": 1000,
        "sample": 0,
        "held_out": 0.1,
        "num_in_dev_file": 0,
        "epochs": 3,
    }
    return Plan(**{**usual, **more})


def test_a_series_is_counted_as_it_runs() -> None:
    more = {"numbers": (32, 320), "num_seeds": 2, "least_steps": 30}
    series = SeriesPlan(**asdict(plan()), **more)
    # 30 epochs of one batch, 3 of ten; scored at the end; a frozen encoder reads all once.
    once = 2 * ((30 * 32 + 3 * 320) / 50 + 2 * 100 / 200) + (352 + 200) / 200
    assert series.seconds(SPEED) == pytest.approx(2 * once)
    assert series.num_runs == 12


def test_a_series_writes_a_sample_for_each_number_and_seed() -> None:
    series = SeriesPlan(**asdict(plan()), numbers=(50, 450), num_seeds=3, least_steps=1)
    assert series.fraction_drawn == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("num_examples", "usual"),
    [(3, [2]), (4, [2]), (40, [8, 17]), (60, [50]), (2000, [50, 200, 800])],
)
def test_a_series_begins_with_numbers_that_the_table_has(
    num_examples: int, usual: list[int]
) -> None:
    small = plan(num_examples=num_examples)
    assert usual_numbers(small, num_labels=2) == usual
    assert read_numbers(", ".join(map(str, usual)), small.num_train) == tuple(usual)


def test_a_table_too_small_for_a_series_is_told() -> None:
    with pytest.raises(ValueError, match=r"has 1 example to learn from .* Use a larger table"):
        read_numbers("2", plan(num_examples=2).num_train)


@pytest.mark.parametrize("text", ["", "few", "1, 8", "8, 8", "8, 1001", "8;9", "-3"])
def test_numbers_of_labels_that_cannot_be_used(text: str) -> None:
    with pytest.raises(ValueError, match="different ones from 2 to 1,000"):
        read_numbers(text, 1000)


def test_parts_of_a_table() -> None:
    assert (plan().num_train, plan().num_dev) == (900, 100)
    sampled = plan(sample=200)
    assert (sampled.num_used, sampled.num_train, sampled.num_dev) == (200, 180, 20)
    by_file = plan(held_out=None, num_in_dev_file=77)
    assert (by_file.num_train, by_file.num_dev) == (1000, 77)


@pytest.mark.parametrize("num", [3, 40, 1000, 1_000_000])
@pytest.mark.parametrize("epochs", [1, 3, 20])
def test_evaluations_are_those_of_a_run(num: int, epochs: int) -> None:
    """Counted step by step, as the loop does."""
    chosen = plan(num_examples=num, epochs=epochs)
    steps_an_epoch = math.ceil(chosen.num_train / 32)
    due = [
        step
        for step in range(1, epochs * steps_an_epoch + 1)
        if step % steps_an_epoch == 0 or step % chosen.evaluate_every == 0
    ]
    assert chosen.num_evaluations == len(due)
    assert epochs <= len(due) <= 2 * max(10, epochs) + 1


def test_a_large_file_to_score_on_is_scored_at_the_ends_of_epochs_alone() -> None:
    chosen = plan(held_out=None, num_in_dev_file=100_000)
    assert chosen.num_evaluations == 3


def test_the_sentence_holds_what_it_rests_on() -> None:
    said = plan().sentence(SPEED)
    seconds = 3 * 900 / 50 + plan().num_evaluations * 100 / 200
    assert f"**About {rounded(seconds)}**" in said
    assert "3 epochs of 900 examples of 20 tokens at 1,000 tokens per second" in said
    assert f"{plan().num_evaluations} evaluations of 100" in said


def test_samples_are_smaller_than_the_table() -> None:
    assert sample_sizes(500) == [0]
    assert sample_sizes(6000) == [0, 1000, 5000]
    assert sample_sizes(10**6) == [0, 1000, 5000, 20_000, 100_000]
