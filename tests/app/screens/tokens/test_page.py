"""The page Tokens & embeddings on tiny checkpoints: what the core computes, in each view."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.plots import plain
from app.screens.tokens.page import VIEWS
from app.screens.tokens.views import ALL_SIZES, MOST_DIMS, SHAPES
from app.server.policy import CHECKPOINT_VARIABLE
from app.shell import cache, sentence_box
from bertcore import Bert, load
from bertcore.analysis import (
    leave_one_out,
    nearest_words,
    norm_numbers,
    position_similarity,
    vocabulary_growth,
)
from bertcore.analysis.words.vocabulary import MOST_MERGES, SIZES, token_table_share
from bertcore.model.tokenizer import train_unigram
from bertcore.model.tokenizer.growth import grow_vocabulary, split_by_merges
from tests.support.opened import (
    button,
    charts,
    named_charts,
    numbers,
    ok,
    page_of,
    said,
    shown_names,
)
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_families import make

TEXTS = "The river bank was steep.", "It had rained."
OWN = "the then they the that qu qu <img src=x> $x$ `a` [b](c)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("tokens") / "tiny")


@pytest.fixture
def page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    st.cache_resource.clear()
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(folder))
    return page_of("tokens", seconds=180)


def drawn(page: AppTest, view: str, **query: str) -> list[dict[str, Any]]:
    """Return the traces of the first figure."""
    page.query_params.update({"text_a": TEXTS[0], "text_b": TEXTS[1], "view": view, **query})
    traces: list[dict[str, Any]] = charts(ok(page.run()))[0]["data"]
    return traces


# ---- the tokens ----


@pytest.mark.parametrize(
    ("text_a", "text_b", "is_said"),
    [
        ("ضَرَبَ 😀 زيدٌ", "", True),
        ("12. שלום, world", "", True),
        ("A river.", "مرحبا", True),
        ("The word שלום means peace.", "", False),
        ("😀 12!", "", False),
    ],
)
def test_the_order_of_right_to_left_tokens_is_said(
    page: AppTest, text_a: str, text_b: str, is_said: bool
) -> None:
    page.query_params.update({"text_a": text_a, "text_b": text_b})
    assert ("its tokens stand from left to right" in said(ok(page.run()))) == is_said


def test_a_token_beyond_the_text_is_the_last(page: AppTest, folder: Path) -> None:
    page.query_params["token"] = "999"
    app = ok(page.run())
    texts = sentence_box.DEFAULT.text_a, sentence_box.DEFAULT.text_b
    assert (
        app.session_state["token"]
        == cache.trace(cache.bert_key(str(folder)), *texts).num_tokens - 1
    )


# ---- embeddings ----


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_drawn_in_bfloat16(page: AppTest, view: str) -> None:
    assert drawn(page, view, dtype="bfloat16")
    assert page.get("html")


def test_the_sum_is_the_traces(page: AppTest, folder: Path) -> None:
    trace = load(folder, device="cpu").trace(*TEXTS)
    *strips, _, _, _, length = drawn(page, "Three embeddings", token="2")
    names = ("token", "segment", "position", "sum")
    places = int(strips[0]["hovertemplate"].partition("10<sup>−")[2][0])
    largest = charts(page)[0]["layout"]["coloraxis"]["cmax"]
    assert 100 <= largest < 1000, "three digits count"
    for strip, name in zip(strips, names, strict=True):
        vectors = getattr(trace.embeddings, name).numpy().T[:MOST_DIMS]
        assert np.array_equal(numbers(strip["z"]), np.rint(vectors * 10.0**places))
    assert np.allclose(numbers(length["y"]), trace.embeddings.sum.norm(dim=-1).numpy(), atol=1e-5)
    assert charts(page)[0]["layout"]["shapes"][0]["x0"] == 1.5


def test_layer_norm_draws_lengths_relative_to_their_average(page: AppTest, folder: Path) -> None:
    found = norm_numbers(load(folder, device="cpu").trace(*TEXTS), 3)
    before, after = drawn(page, "LayerNorm", token="3")
    for line, when in ((before, "before"), (after, "after")):
        lengths = getattr(found, when).norm
        assert np.allclose(numbers(line["y"]), lengths / lengths.mean(), atol=1e-4)
    assert f"has mean {found.before.mean[3]:.3f}" in said(page)


def test_one_left_out_is_the_cores(page: AppTest, folder: Path) -> None:
    bert = load(folder, device="cpu")
    cosines = leave_one_out(bert, bert.trace(*TEXTS)).cosines
    grid, *_ = drawn(page, "Leave one out")
    assert np.allclose(numbers(grid["z"]), np.concatenate(cosines), atol=1e-5)


def test_nearest_words_are_the_cores(page: AppTest, folder: Path) -> None:
    bert = load(folder, device="cpu")
    near = nearest_words(bert, bert.trace(*TEXTS), position=2)
    (dots,) = drawn(page, "Nearest words", token="2")
    assert list(numbers(dots["x"])) == pytest.approx([each.cosine for each in near], abs=1e-5)
    assert plain(near[0].token) in said(page)


@pytest.mark.parametrize(("token", "num_lines"), [("3", 1), ("70", 0)])
def test_the_position_of_the_token_is_marked_where_it_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str, num_lines: int
) -> None:
    st.cache_resource.clear()
    bert = Bert(
        tiny_network(tiny_config(max_position_embeddings=100)), tiny_tokenizer(max_length=100)
    )
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(bert.save(tmp_path / "long")))
    text = "the river " * 40
    app = ok(page_of("tokens", view="Position table", text_a=text, text_b="", token=token).run())
    (chart,) = charts(app)
    assert len(chart["layout"].get("shapes", ())) == num_lines
    assert np.allclose(numbers(chart["data"][0]["z"]), position_similarity(bert).cosines)
    assert "a row of a trained table" in said(app)


@pytest.fixture
def other_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    def opened(name: str, **shape: Any) -> AppTest:
        st.cache_resource.clear()
        make(name, tmp_path, **shape)
        monkeypatch.setenv(CHECKPOINT_VARIABLE, str(tmp_path))
        return ok(page_of("tokens", view="Position table", text_a="the river", text_b="").run())

    return opened


def test_sinusoidal_positions_are_not_called_trained(other_page: Callable[..., AppTest]) -> None:
    told = said(other_page("DistilBertModel"))
    assert "sines and cosines of fixed frequencies" in told
    assert "trained table" not in told


@pytest.mark.parametrize(("window", "num_lines"), [(8, 1), (256, 0)])
def test_the_line_of_a_window_is_drawn_where_it_ends(
    other_page: Callable[..., AppTest], window: int, num_lines: int
) -> None:
    app = other_page("ModernBertForMaskedLM", local_attention=window)
    assert len(charts(app)[0]["layout"].get("shapes", ())) == num_lines
    maps = charts(app)[0]["data"]
    for drawn_map, kind in zip(maps, shown_names(app, at=-1)["result"], strict=True):
        assert np.allclose(numbers(drawn_map["z"]), kind.cosines)


# ---- a vocabulary ----


@pytest.fixture
def growth_page(page: AppTest) -> AppTest:
    page.query_params.update({"view": "A vocabulary grows", "text_a": OWN, "text_b": ""})
    return page


@pytest.mark.parametrize("rule", ["count", "likelihood"])
def test_the_candidates_of_each_step_are_the_cores(growth_page: AppTest, rule: str) -> None:
    fields = {"growth_text": "own", "growth_rule": rule, "growth_step": "1"}
    growth_page.query_params.update(fields)
    app = ok(growth_page.run())
    growth = vocabulary_growth([OWN], rule)  # type: ignore[arg-type]
    for step in (1, 2):
        now = growth.steps[step]
        (dots,) = named_charts(app, "vocabulary")["growth"]
        wanted = [pair.count for pair in now.candidates]
        if rule == "likelihood":
            wanted = [pair.likelihood * now.num_pieces for pair in now.candidates]
        assert numbers(dots["x"]) == pytest.approx(wanted)
        last = growth.merges[step - 1]
        shown = " ".join(box.value for box in app.markdown)
        assert f"**{plain(last.merged)}**, which occurs {last.count:,} times" in shown
        for piece in split_by_merges("then", growth.merges[:step]):
            assert f"-background[{plain(piece)}]" in shown
        app = ok(button(app, "Merge").click().run())


def test_the_novel_and_the_sizes(growth_page: AppTest) -> None:
    growth_page.query_params.update({"text_a": "The river bank was steep.", "growth_sizes": "1"})
    app = ok(growth_page.run())
    assert "Merge 10:" in said(app)
    assert "Grey words" not in said(app)
    lines = named_charts(app, "vocabulary")["size"]
    pieces, _, whole, base, _ = (numbers(line["y"]) for line in lines)
    assert list(numbers(lines[0]["x"])) == list(SIZES)
    assert pieces[0] > pieces[-1] > 1
    assert whole[0] > whole[-1]
    shares = {size: token_table_share(SHAPES["BERT Base"], size) for size in {*ALL_SIZES, *SIZES}}
    assert base == pytest.approx([shares[size] for size in sorted(shares)], rel=1e-4)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"text_a": "我爱学习 the"}, "Grey words contain a character"),
        ({"text_a": "我 ab", "growth_text": "own"}, "occur together twice"),
    ],
)
def test_what_cannot_be_read_or_merged_is_told(
    growth_page: AppTest, query: dict[str, str], words: str
) -> None:
    growth_page.query_params.update(query)
    app = ok(growth_page.run())
    assert words in said(app)
    has_slider = any(slider.label == "Merges" for slider in app.slider)
    assert has_slider == ("growth_text" not in query)


def test_unigram_cuts_the_text_with_as_many_pieces(growth_page: AppTest) -> None:
    text = "the then they the that qu quite that then <img src=x> $x$ 爱"
    fields = {"growth_text": "own", "growth_rule": "unigram", "growth_step": "2"}
    growth_page.query_params.update({"text_a": text, **fields})
    app = ok(growth_page.run())
    size = len(grow_vocabulary([text], num_merges=MOST_MERGES).pieces(2))
    unigram = train_unigram([text], size)
    assert f"Unigram with {len(unigram.scores)} pieces" in said(app)
    words = ["the", "then", "they", "that", "qu", "quite"]
    result = shown_names(app, "unigram_ways(")["result"]
    for bars, word in zip(named_charts(app, "vocabulary")["unigram"], words, strict=True):
        expected = [way.probability for way in unigram.segmentations(word, 4)]
        assert numbers(bars["x"]) == pytest.approx(expected, abs=1e-2)
        shown = result.ways[result.words.index(word)]
        assert [way.probability for way in shown] == pytest.approx(expected, abs=1e-2)
