"""Answers of checkpoints against transformers on random weights; absent heads are a sentence."""

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import transformers

import bertcore
from bertcore import Bert
from bertcore.analysis.objectives.answers import MASKED_WORDS, objective_answer, why_no_answer
from bertcore.analysis.objectives.demo import drawn
from bertcore.analysis.objectives.given import segments_of
from bertcore.model.checkpoints.save import name_objective
from bertcore.model.objectives import DIRECTIONS, IGNORED, OBJECTIVES, Direction
from bertcore.training.pretraining.objectives.denoising import SequenceWithLoss, pad_sequences
from tests.support.kit import edit
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other, opened

A, B = "the man went to the river", "it had rained all night. he was good"
OTHERS = ("The man was old. The river was steep.",)


def words_loss(logits: torch.Tensor, labels: np.ndarray) -> float:
    return float(F.cross_entropy(logits, torch.from_numpy(labels), ignore_index=IGNORED))


def ids_of(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array)[None]


@pytest.mark.parametrize("name", MASKED_WORDS)
def test_masked_words(name: str, tmp_path: Path) -> None:
    model = make("RobertaForMaskedLM", tmp_path)
    opened_bert = bertcore.load(tmp_path, device="cpu")
    _, found = drawn(opened_bert, name, A, B, seed=2, share=0.4)
    answer = objective_answer(opened_bert, name, A, B, seed=2, share=0.4)
    with torch.no_grad():
        logits = model(ids_of(found.corrupted.input_ids)).logits[0]
    assert answer.loss == pytest.approx(words_loss(logits, found.corrupted.labels), abs=1e-4)
    place = answer.places[0]
    best = logits[place.place].softmax(-1).max()
    assert place.best[0][1] == pytest.approx(float(best), abs=1e-5)


@pytest.mark.parametrize(
    ("name", "class_name", "logits"),
    [
        ("next-sentence", "BertForPreTraining", "seq_relationship_logits"),
        ("sentence-order", "AlbertForPreTraining", "sop_logits"),
    ],
)
def test_pairs(name: str, class_name: str, logits: str, tmp_path: Path) -> None:
    if class_name.startswith("Albert"):
        model = make(class_name, tmp_path)
    else:
        tiny_bert().save(tmp_path)
        model = transformers.BertForPreTraining.from_pretrained(tmp_path).eval()
    bert, labels = bertcore.load(tmp_path, device="cpu"), set()
    for seed in range(4):
        prepared, found = drawn(bert, name, A, B, others=OTHERS, seed=seed)
        answer = objective_answer(bert, name, A, B, others=OTHERS, seed=seed)
        ids, segments = ids_of(found.judged.input_ids), ids_of(segments_of(prepared, found))
        with torch.no_grad():
            out = model(ids, token_type_ids=segments)
        wanted = F.cross_entropy(getattr(out, logits), torch.tensor([found.judged.label]))
        assert answer.loss == pytest.approx(float(wanted), abs=1e-4)
        labels.add(found.judged.label)
    assert labels == {0, 1}


def test_replaced_tokens(tmp_path: Path) -> None:
    model = make("ElectraForPreTraining", tmp_path)
    electra = bertcore.load(tmp_path, device="cpu")
    prepared, found = drawn(electra, "replaced-tokens", A, B, seed=1, share=0.3)
    answer = objective_answer(electra, "replaced-tokens", A, B, seed=1, share=0.3)
    assert found.is_replaced is not None
    with torch.no_grad():
        logits = model(
            ids_of(found.corrupted.input_ids), token_type_ids=ids_of(prepared.segment_ids)
        ).logits[0]
    wanted = F.binary_cross_entropy_with_logits(logits, torch.from_numpy(found.is_replaced).float())
    assert answer.loss == pytest.approx(float(wanted), abs=1e-4)
    assert len(answer.places) == len(found.fates)


@pytest.mark.parametrize("is_ours", [False, True])
def test_next_token(is_ours: bool, tmp_path: Path) -> None:
    if is_ours:
        network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
        causal = Bert(network, tiny_tokenizer())
        model = transformers.BertLMHeadModel.from_pretrained(causal.save(tmp_path / "own")).eval()
    else:
        model = make_other("GPT2LMHeadModel", tmp_path)
        causal = opened(tmp_path)
    _, found = drawn(causal, "causal", A, B)
    answer = objective_answer(causal, "causal", A, B)
    ids = ids_of(found.corrupted.input_ids)
    with torch.no_grad():
        wanted = model(ids, labels=ids).loss
    assert answer.loss == pytest.approx(float(wanted), abs=1e-4)


def test_permuted_order(tmp_path: Path) -> None:
    model = make_other("XLNetLMHeadModel", tmp_path)
    xlnet = opened(tmp_path)
    prepared, found = drawn(xlnet, "permutation", A, B, seed=3, share=0.5)
    answer = objective_answer(xlnet, "permutation", A, B, seed=3, share=0.5)
    assert found.rank is not None
    # As in its own data code: a token is hidden from those that are predicted no later.
    rank = torch.from_numpy(found.rank)
    hidden = (rank[None, :] >= 0) & (rank[:, None] <= rank[None, :])
    size = len(rank)
    with torch.no_grad():
        logits = model(
            ids_of(found.corrupted.input_ids),
            token_type_ids=ids_of(prepared.segment_ids),
            perm_mask=hidden.float()[None],
            target_mapping=torch.eye(size)[None],
        ).logits[0]
    wanted = words_loss(logits, found.corrupted.labels)
    assert answer.loss == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "class_name"),
    [
        ("t5-spans", "T5ForConditionalGeneration"),
        ("bart-infilling", "BartForConditionalGeneration"),
        ("bart-sentences", "BartForConditionalGeneration"),
        ("bart-deletion", "BartForConditionalGeneration"),
    ],
)
def test_decoders(name: str, class_name: str, tmp_path: Path) -> None:
    model = make_other(class_name, tmp_path)
    other = opened(tmp_path)
    prepared, found = drawn(other, name, A, B, seed=2)
    answer = objective_answer(other, name, A, B, seed=2)
    labels = ids_of(found.corrupted.labels)
    with torch.no_grad():
        out = model(ids_of(found.corrupted.input_ids), labels=labels)
    assert answer.loss == pytest.approx(float(out.loss), abs=1e-4)
    assert bool(prepared.names) != name.startswith("t5")  # whose sentinels are its own
    assert [one.target for one in answer.places] == [
        other.tokenizer.id_to_token(one) for one in found.corrupted.labels.tolist()
    ]


def test_absent_heads_are_a_sentence(bert: Bert, tmp_path: Path) -> None:
    have = {name for name in OBJECTIVES if why_no_answer(bert, name) is None}
    assert have == {*MASKED_WORDS, "next-sentence"}
    for name, run in (("unilm", "unilm"), ("permutation", "plm")):
        reason = why_no_answer(bert, name) or ""
        assert "pretraining_objective" in reason
        assert f"--objective {run}" in reason
    make_other("T5ForConditionalGeneration", tmp_path)
    t5 = opened(tmp_path)
    assert {name for name in OBJECTIVES if why_no_answer(t5, name) is None} == {"t5-spans"}
    with pytest.raises(ValueError, match="T5"):
        objective_answer(bert, "t5-spans", A, B)
    with pytest.raises(ValueError, match="R3L"):
        why_no_answer(bert, "R3L")


def test_permuted_order_of_our_network() -> None:
    """The answer at a place is that of the network on the text whose unseen words are hidden."""
    bert = tiny_bert(heads=frozenset({"mlm"}))
    bert.objective = "plm"
    for seed in range(3):
        _, found = drawn(bert, "permutation", A, seed=seed, share=0.4)
        answer = objective_answer(bert, "permutation", A, seed=seed, share=0.4)
        assert found.rank is not None
        first = int(np.flatnonzero(found.rank == 0)[0])  # sees what is never predicted
        ids = found.corrupted.input_ids.copy()
        ids[first] = bert.tokenizer.mask_id
        seen = torch.from_numpy(found.rank < 0)
        # The query is read by itself; the others see each other, and not the mask.
        mask = seen[None, :].expand(len(ids), -1).clone()
        with torch.no_grad():
            hidden = bert.module(ids_of(ids), None, mask[None])
            logits = bert.module.mlm_logits(hidden[0, first])
        wanted = -float(logits.log_softmax(-1)[found.corrupted.labels[first]])
        (place,) = [one for one in answer.places if one.place == first]
        assert place.loss == pytest.approx(wanted, abs=1e-4)
    assert why_no_answer(bert, "masked-words") is not None


@pytest.mark.parametrize("direction", list(DIRECTIONS))
def test_unilm_answers_under_its_mask(direction: Direction, tmp_path: Path) -> None:
    bert = tiny_bert(heads=frozenset({"mlm"}))
    bert.objective = "unilm"
    folder = bert.save(tmp_path / "unilm")
    bert = bertcore.load(folder, device="cpu")
    model = transformers.BertForMaskedLM.from_pretrained(folder, attn_implementation="eager").eval()
    prepared, found = drawn(bert, "unilm", A, B, seed=2, direction=direction)
    answer = objective_answer(bert, "unilm", A, B, seed=2, direction=direction)
    assert found.corrupted.allowed is not None
    with torch.no_grad():
        logits = model(
            ids_of(found.corrupted.input_ids),
            token_type_ids=ids_of(prepared.segment_ids),
            attention_mask=torch.log(ids_of(found.corrupted.allowed).float())[None],
        ).logits[0]
    assert answer.loss == pytest.approx(words_loss(logits, found.corrupted.labels), abs=1e-4)


def test_mass_answers_and_no_noise_of_bart_does(tmp_path: Path) -> None:
    """The loss is the run's own, and the checkpoint is not offered what it never saw."""
    make_other("BartForConditionalGeneration", tmp_path)
    name_objective(tmp_path, "mass")
    mass = opened(tmp_path)
    _, found = drawn(mass, "mass", A, seed=1)
    rows = pad_sequences([found.corrupted], mass.tokenizer.pad_id)
    with torch.no_grad():
        total = torch.tensor(float(len(found.corrupted.labels)))
        wanted = SequenceWithLoss(mass.module)({**rows, "total_masked": total})
    assert objective_answer(mass, "mass", A, seed=1).loss == pytest.approx(
        float(wanted["loss"]), abs=1e-4
    )
    assert {name for name in OBJECTIVES if why_no_answer(mass, name) is None} == {"mass"}
    saved = opened(mass.save(tmp_path / "again"))
    assert saved.objective == "mass"


@pytest.mark.parametrize("value", ["R3L", ["unilm"]])
def test_an_objective_that_no_run_has_is_not_read(value: object, tmp_path: Path) -> None:
    folder = tiny_bert(heads=frozenset({"mlm"})).save(tmp_path / "bert")
    edit(folder, pretraining_objective=value)
    assert bertcore.load(folder, device="cpu").objective is None
