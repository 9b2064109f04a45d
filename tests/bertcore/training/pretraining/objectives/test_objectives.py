"""Every objective trains with the loss of transformers, stops, and resumes to the last bit."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertcore.training.pretraining import Batches, pretraining_loss
from bertcore.training.pretraining.objectives import OBJECTIVES
from tests.support.batch_checks import labels_of
from tests.support.command_line import metrics
from tests.support.exhaustive import spread
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_tokenizer
from tests.support.tiny_runs import DATA, assert_same_weights, build

ALL = tuple(OBJECTIVES)
CLASSES = {
    "mlm+nsp": "BertForPreTraining",
    "mlm": "BertForMaskedLM",
    "wwm": "BertForMaskedLM",
    "span-sbo": "BertForMaskedLM",
    "causal": "BertLMHeadModel",
    "unilm": "BertForMaskedLM",
    "plm": "BertForMaskedLM",
    "mlm+sop": "AlbertForPreTraining",
}
"""In `transformers`, of a BERT's checkpoint; of an ALBERT's for sentence order."""


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize(
    ("objective", "changes"),
    spread(
        ALL,
        [{"dtype": "bfloat16", "dropout": 0.1}, {"dtype": "float32", "gradient_accumulation": 2}],
    ),
)
def test_stopping_and_resuming_changes_nothing(
    tmp_path: Path, objective: str, changes: dict[str, Any]
) -> None:
    changes = {**changes, "long_ratio": 0.3, "long_seq_length": 48}
    whole = build(tmp_path / "whole", objective, **changes)
    assert whole.run() is not None
    part = build(tmp_path / "part", objective, **changes)
    assert part.run(should_stop=lambda: part.progress.step == 5) is None
    again = build(tmp_path / "part", objective, resume=True, **changes)
    assert again.progress.step == 5
    assert again.run() is not None
    assert metrics(tmp_path / "part") == metrics(tmp_path / "whole")
    assert_same_weights(again, whole)
    best = whole.folder.best_checkpoint()
    assert best is not None
    scored = {line["step"]: line for line in metrics(tmp_path / "whole") if "valid_loss" in line}
    if not whole.objective.is_berts:
        by = f"valid_{whole.objective.best_by}"
        saved = [int(f.name[5:]) for f in whole.folder.checkpoints()]
        at = min((s for s in saved if s in scored), key=lambda step: scored[step][by])
        assert best.name == f"step-{at}"


@pytest.mark.parametrize("objective", ALL)
def test_parts_of_a_batch_add_up_to_its_loss(tmp_path: Path, objective: str) -> None:
    run = build(tmp_path, objective, dtype="float32")
    module = run.objective.module(run.network, run.companion).eval()
    for step in range(3):
        whole = run.batches.batch(step)
        parts = [run.batches.batch(step, part=part) for part in (slice(0, 1), slice(1, 4))]
        assert all(part.totals == whole.totals for part in parts)
        found = []
        for batch in (whole, *parts):
            with torch.no_grad():
                values = module(batch.to(torch.device("cpu"), keep_mask=True)).values()
            found.append([float(value) for value in values])
        for one, first, second in zip(*found, strict=True):
            assert one == pytest.approx(first + second, abs=1e-4)


@pytest.mark.parametrize("objective", ALL)
def test_a_batch_can_be_learned_by_heart(tmp_path: Path, objective: str) -> None:
    run = build(tmp_path, objective, dtype="float32")
    batch = run.batches.batch(0)
    losses = [run.train_step([batch])["loss"] for _ in range(60)]
    assert losses[-1] < 0.5 * losses[0]


PAIR_LABELS = {
    "mlm+nsp": "next_sentence_label",
    "mlm": None,
    "mlm+sop": "sentence_order_label",
    "causal": None,
}
"""What `transformers` calls the labels of pairs."""


@pytest.mark.parity
@pytest.mark.parametrize("objective", PAIR_LABELS)
def test_losses_and_gradients_are_those_of_transformers(tmp_path: Path, objective: str) -> None:
    run = build(tmp_path / "run", objective, dtype="float32", evaluate_rows=24)
    network = run.network.eval()
    run.objective.save(network, None, run.tokenizer, tmp_path / "saved")
    theirs = getattr(transformers, CLASSES[objective]).from_pretrained(tmp_path / "saved").eval()
    name, seen = PAIR_LABELS[objective], set()
    for batch in run.held_out.own or run.held_out.masked:
        labels = labels_of(batch)
        if objective == "causal":
            labels = batch.input_ids.masked_fill(~batch.attention_mask, -100)
        expected = theirs(
            input_ids=batch.input_ids,
            token_type_ids=batch.segment_ids,
            attention_mask=batch.attention_mask.long(),
            labels=labels,
            **({name: batch.next_sentence_labels} if name else {}),
        )
        found = pretraining_loss(network, batch.to(torch.device("cpu")))
        loss = found["loss"].item()
        assert loss == pytest.approx(expected.loss.item(), abs=1e-5)
        assert loss == pytest.approx(float(found["mlm_loss"] + found["nsp_loss"]))
        assert int(found["num_masked"]) == batch.totals.num_masked
        if objective != "causal":
            logits = expected.prediction_logits if name else expected.logits
            assert int(found["mlm_correct"]) == int((logits.argmax(-1) == labels).sum())
        if name:
            of_pairs = expected["sop_logits" if "order" in name else "seq_relationship_logits"]
            right = of_pairs.argmax(-1) == batch.next_sentence_labels
            assert int(found["nsp_correct"]) == int(right.sum())
            seen |= set(batch.next_sentence_labels.tolist())
    assert seen == ({0, 1} if name else set())
    for module, loss in ((network, found["loss"]), (theirs, expected.loss)):
        module.zero_grad()
        loss.backward()
    ours, reference = network.token_table.grad, theirs.get_input_embeddings().weight.grad
    torch.testing.assert_close(ours, reference, atol=1e-5, rtol=1e-4)


@pytest.mark.parity
@pytest.mark.parametrize("objective", CLASSES)
def test_checkpoints_open_in_transformers(tmp_path: Path, objective: str) -> None:
    """As the class that has the trained heads, with equal logits."""
    run = build(tmp_path, objective, steps=2, dtype="float32")
    run.run()
    folder = run.folder.checkpoints()[-1]
    (name,) = json.loads((folder / "config.json").read_text())["architectures"]
    assert name == CLASSES[objective]
    theirs, report = getattr(transformers, name).from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    theirs.eval()
    network = run.network.eval()
    batch: Any = run.batches.batch(0)
    with torch.no_grad():
        expected = theirs(
            input_ids=batch.input_ids,
            token_type_ids=batch.segment_ids,
            attention_mask=batch.attention_mask.long(),
        )
        hidden = network(batch.input_ids, batch.segment_ids, batch.attention_mask)
    logits = expected.prediction_logits if "mlm+" in objective else expected.logits
    at = batch.attention_mask
    ours = network.masked_word_head()(hidden, network.token_table)
    torch.testing.assert_close(ours[at], logits[at], atol=1e-5, rtol=0)
    if network.nsp is not None:
        pairs = expected.seq_relationship_logits
        torch.testing.assert_close(network.nsp_logits(hidden), pairs, atol=1e-5, rtol=0)
    if network.sop is not None:
        order = expected.sop_logits
        torch.testing.assert_close(network.sop_logits(hidden), order, atol=1e-5, rtol=0)


def test_a_run_does_not_resume_with_another_objective(tmp_path: Path) -> None:
    build(tmp_path, "mlm", steps=2).run()
    with pytest.raises(ValueError, match=r"objective 'mlm'.* resumes with 'mlm\+nsp'"):
        build(tmp_path, "mlm+nsp", steps=2, resume=True)


def test_shares_of_masks_are_those_asked_for(tmp_path: Path) -> None:
    def actions(shares: str) -> torch.Tensor:
        config = replace(DATA, mask_shares=shares, objective="mlm")
        batches = Batches(small_corpus(), tiny_tokenizer(), config, seed=1)
        masks = [batches.batch(step) for step in range(40)]
        return torch.cat([batch.action[batch.weights == 1] for batch in masks])

    assert (actions("100/0/0") == 0).all()
    assert (actions("0/0/100") == 2).all()
    found = actions("40/40/20").bincount(minlength=3) / len(actions("40/40/20"))
    # Four standard errors of a share of 0.4 among some 500 hidden tokens.
    assert found.tolist() == pytest.approx([0.4, 0.4, 0.2], abs=4 * (0.24 / 500) ** 0.5)
    usual = build(tmp_path / "a", "mlm").held_out.masked
    other = build(tmp_path / "b", "mlm", mask_shares="100/0/0").held_out.masked
    for a, b in zip(usual, other, strict=True):
        assert torch.equal(a.input_ids, b.input_ids)
