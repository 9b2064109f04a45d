"""Runs of permutation language modelling: their batches, checkpoints and the command line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertcore.pretraining import DataConfig
from bertcore.pretraining.loss.permutation import PermutedRows, permutation_loss
from tests.bertcore.pretraining.objectives.test_objectives import build
from tests.support.command_line import make_texts, recipe, refusal, succeed, words_of


def rows_of(batch: Any) -> PermutedRows:
    rows: PermutedRows = batch.rows
    return rows


def test_a_batch_is_the_text_with_an_order(tmp_path: Path) -> None:
    run = build(tmp_path, "plm", masked_lm_prob=1 / 6)
    tokenizer = run.tokenizer
    for step in range(20):
        batch = run.batches.batch(step)
        rows = rows_of(batch)
        assert rows.attention_mask is not None
        special = (rows.input_ids == tokenizer.cls_id) | (rows.input_ids == tokenizer.sep_id)
        assert not (rows.input_ids == tokenizer.mask_id).any()
        assert not (special | ~rows.attention_mask)[rows.rank >= 0].any()
        for row in range(batch.num_rows):
            places = rows.positions[row][rows.weights[row] == 1]
            assert torch.equal(places, (rows.rank[row] >= 0).nonzero().flatten())
            ranks = rows.rank[row][places]
            assert sorted(ranks.tolist()) == list(range(len(places)))
            num_words = int((rows.attention_mask[row] & ~special[row]).sum())
            assert len(places) == max(1, round(num_words / 6))
        assert int(rows.total_predicted) == batch.totals.num_masked == int(rows.weights.sum())
        assert (rows.queries == tokenizer.mask_id).all()


def test_orders_differ_from_step_to_step_and_not_with_static_rows(tmp_path: Path) -> None:
    def orders(dupe_factor: int) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
        run = build(tmp_path / str(dupe_factor), "plm", dupe_factor=dupe_factor)
        found: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
        for step in range(80):
            rows = rows_of(run.batches.batch(step))
            for ids, rank in zip(rows.input_ids.tolist(), rows.rank.tolist(), strict=True):
                found.setdefault(tuple(ids), set()).add(tuple(rank))
        return found

    assert np.mean([len(ranks) for ranks in orders(0).values()]) > 1.5
    assert all(len(ranks) == 1 for ranks in orders(1).values())


def test_the_checkpoint_is_the_network_for_fine_tuning(tmp_path: Path) -> None:
    run = build(tmp_path, "plm", steps=4, dtype="float32")
    run.run()
    folder = run.folder.checkpoints()[-1]
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    assert type(theirs).__name__ == "BertForMaskedLM"
    ids = torch.arange(5, 25)[None]
    network = run.network.eval()
    with torch.no_grad():
        ours = network.mlm_logits(network(ids))
        torch.testing.assert_close(ours, theirs(ids).logits, atol=1e-5, rtol=1e-4)
    assert not list(run.folder.path.glob("probes/*"))


def test_held_out_scores_are_the_loss_of_fixed_orders(tmp_path: Path) -> None:
    run = build(tmp_path, "plm", dtype="float32")
    scores = run.evaluate().to_dict()
    assert run.evaluate().to_dict() == scores
    network = run.network.eval()
    total = num = 0.0
    with torch.no_grad():
        for batch in run.held_out.own:
            found = permutation_loss(network, rows_of(batch))
            total += float(found.loss) * float(found.num_predicted)
            num += float(found.num_predicted)
    assert scores["loss"] == pytest.approx(total / num, rel=1e-5)


def test_from_the_command_line(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    make_texts(texts)
    out = tmp_path / "run"
    succeed(*words_of(texts, out, "--objective", "plm", "--steps", "2", *recipe(family="albert")))
    settings = json.loads((out / "config.json").read_text())
    assert settings["data"]["masked_lm_prob"] == pytest.approx(1 / 6)
    assert settings["data"]["max_predictions_per_seq"] == 5
    for wrong, words in (
        ([*recipe(family="modernbert")], ("'plm'", "position")),
        ([*recipe(mask_shares="100/0/0")], ("mask_shares", "100/0/0")),
    ):
        line = words_of(texts, tmp_path / "other", "--steps", "2", "--objective", "plm", *wrong)
        sentence = refusal(*line)
        assert all(word in sentence for word in words), sentence
    assert DataConfig.for_length(24, objective="plm", masked_lm_prob=0.3).masked_lm_prob == 0.3
    assert DataConfig.for_length(24, objective="mlm").masked_lm_prob == 0.15
