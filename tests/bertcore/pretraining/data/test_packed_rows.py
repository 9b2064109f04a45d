"""Rows packed full of text: each token once, in order; and the loss of masked words alone."""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertcore import load
from bertcore.pretraining import (
    Batch,
    Batches,
    DataConfig,
    OptimizerConfig,
    PackedCorpus,
    Pretraining,
    RunFolder,
    TrainConfig,
    check_settings,
    create_packed_rows,
    evaluate_pretraining,
    fixed_batches,
    num_masked,
)
from bertcore.pretraining.data.batches import make_batch
from bertcore.pretraining.loss import batch_loss
from bertcore.pretraining.starting_weights import starting_network
from tests.support.batch_checks import assert_same_gradient, originals
from tests.support.command_line import (
    make_texts,
    metrics,
)
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

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
    batch = make_batch(corpus, rows, TOKENIZER, config, generator=torch.Generator())
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
        assert batch.next_sentence_labels is None
        assert not batch.segment_ids.any()
        ids = originals(batch)
        for row in range(8):
            length = int(batch.attention_mask[row].sum())
            hidden = batch.masked.positions[row][batch.masked.weights[row] == 1]
            assert len(hidden) == num_masked(length, CONFIG.max_predictions_per_seq)
            assert (ids[row, hidden] >= FIRST_WORD).all()
            assert (ids[row, length:] == TOKENIZER.pad_id).all()
            assert ids[row, length - 1] == TOKENIZER.sep_id
        assert batch.totals.num_pairs == 0
        assert batch.totals.num_masked == int(batch.masked.weights.sum())
        assert batch.totals.num_tokens == batch.num_tokens
        part = batches.batch(step, part=slice(3, 7))
        for ours, whole in zip(part.masked, batch.masked, strict=True):
            assert torch.equal(ours, whole[3:7])
        assert part.totals == batch.totals


def test_no_more_is_hidden_than_there_is_text() -> None:
    """Documents of one token: every other place is a separator."""
    corpus = packed([[FIRST_WORD + n] for n in range(63)])
    config = DataConfig.for_length(16, objective="mlm", batch_size=4, masked_lm_prob=0.8)
    batch = Batches(corpus, TOKENIZER, config, seed=0).batch(0)
    assert batch.masked.weights.sum(1).tolist() == [7.0] * 4
    assert (originals(batch)[batch.masked.input_ids != originals(batch)] >= FIRST_WORD).all()


def test_a_round_has_every_token_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.pretraining.objectives.epochs.BLOCK_SENTENCES", 64)
    monkeypatch.setattr("bertcore.pretraining.objectives.epochs.WINDOW_BLOCKS", 4)
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


@pytest.mark.parity
def test_loss_and_gradients_are_those_of_transformers(tmp_path: Path) -> None:
    from transformers import BertForMaskedLM

    bert = tiny_bert(heads=frozenset({"mlm"}))
    theirs = BertForMaskedLM.from_pretrained(bert.save(tmp_path / "tiny")).eval()
    network = bert.module.eval()
    for batch in held_out():
        labels = torch.full((8, 32), -100)
        for row in range(8):
            kept = batch.masked.weights[row] == 1
            labels[row, batch.masked.positions[row][kept]] = batch.masked.labels[row][kept]
        expected = theirs(
            input_ids=batch.masked.input_ids, attention_mask=batch.attention_mask, labels=labels
        )
        found = batch_loss(network, batch, CPU)
        loss = float(found.loss.detach())
        assert loss == pytest.approx(float(expected.loss.detach()), abs=1e-5)
        assert loss == float(found.mlm_loss)
        hidden = labels != -100
        right = expected.logits.argmax(-1)[hidden] == labels[hidden]
        assert int(found.mlm_correct) == int(right.sum())
    assert_same_gradient(network, found.loss, theirs, expected)


def test_scores_have_no_next_sentence() -> None:
    scores = evaluate_pretraining(tiny_network(heads=frozenset({"mlm"})), held_out(20), TOKENIZER)
    assert (scores.num_rows, scores.num_pairs, scores.nsp_accuracy) == (20, None, None)
    assert set(scores.to_dict()) == {
        "mlm_loss", "mlm_top1", "bits_per_character", "num_rows", "num_masked", "num_unknown"
    }  # fmt: skip
    with_heads = evaluate_pretraining(tiny_network(), held_out(20), TOKENIZER)
    assert with_heads.nsp_loss is None  # the rows say what is scored, not the heads


def build(path: Path, *, resume: bool = False, **changes: Any) -> Pretraining:
    return Pretraining(
        RunFolder(path),
        shape=tiny_config(num_hidden_layers=1, type_vocab_size=1),
        tokenizer=TOKENIZER,
        train=small_corpus(),
        valid=small_corpus(8, seed=5),
        train_config=TrainConfig(
            steps=14, device="cpu", dtype="float32", log_every=1, evaluate_every=5, **changes
        ),
        data_config=DataConfig.for_length(
            16, objective="mlm", batch_size=4, long_ratio=0.3, long_seq_length=32
        ),
        optimizer_config=OptimizerConfig(),
        resume=resume,
    )


def test_a_run_is_without_next_sentence_and_resumes_to_the_last_bit(tmp_path: Path) -> None:
    whole = build(tmp_path / "whole")
    scores = whole.run()
    assert scores is not None
    assert scores.nsp_accuracy is None
    part = build(tmp_path / "part")
    part.run(should_stop=lambda: part.progress.step == 7)
    part = build(tmp_path / "part", resume=True)
    assert part.progress.step == 7
    part.run()
    assert metrics(tmp_path / "part") == metrics(tmp_path / "whole")
    for ours, theirs in zip(part.network.parameters(), whole.network.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    for line in metrics(tmp_path / "whole"):
        assert not [name for name in line if "nsp" in name or "pair" in name or "random" in name]
        assert line["loss"] == line["mlm_loss"]
    assert metrics(tmp_path / "whole")[-1]["valid_num_rows"] == scores.num_rows


@pytest.mark.parity
def test_the_checkpoint_opens_as_a_masked_lm(tmp_path: Path) -> None:
    from transformers import BertForMaskedLM

    run = build(tmp_path)
    run.run()
    folder = tmp_path / "checkpoints" / "step-14"
    assert json.loads((folder / "config.json").read_text())["architectures"] == ["BertForMaskedLM"]
    theirs, report = BertForMaskedLM.from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    bert = load(folder, device="cpu")
    assert bert.module.nsp is None
    assert bert.module.pooler is None
    ids = torch.tensor([[TOKENIZER.cls_id, 9, TOKENIZER.mask_id, 11, TOKENIZER.sep_id]])
    with torch.no_grad():
        expected = theirs.eval()(input_ids=ids).logits
        found = bert.module.mlm_logits(bert.module(ids))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


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
    one = tiny_network(heads=frozenset({"pooler", "mlm"}))
    starting_network(
        tiny_config(), config, small_corpus(), one, heads=frozenset({"mlm"}),
        on_notice=notices.append,
    )  # fmt: skip
    assert "the checkpoint's pooler is left out: the objective does not train it." in notices


def test_settings_that_pairs_alone_forbid() -> None:
    one_segment = tiny_config(type_vocab_size=1)
    train = TrainConfig(steps=1, device="cpu")
    check_settings(one_segment, train, CONFIG)
    with pytest.raises(ValueError, match="a pair has two segments"):
        check_settings(one_segment, train, DataConfig.for_length(32))
    with pytest.raises(ValueError, match="objective is 'nsp'; expected one of"):
        DataConfig(objective="nsp")
    with pytest.raises(ValueError, match="max_seq_length is 2; expected at least 3"):
        create_packed_rows(small_corpus(2), max_seq_length=2)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.txt, valid.txt and the tokenizer tok."""
    return make_texts(tmp_path_factory.mktemp("texts"))
