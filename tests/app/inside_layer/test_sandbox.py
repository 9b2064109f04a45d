"""The toy head of Inside a layer, against the formula in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.inside_layer.sandbox import KEY_ANGLES, VALUES, attend, toy_table, what_it_does
from tests.support.opened import named_charts, numbers, ok, page_of, said


@pytest.mark.parametrize("angle", [0, 30, 211, 359])
@pytest.mark.parametrize("length", [0.0, 0.5, 20.0])
def test_weights_and_output_are_those_of_the_formula(angle: int, length: float) -> None:
    head = attend(angle, length)
    keys = np.array([[np.cos(np.deg2rad(a)), np.sin(np.deg2rad(a))] for a in KEY_ANGLES])
    query = length * np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    scores = keys @ query / np.sqrt(2)
    weights = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(head.weights, weights)
    np.testing.assert_allclose(head.output, weights @ VALUES)
    np.testing.assert_allclose(toy_table(head)["score"], scores, atol=1e-12)


@pytest.mark.parametrize(
    ("angle", "length", "does"),
    [
        (150, 20.0, "**copies C**: the output is 40.0"),
        (30, 20.0, "**averages A and B**: the output is 15.0"),
        (30, 0.0, "**averages all four**: the output is 37.5"),
        (150, 1.0, "mixes the values"),
    ],
)
def test_what_it_does_is_said(angle: int, length: float, does: str) -> None:
    assert does in what_it_does(attend(angle, length))


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    return page_of("inside_layer", text_a="The river bank was steep.")


def test_sliders_and_links_choose_the_query(page: AppTest) -> None:
    page.query_params.update({"toy_angle": "150", "toy_length": "20.0"})
    app = ok(page.run())
    assert "It **copies C**" in said(app)
    app.slider(key="toy_angle").set_value(30).run()
    assert "It **averages A and B**" in said(ok(app))
    *_, weights = named_charts(app, "toy")["head"]
    np.testing.assert_allclose(numbers(weights["x"]), attend(30, 20.0).weights)


def test_impossible_queries_of_a_link_are_clipped(page: AppTest) -> None:
    page.query_params.update({"toy_angle": "9999", "toy_length": "nan"})
    app = ok(page.run())
    assert app.session_state["toy_angle"] == 359
    assert app.session_state["toy_length"] == 2.0
