"""A text continued by a causal model: against `generate` of transformers, draws, bad input."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert, load
from bertcore.analysis.words.continuation import MOST_TOKENS, continue_text
from bertcore.analysis.words.next_words import predict_next
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_others import make_other

TEXT = "the old man sat"


@pytest.fixture(scope="module")
def causal() -> Bert:
    return tiny_bert(replace(tiny_config(), is_decoder=True), heads=frozenset({"mlm"}))


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


def test_each_token_is_the_best_one_there(causal: Bert) -> None:
    found = continue_text(causal, TEXT, 4)
    for each in found.written:
        assert each.token == each.best[0][0]
        assert each.probability == pytest.approx(each.best[0][1])
    first = predict_next(causal, TEXT, positions=[5])  # [CLS] and four words stand before
    assert found.written[0].token == first.words[0, 0]
    assert found.written[0].probability == pytest.approx(float(first.probabilities[0, 0]), rel=1e-4)


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


def test_it_ends_at_the_last_position(causal: Bert) -> None:
    found = continue_text(causal, "it " * 55, 60)
    assert found.is_ended
    assert 0 < len(found.written) <= causal.max_length - 56
    assert all(np.isfinite(each.probability) for each in found.written)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"num_tokens": 0}, "num_tokens is 0"),
        ({"num_tokens": MOST_TOKENS + 1}, "num_tokens"),
        ({"temperature": -1.0}, "temperature is -1"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"text": "it " * 99}, "Shorten"),
    ],
)
def test_bad_input_is_a_sentence(causal: Bert, changes: dict[str, object], expected: str) -> None:
    values = {"text": TEXT, **changes}
    with pytest.raises(ValueError, match=expected):
        continue_text(causal, **values)  # type: ignore[arg-type]


def test_a_masked_model_is_refused() -> None:
    with pytest.raises(ValueError, match="next token"):
        continue_text(tiny_bert(), TEXT)


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
