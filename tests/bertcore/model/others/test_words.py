"""The words that other architectures predict: those of the model itself, run by transformers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.analysis import next_surprise, predict_masks, predict_next, surprise
from bertcore.analysis.words.next_sentence import score_pairs
from bertcore.analysis.words.predictions import fill_in_turn
from bertcore.model.others.model import OtherModel
from tests.support.tiny_others import MASKED, PAIR, TEXT, both, given

CLOSE = {"atol": 1e-5, "rtol": 0.0}


def own_logits(name: str, model: Any, bert: OtherModel, ids: list[int], at: int) -> torch.Tensor:
    """Return the model's own logits for a hidden token, [V], as its documentation asks for them."""
    input_ids = torch.tensor([ids])
    with torch.no_grad():
        if name.startswith("XLNet"):
            unseen = torch.zeros(1, len(ids), len(ids))
            unseen[:, :, at] = 1
            target = torch.zeros(1, 1, len(ids))
            target[0, 0, at] = 1
            segments = torch.tensor([bert.tokenize(TEXT, PAIR).segment_ids])
            out = model(input_ids, perm_mask=unseen, target_mapping=target, token_type_ids=segments)
            return out.logits[0, 0]
        if name.startswith("T5"):
            start = torch.tensor([[0, bert.tokenizer.mask_id]])
            return model(input_ids, decoder_input_ids=start).logits[0, -1]
        inputs = {}
        if bert.config.type_vocab_size:
            inputs["token_type_ids"] = torch.tensor([bert.tokenize(TEXT, PAIR).segment_ids])
        out = model(input_ids, **inputs)
        return (out.prediction_logits if "prediction_logits" in out else out.logits)[0, at]


@pytest.mark.parity
@pytest.mark.parametrize("name", MASKED)
def test_hidden_words_are_predicted_as_the_model_itself_does(name: str, tmp_path: Path) -> None:
    bert, model = both(name, tmp_path)
    at = 3
    ids = bert.tokenize(TEXT, PAIR).input_ids
    before = ids[at]
    ids = [*ids[:at], bert.tokenizer.mask_id, *ids[at + 1 :]]
    wanted = own_logits(name, model, bert, ids, at)[: bert.tokenizer.vocab_size].softmax(-1)
    found = predict_masks(bert, TEXT, PAIR, [at], 5)
    best = wanted.topk(5)
    names = [bert.tokenizer.id_to_token(i) for i in best.indices.tolist()]
    assert found.words[0].tolist() == names
    torch.testing.assert_close(torch.tensor(found.probabilities[0]), best.values, **CLOSE)
    assert found.original_probabilities[0] == pytest.approx(float(wanted[before]), abs=1e-6)
    # Hiding each token in turn asks the same, in a batch.
    asked = surprise(bert, TEXT, PAIR)
    bits = asked.bits[asked.positions.index(at)]
    assert float(bits) == pytest.approx(float(-wanted[before].log2()), abs=1e-4)
    # And so does a mask that is typed.
    text = f"The {bert.tokenizer.mask_token} was steep."
    [row] = bert.fill_mask(text, top_k=2)
    assert len(row) == 2


@pytest.mark.parametrize("name", MASKED)
def test_several_hidden_words(name: str, tmp_path: Path) -> None:
    bert, _ = both(name, tmp_path)
    found = predict_masks(bert, TEXT, None, [2, 3, 5], 3)
    assert found.positions == (2, 3, 5)
    assert len(fill_in_turn(bert, TEXT, None, [2, 3])) == 2


@pytest.mark.parity
def test_the_second_sentinel_is_asked_after_what_was_written_for_the_first(tmp_path: Path) -> None:
    bert, model = both("T5ForConditionalGeneration", tmp_path)
    first, second = bert.module.sentinels[:2]
    ids = bert.tokenize(TEXT).input_ids
    ids = [*ids[:2], first, ids[3], second, *ids[5:]]
    read = [0, first]
    with torch.no_grad():
        for _ in range(8):
            logits = model(torch.tensor([ids]), decoder_input_ids=torch.tensor([read])).logits
            piece = int(logits[0, -1].argmax())
            if piece in bert.module.sentinels or piece == model.config.eos_token_id:
                break
            read.append(piece)
        read.append(second)
        logits = model(torch.tensor([ids]), decoder_input_ids=torch.tensor([read])).logits
    wanted = logits[0, -1, : bert.tokenizer.vocab_size].softmax(-1).max()
    found = predict_masks(bert, TEXT, None, [2, 4], 1)
    assert float(found.probabilities[1, 0]) == pytest.approx(float(wanted), abs=1e-5)


@pytest.mark.parity
def test_gpt2_predicts_the_next_token_as_the_model_itself_does(tmp_path: Path) -> None:
    bert, model = both("GPT2LMHeadModel", tmp_path)
    ids = bert.tokenize(TEXT).input_ids
    with torch.no_grad():
        wanted = model(torch.tensor([ids])).logits[0].softmax(-1)
    found = predict_next(bert, TEXT, None, [1, 4, len(ids)], 4)
    for row, at in enumerate(found.positions):
        best = wanted[at - 1].topk(4)
        torch.testing.assert_close(torch.tensor(found.probabilities[row]), best.values, **CLOSE)
    assert found.originals == (bert.tokenizer.vocab[ids[1]], bert.tokenizer.vocab[ids[4]], None)
    assert found.original_probabilities[1] == pytest.approx(float(wanted[3, ids[4]]), abs=1e-6)
    scored = next_surprise(bert, TEXT)
    own = wanted[torch.arange(len(ids) - 1), torch.tensor(ids[1:])]
    torch.testing.assert_close(torch.tensor(scored.bits), -own.log2(), atol=1e-4, rtol=0)
    labels = torch.tensor([ids])
    with torch.no_grad():
        loss = model(labels, labels=labels).loss
    assert scored.pseudo_perplexity == pytest.approx(float(loss.exp()), rel=1e-4)


@pytest.mark.parametrize(("positions", "top_k"), [([0], 5), ([99], 5), ([1], 0)])
def test_next_words_that_cannot_be(positions: Sequence[int], top_k: int, tmp_path: Path) -> None:
    bert, _ = both("GPT2LMHeadModel", tmp_path)
    with pytest.raises(ValueError, match=r"nothing is predicted at token|top_k is 0"):
        predict_next(bert, TEXT, None, positions, top_k)
    other, _ = both("T5ForConditionalGeneration", tmp_path / "other")
    with pytest.raises(ValueError, match="does not predict the next token"):
        next_surprise(other, TEXT)
    with pytest.raises(ValueError, match="nothing is predicted"):
        next_surprise(bert, "The")


@pytest.mark.parity
def test_mobilebert_answers_next_sentence_as_the_model_itself_does(tmp_path: Path) -> None:
    bert, model = both("MobileBertForPreTraining", tmp_path)
    with torch.no_grad():
        wanted = model(**given(bert, TEXT, PAIR)).seq_relationship_logits[0].softmax(-1)
    assert bert.next_sentence(TEXT, PAIR).is_next == pytest.approx(float(wanted[0]), abs=1e-5)
    assert score_pairs(bert, [(TEXT, PAIR)])[0] == pytest.approx(float(wanted[0]), abs=1e-5)
