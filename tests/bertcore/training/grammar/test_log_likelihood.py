"""Log-likelihood by a causal model, against minicons, and the exam that counts it."""

from pathlib import Path

import numpy as np
import pytest

from bertcore import Bert, load
from bertcore.data.files import BadRows
from bertcore.training.grammar import MinimalPair, log_likelihoods, reads_from_left, score_pairs
from tests.support.minicons_peer import left_to_right_sums
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import make_other

TEXTS = (
    "The river banks was steep.",
    "It had rained.",
    "Fishers sat watering the newest houses, and nobody had bought milk.",
    "Unheard-of words: zyx, qwv!",
)


@pytest.mark.parity
def test_sums_equal_minicons(causal: Bert, tmp_path: Path) -> None:
    theirs = left_to_right_sums(causal.save(tmp_path / "causal"), TEXTS, puts_bos=False)
    found = log_likelihoods(causal, [*map(causal.tokenize, TEXTS)])
    # Without the [SEP] behind the text.
    np.testing.assert_allclose(found, [sum(text[:-1]) for text in theirs], atol=1e-4)


@pytest.mark.parity
def test_gpt2_begins_with_its_own_token(tmp_path: Path) -> None:
    make_other("GPT2LMHeadModel", tmp_path)
    bert = load(tmp_path, device="cpu")
    texts = ["The river bank was steep.", "It had rained all day; nobody bought milk!"]
    theirs = left_to_right_sums(tmp_path, texts, puts_bos=True)
    found = log_likelihoods(bert, [*map(bert.tokenize, texts)])
    np.testing.assert_allclose(found, [*map(sum, theirs)], atol=1e-4)


def test_company_does_not_matter(causal: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    encodings = [*map(causal.tokenize, TEXTS)] * 3
    done: list[float] = []
    together = log_likelihoods(causal, encodings, progress=done.append)
    assert done == [1.0]
    monkeypatch.setattr("bertcore.model.likelihood._ENCODINGS_AT_ONCE", 2)
    monkeypatch.setattr("bertcore.model.likelihood.LOGITS_PER_CHUNK", 3)
    alone = [log_likelihoods(causal, [encoding])[0] for encoding in encodings]
    np.testing.assert_allclose(together, alone, atol=1e-4)
    np.testing.assert_allclose(log_likelihoods(causal, encodings), alone, atol=1e-4)


def test_who_reads_from_the_left(causal: Bert) -> None:
    assert reads_from_left(causal)
    assert not reads_from_left(tiny_bert())
    with pytest.raises(ValueError, match="does not predict the next token"):
        log_likelihoods(tiny_bert(), [tiny_bert().tokenize("The river.")])


def test_a_sentence_that_fills_gpt2_has_no_room_for_its_first_token(tmp_path: Path) -> None:
    make_other("GPT2LMHeadModel", tmp_path, n_positions=60)
    bert = load(tmp_path, device="cpu")
    bad_rows = BadRows(skip=True)
    assert len(bert.tokenize("0" * 60)) == 60
    assert bert.tokenize("0" * 60).truncation is None
    pairs = [MinimalPair("0" * length, "It had rained.", (), length) for length in (59, 60)]
    ((score,),) = score_pairs(bert, pairs, bad_rows=bad_rows)
    assert score.pair.row == 59
    assert "row 60 has a sentence of" in str(bad_rows.first)
