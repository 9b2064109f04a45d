"""Metrics: those of scikit-learn, seqeval and the official scripts, and their intervals."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr
from seqeval.metrics import f1_score as seqeval_f1
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

from bertcore.training.evaluation.intervals import bootstrap
from bertcore.training.evaluation.metrics import (
    _of_matrices,
    best_threshold,
    class_metrics,
    entity_metrics,
    exact_match,
    label_set_metrics,
    mean_metrics,
    normalize,
    overlap_f1,
    score_answer,
    score_metrics,
)


@pytest.mark.parametrize(("num_labels", "num_occur"), [(2, 2), (4, 4), (6, 4)])
def test_class_metrics_are_those_of_scikit_learn(num_labels: int, num_occur: int) -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(num_occur, size=300)
    predicted = np.where(rng.random(300) < 0.6, gold, rng.integers(num_occur, size=300))
    metrics, intervals, matrix = class_metrics(gold, predicted, num_labels)
    assert metrics["accuracy"] == accuracy_score(gold, predicted)
    assert metrics["matthews"] == pytest.approx(matthews_corrcoef(gold, predicted))
    assert metrics["macro_f1"] == pytest.approx(f1_score(gold, predicted, average="macro"))
    assert ("f1" in metrics) == (num_labels == 2)
    # What is bootstrapped is the same metric: at the data themselves they agree.
    fast = _of_matrices(matrix[None].astype(float))
    for name, value in metrics.items():
        assert fast[name][0] == pytest.approx(value)
        low, high = intervals[name]
        assert low < value < high
    # Of a share of N draws the normal interval is known.
    share = metrics["accuracy"]
    half = 1.96 * np.sqrt(share * (1 - share) / 300)
    assert intervals["accuracy"] == pytest.approx((share - half, share + half), abs=0.015)


def test_macro_f1_leaves_out_classes_that_do_not_occur() -> None:
    gold = np.array([0, 1, 0, 1, 3])
    predicted = np.array([0, 1, 1, 1, 4])  # of 0: P 1, R 1/2; of 1: P 2/3, R 1; 2 is nowhere
    metrics, _, matrix = class_metrics(gold, predicted, 6)
    assert metrics["macro_f1"] == f1_score(gold, predicted, average="macro")
    assert metrics["macro_f1"] == pytest.approx((2 / 3 + 4 / 5 + 0 + 0) / 4)
    assert _of_matrices(matrix[None].astype(float))["macro_f1"][0] == pytest.approx(
        metrics["macro_f1"]
    )
    right, intervals, _ = class_metrics(gold, gold, 6)
    assert (right["macro_f1"], intervals["macro_f1"]) == (1.0, (1.0, 1.0))


def test_one_class_only_gives_numbers() -> None:
    metrics, intervals, _ = class_metrics(np.zeros(5, int), np.zeros(5, int), 2)
    assert metrics["accuracy"] == 1.0
    assert metrics["matthews"] == 0.0
    assert all(np.isfinite(value) for pair in intervals.values() for value in pair)


def test_a_share_of_all_has_an_interval_with_a_width() -> None:
    """Wilson's: of 48 right of 48 it begins at 48 / (48 + 1.96^2)."""
    low = 48 / (48 + 1.959963984540054**2)
    answers = np.arange(48) % 2
    _, intervals, _ = class_metrics(answers, answers, 2)
    assert intervals["accuracy"] == pytest.approx((low, 1.0))
    sets = np.stack([answers, 1 - answers], axis=1).astype(bool)
    _, intervals, _ = label_set_metrics(sets, sets, ("a", "b"))
    assert intervals["accuracy"] == pytest.approx((low, 1.0))
    _, intervals = mean_metrics({"exact_match": np.ones(48), "f1": np.linspace(0, 1, 48)})
    assert intervals["exact_match"] == pytest.approx((low, 1.0))
    assert intervals["f1"][1] < 1.0


def test_one_example_has_no_bootstrap_interval() -> None:
    _, intervals, _ = class_metrics(np.zeros(1, int), np.ones(1, int), 2)
    assert intervals["accuracy"] == pytest.approx((0.0, 0.7935), abs=1e-4)
    assert np.isnan(intervals["macro_f1"]).all()
    _, intervals = mean_metrics({"f1": np.array([0.5])})
    assert np.isnan(intervals["f1"]).all()


def test_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    gold = rng.random(100).astype(np.float32)
    predicted = (gold + 0.5 * rng.random(100)).astype(np.float32)
    metrics, intervals = score_metrics(gold, predicted)
    assert metrics["pearson"] == pytest.approx(pearsonr(gold, predicted)[0], abs=1e-6)
    assert metrics["spearman"] == pytest.approx(spearmanr(gold, predicted)[0], abs=1e-6)
    mean = (pearsonr(gold, predicted)[0] + spearmanr(gold, predicted)[0]) / 2
    assert metrics["pearson_spearman"] == pytest.approx(mean, abs=1e-6)
    assert intervals["pearson"][0] < metrics["pearson"] < intervals["pearson"][1]
    constant, _ = score_metrics(gold, np.ones(100, np.float32))
    assert constant["pearson_spearman"] == 0.0
    infinite, _ = score_metrics(gold, np.full(100, np.inf, np.float32))
    assert np.isnan(list(infinite.values())).all()


def test_entities_are_counted_as_seqeval_does() -> None:
    gold = [
        ["B-PER", "I-PER", "O", "B-LOC"],
        ["O", "B-ORG", "B-ORG"],
        ["B-LOC"],
    ]
    predicted = [
        ["B-PER", "O", "O", "B-LOC"],  # a border is wrong
        ["I-PER", "B-ORG", "I-ORG"],  # one too many, two made one
        ["B-ORG"],  # a wrong type
    ]
    metrics, intervals, by_type = entity_metrics(gold, predicted)
    # By hand: 1 right (B-LOC) of 5 entities, of 5 that were said.
    assert metrics["f1"] == pytest.approx(1 / 5)
    assert metrics["f1"] == pytest.approx(seqeval_f1(gold, predicted), abs=1e-12)
    assert metrics["accuracy"] == 4 / 8
    location = {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "number": 2}
    assert by_type["LOC"] == location
    assert intervals["f1"][0] <= metrics["f1"] <= intervals["f1"][1]


def test_every_metric_of_entities_is_the_one_that_is_bootstrapped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Precision (2 of 3), recall (2 of 4), F1 and accuracy (9 of 11) all differ.
    gold = [["B-A", "I-A", "O", "B-B"], ["B-A", "O", "O"], ["O", "B-B", "O", "O"]]
    predicted = [["B-A", "I-A", "O", "B-B"], ["O", "O", "O"], ["O", "B-A", "O", "O"]]
    metrics, intervals, _ = entity_metrics(gold, predicted)
    assert len(set(metrics.values())) == len(metrics) == 4
    at_the_data = []

    def measured(
        counts: NDArray[np.float64], measure: Callable[[NDArray[np.float64]], dict[str, float]]
    ) -> dict[str, tuple[float, float]]:
        at_the_data.append(measure(counts))
        return bootstrap(counts, measure)

    monkeypatch.setattr("bertcore.training.evaluation.metrics.bootstrap", measured)
    assert entity_metrics(gold, predicted)[1] == intervals
    assert at_the_data == [pytest.approx(metrics)]


def test_answers_are_compared_as_in_the_official_scripts() -> None:
    """Values worked by hand by the rules of evaluate-v1.1.py and evaluate-v2.0.py."""
    assert normalize("  The\tCat,  a dog-house & an  apple ") == "cat doghouse apple"
    assert exact_match("the Cat!", "cat") == 1.0
    assert exact_match("cats", "cat") == 0.0
    # shared: "cat" once and "dog" once of 3 and 4 words: P 2/3, R 2/4
    by_hand = 2 * (2 / 3) * 0.5 / (2 / 3 + 0.5)
    assert overlap_f1("cat dog cow", "dog cat cat bird") == pytest.approx(by_hand)
    assert overlap_f1("the", "") == 1.0  # an article is no word
    assert overlap_f1("", "cat") == 0.0
    assert score_answer("cat", ["dog", "a cat"]) == (1.0, 1.0)
    assert score_answer("", []) == (1.0, 1.0)
    assert score_answer("cat", []) == (0.0, 0.0)
    assert score_answer("", ["cat"]) == (0.0, 0.0)


def official_best(
    differences: list[float], texts: list[str], golds: list[list[str]]
) -> tuple[float, float]:
    """find_best_thresh of evaluate-v2.0.py, with F1, as a fraction."""
    current = best = float(sum(not gold for gold in golds))
    threshold = 0.0
    for i in sorted(range(len(texts)), key=differences.__getitem__):
        if golds[i]:
            change = score_answer(texts[i], golds[i])[1]
        else:
            change = -1.0 if texts[i] else 0.0
        current += change
        if current > best:
            best, threshold = current, differences[i]
    return best / len(texts), threshold


def test_the_best_threshold_is_that_of_the_official_script() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        differences = list(map(float, rng.normal(size=9)))
        texts = [str(text) for text in rng.choice(["", "Paris", "big Paris", "Rome"], size=9)]
        golds = [[] if rng.random() < 0.5 else ["Paris"] for _ in texts]
        scores = [score_answer(text, gold)[1] for text, gold in zip(texts, golds, strict=True)]
        impossible = [not gold for gold in golds]
        best, threshold = best_threshold(differences, scores, impossible)
        assert best == pytest.approx(official_best(differences, texts, golds)[0])
        if best > sum(impossible) / 9:  # else the official script keeps 0 as the threshold
            assert threshold == official_best(differences, texts, golds)[1]
