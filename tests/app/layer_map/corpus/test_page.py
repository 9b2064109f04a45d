"""The source "Corpus" of the layer map, without a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.sources import encoded_corpus as source
from bertcore.corpus import EncodedCorpus, open_encoded
from tests.support.encoded_table import ROWS, encode_table, encode_trees
from tests.support.opened import charts, ok, page_of, said, with_results
from tests.support.tiny import tiny_bert


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> EncodedCorpus:
    return encode_table(tmp_path_factory.mktemp("a corpus"))


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch, encoded: EncodedCorpus) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    return page_of(
        "layer_map", map_source="corpus", corpus="folder", corpus_folder=str(encoded.folder)
    )


def snippets(app: AppTest) -> list[str]:
    return list(dict.fromkeys(code.value for code in app.code if code.language == "python"))


def test_the_map_its_honesty_and_its_python(page: AppTest, encoded: EncodedCorpus) -> None:
    app = ok(with_results(page.run()))
    assert f"{len(encoded):,} tokens of" in said(app)
    assert charts(app)[0]["layout"]["title"]["text"] == "How faithful is the map?"
    assert charts(app)[0]["layout"]["xaxis"]["tickvals"] == [0, 2]
    assert app.selectbox(key="corpus_colour").value == "topic"
    for snippet in snippets(app):
        scope: dict[str, object] = {}
        exec(compile(snippet, "shown", "exec"), scope)
        assert scope["found"].coordinates.shape == (2, len(encoded), 2)  # type: ignore[attr-defined]


def test_the_tags_of_a_treebank_colour_its_map(page: AppTest, tmp_path: Path) -> None:
    trees = encode_trees(tmp_path)
    page.query_params["corpus_folder"] = str(trees.folder)
    app = ok(with_results(page.run()))
    box = app.selectbox(key="corpus_colour")
    assert box.value == "upos"
    assert box.options[:4] == ["upos", "xpos", "deprel", "head_distance"]
    (component,) = app.get("bidi_component")
    assert all(tag in str(component.proto) for tag in ("DET", "NOUN", "VERB", "PRON"))
    for column in ("deprel", "head_distance"):
        box = app.selectbox(key="corpus_colour").set_value(column)
        app = ok(with_results(box.run()))
        (component,) = app.get("bidi_component")
        assert column in str(component.proto)
        assert ("nsubj" in str(component.proto)) == (column == "deprel")


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
    page.query_params["corpus_folder"] = str(tmp_path / "![x](http://evil/x.png)")
    app = page.run()
    assert not app.exception
    assert "has no encoded corpus" in app.error[0].value
    assert "![x](http" not in app.error[0].value
    app.text_input(key="corpus_folder").set_value("").run()
    assert "bertscope encode" in said(ok(app))


def test_the_stories_are_mapped_without_a_folder(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(source.CACHE, str(tmp_path))
    monkeypatch.setattr(source, "STARTS", {"part": 0.02, "whole": 1.0})
    page.query_params["corpus"] = "part"
    app = ok(with_results(page.run()))
    assert "Wind in the Willows" in said(app)
    (place,) = tmp_path.iterdir()
    assert charts(app)[0]["layout"]["title"]["text"] == "How faithful is the map?"
    (snippet,) = {code for code in snippets(app) if "quality" in code}
    scope: dict[str, object] = {}
    exec(compile(snippet, "shown", "exec"), scope)
    assert scope["found"].rows.tolist() == list(range(len(open_encoded(place))))  # type: ignore[attr-defined]
    assert app.selectbox(key="corpus_colour").value == "word"


def test_a_corpus_of_another_checkpoint_is_mapped_too(
    page: AppTest, encoded: EncodedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tiny_bert(seed=5).save(tmp_path / "other")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(other))
    assert f"{len(encoded):,} tokens of" in said(ok(with_results(page.run())))


def test_a_closed_server_maps_the_stories_and_tells_no_path(
    page: AppTest, encoded: EncodedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = replace(source.policy(), is_closed=True)
    monkeypatch.setattr(source, "policy", lambda: closed)
    monkeypatch.setattr(source.visits, "root", lambda: tmp_path)
    monkeypatch.setattr(source, "STARTS", {"part": 0.02, "whole": 1.0})
    app = ok(with_results(page.run()))
    components = [str(element.proto) for element in app.get("bidi_component")]
    assert components
    shown = " ".join([said(app), *snippets(app), *components])
    assert "Wind in the Willows" in shown
    assert str(tmp_path) not in shown
    assert str(encoded.folder) not in shown
