"""Scores of continuations: by hand with transformers, and against minicons."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert, load
from bertcore.analysis import score_continuations
from bertcore.training.grammar import SCORINGS, Scoring
from tests.support.minicons_peer import conditional_scores
from tests.support.tiny import causal_bert, tiny_bert
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

GIVEN = "The river bank"
CONTINUATIONS = ("was steep.", "had watered the newest houses!", "rained")


@pytest.mark.parity
@pytest.mark.parametrize("family", ["Bert", "Roberta", "Albert"])
@pytest.mark.parametrize("scoring", SCORINGS)
def test_masked_words_are_minicons(family: str, scoring: Scoring, tmp_path: Path) -> None:
    if family == "Bert":
        tiny_bert().save(tmp_path)
    else:
        make(f"{family}ForMaskedLM", tmp_path)
    scores = score_continuations(
        load(tmp_path, device="cpu"), GIVEN, CONTINUATIONS, scoring=scoring
    )
    expected = conditional_scores(tmp_path, GIVEN, CONTINUATIONS, scoring)
    for score, log_p in zip(scores, expected, strict=True):
        np.testing.assert_allclose(score.log_p, log_p, atol=1e-4)
        assert score.mean == pytest.approx(np.mean(log_p), abs=1e-4)


@pytest.mark.parity
@pytest.mark.parametrize("is_bert", [True, False])
def test_next_tokens_by_hand(is_bert: bool, tmp_path: Path) -> None:
    import transformers

    if is_bert:
        causal_bert().save(tmp_path)
    else:
        make_other("GPT2LMHeadModel", tmp_path)
    named = "BertLMHeadModel" if is_bert else "GPT2LMHeadModel"
    model = getattr(transformers, named).from_pretrained(tmp_path).eval()
    bert = load(tmp_path, device="cpu")
    first, end = ([], -1) if is_bert else ([bert.tokenizer.bos_id], None)
    for score in score_continuations(bert, f" {GIVEN} ", CONTINUATIONS):
        # Without [SEP]; GPT-2 begins with <|endoftext|>.
        num_given = len([*first, *bert.tokenize(GIVEN).input_ids][:end])
        ids = [*first, *bert.tokenize(f"{GIVEN} {score.text}").input_ids][:end]
        with torch.no_grad():
            log_p = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        by_hand = [float(log_p[i - 1, ids[i]]) for i in range(num_given, len(ids))]
        np.testing.assert_allclose(score.log_p, by_hand, atol=1e-4)
        assert score.tokens == tuple(map(bert.tokenizer.id_to_token, ids[num_given:]))
    if not is_bert:
        expected = conditional_scores(tmp_path, GIVEN, CONTINUATIONS, None)
        sums = [score.total for score in score_continuations(bert, GIVEN, CONTINUATIONS)]
        np.testing.assert_allclose(sums, [*map(sum, expected)], atol=1e-4)


def test_the_chain_rule_splits_a_causal_score_anywhere() -> None:
    bert = causal_bert()
    (whole,) = score_continuations(bert, "", ["the river bank was steep"])
    for words in range(1, 5):
        text = "the river bank was steep".split()
        given, rest = " ".join(text[:words]), " ".join(text[words:])
        parts = [score_continuations(bert, *of)[0] for of in (("", [given]), (given, [rest]))]
        assert sum(part.total for part in parts) == pytest.approx(whole.total, abs=1e-4)


def test_a_typed_mask_has_no_score_and_progress_ends_at_1(bert: Bert) -> None:
    done: list[float] = []
    scores = score_continuations(
        bert, "the [MASK] bank", ["was [MASK]", "[UNK]"], on_fraction=done.append
    )
    assert [score.tokens for score in scores] == [("was",), ("[UNK]",)]
    assert done == sorted(done)
    assert done[-1] == 1.0


@pytest.mark.parametrize(
    ("text", "continuation", "message"),
    [
        ("the river", " ", "no token"),
        ("the river", "[MASK]", "no token"),
        ("the river " * 40, "bank", "does not fit.*limit"),
    ],
)
def test_what_cannot_be_scored(bert: Bert, text: str, continuation: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_continuations(bert, text, [continuation])


def test_a_checkpoint_without_words_says_why() -> None:
    with pytest.raises(ValueError, match="masked-word"):
        score_continuations(tiny_bert(heads=frozenset()), "the", ["river"])
