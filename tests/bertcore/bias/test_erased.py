"""An erasure live in the network: what it guards, what it changes, where it is saved."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert, load
from bertcore.bias import (
    METHODS,
    erase,
    fit_erasure,
    measure_erasure,
    paired_sentences,
    probe,
    text_vectors,
)
from bertcore.bias.erased import _token_vectors
from bertcore.bias.own_sets import direction_words
from bertcore.grammar import accuracies, bundled_pairs, score_pairs
from bertcore.network import ALL_HEADS
from tests.support.tiny import tiny_bert

FITTED_ON = paired_sentences(direction_words().pairs)


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def sides(model: Bert, state: int) -> list[np.ndarray]:
    """The vectors of all tokens of the sentences, those of each gender together."""
    return [
        np.concatenate(_token_vectors(model, [pair[side] for pair in FITTED_ON], state))
        for side in (0, 1)
    ]


def test_sentences_differ_in_the_words_of_a_pair() -> None:
    assert ("She is a [MASK].", "He is a [MASK].") in FITTED_ON
    assert ("They met the woman in the town.", "They met the man in the town.") in FITTED_ON
    assert ("They met her in the town.", "They met him in the town.") in FITTED_ON
    assert not any("met she" in first or first.startswith("Her ") for first, _ in FITTED_ON)


@pytest.mark.parametrize("state", [0, 1, 2])
def test_leace_makes_the_classes_means_equal_in_the_running_network(bert: Bert, state: int) -> None:
    """That is what guards against every linear probe (Belrose et al. 2023, theorem 3.1)."""
    women, men = sides(bert, state)
    assert np.abs(women.mean(0) - men.mean(0)).max() > 1e-3
    erased = erase(bert, fit_erasure(bert, state, "leace"))
    women, men = sides(erased, state)
    np.testing.assert_allclose(women.mean(0), men.mean(0), atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_the_live_state_is_the_erased_state(bert: Bert, method: str) -> None:
    erasure = fit_erasure(bert, 1, method)
    assert (erasure.num_sentences, erasure.method) == (2 * len(FITTED_ON), method)
    texts = ["she sat on it", "the river"]
    before = bert.encode(texts, layer=1, pooling="mean").double().numpy()
    after = erase(bert, erasure).encode(texts, layer=1, pooling="mean").double().numpy()
    np.testing.assert_allclose(after, erasure.eraser(before), atol=1e-5)
    assert np.abs(after - before).max() > 1e-3


@pytest.mark.parity
def test_the_saved_checkpoint_answers_in_transformers_as_the_live_one(
    bert: Bert, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    erased = erase(bert, fit_erasure(bert, 2, "leace"))
    theirs = transformers.BertForMaskedLM.from_pretrained(erased.save(tmp_path / "e")).eval()
    encoding = bert.tokenize("she worked as a [MASK] .")
    with torch.inference_mode():
        out = theirs(input_ids=torch.tensor([encoding.input_ids])).logits[0]
        live = erased.module.mlm_logits(erased.hidden(encoding))
    torch.testing.assert_close(out, live, atol=1e-5, rtol=1e-5)
    # The state itself is as before: a probe on the saved checkpoint's states reads all of it.
    texts = ["she sat", "he sat"]
    reopened = load(tmp_path / "e", device="cpu")
    torch.testing.assert_close(reopened.encode(texts), bert.encode(texts), atol=1e-5, rtol=1e-5)


def test_what_cannot_be_folded_is_not_saved(bert: Bert, tmp_path: Path) -> None:
    erased = erase(bert, fit_erasure(bert, 1, "direction"))
    assert "residual connection" in str(erased.why_not_saved)
    with pytest.raises(ValueError, match="residual connection"):
        erased.save(tmp_path / "e")
    assert not (tmp_path / "e").exists()


def test_measures_before_are_those_of_the_checkpoint(bert: Bert) -> None:
    steps: list[tuple[float, str]] = []
    erasure = fit_erasure(bert, 1, "leace")
    found = measure_erasure(bert, erasure, progress=lambda done, name: steps.append((done, name)))
    here, last, pronouns, names, words, exam = found
    assert "hidden state 1" in here.name
    assert "(the last)" in last.name
    probed = direction_words().probe
    texts = [pair[side] for side in (0, 1) for pair in probed]
    labels = np.repeat([0, 1], len(probed)).tolist()
    for model, accuracy in ((bert, last.before.mean), (erase(bert, erasure), last.after.mean)):
        vectors = text_vectors(model, texts, layer=2, pooling="mean")
        assert accuracy == pytest.approx(probe(vectors, labels).accuracy, abs=1e-9)
    scores = [score for part in score_pairs(bert, bundled_pairs().pairs) for score in part]
    assert exam.before.mean == accuracies(scores, ())[0].accuracy
    assert 0 <= words.before.low <= words.before.mean <= words.before.high <= 1
    assert pronouns.before.mean != pronouns.after.mean
    assert names.neutral == 0.0
    assert not names.is_share
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


def test_without_the_head_there_are_probes_alone() -> None:
    bert = tiny_bert(heads=ALL_HEADS - {"mlm"})
    found = measure_erasure(bert, fit_erasure(bert, 2, "leace"))
    assert [each.neutral for each in found] == [0.5]


@pytest.mark.parametrize(("state", "method"), [(7, "leace"), (-1, "inlp"), (1, "more")])
def test_other_states_and_methods_are_refused(bert: Bert, state: int, method: str) -> None:
    with pytest.raises(ValueError, match=r"hidden state|method"):
        fit_erasure(bert, state, method)
