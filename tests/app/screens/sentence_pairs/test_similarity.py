"""The similarity of several sentences on the page, without a browser."""

from pathlib import Path

import numpy as np
import pytest
from sentence_transformers.base.modules import Dense
from sentence_transformers.sentence_transformer.modules import Normalize
from streamlit.testing.v1 import AppTest

from app.screens.sentence_pairs.page import DEFAULT
from bertcore import Bert
from bertcore.analysis.words.sentence_similarity import shared_words, similarities
from tests.support.opened import named_charts, numbers, ok, page_of, said
from tests.support.sentence_encoders import make_sentence_encoder

A, B = "the river bank was steep", "it had rained"
ALL = (A, B, *DEFAULT.splitlines())


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    return page_of("sentence_pairs", several="1", text_a=A, text_b=B)


def test_the_cosines_and_the_words_are_the_cores(page: AppTest, bert: Bert) -> None:
    app = ok(page.run())
    drawn = named_charts(app, "similar")
    cosines = similarities(bert, ALL).values
    shown = numbers(drawn["map"][0]["z"])
    off_diagonal = ~np.eye(len(ALL), dtype=bool)
    np.testing.assert_allclose(shown[off_diagonal], cosines[off_diagonal], atol=1e-6)
    words = shared_words(bert, A, B)
    colours = numbers(drawn["words"][0]["marker"]["color"])
    np.testing.assert_allclose(colours, [*words.of_a, *words.of_b], atol=1e-6)
    np.testing.assert_allclose(numbers(drawn["pairs"][0]["z"]), words.pairs, atol=1e-6)
    assert f"**{cosines[0, 1]:.3f}**" in said(app)
    assert "not trained for similarity" in said(app)
    assert "Mean pooling" in said(app)


def test_another_pair_is_chosen_and_stands_in_the_address(page: AppTest, bert: Bert) -> None:
    page.query_params["similar_a"] = "2"
    page.query_params["similar_b"] = "3"
    app = ok(page.run())
    words = shared_words(bert, ALL[2], ALL[3])
    colours = numbers(named_charts(app, "similar")["words"][0]["marker"]["color"])
    np.testing.assert_allclose(colours, [*words.of_a, *words.of_b], atol=1e-6)
    app = ok(app.selectbox(key="similar_b").set_value(0).run())
    colours = numbers(named_charts(app, "similar")["words"][0]["marker"]["color"])
    assert len(colours) == len(words.words_a) + len(shared_words(bert, A, B).words_a)


@pytest.mark.parametrize("text", ["", "<b>&lt;</b>\n{x}\n[SEP]", "x " * 900])
def test_few_strange_and_long_sentences(page: AppTest, text: str) -> None:
    page.query_params["sentences"] = text
    app = ok(page.run())
    assert "map" in named_charts(app, "similar")


def test_a_single_sentence_has_no_similarity(page: AppTest) -> None:
    page.query_params["text_b"] = ""
    page.query_params["sentences"] = "."
    app = ok(page.run())
    ok(app.text_area(key="sentences").set_value(A).run())
    assert "map" not in named_charts(app, "similar")
    assert "at least two sentences" in said(app)


def test_a_sentence_encoder_says_its_pooling(tmp_path: Path, page: AppTest) -> None:
    make_sentence_encoder(tmp_path / "unit", pooling="cls", after=(Normalize(),), max_length=30)
    page.query_params["checkpoint"] = str(tmp_path / "unit")
    app = ok(page.run())
    assert "[CLS] pooling, normalised, at most 30 tokens" in said(app).replace("\\", "")
    assert "not trained for similarity" not in said(app)
    assert "pairs" in named_charts(app, "similar")


def test_after_a_dense_layer_the_words_are_not_shown(tmp_path: Path, page: AppTest) -> None:
    make_sentence_encoder(tmp_path / "dense", after=(Dense(32, 8),))
    page.query_params["checkpoint"] = str(tmp_path / "dense")
    app = ok(page.run())
    assert "no longer a sum over the tokens" in said(app)
    assert "map" in named_charts(app, "similar")
    assert "pairs" not in named_charts(app, "similar")


def test_an_unknown_module_is_one_sentence(tmp_path: Path, page: AppTest) -> None:
    make_sentence_encoder(tmp_path / "odd", after=(Normalize(),))
    file = tmp_path / "odd" / "modules.json"
    file.write_text(file.read_text().replace("sentence_transformers.base.modules.norm", "odd.norm"))
    page.query_params["checkpoint"] = str(tmp_path / "odd")
    app = page.run()
    assert not app.exception
    assert any("own code" in error.value for error in app.error)
