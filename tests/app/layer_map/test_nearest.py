"""The view Where else? of the layer map: the core's neighbours, among ours or one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertcore import Bert
from bertcore.analysis.space.nearest import nearest, token_vectors
from tests.support.opened import ok, page_of, said, with_results

TEXT = "The river bank was steep."
LINES = ["he went to the bank .", "the river was wet |||the dog sat", TEXT]


def opened(checkpoint: str, monkeypatch: pytest.MonkeyPatch, **query: str) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    asked = {"text_a": TEXT, "text_b": "", "map_view": "nearest", **query}
    app = page_of("layer_map", **asked)
    app.session_state["_my_sentences"] = "\n".join(LINES)
    return with_results(app.run())


def test_the_neighbours_are_the_cores_and_the_python_gives_them(
    bert: Bert, checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(checkpoint, monkeypatch, map_among="pasted", map_token="3", map_layer="1"))
    texts = [LINES[0], "the river was wet", "the dog sat", TEXT]
    vector = bert.trace(TEXT).hidden_states[1, 3]
    found, mean = nearest(token_vectors(bert, texts, 1), vector, 20, without=TEXT)
    shown = app.dataframe[0].value
    np.testing.assert_allclose(shown["cosine"], [each.cosine for each in found], atol=1e-6)
    assert shown["token"].tolist() == [each.text[each.start : each.end] for each in found]
    assert f"mean cosine is {mean:.2f}" in said(app)
    code = app.code[0].value
    names: dict[str, Any] = {}
    exec(compile(code.replace("\nnearest(", "\nprinted = nearest("), "shown", "exec"), names)
    assert [each.text for each in names["printed"][0]] == [each.text for each in found]


def test_our_sentences_are_read_in_the_background(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(checkpoint, monkeypatch))
    assert len(app.dataframe[0].value) == 20
    assert "Tokens of the same text are left out" in said(app)
    assert app.selectbox(key="map_token").value == 2  # "river", of the longest
    app = ok(app.selectbox(key="map_token").set_value(0).run())  # [CLS]
    assert len(app.dataframe[0].value) == 20


@pytest.mark.parametrize("text", ["<img src=x> [a](http://x)", "和平 שלום 🕊️", "[MASK]", "\u200b"])
def test_any_text_has_neighbours(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    query = {"text_a": text, "map_among": "pasted", "map_token": "99", "map_layer": "-4"}
    assert len(ok(opened(checkpoint, monkeypatch, **query)).dataframe[0].value)


def test_a_list_of_the_same_text_alone_is_told(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.app.layer_map.test_nearest.LINES", [TEXT])
    app = ok(opened(checkpoint, monkeypatch, map_among="pasted"))
    assert "There is no other text to search" in said(app)
