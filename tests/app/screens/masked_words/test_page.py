"""The masked-words page on a tiny checkpoint, without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.plots import exactly
from bertcore import Bert, load
from bertcore.analysis.attribution import attribute_word
from bertcore.analysis.words.surprise import example_mask
from bertcore.model.network import ALL_HEADS
from tests.support.opened import button, charts, ok, page_of, said
from tests.support.tiny import tiny_bert

TEXT = "the river bank was steep"


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    opened = dict.fromkeys(("after_layers", "own_words", "ranks", "masking"), "1")
    return page_of("masked_words", text_a=TEXT, **opened)


def opened(checkpoint: str) -> Bert:
    return load(checkpoint, device="cpu")


def test_without_a_hidden_word_one_is_hidden_on_all_pages(page: AppTest, checkpoint: str) -> None:
    app = ok(page.run())
    position = example_mask(opened(checkpoint), TEXT)
    assert app.session_state["masked"] == [position]
    assert app.query_params["masked"] == str(position)
    assert len(charts(app)) == 4  # bars, lens, ranks; 80/10/10
    ok(app.button(key=f"show_hidden_{position}").click().run())
    assert app.session_state["masked"] == []
    assert "Nothing is hidden" in said(app)
    ok(app.text_area(key="text_a").set_value(f"{TEXT}.").run())
    assert len(app.session_state["masked"]) == 1


def test_every_word_can_be_hidden_and_all_shown_again(page: AppTest) -> None:
    app = ok(page.run())
    for _ in range(4):
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
    page.query_params["text_a"] = "the [MASK] bank was steep"
    page.query_params["masked"] = ["0", "2", "99", "x"]
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


@pytest.mark.parametrize("at_once", [5, 64])
def test_all_tokens_are_scored_when_asked(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("app.screens.masked_words.page.AT_ONCE", at_once)
    app = ok(page.run())
    without = len(charts(app))
    app.session_state["surprise"] = True  # as a click on the heading does
    ok(app.run())
    assert len(charts(app)) == without + 1
    assert app.query_params["surprise"] == "1"


def test_the_words_behind_a_guess_and_random_weights(page: AppTest, checkpoint: str) -> None:
    page.query_params.update(masked="2", attribution="1", random_weights="1")
    app = ok(page.run())
    assert "shares add up to" in said(app)
    assert "a short text decides little" in said(app)
    word = app.selectbox(key="guess")
    trace = opened(checkpoint).trace("the [MASK] bank was steep")
    for chosen in word.options[:2]:
        app = ok(app.selectbox(key="guess").set_value(chosen).run())
        shares = attribute_word(opened(checkpoint), trace, 2, chosen).shares
        boxes = next(c for c in charts(app) if "lowers" in str(c["data"][0].get("marker")))
        drawn = zip(boxes["data"][0]["text"], shares.tolist(), strict=True)
        assert all(exactly(share, 2) in text for text, share in drawn)


def test_continuations_are_scored_as_they_are_typed(page: AppTest) -> None:
    page.query_params["continuations"] = "1"
    app = ok(page.run())
    before = len(charts(app))
    ok(app.text_area(key="continuation").set_value("and rained\n\n steep. \nsteep.").run())
    assert len(charts(app)) == before + 1
    words = charts(app)[-2]["data"][-1]["text"]  # the last chart is the draw of masks
    assert sorted(word.split("<br>")[0] for word in words) == [".", "and", "rained", "steep"]


@pytest.mark.parametrize(
    "text",
    [
        "日本語",
        "[MASK] [MASK]",
        "</script><img src=x onerror=alert(1)>",
        "\u200b",
        "[bold](x)",
    ],
)
def test_strange_texts_do_not_break_the_page(page: AppTest, text: str) -> None:
    page.query_params["text_a"] = text
    app = page.run()
    assert not app.exception
    assert "Traceback" not in said(app)


def test_without_the_head_one_sentence_says_so_and_the_masking_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_bert(heads=ALL_HEADS - {"mlm"}).save(tmp_path / "headless")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    app = ok(page_of("masked_words", masking="1").run())
    assert "no masked-word (MLM) head" in said(app)
    assert len(app.warning) == 1
    assert len(charts(app)) == 1
