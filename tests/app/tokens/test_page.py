"""The tokens page on a tiny checkpoint."""

import pytest
import streamlit as st

from app.access.policy import CHECKPOINT_VARIABLE
from app.shell import cache, sentence_box
from bertcore import Bert
from tests.support.opened import page_of
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_families import make

VIEWS = [
    "Three embeddings",
    "LayerNorm",
    "Leave one out",
    "Position table",
    "Nearest words",
    "A vocabulary grows",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_bert().save(tmp_path_factory.mktemp("tokens") / "tiny")


@pytest.fixture
def page(folder, monkeypatch):
    st.cache_resource.clear()
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(folder))
    return page_of("tokens", seconds=30)


def alerts(at):
    return [box.value for box in (*at.error, *at.warning, *at.info)]


def test_opens_with_the_first_example(page):
    at = page.run()
    assert not at.exception
    assert at.title[0].value == "Tokens & embeddings"
    assert at.text_area(key="text_a").value == sentence_box.DEFAULT.text_a
    assert not alerts(at)


@pytest.mark.parametrize("view", VIEWS)
def test_every_picture_is_drawn(page, view):
    page.query_params["view"] = view
    page.query_params["token"] = "2"
    at = page.run()
    assert not at.exception
    assert not at.error
    assert at.get("plotly_chart")
    assert any("How to read this" in caption.value for caption in at.caption)


@pytest.mark.parametrize("view", VIEWS)
def test_every_picture_is_drawn_in_bfloat16(page, view):
    page.query_params["view"] = view
    page.query_params["dtype"] = "bfloat16"
    at = page.run()
    assert not at.exception
    assert not at.error
    assert at.get("plotly_chart")


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
def test_the_order_of_right_to_left_tokens_is_said(page, text_a, text_b, is_said):
    page.query_params.update({"text_a": text_a, "text_b": text_b})
    at = page.run()
    assert not at.exception
    said = [caption.value for caption in at.caption]
    assert any("its tokens stand from left to right" in one for one in said) == is_said


def test_float16_on_a_cpu_is_one_sentence(page):
    page.query_params["dtype"] = "float16"
    page.query_params["device"] = "cpu"
    at = page.run()
    assert not at.exception
    assert "float16" in at.error[0].value


def test_a_blank_text_is_asked_for(page):
    at = page.run()
    at.text_area(key="text_b").set_value("It had rained.")
    at.text_area(key="text_a").set_value("  \n ").run()
    assert not at.exception
    assert alerts(at)[0].startswith("Sentence A is empty")
    assert at.text_area(key="text_b").value == "It had rained."
    at.text_area(key="text_a").set_value("The river.").run()
    assert not alerts(at)


def test_a_long_text_says_what_was_cut(page):
    at = page.run()
    at.text_area(key="text_b").set_value("")
    at.text_area(key="text_a").set_value("the river " * 100).run()
    assert not at.exception
    assert "limit is 64" in at.warning[0].value
    assert "138 tokens of text A" in at.warning[0].value


def test_an_example_fills_both_boxes(page):
    at = page.run()
    pair = next(e for e in sentence_box.EXAMPLES if e.text_b)
    at.selectbox(key="example").set_value(f"{pair.group}: {pair.title}").run()
    assert at.text_area(key="text_a").value == pair.text_a
    assert at.text_area(key="text_b").value == pair.text_b
    assert at.selectbox(key="example").value is None
    assert not at.exception


def test_a_token_beyond_the_text_is_the_last(page, folder):
    page.query_params["token"] = "999"
    at = page.run()
    texts = sentence_box.DEFAULT.text_a, sentence_box.DEFAULT.text_b
    trace = cache.trace(cache.bert_key(str(folder)), *texts)
    assert not at.exception
    assert at.session_state["token"] == trace.num_tokens - 1


def test_a_missing_folder_is_one_sentence_and_the_text_stays(page):
    page.query_params["checkpoint"] = "/no/such/folder"
    page.query_params["text_a"] = "The river."
    at = page.run()
    assert not at.exception
    assert len(at.error) == 1
    assert "folder" in at.error[0].value
    assert "Traceback" not in at.error[0].value
    assert at.text_area(key="text_a").value == "The river."


@pytest.fixture
def other_page(tmp_path, monkeypatch):
    def opened(name, shape=None, **query):
        st.cache_resource.clear()
        make(name, tmp_path, **(shape or {}))
        monkeypatch.setenv(CHECKPOINT_VARIABLE, str(tmp_path))
        at = page_of("tokens", view="Position table", text_b="", **query).run()
        assert not at.exception
        return " ".join(caption.value for caption in at.caption)

    return opened


def test_learned_positions_are_told_and_the_marked_line(page):
    page.query_params["view"] = "Position table"
    told = " ".join(caption.value for caption in page.run().caption)
    assert "a row of a trained table" in told
    assert "The marked line is the position" in told


def test_sinusoidal_positions_are_not_called_trained(other_page):
    told = other_page("DistilBertModel", text_a="the river bank")
    assert "sines and cosines of fixed frequencies" in told
    assert "trained table" not in told


def test_a_position_beyond_the_drawn_ones_is_told(tmp_path, monkeypatch):
    st.cache_resource.clear()
    network = tiny_network(tiny_config(max_position_embeddings=100))
    Bert(network, tiny_tokenizer(max_length=100)).save(tmp_path)
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(tmp_path))
    text = "the river " * 40
    at = page_of("tokens", view="Position table", text_a=text, text_b="", token="70").run()
    assert not at.exception
    told = " ".join(caption.value for caption in at.caption)
    assert "The chosen token's position, 70, is beyond the first 64" in told
    assert "marked line" not in told
    assert len(at.get("plotly_chart")) == 1


@pytest.mark.parametrize(("window", "has_line"), [(8, True), (256, False)])
def test_the_line_of_a_window_is_told_where_it_is_drawn(other_page, window, has_line):
    shape = {"local_attention": window}
    told = other_page("ModernBertForMaskedLM", shape, text_a="the river bank")
    assert ("below the line" in told) == has_line
