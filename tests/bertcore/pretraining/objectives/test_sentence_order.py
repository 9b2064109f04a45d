"""Sentence order: the loss of transformers' AlbertForPreTraining, and what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AlbertForPreTraining

from bertcore import Bert, load
from bertcore.pretraining import check_inputs
from bertcore.pretraining.evaluation import ObjectiveScores
from bertcore.pretraining.objectives import objective_named
from tests.bertcore.pretraining.objectives.test_objectives import ALBERT, DATA, build
from tests.support.small_corpus import small_corpus, write_documents
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

HEADS = frozenset({"pooler", "mlm", "sop"})


@pytest.mark.parity
def test_loss_and_gradients_are_those_of_transformers(tmp_path: Path) -> None:
    bert = Bert(tiny_network(ALBERT, heads=HEADS), tiny_tokenizer())
    theirs = AlbertForPreTraining.from_pretrained(bert.save(tmp_path / "albert")).eval()
    objective = objective_named("mlm+sop")
    module = objective.with_loss(bert.module, None, dtype="float32", is_compiled=False).eval()
    config = replace(DATA, objective="mlm+sop", max_seq_length=40, max_predictions_per_seq=7)
    batches = objective.held_out(small_corpus(), tiny_tokenizer(), config, seed=0, num_rows=12)
    batch: Any
    exchanged = 0
    for batch in batches:
        labels = torch.full((4, 40), -100)
        for row in range(4):
            kept = batch.masked.weights[row] == 1
            labels[row, batch.masked.positions[row][kept]] = batch.masked.labels[row][kept]
        expected = theirs(
            input_ids=batch.masked.input_ids,
            token_type_ids=batch.segment_ids,
            attention_mask=batch.attention_mask.long(),
            labels=labels,
            sentence_order_label=batch.next_sentence_labels,
        )
        found = module(objective.tensors(batch, torch.device("cpu"), keep_mask=False))
        assert found.loss.item() == pytest.approx(expected.loss.item(), abs=1e-5)
        right = expected.sop_logits.argmax(-1) == batch.next_sentence_labels
        assert int(found.nsp_correct) == int(right.sum())
        exchanged += int(batch.next_sentence_labels.sum())
    assert 0 < exchanged < 12
    found.loss.backward()
    expected.loss.backward()
    pairs = (
        (bert.module.token_table, theirs.albert.embeddings.word_embeddings.weight),
        (bert.module.sop.classifier.weight, theirs.sop_classifier.classifier.weight),
    )
    for ours, other in pairs:
        torch.testing.assert_close(ours.grad, other.grad, atol=1e-5, rtol=0)


def test_the_checkpoint_tells_the_order_and_shares_its_layers(tmp_path: Path) -> None:
    run = build(tmp_path, "mlm+sop", steps=2, evaluate_rows=500)
    scores = run.run()
    assert scores is not None
    assert isinstance(scores, ObjectiveScores)
    assert scores.masked is not None
    # Its own pairs give another masked-word loss than the rows by which objectives are compared.
    found, masked = scores.to_dict(), scores.masked
    assert found["mlm_loss"] == masked.mlm_loss != found["pairs_mlm_loss"]
    assert found["mlm_top1"] == masked.mlm_top1
    assert found["loss"] == pytest.approx(found["pairs_mlm_loss"] + found["sop_loss"], abs=1e-5)
    assert {"pairs_mlm_top1", "sop_accuracy"} <= found.keys()
    assert found["num_rows"] == scores.num_rows != masked.num_rows
    folder = run.folder.checkpoints()[-1]
    theirs = AlbertForPreTraining.from_pretrained(folder)
    assert sum(p.numel() for p in theirs.parameters()) == sum(
        p.numel() for p in run.network.parameters()
    )
    bert = load(folder, device="cpu")
    assert "sop" in bert.capabilities
    assert 0 < bert.sentence_order("the dog runs", "it had rained").in_order < 1


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="sentence-order head, which BERT does not have"):
        objective_named("mlm+sop").check(tiny_config(), replace(DATA, objective="mlm+sop"))
    one = write_documents(tmp_path / "one.txt", [["a dog."], ["a cat."]])
    two = write_documents(tmp_path / "two.txt", [["a dog.", "it was cold."]])
    for rows in ("swapped", "ordered"):
        with pytest.raises(ValueError, match="no document of the training text has two sentences"):
            check_inputs(tmp_path / "run", [one], two, rows=rows)  # type: ignore[arg-type]
        check_inputs(tmp_path / "run", [two], two, rows=rows)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="single document"):
        check_inputs(tmp_path / "run", [two], two, rows="pairs")
