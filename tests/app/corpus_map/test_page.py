"""The source "Corpus" of the layer map, without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bertcore.corpus import EncodedCorpus
from tests.support.encoded_table import ROWS, encode_table
from tests.support.opened import charts, ok, page_of, said, with_results


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> EncodedCorpus:
    return encode_table(tmp_path_factory.mktemp("a corpus"))


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch, encoded: EncodedCorpus) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    return page_of("layer_map", map_source="corpus", map_corpus=str(encoded.folder))


def snippets(app: AppTest) -> list[str]:
    return list(dict.fromkeys(code.value for code in app.code if code.language == "python"))


def test_the_map_its_honesty_and_its_python(page: AppTest, encoded: EncodedCorpus) -> None:
    app = ok(with_results(page.run()))
    assert f"{len(encoded):,} tokens, layers 0, 2" in said(app)
    assert charts(app)[0]["layout"]["title"]["text"] == "How faithful is the map?"
    assert app.selectbox(key="corpus_colour").value == "topic"
    for snippet in snippets(app):
        scope: dict[str, object] = {}
        exec(compile(snippet, "shown", "exec"), scope)
        assert scope["found"].coordinates.shape == (2, len(encoded), 2)  # type: ignore[attr-defined]


def test_the_chosen_points_are_read_in_their_sentences(page: AppTest) -> None:
    page.session_state["_corpus_chosen"] = ([0, 6], 900)
    app = ok(with_results(page.run()))
    table = app.dataframe[0].value
    assert table["Sentence"].tolist() == [ROWS[0][0], ROWS[1][0]]
    assert table["Point"].tolist() == ["the", "bought"]
    assert "first 2 of 900" in said(app)


def test_the_geometry_of_a_corpus(page: AppTest) -> None:
    page.query_params["map_view"] = "geometry"
    app = ok(with_results(page.run()))
    figures = charts(app)
    assert figures[0]["data"][0]["x"] == [0, 2]
    assert "drawn at random" in said(app)
    app.number_input(key="map_rogue_off").set_value(2).run()
    app = ok(with_results(app))
    snippet = next(code for code in snippets(app) if "corrected" in code)
    scope: dict[str, object] = {}
    exec(compile(snippet, "shown", "exec"), scope)
    shown = charts(app)[0]["data"][0]["y"]
    assert scope["found"].any_pair.tolist() == pytest.approx(shown)  # type: ignore[attr-defined]


def test_no_folder_and_a_wrong_one(page: AppTest, tmp_path: Path) -> None:
    page.query_params["map_corpus"] = str(tmp_path / "![x](http://evil/x.png)")
    app = page.run()
    assert not app.exception
    assert "holds no encoded corpus" in app.error[0].value
    assert "![x](http" not in app.error[0].value
    app.text_input(key="map_corpus").set_value("").run()
    assert "bertscope encode" in said(ok(app))
