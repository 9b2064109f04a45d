"""Rows and vectors of texts: equal to traces, to transformers, and to pooling by hand."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import BertModel

from bertcore import Bert, Model, load
from bertcore.analysis.corpus import EncodeSettings, encode_texts
from bertcore.analysis.corpus.batch import pool_rows, windows_of
from bertcore.model.sentences import POOLINGS
from bertcore.model.tokenizer import Pieces
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

TEXTS = (
    "The river banks was steep.",
    "it had rained",
    "Fishers sat watering the newest houses, and nobody had bought milk.",
    "\u4e2d\u6587 [MASK] <b>zyx</b>",
    "a",
    "she went to the shop",
)
TOKENS = EncodeSettings(special_tokens=True, dtype="float32")
CLOSE = {"atol": 5e-3, "rtol": 1e-3}
"""float16 has eleven bits; states here are up to 8."""


@pytest.mark.parametrize("tokens_per_batch", [1, 20, 4096])
def test_rows_are_the_tokens_and_states_of_each_text(bert: Bert, tokens_per_batch: int) -> None:
    options = EncodeSettings(special_tokens=True, tokens_per_batch=tokens_per_batch)
    found = encode_texts(bert, TEXTS, (0, 2), options)
    traces = [bert.trace(text) for text in TEXTS]
    assert found.columns["piece"] == [token for t in traces for token in t.tokens]
    ids = np.asarray(found.columns["word_id"])
    np.testing.assert_array_equal(ids, [i for t in traces for i in t.word_ids])
    spans = zip(found.columns["start"], found.columns["end"], strict=True)
    assert [tuple(span) for span in spans] == [span for t in traces for span in t.offsets]
    lengths = [len(t.tokens) for t in traces]
    np.testing.assert_array_equal(found.columns["text"], np.repeat(range(len(TEXTS)), lengths))
    assert list(found.columns["position"]) == [i for n in lengths for i in range(n)]
    for layer in (0, 2):
        expected = torch.cat([t.hidden_states[layer] for t in traces]).numpy()
        np.testing.assert_allclose(found.vectors[layer], expected, **CLOSE)
        assert found.vectors[layer].dtype == np.float16


def test_no_layer_behind_the_deepest_runs(bert: Bert) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("layer 2 ran")

    hook = bert.module.layers[1].register_forward_pre_hook(refuse)
    try:
        encode_texts(bert, TEXTS, (0, 1), TOKENS)
        with pytest.raises(AssertionError, match="layer 2"):
            encode_texts(bert, TEXTS, (2,), TOKENS)
    finally:
        hook.remove()


@pytest.mark.parity
def test_vectors_are_those_of_transformers(bert: Bert, tmp_path: Path) -> None:
    model = BertModel.from_pretrained(bert.save(tmp_path / "tiny")).eval()
    found = encode_texts(bert, TEXTS, (0, 1, 2), TOKENS)
    for number, text in enumerate(TEXTS):
        ids = torch.tensor([bert.tokenize(text).input_ids])
        with torch.no_grad():
            states = model(ids, output_hidden_states=True).hidden_states
        rows = np.asarray(found.columns["text"]) == number
        for layer, expected in enumerate(states):
            np.testing.assert_allclose(found.vectors[layer][rows], expected[0].numpy(), **CLOSE)


@pytest.mark.parametrize(
    "name", ["RobertaForMaskedLM", "ModernBertForMaskedLM", "AlbertForMaskedLM", "GPT2LMHeadModel"]
)
def test_other_families_give_their_own_states(name: str, tmp_path: Path) -> None:
    (make_other if name.startswith("GPT2") else make)(name, tmp_path)
    model: Model = load(tmp_path, device="cpu")
    texts = [text for text in TEXTS if "\u4e2d" not in text]
    last = model.config.num_hidden_layers
    found = encode_texts(model, texts, (1, last), TOKENS)
    traces = [model.trace(text) for text in texts]
    assert found.columns["piece"] == [token for t in traces for token in t.tokens]
    spans = zip(found.columns["start"], found.columns["end"], strict=True)
    assert [tuple(span) for span in spans] == [span for t in traces for span in t.offsets]
    for layer in (1, last):
        expected = torch.cat([t.hidden_states[layer] for t in traces]).numpy()
        np.testing.assert_allclose(found.vectors[layer], expected, **CLOSE)


@pytest.mark.parametrize("pooling", ["mean", "first", "last", "max"])
def test_words_are_pooled_from_their_pieces(bert: Bert, pooling: str) -> None:
    options = EncodeSettings(unit="word", pooling=pooling)
    found = encode_texts(bert, TEXTS, (1,), options)
    row = 0
    for number, text in enumerate(TEXTS):
        trace = bert.trace(text)
        for word in range(max(trace.word_ids) + 1):
            places = [i for i, w in enumerate(trace.word_ids) if w == word]
            states = trace.hidden_states[1][places]
            expected = {
                "mean": states.mean(0),
                "first": states[0],
                "last": states[-1],
                "max": states.amax(0),
            }[pooling]
            np.testing.assert_allclose(found.vectors[1][row], expected.numpy(), **CLOSE)
            start, end = found.columns["start"][row], found.columns["end"][row]
            assert text[int(start) : int(end)] == found.columns["word"][row]
            assert found.columns["piece"][row] == " ".join(trace.tokens[i] for i in places)
            assert (found.columns["text"][row], found.columns["position"][row]) == (number, word)
            row += 1
    assert row == len(found)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_sentences_are_pooled_as_encode_pools_them(bert: Bert, pooling: str) -> None:
    options = EncodeSettings(unit="sentence", pooling=pooling)
    found = encode_texts(bert, TEXTS, (1, 2), options)
    for layer in (1, 2):
        expected = bert.encode(TEXTS, layer=layer, pooling=pooling).numpy()
        np.testing.assert_allclose(found.vectors[layer], expected, **CLOSE)
    assert list(found.columns["end"]) == [len(text) for text in TEXTS]


def test_pooling_by_hand() -> None:
    states = np.array([[1, 8], [3, 2], [5, 5], [0, 4]], np.float32)
    owners = np.array([0, 0, 0, 1])
    expected = {
        "mean": [[3, 5], [0, 4]],
        "max": [[5, 8], [0, 4]],
        "cls": [[1, 8], [0, 4]],
        "lasttoken": [[5, 5], [0, 4]],
        "weightedmean": [[(1 + 6 + 15) / 6, (8 + 4 + 15) / 6], [0, 4]],
        "mean_sqrt_len_tokens": [[9 / 3**0.5, 15 / 3**0.5], [0, 4]],
    }
    for pooling, values in expected.items():
        np.testing.assert_allclose(pool_rows(states, owners, 2, pooling), values, rtol=1e-6)


@given(num=st.integers(0, 200), room=st.integers(1, 40), seed=st.integers(0, 5))
@settings(max_examples=150, deadline=None)
def test_windows_keep_each_piece_once(num: int, room: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = np.cumsum(rng.random(num) < 0.6).tolist()
    pieces = Pieces(list(range(num)), [(i, i + 1) for i in range(num)], words)
    windows = windows_of(3, pieces, room)
    kept = [i for w in windows for i in range(w.keep_from, w.keep_to)]
    assert kept == list(range(num))
    for window in windows:
        assert window.text == 3
        assert 0 <= window.first <= window.keep_from <= window.keep_to <= window.end
        assert window.end - window.first <= room
    assert windows[-1].end == num


def test_a_long_text_runs_in_windows(bert: Bert) -> None:
    text = " ".join(["the", "river", "banks", "was", "steep", "in", "paris"] * 30)
    found = encode_texts(bert, ["a dog", text], (2,), TOKENS)
    pieces = bert.tokenizer.encode_pieces([text])[0]
    rows = np.asarray(found.columns["text"]) == 1
    assert found.num_in_windows == 1
    assert rows.sum() == len(pieces.ids) + 2
    assert list(np.asarray(found.columns["position"])[rows]) == list(range(rows.sum()))
    assert np.asarray(found.columns["piece"])[rows][[0, -1]].tolist() == ["[CLS]", "[SEP]"]
    # by hand: the second window on its own
    windows = windows_of(1, pieces, bert.max_length - 2)
    assert len(windows) > 2
    second = windows[1]
    ids = [bert.tokenizer.cls_id, *pieces.ids[second.first : second.end], bert.tokenizer.sep_id]
    with torch.no_grad():
        states = bert.module(torch.tensor([ids]))[0, 1:-1].numpy()
    part = slice(second.keep_from, second.keep_to)
    expected = states[second.keep_from - second.first : second.keep_to - second.first]
    np.testing.assert_allclose(found.vectors[2][rows][1:-1][part], expected, **CLOSE)
    # no word is torn
    border = second.keep_from
    assert pieces.word_ids[border] != pieces.word_ids[border - 1]


@pytest.mark.parametrize(("value", "what"), [(float("nan"), "NaN"), (1e30, "65,504")])
def test_vectors_that_float16_cannot_hold_are_refused(value: float, what: str) -> None:
    bert = tiny_bert()
    with torch.no_grad():
        bert.module.layers[1].feed_forward.norm.bias[3] = value
    encode_texts(bert, TEXTS, (1,), TOKENS)
    with pytest.raises(RuntimeError, match=f"layer 2 .*{what}"):
        encode_texts(bert, TEXTS, (2,), TOKENS)
