"""Every objective trains, stops, resumes to the last bit, and refuses what does not fit."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertcore.architecture.config import BertConfig
from bertcore.objectives.masking import Masked
from bertcore.pretraining import DataConfig, OptimizerConfig, Pretraining, RunFolder, TrainConfig
from bertcore.pretraining.objectives import OBJECTIVES
from bertcore.pretraining.objectives.epochs import Batches
from tests.support.exhaustive import spread
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_tokenizer

TRAIN = TrainConfig(
    steps=8, device="cpu", log_every=1, evaluate_every=4, evaluate_rows=12, save_every=3
)
DATA = DataConfig(max_seq_length=24, max_predictions_per_seq=5, batch_size=4)
ALL = tuple(OBJECTIVES)
CLASSES = {
    "mlm+nsp": "BertForPreTraining",
    "mlm": "BertForMaskedLM",
    "wwm": "BertForMaskedLM",
    "span-sbo": "BertForMaskedLM",
    "causal": "BertLMHeadModel",
    "unilm": "BertForMaskedLM",
    "mlm+sop": "AlbertForPreTraining",
}
"""In `transformers`, of a BERT's checkpoint; of an ALBERT's for sentence order."""
ALBERT = tiny_config(model_type="albert", embedding_size=16, share_layers=True)


def build(path: Path, objective: str, *, resume: bool = False, **changes: Any) -> Pretraining:
    """Build a tiny run; `changes` are fields of TrainConfig or DataConfig."""
    of_train = {name: value for name, value in changes.items() if hasattr(TRAIN, name)}
    of_data = {name: value for name, value in changes.items() if hasattr(DATA, name)}
    assert len(of_train) + len(of_data) == len(changes)
    tokenizer = OBJECTIVES[objective].tokenizer(tiny_tokenizer())
    return Pretraining(
        RunFolder(path),
        shape=ALBERT if objective == "mlm+sop" else _bert(tokenizer.vocab_size),
        tokenizer=tokenizer,
        train=small_corpus(),
        valid=small_corpus(8, seed=5),
        train_config=replace(TRAIN, **of_train),
        data_config=replace(DATA, objective=objective, **of_data),
        optimizer_config=OptimizerConfig(),
        resume=resume,
    )


def _bert(vocab_size: int) -> BertConfig:
    return tiny_config(num_hidden_layers=1, vocab_size=vocab_size)


def metrics(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        del line["seconds"]
    return lines


def trained(run: Pretraining) -> list[torch.Tensor]:
    modules = [run.network] if run.companion is None else [run.network, run.companion]
    return [tensor for module in modules for tensor in module.state_dict().values()]


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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
    assert all(torch.equal(a, b) for a, b in zip(trained(again), trained(whole), strict=True))
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
    module = run.objective.with_loss(
        run.network.eval(), run.companion, dtype="float32", is_compiled=False
    ).eval()
    for step in range(3):
        whole = run.batches.batch(step)
        parts = [run.batches.batch(step, part=part) for part in (slice(0, 1), slice(1, 4))]
        assert all(part.totals == whole.totals for part in parts)
        found = []
        for batch in (whole, *parts):
            torch.manual_seed(0)
            tensors = run.objective.tensors(batch, torch.device("cpu"), keep_mask=True)
            with torch.no_grad():
                found.append([float(value) for value in module(tensors)])
        if not run.objective.samples:
            for one, first, second in zip(*found, strict=True):
                assert one == pytest.approx(first + second, abs=1e-4)


@pytest.mark.parametrize("objective", ALL)
def test_a_batch_can_be_learned_by_heart(tmp_path: Path, objective: str) -> None:
    run = build(tmp_path, objective, dtype="float32")
    batch = run.batches.batch(0)
    losses = [run.train_step([batch])["loss"] for _ in range(60)]
    assert losses[-1] < 0.5 * losses[0]


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
            input_ids=batch.masked.input_ids,
            token_type_ids=batch.segment_ids,
            attention_mask=batch.attention_mask.long(),
        )
        hidden = network(batch.masked.input_ids, batch.segment_ids, batch.attention_mask)
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
        masks: list[Masked] = [batches.batch(step).masked for step in range(40)]  # type: ignore[attr-defined]
        return torch.cat([masked.action[masked.weights == 1] for masked in masks])

    assert (actions("100/0/0") == 0).all()
    assert (actions("0/0/100") == 2).all()
    found = actions("40/40/20").bincount(minlength=3) / len(actions("40/40/20"))
    # Four standard errors of a share of 0.4 among some 500 hidden tokens.
    assert found.tolist() == pytest.approx([0.4, 0.4, 0.2], abs=4 * (0.24 / 500) ** 0.5)
    usual = build(tmp_path / "a", "mlm").held_out.masked
    other = build(tmp_path / "b", "mlm", mask_shares="100/0/0").held_out.masked
    for a, b in zip(usual, other, strict=True):
        assert torch.equal(a.masked.input_ids, b.masked.input_ids)
