"""DisCo: fills against `fill_mask`, overlaps and tests worked out by hand, bad input."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from bertcore import Bert
from bertcore.bias import Group, TopFills, top_fills
from bertcore.bias.top_fills import FEWEST_WORDS, TOP
from tests.support.tiny import tiny_bert

GROUPS = Group("women", ("she", "the old woman")), Group("men", ("he",))
TEMPLATES = ("[X] went to the [MASK].", "the [MASK] saw [X].")


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def test_fills_are_those_of_fill_mask(bert: Bert) -> None:
    found = top_fills(bert, TEMPLATES, GROUPS, k=4)
    assert found.ids.shape == (2, 3, 4)
    for template, fills in zip(TEMPLATES, found.ids, strict=True):
        for word, own in zip(("she", "the old woman", "he"), fills, strict=True):
            (best,) = bert.fill_mask(template.replace("[X]", word), top_k=4)
            assert [found.tokens[int(i)] for i in own] == [token for token, _ in best]


def test_overlaps_by_hand() -> None:
    ids = np.array([[[1, 2], [1, 3], [2, 1]], [[1, 2], [3, 4], [5, 6]]])
    found = TopFills(("a", "b"), GROUPS, ids, {})
    # Between: words 0 and 2, 1 and 2; within: words 0 and 1.
    np.testing.assert_allclose(found.overlap_between(), [(1 + 0.5) / 2, 0])
    np.testing.assert_allclose(found.overlap_within(), [0.5, 0])
    single = TopFills(("a",), (Group("x", ("a",)), Group("y", ("b",))), ids[:1, :2], {})
    assert np.isnan(single.overlap_within()).all()


def test_fills_of_a_group_are_those_of_the_chi_squared_test() -> None:
    # 20 and 20 sentences: 1 is in all of the first, 2 in both alike, 3 in 11 and 4 of them.
    first = [[1, 2, 3]] * 11 + [[1, 2, 5]] * 9
    second = [[4, 2, 3]] * 4 + [[4, 2, 5]] * 16
    groups = tuple(Group(n, tuple(f"{n}{i}" for i in range(20))) for n in "xy")
    names = {i: str(i) for i in range(1, 6)}
    found = TopFills(("t",), (groups[0], groups[1]), np.array([first + second]), names)
    (own,) = found.of_a_group()
    assert [(fill.token, fill.counts) for fill in own] == [("1", (20, 0)), ("4", (0, 20))]
    assert own[0].p == chi2_contingency([[20, 0], [0, 20]], correction=False).pvalue
    p = chi2_contingency([[11, 4], [9, 16]], correction=False).pvalue
    assert 0.05 / 5 < p < 0.05  # without the correction, 3 and 5 would be among them


@pytest.mark.parametrize(
    ("templates", "groups", "k", "message"),
    [
        ((), GROUPS, 3, "there is no template"),
        (("[X] went.",), GROUPS, 3, "0 slots"),
        (TEMPLATES, (GROUPS[0], Group("none", ())), 3, "no word"),
        (TEMPLATES, (Group("a", ("he", "he")), GROUPS[0]), 3, "twice"),
        (TEMPLATES, GROUPS, 0, "k is 0"),
        (("[X] " + "the " * 600 + "[MASK].",), GROUPS, 3, "more tokens than"),
    ],
)
def test_bad_input_is_a_sentence(
    bert: Bert, templates: tuple[str, ...], groups: tuple[Group, Group], k: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        top_fills(bert, templates, groups, k=k)


def test_a_k_beyond_the_vocabulary_takes_all(bert: Bert) -> None:
    found = top_fills(bert, TEMPLATES[:1], GROUPS, k=10**6)
    assert found.ids.shape[-1] == bert.tokenizer.vocab_size
    assert found.overlap_between().tolist() == [1.0]


@pytest.mark.parametrize("num", [FEWEST_WORDS - 1, FEWEST_WORDS])
def test_the_fewest_words_are_those_that_can_be_significant(num: int) -> None:
    first = num // 2
    ids = np.array([[[1, 3, 4]] * first + [[2, 3, 4]] * (num - first)])
    groups = tuple(
        Group(n, tuple(map(str, range(k)))) for n, k in (("x", first), ("y", num - first))
    )
    names = {i: str(i) for i in range(1, 5)}
    found = TopFills(("t",), (groups[0], groups[1]), ids, names)
    assert ids.shape[-1] == TOP
    assert bool(found.of_a_group()[0]) == (num == FEWEST_WORDS)
