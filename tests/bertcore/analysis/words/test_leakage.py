"""Leakage: the first layer cannot leak; later ones do; against transformers, layer by layer."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert, load
from bertcore.analysis.mixing.rollout import normalize_rows
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from bertcore.analysis.words.leakage import leakage, paths_back
from bertcore.network import ALL_HEADS
from tests.support.tiny import tiny_bert, tiny_config

TEXT, PAIR = "The old man sat on the mat.", "It had rained."


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def test_one_layer_cannot_leak(bert: Bert) -> None:
    found = leakage(bert, TEXT, PAIR, 3)
    assert found.token == "man"
    ((*guesses,),) = bert.fill_mask(
        "The old [MASK] sat on the mat.", PAIR, top_k=bert.tokenizer.vocab_size
    )
    assert found.probabilities[0] == pytest.approx(dict(guesses)["man"], rel=1e-4)
    assert found.probabilities[1] == pytest.approx(found.probabilities[0], rel=1e-5)
    assert len(found.probabilities) == len(found.best) == bert.config.num_hidden_layers + 1


@pytest.mark.parity
def test_equals_transformers_layer_by_layer(bert: Bert, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    model = transformers.BertForMaskedLM.from_pretrained(bert.save(tmp_path / "t")).eval()
    position = 3
    ids = torch.tensor([bert.tokenize(TEXT).input_ids])
    hidden_ids = ids.clone()
    hidden_ids[0, position] = bert.tokenizer.mask_id
    with torch.inference_mode():
        read = model(input_ids=ids, output_hidden_states=True).hidden_states
        state = model(input_ids=hidden_ids, output_hidden_states=True).hidden_states[0]
        for layer, block in enumerate(model.bert.encoder.layer):
            own = state[0, position].clone()
            state = read[layer].clone()
            state[0, position] = own
            out = block(state)
            state = out[0] if isinstance(out, tuple) else out
        log_p = torch.log_softmax(model.cls(state)[0, position].double(), -1)
    found = leakage(bert, TEXT, None, position)
    assert found.probabilities[-1] == pytest.approx(float(log_p[ids[0, position]].exp()), rel=1e-4)


def test_what_others_read_reaches_the_place_from_two_layers_on() -> None:
    bert = load("default", device="cpu")
    text = "The fisherman sat on the bank of the river near the old mill."
    found = leakage(bert, text, None, bert.tokenize(text).tokens.index("river"))
    assert abs(found.probabilities[2] - found.probabilities[1]) > 1e-4


def test_returned_shares_by_hand(bert: Bert) -> None:
    trace = bert.trace(TEXT)
    found = paths_back(bert, trace).returned
    first, second = normalize_rows(value_zeroing(bert, trace)).tolist()
    number = trace.num_tokens
    expected = [
        sum(second[i][j] * first[j][i] for j in range(number) if j != i) for i in range(number)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.shape == (number,)


def test_paths_back_are_the_first_two_layers() -> None:
    bert = tiny_bert(tiny_config(num_hidden_layers=3))
    trace = bert.trace(TEXT, PAIR)
    fractions: list[float] = []
    found = paths_back(bert, trace, fractions.append)
    shares = normalize_rows(value_zeroing(bert, trace)).numpy()
    for number, part in enumerate((found.out, found.back)):
        assert not part.diagonal().any()
        others = ~np.eye(trace.num_tokens, dtype=bool)
        np.testing.assert_allclose(part[others], shares[number][others], atol=1e-6)
    assert fractions[-1] == 1


def test_one_layer_returns_nothing() -> None:
    bert = tiny_bert(tiny_config(num_hidden_layers=1))
    with pytest.raises(ValueError, match="one layer"):
        paths_back(bert, bert.trace(TEXT))


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("it rained", 0, "never predicted"),
        ("it rained", 99, "token 99"),
        ("[MASK] it", 1, "already masked"),
    ],
)
def test_bad_positions_are_sentences(bert: Bert, text: str, position: int, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        leakage(bert, text, None, position)


def test_a_checkpoint_without_the_head_is_refused() -> None:
    with pytest.raises(ValueError, match="masked-word"):
        leakage(tiny_bert(heads=ALL_HEADS - {"mlm"}), "it rained", None, 1)


def test_a_word_alone_has_nobody_to_hand_it_on(bert: Bert) -> None:
    found = leakage(bert, "rained", None, 1)
    assert np.isfinite(found.probabilities).all()
