"""Reweighing makes group and label independent, and leaves both as frequent as they were."""

import numpy as np
import pytest

from bertcore.training.finetuning.balance import reweigh


def test_the_published_example() -> None:
    """Kamiran and Calders 2012, table 2: sex and class of ten people."""
    groups = [*"mmmmm", *"fffff"]
    labels = np.array([1, 1, 1, 1, 0, 1, 1, 0, 0, 0])
    found, note = reweigh(groups, labels, ("-", "+"), column="sex")
    weights = dict(zip(zip(groups, labels.tolist(), strict=True), found, strict=True))
    expected = {("f", 1): 1.5, ("f", 0): 2 / 3, ("m", 1): 0.75, ("m", 0): 2.0}
    assert weights == pytest.approx(expected)
    assert "m / -: 2.00 (1)" in note


def test_independence() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 3, 500)
    labels = (rng.random(500) < np.array([0.1, 0.5, 0.8])[numbers]).astype(np.int64)
    weights, note = reweigh([f"g{n}" for n in numbers], labels, ("a", "b"), column="g")
    joint = np.zeros((3, 2))
    np.add.at(joint, (numbers, labels), weights.astype(float))
    np.testing.assert_allclose(joint.sum(1), np.bincount(numbers), rtol=1e-5)
    np.testing.assert_allclose(joint.sum(0), np.bincount(labels), rtol=1e-5)
    np.testing.assert_allclose(joint, np.outer(joint.sum(1), joint.sum(0)) / 500, rtol=1e-5)
    assert "No example has" not in note
