"""The toy head, against the formula in numpy."""

import numpy as np
import pytest

from bertcore.analysis.mixing.toy_head import KEY_ANGLES, VALUES, toy_head


@pytest.mark.parametrize("angle", [30, 211])
@pytest.mark.parametrize("length", [0.0, 20.0])
def test_weights_and_output_are_those_of_the_formula(angle: int, length: float) -> None:
    head, turns = toy_head(angle, length), np.deg2rad(KEY_ANGLES)
    keys = np.array([np.cos(turns), np.sin(turns)]).T
    query = length * np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    scores = keys @ query / np.sqrt(2)
    weights = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(head.scores, scores, atol=1e-12)
    np.testing.assert_allclose(head.weights, weights)
    np.testing.assert_allclose(head.output, weights @ VALUES)
