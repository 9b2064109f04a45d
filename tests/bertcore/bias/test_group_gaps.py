"""Rates and gaps by group: fairlearn, scikit-learn, worked cases, and what chance opens."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bertcore.bias.group_gaps import (
    ACCURACY,
    FALSE_POSITIVES,
    ODDS,
    OPPORTUNITY,
    PARITY,
    RECALL,
    SELECTION,
    Counts,
    Gap,
    Rate,
    count_answers,
    label_gaps,
    label_rates,
    score_gaps,
    score_rates,
)

NAMES = ("a", "b", "c", "d")


def answers(num: int = 600, num_labels: int = 2, seed: int = 0) -> tuple[NDArray[np.int64], ...]:
    """Return classes, predicted ones and groups of which the last is answered worst."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, num_labels, num)
    groups = rng.choice(4, num, p=[0.4, 0.3, 0.2, 0.1])
    wrong = rng.random(num) < 0.1 * (1 + groups)
    return gold, np.where(wrong, rng.integers(0, num_labels, num), gold), groups


def counted(num_labels: int = 2, seed: int = 0) -> Counts:
    gold, predicted, groups = answers(num_labels=num_labels, seed=seed)
    return count_answers(
        gold, predicted, gold == predicted, groups, num_groups=4, num_labels=num_labels
    )


def gap(gaps: list[Gap], measure: str, label: str | None = None) -> Gap:
    (found,) = (one for one in gaps if (one.measure, one.label) == (measure, label))
    return found


@pytest.mark.parity
@pytest.mark.parametrize("seed", range(3))
def test_rates_and_gaps_are_those_of_fairlearn(seed: int) -> None:
    from fairlearn import metrics

    gold, predicted, groups = answers(seed=seed)
    counts = counted(seed=seed)
    rates = {(one.measure, one.label): one.groups for one in label_rates(counts, ("no", "yes"))}
    frame = metrics.MetricFrame(
        metrics={
            SELECTION: metrics.selection_rate,
            RECALL: metrics.true_positive_rate,
            FALSE_POSITIVES: metrics.false_positive_rate,
            "count": metrics.count,
        },
        y_true=gold,
        y_pred=predicted,
        sensitive_features=groups,
    )
    for measure in (SELECTION, RECALL, FALSE_POSITIVES):
        theirs = frame.by_group[measure].to_numpy(dtype=float)
        np.testing.assert_allclose([one.mean for one in rates[measure, "yes"]], theirs, atol=1e-12)
    assert [one.num_cases for one in rates[SELECTION, "yes"]] == frame.by_group["count"].tolist()
    gaps = label_gaps(counts, ("no", "yes"), NAMES, least=1)
    more = {"y_true": gold, "y_pred": predicted, "sensitive_features": groups}
    for measure, theirs in {
        PARITY: metrics.demographic_parity_difference(**more),
        OPPORTUNITY: metrics.true_positive_rate_difference(**more),
        ODDS: metrics.equalized_odds_difference(**more),
    }.items():
        assert gap(gaps, measure, "yes").value == pytest.approx(theirs, abs=1e-12)
    # Of two labels one's recall is the other's true-negative rate.
    assert gap(gaps, ODDS, "no").value == pytest.approx(gap(gaps, ODDS, "yes").value)


@pytest.mark.parity
def test_accuracy_and_recall_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import accuracy_score, recall_score

    gold, predicted, groups = answers(num_labels=5)
    labels = tuple("vwxyz")
    rates = {
        (one.measure, one.label): one.groups for one in label_rates(counted(num_labels=5), labels)
    }
    for group in range(4):
        inside = groups == group
        recall = recall_score(gold[inside], predicted[inside], labels=range(5), average=None)
        ours = [rates[RECALL, label][group].mean for label in labels]
        np.testing.assert_allclose(ours, recall, atol=1e-12)
        accuracy = accuracy_score(gold[inside], predicted[inside])
        assert rates[ACCURACY, None][group].mean == pytest.approx(accuracy)


def test_a_case_worked_by_hand() -> None:
    # Group a: 8 of 10 right; b: 5 of 10. "yes" is true of 4 and 6, given to 4 and 5, both 3 and 3.
    counts = Counts(
        num=np.array([10, 10]),
        right=np.array([8, 5]),
        gold=np.array([[6, 4], [4, 6]]),
        predicted=np.array([[6, 4], [5, 5]]),
        both=np.array([[5, 3], [2, 3]]),
    )
    gaps = label_gaps(counts, ("no", "yes"), ("a", "b"), least=1)
    assert gap(gaps, ACCURACY).value == pytest.approx(0.3)
    assert gap(gaps, PARITY, "yes").value == pytest.approx(0.1)
    assert gap(gaps, OPPORTUNITY, "yes").value == pytest.approx(3 / 4 - 3 / 6)
    # False positives: 1 of 6 and 2 of 4.
    odds = gap(gaps, ODDS, "yes")
    assert odds.value == pytest.approx(2 / 4 - 1 / 6)
    assert (odds.highest, odds.lowest, odds.num_groups) == ("b", "a", 2)
    assert (gap(gaps, PARITY, "yes").highest, gap(gaps, PARITY, "yes").lowest) == ("b", "a")


def test_several_labels_a_text() -> None:
    gold = np.array([[1, 0], [1, 1], [0, 0], [0, 1]], dtype=bool)
    predicted = np.array([[1, 0], [0, 1], [0, 1], [0, 1]], dtype=bool)
    counts = count_answers(
        gold,
        predicted,
        (gold == predicted).all(1),
        np.array([0, 0, 1, 1]),
        num_groups=2,
        num_labels=2,
    )
    assert counts.right.tolist() == [1, 1]
    assert counts.gold.tolist() == [[2, 1], [0, 1]]
    assert counts.predicted.tolist() == [[1, 1], [0, 2]]
    assert counts.both.tolist() == [[1, 1], [0, 1]]


def test_small_groups_enter_no_gap() -> None:
    counts = Counts(
        np.array([100, 100, 19]),
        np.array([90, 80, 0]),
        *(np.zeros((3, 0), dtype=np.int64) for _ in range(3)),
    )
    (found,) = label_gaps(counts, (), ("a", "b", "tiny"), least=20)
    assert (found.highest, found.lowest, found.num_groups) == ("a", "b", 2)
    (found,) = label_gaps(counts, (), ("a", "b", "tiny"), least=19)
    assert (found.lowest, found.value) == ("tiny", pytest.approx(0.9))
    assert label_gaps(counts, (), ("a", "b", "tiny"), least=101) == []


def test_groups_that_are_all_equal_have_a_gap_of_zero_between_two_of_them() -> None:
    empty = [np.zeros((3, 0), dtype=np.int64) for _ in range(3)]
    (found,) = label_gaps(Counts(np.full(3, 40), np.full(3, 40), *empty), (), ("a", "b", "c"))
    assert (found.value, found.highest, found.lowest) == (0.0, "a", "c")
    assert found.low < 0 < found.high
    assert not found.is_beyond_chance


def test_a_label_that_a_group_lacks_has_no_recall() -> None:
    gold, predicted = np.array([0] * 30 + [1] * 30), np.array([0] * 60)
    groups = np.array([0] * 30 + [1] * 30)
    counts = count_answers(gold, predicted, gold == predicted, groups, num_groups=2, num_labels=2)
    rates = {(one.measure, one.label): one.groups for one in label_rates(counts, ("no", "yes"))}
    assert np.isnan(rates[RECALL, "yes"][0].mean)
    assert rates[RECALL, "yes"][1] == Rate(0.0, 0.0, pytest.approx(0.1135, abs=1e-3), 30)
    measures = {(one.measure, one.label) for one in label_gaps(counts, ("no", "yes"), ("a", "b"))}
    assert (OPPORTUNITY, "yes") not in measures
    assert (PARITY, "yes") in measures


def test_groups_that_do_not_differ_are_beyond_chance_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    beyond = 0
    for _ in range(200):
        sizes = np.array([200, 60, 30])
        empty = [np.zeros((3, 0), dtype=np.int64) for _ in range(3)]
        (found,) = label_gaps(Counts(sizes, rng.binomial(sizes, 0.7), *empty), (), ("a", "b", "c"))
        beyond += found.is_beyond_chance
    assert 2 <= beyond <= 22  # 5% of 200 is 10


def test_the_interval_covers_the_true_difference() -> None:
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(200):
        sizes = np.array([80, 80])
        empty = [np.zeros((2, 0), dtype=np.int64) for _ in range(3)]
        num = np.array([rng.binomial(80, 0.9), rng.binomial(80, 0.6)])
        (found,) = label_gaps(Counts(sizes, num, *empty), (), ("a", "b"))
        covered += found.low <= 0.3 <= found.high
    assert covered >= 182


def test_scores_by_group() -> None:
    from scipy import stats

    rng = np.random.default_rng(3)
    gold = rng.normal(size=90).astype(np.float32)
    groups = np.repeat([0, 1, 2], [40, 45, 5])
    predicted = (gold + rng.normal(0.2 * groups, 0.5)).astype(np.float32)
    rates = {one.measure: one.groups for one in score_rates(gold, predicted, groups, 3)}
    errors = predicted.astype(float) - gold
    assert rates["mean error"][1].mean == pytest.approx(errors[40:85].mean())
    assert rates["mean distance"][0].mean == pytest.approx(np.abs(errors[:40]).mean())
    assert rates["mean prediction"][2].num_cases == 5
    of_five = stats.ttest_1samp(errors[85:], 0).confidence_interval()
    ends = rates["mean error"][2].low, rates["mean error"][2].high
    assert ends == pytest.approx((of_five.low, of_five.high))
    gaps = {one.measure: one for one in score_gaps(gold, predicted, groups, ("a", "b", "c"))}
    found = gaps["mean error"]
    assert {found.highest, found.lowest} == {"a", "b"}  # c has too few
    assert found.value == pytest.approx(abs(errors[:40].mean() - errors[40:85].mean()))
    welch = stats.ttest_ind(errors[40:85], errors[:40], equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((welch.low, welch.high))
    assert 0 < found.chance < 0.5


def test_one_score_has_no_interval() -> None:
    found = score_rates(np.ones(3), np.zeros(3), np.array([0, 0, 1]), 3)[0].groups
    assert np.isnan(found[1].low)
    assert np.isnan(found[2].mean)
