"""Rows packed full of text: each token once, in order; and the loss of masked words alone."""

from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertcore.training.pretraining import (
    Batch,
    Batches,
    DataConfig,
    PackedCorpus,
    TrainConfig,
    check_settings,
    create_packed_rows,
    evaluate_pretraining,
    fixed_batches,
    num_masked,
)
from bertcore.training.pretraining.data.batches import BatchSource, make_batch
from bertcore.training.pretraining.starting_weights import starting_network
from tests.support.batch_checks import originals
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

CPU = torch.device("cpu")
TOKENIZER = tiny_tokenizer()
CONFIG = DataConfig.for_length(32, objective="mlm", batch_size=8)
FIRST_WORD = 5
"""Ids below are special tokens."""


def packed(documents: list[list[int]]) -> PackedCorpus:
    """Pack documents of one-token sentences."""
    ids = np.array([token for document in documents for token in document], dtype=np.uint16)
    ends = np.cumsum([0, *map(len, documents)])
    return PackedCorpus(ids, np.arange(len(ids) + 1), ends, "made by hand")


def rows_of(corpus: PackedCorpus, max_seq_length: int) -> list[list[int]]:
    """Return the tokens of all rows as they are laid out, nothing hidden, without padding."""
    rows = create_packed_rows(corpus, max_seq_length=max_seq_length)
    config = DataConfig.for_length(max(5, max_seq_length), objective="mlm", batch_size=len(rows))
    batch = make_batch(BatchSource(corpus, rows, TOKENIZER, config, torch.Generator()))
    ids = originals(batch)
    return [row[mask].tolist() for row, mask in zip(ids, batch.attention_mask.bool(), strict=True)]


def literal_rows(documents: list[list[int]], max_seq_length: int) -> list[list[int]]:
    """The definition on lists: a row takes what fits, and [SEP] before each next document."""
    cls, sep = TOKENIZER.cls_id, TOKENIZER.sep_id
    left = [list(document) for document in documents]
    rows: list[list[int]] = []
    while left:
        row: list[int] = []
        room = max_seq_length - 2
        while left and room - len(row) >= (2 if row else 1):
            if row:
                row.append(sep)
            taken = room - len(row)
            row += left[0][:taken]
            left[0] = left[0][taken:]
            if left[0]:
                break
            left.pop(0)
        rows.append([cls, *row, sep])
    return rows


@settings(deadline=None, max_examples=150)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(3, 24), st.integers(0, 9))
def test_rows_are_those_of_the_definition(lengths: list[int], width: int, seed: int) -> None:
    rng = Random(seed)
    documents = [[rng.randrange(FIRST_WORD, 150) for _ in range(length)] for length in lengths]
    corpus = packed(documents)
    rows = rows_of(corpus, width)
    assert rows == literal_rows(documents, width)
    text = [token for row in rows for token in row if token >= FIRST_WORD]
    assert text == corpus.ids.tolist()  # each token once, in order
    assert all(len(row) in (width - 1, width) for row in rows[:-1])


def test_a_batch_is_one_segment_with_fixed_masks_on_text_only() -> None:
    batches = Batches(small_corpus(), TOKENIZER, CONFIG, seed=1)
    for step in range(6):
        batch = batches.batch(step)
        assert "next_sentence_labels" not in batch.tensors
        assert not batch.segment_ids.any()
        ids = originals(batch)
        for row in range(8):
            length = int(batch.attention_mask[row].sum())
            hidden = batch.positions[row][batch.weights[row] == 1]
            assert len(hidden) == num_masked(length, CONFIG.max_predictions_per_seq)
            assert (ids[row, hidden] >= FIRST_WORD).all()
            assert (ids[row, length:] == TOKENIZER.pad_id).all()
            assert ids[row, length - 1] == TOKENIZER.sep_id
        assert batch.totals.num_pairs == 0
        assert batch.totals.num_masked == int(batch.weights.sum())
        assert batch.totals.num_tokens == batch.num_tokens
        part = batches.batch(step, part=slice(3, 7))
        assert all(torch.equal(part.tensors[n], x[3:7]) for n, x in batch.tensors.items())
        assert part.totals == batch.totals


def test_no_more_is_hidden_than_there_is_text() -> None:
    """Documents of one token: every other place is a separator."""
    corpus = packed([[FIRST_WORD + n] for n in range(63)])
    config = DataConfig.for_length(16, objective="mlm", batch_size=4, masked_lm_prob=0.8)
    batch = Batches(corpus, TOKENIZER, config, seed=0).batch(0)
    assert batch.weights.sum(1).tolist() == [7.0] * 4
    assert (originals(batch)[batch.input_ids != originals(batch)] >= FIRST_WORD).all()


def test_a_round_has_every_token_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.training.pretraining.objectives.epochs.BLOCK_SENTENCES", 64)
    monkeypatch.setattr("bertcore.training.pretraining.objectives.epochs.WINDOW_BLOCKS", 4)
    corpus = small_corpus(120)
    config = DataConfig.for_length(32, objective="mlm", batch_size=1)  # nothing is left over
    batches = Batches(corpus, TOKENIZER, config, seed=1)
    assert batches.num_windows > 2
    seen: list[int] = []
    step = 0
    while batches.batch(step) is not None and batches.place.round == 0:
        seen += originals(batches.batch(step))[0].tolist()
        step += 1
    assert sorted(t for t in seen if t >= FIRST_WORD) == sorted(corpus.ids.tolist())


def held_out(num_rows: int = 24) -> list[Batch]:
    return list(fixed_batches(small_corpus(), TOKENIZER, CONFIG, seed=0, num_rows=num_rows))


def test_scores_have_no_next_sentence() -> None:
    scores = evaluate_pretraining(tiny_network(heads=frozenset({"mlm"})), held_out(20), TOKENIZER)
    assert (scores.num_rows, scores.num_pairs, scores.nsp_accuracy) == (20, None, None)
    assert set(scores.to_dict()) == {
        "mlm_loss", "mlm_top1", "bits_per_character", "num_rows", "num_masked", "num_unknown"
    }  # fmt: skip
    with_heads = evaluate_pretraining(tiny_network(), held_out(20), TOKENIZER)
    assert with_heads.nsp_loss is None  # the rows say what is scored, not the heads


def test_heads_that_are_not_trained_are_left_out_and_told() -> None:
    notices: list[str] = []
    config = TrainConfig(steps=1, start="checkpoint", device="cpu")
    network = starting_network(
        tiny_config(), config, small_corpus(), tiny_network(), heads=frozenset({"mlm"}),
        on_notice=notices.append,
    )  # fmt: skip
    assert network.nsp is None
    assert network.pooler is None
    assert notices == [
        "the checkpoint's pooler and next-sentence head are left out: the objective does not "
        "train them."
    ]


def test_settings_that_pairs_alone_forbid() -> None:
    one_segment = tiny_config(type_vocab_size=1)
    train = TrainConfig(steps=1, device="cpu")
    check_settings(one_segment, train, CONFIG)
    with pytest.raises(ValueError, match="a pair has two segments"):
        check_settings(one_segment, train, DataConfig.for_length(32))
    with pytest.raises(ValueError, match="max_seq_length is 2; expected at least 3"):
        create_packed_rows(small_corpus(2), max_seq_length=2)
