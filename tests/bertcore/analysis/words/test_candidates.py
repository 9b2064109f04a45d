"""Candidate words at a mask, against the chain rule written out with one forward pass a step."""

import math

import pytest
import torch

from bertcore import Bert
from bertcore.analysis.words.candidates import Candidate, parse_candidates, score_candidates

TEXT = "the [MASK] was steep"


def by_hand(bert: Bert, before: str, pieces: list[str], after: str) -> list[float]:
    """The chain rule, one unbatched forward pass for each piece, from ids built here."""
    tokenizer = bert.tokenizer
    left = [tokenizer.cls_id, *tokenizer.encode_ids([before])[0]]
    right = [*tokenizer.encode_ids([after])[0], tokenizer.sep_id]
    ids = [tokenizer.vocab.index(piece) for piece in pieces]
    out = []
    with torch.inference_mode():
        for step, wanted in enumerate(ids):
            middle = ids[:step] + [tokenizer.mask_id] * (len(ids) - step)
            hidden = bert.module(torch.tensor([[*left, *middle, *right]]))
            logits = bert.module.mlm_logits(hidden[0, len(left) + step])
            out.append(float(logits.log_softmax(-1)[wanted]))
    return out


def one(bert: Bert, word: str, text: str = TEXT) -> Candidate:
    position = bert.tokenize(text).tokens.index("[MASK]")
    (candidate,) = score_candidates(bert, text, None, (), position, [word])
    return candidate


def test_a_word_of_one_piece_has_the_probability_of_fill_mask(bert: Bert) -> None:
    (filled,) = bert.fill_mask(TEXT, top_k=10**6)
    order = [word for word, _ in filled]
    for word in ("river", "bank", "##ing"):
        candidate = one(bert, word)
        assert candidate.pieces == (word,)
        assert candidate.probability == pytest.approx(dict(filled)[word], abs=1e-7)
        assert candidate.rank == order.index(word) + 1


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("rivers", ["river", "##s"]),
        ("oxen", ["o", "##x", "##e", "##n"]),
        ("Zoo", ["z", "##o", "##o"]),
    ],
)
def test_a_word_of_several_pieces_follows_the_chain_rule(
    bert: Bert, word: str, pieces: list[str]
) -> None:
    candidate = one(bert, word)
    expected = by_hand(bert, "the", pieces, "was steep")
    assert list(candidate.pieces) == pieces
    assert candidate.piece_log_probabilities == pytest.approx(expected, abs=1e-5)
    assert candidate.log_probability == pytest.approx(sum(expected), abs=1e-5)
    assert candidate.probability_per_piece == pytest.approx(
        math.exp(sum(expected) / len(pieces)), rel=1e-4
    )
    assert candidate.rank is None


def test_the_other_masks_stay_masks(bert: Bert) -> None:
    (first, second) = bert.fill_mask("the [MASK] was [MASK]", top_k=10**6)
    for position, filled in ((2, first), (4, second)):
        (candidate,) = score_candidates(
            bert, "the river was steep", None, (2, 4), position, ["milk"]
        )
        assert candidate.probability == pytest.approx(dict(filled)["milk"], abs=1e-7)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("日", "cannot be written with this vocabulary"),
        ("\u200b", "no visible characters"),
        ("[SEP]", "a special token"),
        ("x" * 70, "room for"),
    ],
)
def test_a_word_without_a_score_says_why_and_the_others_have_theirs(
    bert: Bert, word: str, reason: str
) -> None:
    bad, good = score_candidates(bert, TEXT, None, (), 2, [word, "river"])
    assert reason in (bad.problem or "")
    assert (bad.log_probability, bad.probability, bad.probability_per_piece) == (None,) * 3
    assert good.problem is None
    assert good.probability == pytest.approx(one(bert, "river").probability)


def test_no_words_give_no_scores(bert: Bert) -> None:
    assert score_candidates(bert, TEXT, None, (), 2, []) == ()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a,b", ("a", "b")),
        ("  new york , b ,,", ("new york", "b")),
        ("", ()),
        (" , ", ()),
        ("a, a,A", ("a", "A")),
    ],
)
def test_parse_candidates(line: str, words: tuple[str, ...]) -> None:
    assert parse_candidates(line) == words


@pytest.mark.parametrize("position", [0, 1, 99])
def test_a_position_without_a_mask_is_refused(bert: Bert, position: int) -> None:
    with pytest.raises(ValueError, match=f"token {position} is not a \\[MASK\\]"):
        score_candidates(bert, TEXT, None, (), position, ["river"])
