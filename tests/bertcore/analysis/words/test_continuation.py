"""Texts continued by a causal model, UniLM or masks, against transformers."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bertcore import Bert, load
from bertcore.analysis import continue_text, write_with_masks
from bertcore.analysis.words.continuation import MOST_TOKENS
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import make_other

TEXT = "the old man sat"
WHOLE = "The old man sat on the mat."


@pytest.mark.parity
def test_greedy_equals_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    make_other("GPT2LMHeadModel", tmp_path)
    bert = load(tmp_path, device="cpu")
    model = transformers.GPT2LMHeadModel.from_pretrained(tmp_path).eval()
    ids = torch.tensor([bert.tokenize(TEXT).input_ids])
    with torch.inference_mode():
        out = model.generate(ids, max_new_tokens=8, do_sample=False, pad_token_id=0)
    expected = [bert.tokenizer.id_to_token(i) for i in out[0, ids.shape[1] :].tolist()]
    found = continue_text(bert, TEXT, 8)
    assert [each.token for each in found.written] == expected[: len(found.written)]


@pytest.mark.parity
def test_gpt2_ends_at_its_end_token_as_in_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    model = make_other("GPT2LMHeadModel", tmp_path)
    end = model.config.eos_token_id
    with torch.no_grad():  # every state becomes the end token's row
        model.transformer.ln_f.weight.zero_()
        model.transformer.ln_f.bias.copy_(model.transformer.wte.weight[end] * 50)
    model.save_pretrained(tmp_path)
    bert = load(tmp_path, device="cpu")
    ids = torch.tensor([bert.tokenize(TEXT).input_ids])
    with torch.inference_mode():
        out = transformers.GPT2LMHeadModel.from_pretrained(tmp_path).generate(
            ids, max_new_tokens=6, do_sample=False, pad_token_id=0
        )
    found = continue_text(bert, TEXT, 6)
    assert out[0, ids.shape[1] :].tolist() == [end]
    assert [each.token for each in found.written] == [bert.tokenizer.id_to_token(end)]
    assert found.is_ended
    assert found.text == ""


def test_draws_are_seeded_and_follow_the_temperature(causal: Bert) -> None:
    one, same, other = (
        continue_text(causal, TEXT, 12, temperature=1.0, seed=seed) for seed in (1, 1, 2)
    )
    assert one == same
    assert one.text != other.text
    cold = continue_text(causal, TEXT, 6, temperature=0.01, seed=3)
    assert [each.token for each in cold.written] == [
        each.token for each in continue_text(causal, TEXT, 6).written
    ]


@pytest.mark.parity
def test_a_unilm_fills_masks_after_the_text(tmp_path: Path) -> None:
    """Against transformers with the same mask; no token before it sees a written one."""
    transformers = pytest.importorskip("transformers")
    made = tiny_bert(heads=frozenset({"mlm"}))
    made.objective = "unilm"
    folder = made.save(tmp_path / "unilm")
    bert = load(folder, device="cpu")
    model = transformers.BertForMaskedLM.from_pretrained(folder, attn_implementation="eager").eval()
    found = continue_text(bert, TEXT, 5)
    ids = list(bert.tokenize(TEXT).input_ids[:-1])
    for written in found.written:
        row = torch.tensor([[*ids, bert.tokenizer.mask_id]])
        mask = torch.ones(1, 1, row.shape[1], row.shape[1]).tril().log()
        with torch.no_grad():
            p = model(row, attention_mask=mask).logits[0, -1].softmax(-1)
        assert written.probability == pytest.approx(float(p.max()), abs=1e-5)
        assert written.token == bert.tokenizer.id_to_token(int(p.argmax()))
        ids.append(int(p.argmax()))


def test_a_unilm_text_longer_than_its_rows_is_a_sentence() -> None:
    bert = tiny_bert(heads=frozenset({"mlm"}))
    with pytest.raises(ValueError, match="next"):
        continue_text(bert, TEXT)
    bert.objective = "unilm"
    with pytest.raises(ValueError, match=f"fills all {bert.max_length} positions"):
        continue_text(bert, "the old man sat " * 40)
    almost = " ".join(["the"] * (bert.max_length - 3))
    assert len(continue_text(bert, almost, 9).written) == 2


def test_each_step_is_the_surest_answer(bert: Bert) -> None:
    found = write_with_masks(bert, WHOLE, 4)
    assert sorted(step.position for step in found.steps) == list(found.places)
    filled: dict[int, str] = {}
    for step in found.steps:
        tokens = [*step.tokens]
        assert [tokens[place] for place in found.places] == [
            filled.get(place, "[MASK]") for place in found.places
        ]
        encoding = bert.tokenize(f"{WHOLE} [MASK] [MASK] [MASK] [MASK]")
        ids = list(encoding.input_ids)
        for place, word in filled.items():
            ids[place] = bert.tokenizer.vocab.index(word)
        positions, p = bert.mask_probabilities(replace(encoding, input_ids=ids))
        p[:, bert.tokenizer.special_ids] = 0
        row = int(p.max(-1).values.argmax())
        assert positions[row] == step.position
        assert bert.tokenizer.vocab[int(p[row].argmax())] == step.word
        assert float(p[row].max()) == pytest.approx(step.probability, rel=1e-5)
        trace = bert.trace(WHOLE, encoding=replace(encoding, input_ids=ids))
        own = trace.attentions[:, :, step.position].mean(1)
        np.testing.assert_allclose(step.weights, own, atol=1e-6)
        filled[step.position] = step.word
    assert found.joint == pytest.approx(math.prod(step.probability for step in found.steps))
    assert found.text.replace(" ", "") == "".join(
        filled[place].removeprefix("##") for place in found.places
    )


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda b, t: continue_text(b, TEXT), "next token"),
        (lambda b, t: continue_text(t, TEXT, 0), "num_tokens is 0"),
        (lambda b, t: continue_text(t, TEXT, MOST_TOKENS + 1), "num_tokens"),
        (lambda b, t: continue_text(t, TEXT, temperature=float("nan")), "temperature is nan"),
        (lambda b, t: continue_text(t, "it " * 99), "the text fills all"),
        (lambda b, t: write_with_masks(b, TEXT, 21), "num_tokens is 21"),
        (lambda b, t: write_with_masks(b, "The [MASK] sat", 2), "the text already has"),
        (lambda b, t: write_with_masks(b, "mat " * 60, 9), "9 masks do not fit"),
        (lambda b, t: write_with_masks(t, TEXT, 2), ".*mask"),
    ],
)
def test_bad_input_is_a_sentence(bert: Bert, causal: Bert, call: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        call(bert, causal)
