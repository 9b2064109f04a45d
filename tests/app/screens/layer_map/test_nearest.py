"""The view Where else? of the layer map: the core's neighbours, among ours or one's own."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertcore import Bert
from bertcore.analysis.space.nearest import nearest_to, token_vectors
from tests.support.opened import (
    QUICK,
    charts,
    numbers,
    ok,
    page_of,
    said,
    shown_names,
    with_results,
)

TEXT = "The river bank was steep."
LINES = ["he went to the bank .", "the river was wet |||the dog sat", TEXT]


def opened(checkpoint: str, monkeypatch: pytest.MonkeyPatch, **query: str) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    asked = {"text_a": TEXT, "text_b": "", "map_view": "nearest", **QUICK, **query}
    app = page_of("layer_map", **asked)
    app.session_state["_my_sentences"] = "\n".join(LINES)
    return with_results(app.run())


def num_rows(app: AppTest) -> int:
    _, figure = charts(app)
    return len(figure["layout"]["yaxis"]["ticktext"])


def test_the_neighbours_are_the_cores_and_the_python_gives_them(
    bert: Bert, checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(checkpoint, monkeypatch, map_among="pasted", map_token="3", map_layer="1"))
    texts = [LINES[0], "the river was wet", "the dog sat", TEXT]
    result = nearest_to(bert.trace(TEXT), token_vectors(bert, texts, 1), 1, 3)
    found, mean = result.neighbours, result.mean
    _, figure = charts(app)
    np.testing.assert_allclose(numbers(figure["data"][0]["x"]), [each.cosine for each in found])
    named = figure["layout"]["yaxis"]["ticktext"][0]
    assert f"«{found[0].text[found[0].start : found[0].end]}»" in named
    assert f"mean cosine is {mean:.2f}" in said(app)
    assert shown_names(app, "nearest")["result"].neighbours == found


def test_our_sentences_are_read_in_the_background(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(checkpoint, monkeypatch))
    assert num_rows(app) == 20
    assert "Tokens of the same text are left out" in said(app)
    assert app.selectbox(key="map_token").value == 2  # "river", of the longest
    app = ok(app.selectbox(key="map_token").set_value(0).run())  # [CLS]
    assert num_rows(app) == 20


@pytest.mark.parametrize("text", ["<img src=x> [a](http://x) 和平 🕊️", "\u200b"])
def test_any_text_has_neighbours(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    query = {"text_a": text, "map_among": "pasted", "map_token": "99", "map_layer": "-4"}
    assert num_rows(ok(opened(checkpoint, monkeypatch, **query)))


def test_a_list_of_the_same_text_alone_is_told(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.app.screens.layer_map.test_nearest.LINES", [TEXT])
    app = ok(opened(checkpoint, monkeypatch, map_among="pasted"))
    assert "There is no other text to search" in said(app)
