"""Counterfactuals on models whose turning points are known, with a proposer that is rigged too."""

from dataclasses import replace
from types import MethodType

import pytest
import torch
from torch import Tensor

from bertcore import Bert
from bertcore.analysis.attribution import SpanTarget, answer, task_input
from bertcore.analysis.attribution.counterfactual import Search, find_counterfactuals
from bertcore.model.network import ALL_HEADS
from bertcore.training.tasks.model import TaskModel
from tests.support.rigged_models import bag_of_words, random_model
from tests.support.tiny import tiny_bert

PROPOSED = ("film", "good", "new", "milk", "cat", "bad", "##s", "the")
WORDS = {"good": (0.0, 2.0), "bad": (1.0, 0.0), "new": (0.0, 0.75), "film": (0.25, 0.0)}


@pytest.fixture
def proposer() -> Bert:
    """A checkpoint that proposes the same words in this order everywhere."""
    bert = tiny_bert()
    logits = torch.full((bert.config.vocab_size,), -9.0)
    for rank, word in enumerate(PROPOSED):
        token_id = bert.tokenizer.token_to_id(word)
        assert token_id is not None
        logits[token_id] = 5.0 - rank / 2
    bert.module.mlm_logits = MethodType(  # type: ignore[method-assign]
        lambda self, hidden: logits.expand(*hidden.shape[:-1], -1), bert.module
    )
    return bert


def search(model: TaskModel, proposer: Bert, text: str, **options: object) -> Search:
    return find_counterfactuals(model, text, proposer=proposer, **options)  # type: ignore[arg-type]


def test_one_swap_flips(proposer: Bert) -> None:
    """Log-odds of "bad" are 0.25; "good" in the place of any word turns it, and "new" does."""
    model = bag_of_words(WORDS)
    found = search(model, proposer, "The film ran, and the house")
    assert not found.is_cut
    assert found.closest is None
    assert {len(one.swaps) for one in found.counterfactuals} == {1}
    best = found.counterfactuals[0]
    # What erasing hurts most is tried first: "film"; the most usual word comes first.
    assert best.text == "The good ran, and the house"
    assert (best.swaps[0].before, best.swaps[0].after) == ("film", "good")
    assert best.answer.best == 1
    assert best.measure == pytest.approx(float(torch.sigmoid(torch.tensor(-2.0))))
    assert {one.swaps[0].after for one in found.counterfactuals} == {"good", "new"}
    every = torch.softmax(proposer.module.mlm_logits(torch.zeros(1, 32))[0], -1)
    good = proposer.tokenizer.token_to_id("good")
    assert best.swaps[0].probability == pytest.approx(float(every[good]))


def test_two_swaps_where_one_is_not_enough(proposer: Bert) -> None:
    model = bag_of_words(WORDS | {"house": (3.0, 0.0)})
    found = search(model, proposer, "house house ran")
    assert len(found.counterfactuals[0].swaps) == 2
    assert all(one.answer.best == 1 for one in found.counterfactuals)
    # 6 for "bad"; one swap of "house" for "good" leaves 3 against 2; a second swap turns it.
    for one in found.counterfactuals:
        assert "house" in [swap.before for swap in one.swaps]
        assert {"good", "new"} & {swap.after for swap in one.swaps}


def test_none_is_found_and_said(proposer: Bert) -> None:
    model = bag_of_words({"good": (9.0, 0.0), "house": (9.0, 0.0), "film": (0.5, 0.0)})
    found = search(model, proposer, "house house house house house house", max_changes=2)
    assert found.counterfactuals == ()
    assert not found.is_cut
    assert len(found.closest.swaps) == 2
    assert found.closest.answer.best == 0
    assert 0 < found.forwards < 1500


def test_the_limit_is_kept(proposer: Bert) -> None:
    model = bag_of_words({"good": (9.0, 0.0), "house": (9.0, 0.0)})
    shares: list[float] = []
    found = search(model, proposer, "house " * 9, max_forwards=40, on_fraction=shares.append)
    assert found.is_cut
    assert found.forwards <= 40
    assert shares == sorted(shares)
    assert max(shares) <= 1
    tiny = search(model, proposer, "house " * 9, max_forwards=3)
    assert (tiny.counterfactuals, tiny.closest, tiny.forwards, tiny.is_cut) == ((), None, 0, True)


def test_a_tag_turns_and_its_word_stays(proposer: Bert) -> None:
    model = bag_of_words(WORDS, task="tag", labels=("O", "X"))
    found = search(model, proposer, "film ran fish", word=2)
    assert found.counterfactuals
    for one in found.counterfactuals:
        assert one.text.split()[1] == "ran"
        assert one.answer.tag(2) == 1
    with pytest.raises(ValueError, match="Name the word whose tag"):
        search(model, proposer, "film ran fish")


def test_a_score_moves_by_what_is_asked(proposer: Bert) -> None:
    words = {"good": (2.0,), "film": (0.5,), "bad": (-1.0,)}
    model = bag_of_words(words, task="regress", labels=())
    found = search(model, proposer, "the film ran", score_change=1.0)
    assert {len(one.swaps) for one in found.counterfactuals} == {1}
    for one in found.counterfactuals:
        assert one.answer.score is not None
        assert abs(one.answer.score - 0.5) >= 1.0
    far = search(model, proposer, "the film ran", score_change=5.0)
    assert len(far.counterfactuals[0].swaps) == 3  # good good good: 6
    assert far.counterfactuals[0].text == "Good good good".lower()


def test_an_answer_changes_and_its_words_stay(proposer: Bert) -> None:
    model = random_model("qa", seed=3)
    text = "the man is in paris and the woman is in berlin"
    found = find_counterfactuals(model, "where is the man", text, proposer=proposer)
    first = answer(model, task_input(model, "where is the man", text)).best.text
    for one in found.counterfactuals:
        assert first in (one.text_pair or "")
        again = answer(model, task_input(model, one.text, one.text_pair))
        assert again.best == one.answer.best
        assert again.best is None or again.best.text != first


@pytest.mark.parametrize("is_none", [True, False])
def test_no_answer_is_an_answer(proposer: Bert, is_none: bool) -> None:
    """From it the goal is any span, and to lower p of [CLS]; from a span it counts as another."""
    model = random_model("qa", seed=3)
    source = task_input(model, "where is the man", "the man is in paris")
    given = answer(model, source)
    spans, none = given.spans, replace(given, no_answer=1.0)
    first = none if is_none else replace(given, no_answer=0.0)
    goal = first.goal(source, None, None, 1.0)
    assert goal.is_reached(none) == (not is_none)
    assert goal.is_reached(replace(given, no_answer=0.0)) == is_none
    assert not goal.is_reached(first)
    best = spans[0]
    expected = SpanTarget(0, 0) if is_none else SpanTarget(best.start, best.end)
    assert goal.target(source) == expected
    assert bool(goal.fixed) == (not is_none)


def test_capitals_stay(proposer: Bert) -> None:
    model = bag_of_words({"house": (9.0, 0.0), "good": (0.0, 9.0)})
    assert search(model, proposer, "House ran").counterfactuals[0].text == "Good ran"


def test_a_proposer_needs_a_masked_word_head() -> None:
    without = tiny_bert(heads=ALL_HEADS - {"mlm"})
    with pytest.raises(ValueError, match="masked-word"):
        find_counterfactuals(bag_of_words(WORDS), "the house was good", proposer=without)


def test_a_proposer_with_another_vocabulary_proposes_the_same() -> None:
    """The same weights under other ids: what it reads is cut into its own pieces."""
    model = bag_of_words({"house": (9.0, 0.0), "dog": (0.0, 3.0)})
    proposer, other = tiny_bert(), tiny_bert()
    vocab = list(proposer.tokenizer.vocab)
    first, last = vocab.index("the"), vocab.index("good")
    vocab[first], vocab[last] = vocab[last], vocab[first]
    other.tokenizer = type(proposer.tokenizer)(vocab)
    with torch.no_grad():
        for table in (other.module.token_table, other.module.masked_word_head().decoder.bias):
            table[[first, last]] = table[[last, first]]
    for text in ("the house was bad", "House ran"):
        expected = find_counterfactuals(model, text, "the dog", proposer=proposer)
        found = find_counterfactuals(model, text, "the dog", proposer=other)
        assert [one.text for one in found.counterfactuals] == [
            one.text for one in expected.counterfactuals
        ]
        assert expected.counterfactuals
        assert [one.log_probability for one in found.counterfactuals] == pytest.approx(
            [one.log_probability for one in expected.counterfactuals], abs=1e-4
        )


def test_nothing_to_swap(proposer: Bert) -> None:
    model = bag_of_words(WORDS)
    for text in ("!", "...", "\u200b"):
        found = search(model, proposer, text)
        assert found.counterfactuals == ()
        assert found.closest is None
        assert not found.is_cut


def test_a_broken_model_is_told(proposer: Bert) -> None:
    model = bag_of_words(WORDS)
    says: Tensor = model.module.says  # type: ignore[assignment]
    says[model.tokenizer.token_to_id("the")] = float("nan")
    with pytest.raises(ValueError, match="NaN or infinity"):
        search(model, proposer, "the film")
