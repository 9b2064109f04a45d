"""Size and speed of checkpoints: weights counted once, passes counted, no time asserted."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from bertcore.analysis.compare.trade_off import (
    MANY,
    are_told_apart,
    median_seconds,
    size_of,
    text_speeds,
    timed_seconds,
)
from tests.support.tiny import tiny_bert

TEXT = ("the film was very good", "she sat on the mat")


def test_a_tied_weight_is_counted_once_and_in_its_own_format() -> None:
    bert = tiny_bert()
    size = size_of("tiny", bert.config, bert.module)
    unique = {p.data_ptr(): p for _, p in bert.module.named_parameters()}
    assert size.num_parameters == sum(p.numel() for p in unique.values())
    assert size.num_bytes == 4 * size.num_parameters
    assert (size.num_layers, size.hidden_size) == (
        bert.config.num_hidden_layers,
        bert.config.hidden_size,
    )
    halves = [torch.nn.Parameter(p.detach().half()) for p in unique.values()]

    class Halved:
        def parameters(self) -> list[torch.nn.Parameter]:
            return halves

    assert size_of("half", bert.config, Halved()).num_bytes == 2 * size.num_parameters


def test_both_read_the_same_rows_in_turns() -> None:
    berts = [tiny_bert(), tiny_bert()]
    read: list[tuple[int, tuple[int, ...]]] = []
    for number, bert in enumerate(berts):

        def note(module: Any, given: Any, number: int = number) -> None:
            read.append((number, tuple(given[0].shape)))

        bert.module.register_forward_pre_hook(note)
    encoding = berts[0].tokenize(*TEXT)
    speeds = text_speeds(berts, [TEXT, TEXT], rounds=2)
    length = len(encoding.input_ids)
    assert [speed.num_tokens for speed in speeds] == [length, length]
    assert {shape for _, shape in read} == {(1, length), (MANY, length)}
    turns = [number for number, _ in read]
    assert turns[:2] == [0, 1]
    for speed in speeds:
        assert 0 < speed.alone_range[0] <= speed.alone <= speed.alone_range[1]
        assert 0 < speed.together_range[0] <= speed.together <= speed.together_range[1]


def test_the_median_of_passes_is_per_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that each pass moves by hand: 2 ms and 200 ms, one slow pass in five."""
    now = [0.0]
    monkeypatch.setattr("bertcore.analysis.compare.trade_off.time.perf_counter", lambda: now[0])
    calls = [0, 0]

    def short() -> None:
        calls[0] += 1
        now[0] += 0.002

    def long() -> None:
        calls[1] += 1
        now[0] += 9.0 if calls[1] == 4 else 0.2

    found = timed_seconds([short, long], torch.device("cpu"), rounds=5)
    assert found[0] == pytest.approx([0.002] * 5)
    assert found[1] == pytest.approx([0.2, 9.0, 0.2, 0.2, 0.2])
    # A short pass is repeated until 0.05 s are over, in each timed round.
    assert calls == [2 + 5 * 25, 2 + 5]
    calls[:] = [0, 0]
    assert median_seconds([short, long], torch.device("cpu")) == pytest.approx([0.002, 0.2])


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ((1, 2), (3, 4), True),
        ((3, 4), (1, 2), True),
        ((1, 3), (2, 4), False),
        ((1, 4), (2, 3), False),
    ],
)
def test_ranges_that_overlap_are_not_told_apart(
    first: tuple[float, float], second: tuple[float, float], apart: bool
) -> None:
    assert are_told_apart(first, second) == apart
