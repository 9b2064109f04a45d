"""Two texts under one mask, against scipy, the lens and what an attention mask must do."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine, jensenshannon

from bertcore import Bert
from bertcore.analysis.compare.agreement import agreement
from bertcore.analysis.words.lens import layer_predictions
from bertcore.interventions.what_if import Changes
from bertcore.network import ALL_HEADS
from tests.support.tiny import tiny_bert

FIRST, SECOND = "the cat said that [MASK] was old", "the dog said that [MASK] was old"


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def test_numbers_are_those_of_the_states_and_of_the_lens(bert: Bert) -> None:
    one, two = bert.trace(FIRST), bert.trace(SECOND)
    found = agreement(bert, one, two)
    place = one.tokens.index("[MASK]")
    assert found.mask == (place, place)
    shared = [i for i in range(one.num_tokens) if one.tokens[i] == two.tokens[i] and i != place]
    assert found.num_shared == len(shared)
    (differing,) = (i for i in range(one.num_tokens) if one.tokens[i] != two.tokens[i])
    lenses = [
        layer_predictions(bert, text, positions=[place], top_k=10**6) for text in (FIRST, SECOND)
    ]
    for layer in found.layers:
        states = [trace.hidden_states[layer.layer].numpy() for trace in (one, two)]
        alike = [1 - cosine(a, b) for a, b in zip(*states, strict=True)]
        assert layer.mask == pytest.approx(alike[place], abs=1e-5)
        assert layer.shared == pytest.approx(np.mean([alike[i] for i in shared]), abs=1e-5)
        assert layer.lowest == pytest.approx(min(alike[i] for i in shared), abs=1e-5)
        assert layer.differing == pytest.approx(alike[differing], abs=1e-5)
        gaps = np.abs(states[0] - states[1])[[*shared, place]]
        assert layer.largest == pytest.approx(gaps.max(), abs=1e-6)
        words = [lens.words[layer.layer, 0].tolist() for lens in lenses]
        assert (layer.word_first, layer.word_second) == (words[0][0], words[1][0])
        tables = [
            dict(zip(w, lens.probabilities[layer.layer, 0].tolist(), strict=True))
            for w, lens in zip(words, lenses, strict=True)
        ]
        assert (layer.p_first, layer.p_second) == pytest.approx(
            (tables[0][words[0][0]], tables[1][words[1][0]]), abs=1e-6
        )
        p, q = ([table[word] for word in words[0]] for table in tables)
        assert layer.divergence == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-5)
    assert found.layers[0].largest == 0
    assert found.layers[-1].largest > 0


def test_what_no_other_token_sees_changes_no_other_token(bert: Bert) -> None:
    one, two = bert.trace(FIRST), bert.trace(SECOND)
    found = agreement(bert, one, two, hides_differing=True)
    assert [layer.largest for layer in found.layers] == [0, 0, 0]
    assert all(layer.mask == layer.shared == 1 for layer in found.layers)
    assert all(layer.word_first == layer.word_second for layer in found.layers)
    assert found.layers[-1].differing < 1  # the hidden tokens themselves differ
    place = one.tokens.index("cat")
    assert found.hidden == ((place,), (two.tokens.index("dog"),))
    # They are hidden from the others, not from themselves.
    rows = ((0, place - 1), (place + 1, one.num_tokens - 1))
    hidden = Changes(pattern="drawn", blocked=tuple((a, b, place, place) for a, b in rows))
    first, second = (bert.trace(text, changes=hidden).hidden_states for text in (FIRST, SECOND))
    for layer, a, b in zip(found.layers, first[:, place], second[:, place], strict=True):
        assert layer.differing == pytest.approx(1 - cosine(a, b), abs=1e-5)
    # One token more moves all that follow: position vectors differ.
    longer = bert.trace("the old dog said that [MASK] was old")
    moved = agreement(bert, one, longer, hides_differing=True)
    assert moved.layers[0].largest > 0
    assert torch.isfinite(torch.tensor([layer.mask for layer in moved.layers])).all()


def test_texts_without_a_mask_or_a_head_have_no_predictions(bert: Bert) -> None:
    found = agreement(bert, bert.trace("the cat"), bert.trace("the dog"))
    assert found.mask is None
    assert not found.has_words
    assert np.isnan(found.layers[0].mask)
    assert found.layers[0].shared == pytest.approx(1)
    headless = tiny_bert(heads=ALL_HEADS - {"mlm"})
    found = agreement(headless, headless.trace(FIRST), headless.trace(SECOND))
    assert not found.has_words
    assert found.layers[-1].mask < 1


@pytest.mark.parametrize("text", ["", "[MASK]", "\x00 [MASK] \u202e שלום", "the " * 600 + "[MASK]"])
def test_strange_texts_are_compared(bert: Bert, text: str) -> None:
    for hides in (False, True):
        found = agreement(bert, bert.trace(FIRST), bert.trace(text), hides_differing=hides)
        assert len(found.layers) == 3
        same = agreement(bert, bert.trace(text), bert.trace(text), hides_differing=hides)
        assert all(layer.largest == 0 for layer in same.layers)
