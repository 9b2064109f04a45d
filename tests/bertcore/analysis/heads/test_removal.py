"""Heads off one after the other against runs of each text with these heads off."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np
import pytest
import torch

from bertcore import Bert
from bertcore.analysis.heads import removal as module
from bertcore.analysis.heads.removal import HIDDEN_EVERY, SEEDS, HeadRemoval, remove_heads
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.data.texts_file import Sentence
from bertcore.interventions.what_if import Changes
from bertcore.network import ALL_HEADS
from tests.support.tiny import tiny_bert, tiny_config

TEXTS = [
    Sentence("The river bank was steep ."),
    Sentence("It had rained all day .", "He went to the shop ."),
    Sentence("Paris"),
    Sentence("The old man sat on the mat , and the dog had milk and fish and water ."),
]


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert(tiny_config(num_hidden_layers=3))


@pytest.fixture(scope="module")
def found(bert: Bert) -> HeadRemoval:
    return remove_heads(bert, TEXTS)


@torch.no_grad()
def losses(bert: Bert, off: Iterable[tuple[int, int]] = ()) -> list[list[float]]:
    """Return -ln p of the hidden tokens of each text, each run alone."""
    out = []
    for number, text in enumerate(TEXTS):
        plain = bert.tokenize(text.text, text.text_pair)
        words = [i for i, added in enumerate(plain.special_tokens_mask) if not added]
        places = words[number % min(HIDDEN_EVERY, len(words)) :: HIDDEN_EVERY]
        encoding = masked_encoding(bert, text.text, text.text_pair, places)
        changes = Changes(heads_off=frozenset(off))
        trace = bert.trace(text.text, text.text_pair, encoding=encoding, changes=changes)
        log_p = bert.module.mlm_logits(trace.hidden_states[-1]).log_softmax(-1)
        out.append([-float(log_p[place, plain.input_ids[place]]) for place in places])
    return out


def test_losses_are_those_of_single_runs(bert: Bert, found: HeadRemoval) -> None:
    assert found.counts.tolist() == [0, 1, 2, 4, 5, 6, 7, 8, 10, 11, 12]
    assert sorted(found.order) == [(layer, head) for layer in range(3) for head in range(4)]
    assert found.num_texts == 4
    assert found.num_hidden == sum(map(len, losses(bert)))
    for point, count in enumerate(found.counts.tolist()):
        for order, curve in ((found.order, "least_first"), (found.order[::-1], "most_first")):
            expected = np.mean(np.concatenate(losses(bert, order[:count])))
            np.testing.assert_allclose(getattr(found, curve)[point], expected, rtol=1e-5)
    assert found.random.shape == (SEEDS, len(found.counts))
    np.testing.assert_array_equal(found.random[:, [0, -1]], [found.least_first[[0, -1]]] * SEEDS)
    again = remove_heads(bert, TEXTS, seed=0).random
    np.testing.assert_array_equal(again, found.random)
    assert not np.array_equal(remove_heads(bert, TEXTS, seed=1).random, found.random)


def test_importance_is_the_slope_of_the_loss(bert: Bert, found: HeadRemoval) -> None:
    step, width = 1e-4, bert.config.head_size
    slopes = np.zeros((3, 4))
    for layer in range(3):
        for head in range(4):
            ends = []
            for sign in (1, -1):
                module = copy.deepcopy(bert.module).double()
                columns = slice(head * width, (head + 1) * width)
                with torch.no_grad():
                    module.layers[layer].attention.output.weight[:, columns] *= 1 + sign * step
                moved = losses(Bert(module, bert.tokenizer))
                ends.append([np.mean(each) for each in moved])
            slopes[layer, head] = np.abs(np.subtract(*ends)).mean() / (2 * step)
    slopes /= np.linalg.norm(slopes, axis=1, keepdims=True)
    np.testing.assert_allclose(found.importance, slopes, rtol=1e-3, atol=1e-5)
    ranked = [found.importance[head] for head in found.order]
    assert ranked == sorted(ranked)


def test_batches_do_not_matter_and_progress_ends_the_work(
    bert: Bert, found: HeadRemoval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bertcore.likelihood.hidden_tokens.CPU_TOKENS_PER_BATCH", 1)
    fractions: list[float] = []
    alone = remove_heads(bert, TEXTS, on_fraction=fractions.append)
    np.testing.assert_allclose(alone.importance, found.importance, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(alone.least_first, found.least_first, rtol=1e-5)
    assert fractions == sorted(fractions)
    assert 0 < fractions[0] < fractions[-1] <= 1

    def stop(fraction: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        remove_heads(bert, TEXTS, on_fraction=stop)


def test_refused(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    for none in ([], [Sentence("")]):
        with pytest.raises(ValueError, match="no token"):
            remove_heads(bert, none)
    with pytest.raises(ValueError, match="masked-word"):
        remove_heads(tiny_bert(heads=ALL_HEADS - {"mlm"}), TEXTS)
    broken = tiny_bert()
    with torch.no_grad():
        broken.module.layers[0].attention.output.bias[0] = torch.nan
    with pytest.raises(ValueError, match="NaN"):
        remove_heads(broken, TEXTS)
    monkeypatch.setattr(module, "MAX_TEXTS", 2)
    assert remove_heads(bert, TEXTS).num_texts == 2
