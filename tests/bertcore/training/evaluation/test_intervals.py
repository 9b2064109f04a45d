"""Intervals against scipy and exact cases."""

import numpy as np
import pytest
from scipy import stats

from bertcore.training.evaluation.intervals import (
    bootstrap,
    bootstrap_means,
    mean_interval,
    wilson_interval,
)


@pytest.mark.parity
@pytest.mark.parametrize("num_rows", [5, 12, 40])
def test_bootstrap_agrees_with_scipy(num_rows: int) -> None:
    values = np.random.default_rng(num_rows).gamma(2.0, size=(num_rows, 3))
    found = bootstrap_means(values, num_resamples=20_000, seed=1)
    np.testing.assert_allclose(found.mean, values.mean(0))
    for column in range(3):
        ends = stats.bootstrap(
            (values[:, column],),
            np.mean,
            n_resamples=20_000,
            method="percentile",
            rng=np.random.default_rng(2),
        ).confidence_interval
        # Both are Monte Carlo: their ends differ by a few hundredths of the spread of the mean.
        spread = values[:, column].std() / num_rows**0.5
        assert abs(found.low[column] - ends.low) < 0.08 * spread
        assert abs(found.high[column] - ends.high) < 0.08 * spread


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(0)
    # 400 experiments of 60 sentences, as columns; the draws are shared, the data are not.
    found = bootstrap_means(generator.exponential(1.0, size=(60, 400)), num_resamples=500)
    covered = ((found.low <= 1) & (found.high >= 1)).mean()
    assert 0.90 <= covered <= 0.98


def test_gaps_are_left_out_of_mean_and_resamples() -> None:
    nan = float("nan")
    values = np.array([[1.0, 2.0, nan], [nan, 4.0, nan], [3.0, nan, nan], [nan, 6.0, 7.0]])
    found = bootstrap_means(values, num_resamples=4000)
    np.testing.assert_allclose(found.mean, [2, 4, 7])
    # Whatever is drawn, the mean stays within the values that are there.
    np.testing.assert_allclose(found.low[:2], [1, 2])
    np.testing.assert_allclose(found.high[:2], [3, 6])
    assert np.isnan(found.low[2])  # one sentence says nothing about others
    assert np.isnan(found.high[2])
    nothing = bootstrap_means(np.full((3, 2), nan))
    assert np.isnan(np.array(nothing)).all()


def test_many_rows_are_resampled_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(4).random((50, 2, 3))
    whole = bootstrap_means(values, num_resamples=300)
    monkeypatch.setattr("bertcore.training.evaluation.intervals._CHUNK_CELLS", 50 * 7)
    parts = bootstrap_means(values, num_resamples=300)
    assert parts.low.shape == (2, 3)
    np.testing.assert_allclose(parts.low, whole.low, rtol=1e-6)


@pytest.mark.parametrize(("values", "count"), [(np.empty((0, 3)), 1000), (np.ones(3), 99)])
def test_wrong_input_is_explained(values: np.ndarray, count: int) -> None:
    with pytest.raises(ValueError, match=r"expected at least 100|no value to resample"):
        bootstrap_means(values, num_resamples=count)


@pytest.mark.parity
@pytest.mark.parametrize("number", [2, 3, 40])
def test_the_interval_of_a_mean_is_that_of_students_t(number: int) -> None:
    values = np.random.default_rng(number).normal(3, 2, number)
    found = mean_interval(values)
    ends = stats.ttest_1samp(values, 0).confidence_interval()
    np.testing.assert_allclose(found, (values.mean(), ends.low, ends.high), atol=1e-12)


def test_one_number_has_a_mean_and_none_has_not() -> None:
    np.testing.assert_array_equal(mean_interval(np.array([2.0])), (2.0, np.nan, np.nan))
    assert np.isnan(mean_interval(np.array([]))).all()


@pytest.mark.parity
def test_wilson_agrees_with_scipy() -> None:
    for right, cases in ((0, 3), (1, 1), (7, 20), (50, 100), (999, 1000)):
        found = wilson_interval(right, cases)
        ends = stats.binomtest(right, cases).proportion_ci(method="wilson")
        assert float(found.mean) == right / cases
        assert float(found.low) == pytest.approx(ends.low, abs=1e-9)
        assert float(found.high) == pytest.approx(ends.high, abs=1e-9)
    assert np.isnan(np.array(wilson_interval(0, 0))).all()


def test_wilson_ends_exactly_at_no_case_and_every_case() -> None:
    cases = np.arange(1, 300)
    assert (wilson_interval(0, cases).low == 0.0).all()
    assert (wilson_interval(cases, cases).high == 1.0).all()


def test_bootstrap_of_metrics_is_the_percentile_interval_over_redrawn_examples() -> None:
    examples = np.random.default_rng(5).random((57, 2))

    def measure(rows: np.ndarray) -> dict[str, float]:
        return {"mean": float(rows[:, 0].mean()), "most": float(rows.max())}

    draws = np.random.default_rng(0)
    drawn = [measure(examples[draws.integers(57, size=57)]) for _ in range(1000)]
    for name, ends in bootstrap(examples, measure).items():
        expected = np.percentile([values[name] for values in drawn], [2.5, 97.5])
        assert ends == pytest.approx(tuple(expected), rel=1e-12)
    alone = bootstrap(examples[:1], measure)
    assert list(alone) == ["mean", "most"]
    assert np.isnan(list(alone.values())).all()
