"""Batches: whole rows, fixed by seed and step alone, in rounds over the corpus."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from bertcore.training.pretraining import Batch, Batches, DataConfig, fixed_batches, num_masked
from bertcore.training.pretraining.objectives.epochs import Place
from tests.support.batch_checks import originals
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_tokenizer

CONFIG = DataConfig(max_seq_length=32, max_predictions_per_seq=6, batch_size=8)
TOKENIZER = tiny_tokenizer()


def new(seed: int = 1) -> Batches:
    return Batches(small_corpus(), TOKENIZER, CONFIG, seed=seed)


def equal(a: Batch, b: Batch) -> bool:
    return all(torch.equal(x, b.tensors[name]) for name, x in a.tensors.items())


def assert_part(part: Batch, whole: Batch, rows: slice) -> None:
    for name, tensor in whole.tensors.items():
        assert torch.equal(part.tensors[name], tensor[rows]), name
    assert part.totals == whole.totals


def test_rows_are_cls_a_sep_b_sep_and_padding() -> None:
    corpus = small_corpus()
    text = " ".join(map(str, corpus.ids.tolist())) + " "
    for step in range(5):
        batch = new().batch(step)
        ids = originals(batch)
        assert ids.shape == batch.segment_ids.shape == batch.attention_mask.shape == (8, 32)
        assert batch.num_tokens == int(batch.attention_mask.sum())
        for row in range(8):
            length = int(batch.attention_mask[row].sum())
            assert batch.attention_mask[row, :length].all()
            assert (ids[row, length:] == TOKENIZER.pad_id).all()
            assert ids[row, 0] == TOKENIZER.cls_id
            seps = (ids[row] == TOKENIZER.sep_id).nonzero().flatten().tolist()
            assert len(seps) == 2
            assert seps[1] == length - 1
            segments = [0] * (seps[0] + 1) + [1] * (length - seps[0] - 1) + [0] * (32 - length)
            assert batch.segment_ids[row].tolist() == segments
            for part in (ids[row, 1 : seps[0]], ids[row, seps[0] + 1 : seps[1]]):
                assert " ".join(map(str, part.tolist())) + " " in text
            assert batch.weights[row].sum() == num_masked(length, 6)
            hidden = batch.positions[row][batch.weights[row] == 1].tolist()
            assert not {0, *seps} & set(hidden)
            assert max(hidden) < length - 1


def test_any_step_is_reached_directly_backwards_and_again() -> None:
    in_order = new()
    expected = [in_order.batch(step) for step in range(60)]
    per_round = in_order.num_instances // CONFIG.batch_size
    assert per_round < 40  # so that 60 steps go through at least two rounds
    jumping = new()
    for step in (59, 0, 31, 30, 59):
        assert equal(jumping.batch(step), expected[step])
    assert equal(new().batch(47), expected[47])


def test_a_round_shows_each_instance_once_and_the_next_cuts_anew() -> None:
    batches = new()
    num = batches.num_instances
    steps = int(num // CONFIG.batch_size)
    first = [row.tolist() for s in range(steps) for row in originals(batches.batch(s))]
    second = [row.tolist() for s in range(steps, 2 * steps) for row in originals(batches.batch(s))]
    assert len(first) == steps * CONFIG.batch_size
    assert len({tuple(row) for row in first}) > 0.9 * len(first)
    assert first != second
    assert set(map(tuple, first)) != set(map(tuple, second))


def test_held_out_batches_are_fixed_and_not_repeated() -> None:
    corpus = small_corpus(seed=9)
    first, again = (
        list(fixed_batches(corpus, TOKENIZER, CONFIG, seed=0, num_rows=20)) for _ in range(2)
    )
    assert [len(batch.next_sentence_labels) for batch in first] == [8, 8, 4]
    assert all(equal(a, b) for a, b in zip(first, again, strict=True))
    everything = list(fixed_batches(corpus, TOKENIZER, CONFIG, seed=0, num_rows=10**6))
    assert 20 < sum(len(batch.next_sentence_labels) for batch in everything) < 10**4
    assert equal(everything[0], first[0])


@pytest.mark.parametrize("bounds", [(0, 8), (0, 3), (3, 8), (5, 6)])
def test_a_part_has_the_rows_and_masks_that_it_has_in_the_batch(bounds: tuple[int, int]) -> None:
    batches, rows = new(), slice(*bounds)
    for step in (0, 7):
        whole, part = batches.batch(step), batches.batch(step, part=rows)
        assert_part(part, whole, rows)
        assert whole.totals.num_pairs == 8
        assert whole.totals.num_masked == int(whole.weights.sum())
        assert whole.totals.num_tokens == whole.num_tokens


def test_a_round_in_windows_shows_every_document_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.training.pretraining.objectives.epochs.BLOCK_SENTENCES", 16)
    monkeypatch.setattr("bertcore.training.pretraining.objectives.epochs.WINDOW_BLOCKS", 5)
    corpus = small_corpus(120)
    config = DataConfig(max_seq_length=32, max_predictions_per_seq=6, batch_size=4)
    batches = Batches(corpus, TOKENIZER, config, seed=1)
    assert batches.num_windows >= 8
    owner = np.searchsorted(corpus.sentence_starts, np.arange(corpus.num_tokens), side="right") - 1
    document = np.searchsorted(corpus.document_starts, owner, side="right") - 1
    windows: list[set[int]] = []
    sizes, step = [], 0
    while batches.place.round == 0:
        first_tokens = batches._instances.spans[:, 0]
        windows.append(set(document[first_tokens].tolist()))
        sizes.append(len(first_tokens) // 4)
        step += sizes[-1]
        batches.batch(step)
    assert len(windows) == batches.num_windows
    assert sum(map(len, windows)) == len(set.union(*windows)) == 120  # none twice, none left out
    assert step == sum(sizes)
    assert min(max(window) - min(window) for window in windows) > 10  # from all over the corpus
    first = Batches(corpus, TOKENIZER, config, seed=1)
    expected = [first.batch(number) for number in range(step + 9)]
    assert equal(batches.batch(step), expected[step])
    # A checkpoint's place leads there at once, and back to the start if need be.
    for number in (step // 2, step + 8):
        at = Batches(corpus, TOKENIZER, config, seed=1)
        at.batch(number)
        again = Batches(corpus, TOKENIZER, config, seed=1, place=Place(**at.state()))
        assert again.place == at.place != Place()
        assert equal(again.batch(number), expected[number])
        assert equal(again.batch(1), expected[1])
    assert not equal(expected[step], expected[0])


def test_too_little_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"gives 1 training instance, fewer than one batch of 8"):
        Batches(small_corpus(1), TOKENIZER, DataConfig(batch_size=8), seed=0)


def test_cutting_ahead_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = new()
    monkeypatch.setattr(expected, "_cut_ahead", lambda: None)
    batches = new()
    per_round = batches.num_instances // CONFIG.batch_size
    for step in range(3 * per_round):
        assert equal(batches.batch(step), expected.batch(step))
    # What was cut for another place is not taken.
    step = batches.place.first_step
    while batches._ahead is None:
        batches.batch(step)
        step += 1
    assert equal(batches.batch(0), expected.batch(0))
    assert batches._ahead is None
    assert equal(batches.batch(per_round), expected.batch(per_round))


def test_a_window_that_cannot_be_cut_ahead_is_told_when_it_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches = new()
    per_round = batches.num_instances // CONFIG.batch_size

    def fail(place: Place) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(batches, "_cut_window", fail)
    for step in range(per_round):
        batches.batch(step)
    with pytest.raises(OSError, match="the disk is gone"):
        batches.batch(per_round)


@pytest.mark.parametrize("objective", ["mlm+nsp", "mlm"])
def test_static_masks_come_back_with_their_version_in_another_order(objective: str) -> None:
    config = replace(CONFIG, objective=objective, dupe_factor=2, batch_size=4)
    batches = Batches(small_corpus(), TOKENIZER, config, seed=1)

    def rows_of_round() -> list[tuple[int, ...]]:
        """The inputs of a round with their tokens hidden, each with its labels."""
        rows, number, step = [], batches.place.round, batches.place.first_step
        while True:
            batch = batches.batch(step)
            if batches.place.round != number:
                return rows
            inputs = torch.cat([batch.input_ids, batch.positions, batch.labels], dim=1)
            rows += [tuple(row) for row in inputs.tolist()]
            step += 1

    rounds = [rows_of_round() for _ in range(4)]
    for a, b in ((0, 2), (1, 3)):
        assert rounds[a] != rounds[b]
        # What is dropped at the end of a round, less than a batch, is another in each.
        assert len(set(rounds[a]) ^ set(rounds[b])) <= 2 * (config.batch_size - 1)
    assert len(set(rounds[0]) & set(rounds[1])) < len(rounds[0]) / 10
    texts = [{row[:32] for row in one} for one in rounds[:2]]
    assert texts[0] != texts[1]


def test_a_part_has_its_static_masks() -> None:
    config = replace(CONFIG, dupe_factor=10)
    batches = Batches(small_corpus(), TOKENIZER, config, seed=1)
    whole, part = batches.batch(3), batches.batch(3, part=slice(2, 5))
    assert_part(part, whole, slice(2, 5))
    fresh = Batches(small_corpus(), TOKENIZER, CONFIG, seed=1).batch(3)
    assert torch.equal(originals(fresh), originals(whole))  # the first round has the same pairs
    assert not torch.equal(fresh.positions, whole.positions)
