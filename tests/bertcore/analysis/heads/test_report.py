"""What is measured of all heads, side by side, and which head has most of it."""

import numpy as np
import pytest

from bertcore.analysis.heads.measures import MEASURES
from bertcore.analysis.heads.report import BROAD, Measured, report_heads
from bertcore.analysis.heads.texts import HeadTexts, bundled_trees, of_trees, split_pairs
from tests.support.tiny import tiny_bert


def measured(name: str, direction: str = "", baseline: float = 0.4) -> Measured:
    mean = np.array([[0.48, 0.6], [np.nan, 0.5]])
    return Measured(name, direction, mean, mean - 0.15, mean + 0.15, baseline, 9)


def test_the_best_head_is_that_of_the_highest_mean() -> None:
    assert measured("to_next").best == (0, 1)
    assert measured("to_next").at((0, 1)) == pytest.approx((0.6, 0.45, 0.75))
    none = Measured("a_to_b", "", *[np.full((2, 2), np.nan)] * 3, baseline=0.0, cases=1)
    assert none.best is None


def test_a_head_stands_out_beyond_its_baseline() -> None:
    """By 15% of what is possible for a habit; with its interval for a relation."""
    assert measured("to_next").stands_out((0, 1))
    assert not measured("to_next").stands_out((0, 0)), "0.08 of 0.6"
    assert measured("obj", "to_head").stands_out((0, 1))
    assert not measured("obj", "to_head").stands_out((1, 1)), "its interval begins at 0.35"
    assert not measured("to_next").stands_out((1, 0))
    broad = Measured("evenness", "", *[np.array([[BROAD, BROAD - 0.01]])] * 3, 1.0, 9)
    assert (broad.stands_out((0, 0)), broad.stands_out((0, 1))) == (True, False)


def test_a_report_has_each_measure_and_relation_with_a_case() -> None:
    texts = HeadTexts(split_pairs(["the man went to the river bank", "it had rained."]), ())
    report = report_heads(tiny_bert(), texts, of_trees(bundled_trees().trees[:9]))
    known = {each.key: each for each in report.measured}
    assert len(known) == len(report.measured)
    assert {*MEASURES} - known.keys() == {"a_to_b", "b_to_a"}, "no text is a pair"
    for relation in report.scores.relations:
        found = known[f"{relation}>to_dependent"]
        np.testing.assert_array_equal(
            found.mean, report.scores.accuracy(relation, "to_dependent").mean
        )
        offset = report.scores.baseline(relation, "to_dependent")
        assert (found.offset, found.baseline) == offset
        assert found.cases == report.scores.cases(relation, "to_dependent")
    entropy = report.statistics.of("entropy")
    np.testing.assert_array_equal(known["entropy"].high, entropy.high)
    assert known["to_same_word"].cases == 1
