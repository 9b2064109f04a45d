"""The layer map page on a tiny checkpoint, without a browser."""

import time
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.screens.layer_map.controls import UNITS
from bertcore import load
from bertcore.analysis.space import projection
from bertcore.analysis.space.sense_sets import SETS
from bertcore.configs.maps import TsneSettings
from tests.support.exhaustive import spread
from tests.support.opened import charts, numbers, ok, page_of, said, shown_names, with_results


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    pair = {"text_a": "The river bank was steep.", "text_b": "It had rained."}
    return page_of("layer_map", **pair, map_method="pca")


def names(figure: dict) -> list[str]:
    return [trace["name"] for trace in figure["data"] if trace.get("showlegend")]


def num_points(figure: dict) -> int:
    return sum(len(t["x"]) for t in figure["data"] if t.get("hoverinfo") == "text")


def test_a_link_to_pca_draws_the_pca_map_of_the_sentence(page: AppTest) -> None:
    (travel,) = charts(ok(page.run()))
    assert num_points(travel) == 10
    assert set(names(travel)) == {*"the river bank was steep . it had rained".split()}
    assert page.session_state["map_layer"] == 2


def test_how_faithful_the_map_is_when_it_is_asked(page: AppTest) -> None:
    page.query_params["map_view"] = "faithfulness"
    _, true = charts(ok(page.run()))
    curves = "trustworthiness, continuity, shared neighbours, variance shown"
    assert ", ".join(trace["name"] for trace in true["data"]) == curves


@pytest.mark.parametrize(
    ("space", "dims", "text"),
    spread(
        ["joint", "separate"],
        ["2", "3"],
        ["a", "[CLS]", "😀 שלום", "</script><img src=x>"],
    ),
)
def test_few_and_strange_tokens(page: AppTest, text: str, dims: str, space: str) -> None:
    page.query_params.update({"text_a": text, "text_b": "", "map_dims": dims, "map_space": space})
    app = ok(page.run())
    assert num_points(charts(app)[0]) >= 1


@pytest.mark.parametrize(
    ("colour", "unit"),
    spread(["word", "token", "segment", "sentence"], list(UNITS)),
)
def test_every_kind_of_point_and_colour(page: AppTest, unit: str, colour: str) -> None:
    page.query_params.update({"map_unit": unit, "map_colour": colour, "map_word": "bank"})
    app = ok(page.run())
    expected = {"tokens": 10, "words": 10, "word": 1, "mean": 1, "cls": 1}[unit]
    assert num_points(charts(app)[0]) == expected
    app = ok(app.toggle(key="map_hide").set_value(False).run())
    assert num_points(charts(app)[0]) == expected + (3 if unit in ("tokens", "words") else 0)


def test_a_words_senses_with_one_click(page: AppTest) -> None:
    page.query_params["map_view"] = "labels"
    app = ok(page.run())
    app.segmented_control(key="map_source").set_value("senses").run()
    ok(app)
    travel, parted, *_ = charts(app)
    assert names(travel) == ["money", "river"]
    assert num_points(travel) == len(SETS["bank"])
    assert parted["data"][0]["name"] == "neighbours with the same label"
    assert "5 nearest neighbours in other sentences" in said(app)
    app.pills(key="map_set").set_value("spring").run()
    assert names(charts(ok(app))[0]) == ["season", "water", "coil"]
    app.segmented_control(key="map_source").set_value("sentence").run()
    assert num_points(charts(ok(app))[0]) == 10  # every token again, not the demo's word


def test_pasted_sentences_with_labels(page: AppTest) -> None:
    page.query_params["map_source"] = "pasted"
    app = ok(page.run())
    assert "Write or paste your sentences" in said(app)
    assert not charts(app)
    text = "the river bank\twater\nmoney in the bank\tcash\nthe dog\twater\nhe bought fish\tcash"
    app.text_area(key="my_sentences").set_value(text).run()
    app.selectbox(key="map_colour").set_value("label").run()
    assert names(charts(ok(app))[0]) == ["water", "cash"]
    assert "my_sentences" not in app.query_params  # too long for an address
    app.text_area(key="my_sentences").set_value(text.replace("bank", "*bank*")).run()
    app.selectbox(key="map_unit").set_value("word").run()
    assert "2 words are marked" in said(ok(app))
    assert num_points(charts(app)[0]) == 2
    app.text_area(key="my_sentences").set_value(" \n ").run()
    assert "Write or paste your sentences" in said(ok(app))


def test_a_word_that_is_not_there(page: AppTest) -> None:
    page.query_params.update({"map_unit": "word", "map_word": "money"})
    app = page.run()
    assert "'money' is not in these sentences" in app.error[0].value.replace("\\", "")
    assert "river" in app.error[0].value
    app.text_input(key="map_word").set_value("BANK").run()
    assert num_points(charts(ok(app))[0]) == 1


def test_axes_between_words_of_ones_own(page: AppTest) -> None:
    page.query_params.update({"map_method": "axes", "map_left": "river"})
    app = ok(page.run())
    assert "Left and Right" in said(app).replace("*", "")
    figure = charts(ok(app.text_input(key="map_right").set_value("rained, steep").run()))[0]
    assert figure["layout"]["xaxis"]["title"]["text"] == "river → rained, steep"
    assert num_points(figure) == 10


def test_vectors_of_ones_own_are_mapped(page: AppTest, tmp_path: Path) -> None:
    page.query_params.update(
        {"map_view": "vectors", "map_method": "axes", "map_left": "a", "map_right": "b"}
    )
    app = page.run()  # no word of the text is at the ends of the axis
    assert "'a' is not in these sentences" in app.error[0].value.replace("\\", "")
    np.save(tmp_path / "v.npy", np.eye(6))
    labels = "name,label\n" + "".join(f"n{place},{'ab'[place % 2]}\n" for place in range(6))
    files = {"v.npy": (tmp_path / "v.npy").read_bytes(), "labels.csv": labels.encode()}
    box = app.file_uploader(key="map_vectors")
    app = box.set_value([(name, data, "x/y") for name, data in files.items()]).run()
    figure = charts(with_results(app))[-1]
    assert len(app.error) == 1
    assert names(figure) == ["a", "b"]
    assert figure["layout"]["xaxis"]["title"]["text"] == "a → b"
    assert not figure["layout"].get("sliders")


def test_a_link_brings_back_the_view(page: AppTest) -> None:
    page.query_params.update(
        {"map_dims": "3", "map_layer": "1", "map_word": "bank", "map_colour": "segment"}
    )
    app = ok(page.run())
    figure = charts(app)[0]
    assert figure["data"][0]["type"] == "scatter3d"
    assert figure["layout"]["sliders"][0]["active"] == 1
    assert names(figure) == ["sentence A", "sentence B"]
    assert figure["data"][-1]["marker"]["symbol"] == "circle-open"
    page.query_params.update({"map_dims": "7", "map_layer": "99", "map_colour": "x"})
    assert charts(ok(AppTest.run(page)))


def test_the_cosine_of_two_tokens_by_layer(page: AppTest, checkpoint: str) -> None:
    text = "The river bank was steep."
    page.query_params.update({"text_b": "", "map_view": "geometry"})
    app = ok(page.run())
    box = next(one for one in app.multiselect if one.label == "Two of them")
    assert box.options[:3] == ["the 1", "river 2", "bank 3"]
    app = ok(box.set_value([0, 2]).run())
    hidden = load(checkpoint, device="cpu").trace(text).hidden_states.double()
    wanted = torch.cosine_similarity(hidden[:, 1], hidden[:, 3], dim=-1)
    drawn = next(c for c in charts(app) if "these two" in [t.get("name") for t in c["data"]])
    (curve,) = [trace for trace in drawn["data"] if trace.get("name") == "these two"]
    np.testing.assert_allclose(numbers(curve["y"]), wanted, atol=1e-5)
    assert "*These two* are *the* and *bank*. Both are in one text" in said(app)


@pytest.mark.parametrize("unit", ["words", "mean", "cls"])
def test_two_of_several_sentences_have_names_of_their_own(page: AppTest, unit: str) -> None:
    page.session_state["_my_sentences"] = "The river bank\nthe river bank\nA river"
    page.query_params.update({"map_view": "geometry", "map_source": "pasted", "map_unit": unit})
    page.query_params["map_two"] = ["0", "1", "2"]  # the first two are drawn
    app = ok(page.run())
    (box,) = (box for box in app.multiselect if box.label == "Two of them")
    assert box.value == [0, 1]
    offered = box.options
    caption = said(app)
    assert len(set(offered)) == len(offered)
    if unit == "words":
        assert offered[:4] == [f"{w}, sentence 1" for w in ("the 1", "river 2", "bank 3")] + [
            "the 1, sentence 2"
        ]
        assert "*the* and *river*" in caption
        assert "Both are in one text" in caption
    else:
        assert offered[:2] == ["1: The river bank", "2: the river bank"]
        assert "*The river bank* and *the river bank*" in caption
        assert "Both are in one text" not in caption


@pytest.mark.parametrize(
    ("text", "repeats"),
    [("a", False), ("the river fishing", False), ("the river fishing and fishing", True)],
)
def test_a_word_twice_is_no_piece_twice(page: AppTest, text: str, repeats: bool) -> None:
    """ "fishing" has several pieces."""
    page.query_params.update({"text_a": text, "text_b": "", "map_view": "geometry"})
    app = ok(page.run())
    curves = {trace.get("name") for figure in charts(app) for trace in figure["data"]}
    assert ("the same word twice" in curves) == repeats


@pytest.mark.slow  # opening UMAP compiles its kernels
def test_the_page_opens_with_umap_and_shows_pca_until_it_is_there(page: AppTest) -> None:
    del page.query_params["map_method"]
    page.query_params.update({"umap_neighbors": "4", "umap_seed": "5"})
    projection.umap_opened.clear()  # else a quick map is waited for
    app = ok(page.run())
    assert app.segmented_control(key="map_method").value == "umap"
    assert charts(app)[0]["layout"]["xaxis"]["title"]["text"] == "PCA axis 1"
    deadline = time.monotonic() + 600
    while "PCA" in charts(app)[0]["layout"]["xaxis"]["title"]["text"]:
        assert time.monotonic() < deadline
        time.sleep(1)  # each look draws the page, which takes the compiler's time
        ok(app.run())
    assert charts(app)[0]["layout"]["xaxis"]["title"]["text"] == "UMAP axis 1"
    assert "the size of a cluster" in said(app)


@pytest.mark.parametrize("space", ["joint", "separate"])
def test_umap_of_too_few_points_says_that_it_is_pca(page: AppTest, space: str) -> None:
    page.query_params.update({"text_a": "a", "text_b": "", "map_method": "umap"})
    page.query_params.update({"map_space": space})
    app = ok(page.run())
    assert "Shown by PCA: UMAP needs 8 different points" in said(app)
    assert not app.get("progress")
    text = "a b c"  # three points in each of three states
    app = ok(app.text_area(key="text_a").set_value(text).run())
    assert ("UMAP needs 8 different points" in said(app)) == (space == "separate")


def test_umap_of_too_many_points_says_that_it_is_pca(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "MAX_EMBEDDED", 20)
    page.query_params["map_method"] = "umap"
    app = ok(with_results(page.run()))
    assert "Shown by PCA: there are 30 points; the limit of one UMAP is 20" in said(app)
    assert num_points(charts(app)[0]) == 10


def with_map(app: AppTest, axis: str) -> AppTest:
    """Return the page once its map has this axis."""
    deadline = time.monotonic() + 600
    while axis not in charts(app)[0]["layout"]["xaxis"]["title"]["text"]:
        assert time.monotonic() < deadline
        time.sleep(1)
        ok(app.run())
    return app


@pytest.mark.slow
def test_tsne_replaces_the_pca_map(page: AppTest, checkpoint: str) -> None:
    expected = TsneSettings(perplexity=4.0, seed=3)
    asked = {"umap_perplexity": "4", "umap_seed": "3", "map_view": "faithfulness"}
    page.query_params.update({"map_method": "tsne", **asked})
    app = with_map(ok(page.run()), "t-SNE axis 1")
    widgets = {slider.label for slider in app.slider}
    assert "perplexity" in widgets
    assert "min_dist" not in widgets
    scope = shown_names(app, "map_points", f"settings={expected!r}")
    vectors = scope["result"].table.vectors
    same = projection.map_layers(vectors, method="tsne", settings=expected)
    np.testing.assert_array_equal(scope["result"].layer_map.coordinates, same.coordinates)
    names_of_curves = [trace["name"] for trace in charts(app)[1]["data"]]
    assert names_of_curves == ["trustworthiness", "continuity", "shared neighbours"]


def test_tsne_of_few_points_each_by_itself_lowers_the_perplexity(page: AppTest) -> None:
    page.query_params.update({"map_method": "tsne", "map_space": "separate"})
    app = with_map(ok(page.run()), "t-SNE axis 1")
    assert "The perplexity is 3 instead of 30" in said(app)


@pytest.mark.parametrize("num_sentences", [4, 70])
def test_the_python_of_the_list_gives_its_points(
    page: AppTest,
    num_sentences: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [f"the *bank* was {number}'\tx" for number in range(num_sentences)]
    page.session_state["_my_sentences"] = "\n".join(lines)
    page.query_params.update({"map_source": "pasted", "map_unit": "word", "map_dims": "3"})
    app = ok(with_results(page.run()))
    monkeypatch.chdir(tmp_path)
    Path("sentences.txt").write_text("\n".join(lines))
    scope = shown_names(app)
    drawn = {tuple(point) for point in scope["result"].layer_map.coordinates[-1].tolist()}
    assert len(scope["result"].table) == num_sentences
    assert len(drawn) == len({tuple(p) for p in scope["result"].table.vectors[-1].tolist()})
    assert num_points(charts(app)[0]) == num_sentences
