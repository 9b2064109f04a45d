"""The masked-words page on a tiny checkpoint, without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bertcore import Bert, load
from bertcore.analysis.words.surprise import example_mask
from bertcore.network import ALL_HEADS
from tests.support.opened import button, charts, ok, page_of, said
from tests.support.tiny import tiny_bert

TEXT = "the river bank was steep"


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    return page_of("masked_words", text_a=TEXT, ranks="1", masking="1")


def opened(checkpoint: str) -> Bert:
    return load(checkpoint, device="cpu")


def test_without_a_mask_a_word_is_hidden_as_an_example(page: AppTest, checkpoint: str) -> None:
    app = ok(page.run())
    position = example_mask(opened(checkpoint), TEXT)
    token = opened(checkpoint).tokenize(TEXT).tokens[position]
    assert f"**{token}** is hidden as an example" in said(app)
    assert app.session_state["masked"] == []  # the visitor hid nothing, nor does the link
    assert "masked" not in app.query_params
    assert len(charts(app)) == 4  # bars, lens, ranks; 80/10/10
    ok(button(app, "Hide a good word for me").click().run())
    assert len(app.session_state["masked"]) == 1
    assert "as an example" not in said(app)
    assert len(charts(app)) == 4


def test_every_word_can_be_hidden_and_all_shown_again(page: AppTest) -> None:
    app = ok(page.run())
    for _ in range(5):
        ok(button(app, "Hide a good word for me").click().run())
    assert app.session_state["masked"] == [1, 2, 3, 4, 5]
    assert button(app, "Hide a good word for me").disabled
    ok(button(app, "Show all").click().run())
    assert app.session_state["masked"] == []


def test_masks_of_the_link_and_typed_ones_are_predicted_together(
    page: AppTest, checkpoint: str
) -> None:
    page.query_params["text_a"] = "the [MASK] bank was steep"
    page.query_params["masked"] = ["4"]
    app = ok(page.run())
    bars = charts(app)[0]["data"]
    assert len(bars) == 2
    expected = opened(checkpoint).fill_mask("the [MASK] bank [MASK] steep", top_k=5)
    for trace, best in zip(bars, expected, strict=True):
        for shown, (word, _) in zip(trace["text"], best, strict=True):
            assert word in shown
    assert "independently" in said(app)
    assert "Filled one after another" in said(app)
    assert "last layer only" in said(app)


def test_a_mask_that_the_text_does_not_have_is_ignored(page: AppTest) -> None:
    page.query_params["masked"] = ["0", "99", "x"]
    app = ok(page.run())
    assert app.session_state["masked"] == []


def test_own_words_are_scored_and_the_impossible_ones_explained(page: AppTest) -> None:
    page.query_params["masked"] = ["2"]
    app = ok(page.run())
    before = len(charts(app))
    ok(app.text_input(key="candidates").set_value("rivers, 日, bank").run())
    assert len(charts(app)) == before + 1
    assert "cannot be written with this vocabulary" in said(app)
    ok(app.text_input(key="candidates").set_value("日").run())
    assert len(charts(app)) == before


def test_the_lens_goes_along_the_sentence(page: AppTest) -> None:
    page.query_params["masked"] = ["2"]
    page.query_params["lens"] = "Whole sentence"
    app = ok(page.run())
    grid = next(c for c in charts(app) if c["data"][0]["type"] == "heatmap")
    ticks = grid["layout"]["yaxis"]["ticktext"]
    assert ticks == ["[CLS]", "the", "[MASK]", "bank", "was", "steep", "[SEP]"]


def test_another_draw_is_another_seed(page: AppTest) -> None:
    app = ok(page.run())
    seed = app.session_state["mask_seed"]
    ok(button(app, "Draw again").click().run())
    assert app.session_state["mask_seed"] == seed + 1


@pytest.mark.parametrize("at_once", [5, 64])
def test_all_tokens_are_scored_when_asked(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("app.masked_words.page.AT_ONCE", at_once)
    app = ok(page.run())
    without = len(charts(app))
    app.session_state["surprise"] = True  # as a click on the heading does
    ok(app.run())
    assert len(charts(app)) == without + 1
    assert app.query_params["surprise"] == "1"


def test_runs_are_those_of_the_tokens_that_are_scored(page: AppTest) -> None:
    page.query_params["text_a"] = "the [MASK] bank was steep"
    app = ok(page.run())
    app.session_state["surprise"] = True
    app = ok(app.run())
    assert "Over the 4 tokens" in said(app)


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "日本語",
        "🕊️ 🕊️",
        "[MASK]",
        "[MASK] [MASK]",
        "</script><img src=x onerror=alert(1)>",
        "سلام עולם",
        "\u200b",
        "[bold](x)",
    ],
)
def test_strange_texts_do_not_break_the_page(page: AppTest, text: str) -> None:
    page.query_params["text_a"] = text
    app = page.run()
    assert not app.exception
    assert "Traceback" not in said(app)


def test_an_empty_text_says_so(page: AppTest) -> None:
    app = ok(page.run())
    ok(app.text_area(key="text_a").set_value("  ").run())
    assert "empty" in said(app)


def test_without_the_head_one_sentence_says_so_and_the_masking_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_bert(heads=ALL_HEADS - {"mlm"}).save(tmp_path / "headless")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    app = ok(page_of("masked_words", masking="1").run())
    assert "no masked-word (MLM) head" in said(app)
    assert len(app.warning) == 1
    assert len(charts(app)) == 1
