"""Sentence order: its scores and checkpoint, and what is refused."""

from pathlib import Path

import pytest
from transformers import AlbertForPreTraining

from bertcore import load
from bertcore.training.pretraining import check_inputs
from bertcore.training.pretraining.evaluation import ObjectiveScores
from tests.support.small_corpus import write_documents
from tests.support.tiny_runs import build

HEADS = frozenset({"pooler", "mlm", "sop"})


def test_the_checkpoint_tells_the_order_and_shares_its_layers(tmp_path: Path) -> None:
    run = build(tmp_path, "mlm+sop", steps=2, evaluate_rows=500)
    scores = run.run()
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
    num = sum(p.numel() for p in run.network.parameters())
    assert sum(p.numel() for p in theirs.parameters()) == num
    bert = load(folder, device="cpu")
    assert "sop" in bert.capabilities
    assert 0 < bert.sentence_order("the dog runs", "it had rained").in_order < 1


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    one = write_documents(tmp_path / "one.txt", [["a dog."], ["a cat."]])
    two = write_documents(tmp_path / "two.txt", [["a dog.", "it was cold."]])
    for rows in ("swapped", "ordered"):
        with pytest.raises(ValueError, match="no document of the training text has two sentences"):
            check_inputs(tmp_path / "run", [one], two, rows=rows)  # type: ignore[arg-type]
        check_inputs(tmp_path / "run", [two], two, rows=rows)  # type: ignore[arg-type]
