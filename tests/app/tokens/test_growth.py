"""The view A vocabulary grows: merges as the core makes them, on the novel and on any text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.access.policy import CHECKPOINT_VARIABLE
from app.plots.formats import plain
from app.tokens.growth import (
    ALL_SIZES,
    MOST_MERGES,
    SHAPES,
    SIZES,
    candidate_bars,
    growth_table,
    size_table,
)
from bertcore.analysis.words.vocabulary_size import token_table_share
from bertcore.tokenizer import train_unigram
from bertcore.tokenizer.growth import grow_vocabulary, split_by_merges
from tests.support.opened import button, named_charts, numbers, ok, page_of, said
from tests.support.tiny import tiny_bert

OWN = "the then they the that qu qu <img src=x> $x$ `a` [b](c)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("growth") / "tiny")


@pytest.fixture
def page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    st.cache_resource.clear()
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(folder))
    return page_of("tokens", seconds=180, view="A vocabulary grows", text_a=OWN, text_b="")


def bars(app: AppTest) -> list[dict[str, Any]]:
    return next(data for name, data in named_charts(app, "vocabulary").items() if "growth" in name)


@pytest.mark.parametrize("rule", ["count", "likelihood"])
def test_the_candidates_of_each_step_are_the_cores(page: AppTest, rule: str) -> None:
    page.query_params.update({"growth_text": "own", "growth_rule": rule, "growth_step": "1"})
    app = ok(page.run())
    growth = grow_vocabulary([OWN], num_merges=MOST_MERGES, rule=rule)  # type: ignore[arg-type]
    for step in (1, 2):
        now = growth.steps[step]
        count, likelihood = bars(app)
        assert list(numbers(count["x"])) == [pair.count for pair in now.by_count]
        assert numbers(likelihood["x"]) == pytest.approx(
            [pair.likelihood * now.num_pieces for pair in now.by_likelihood]
        )
        last = growth.merges[step - 1]
        shown = " ".join(box.value for box in app.markdown)
        assert f"**{plain(last.merged)}**, which occurs {last.count:,} times" in shown
        for piece in split_by_merges("then", growth.merges[:step]):
            assert f"-background[{plain(piece)}]" in shown
        names: dict[str, Any] = {}
        exec(next(c.value for c in app.code if "grow_vocabulary" in c.value), names)
        assert names["growth"] == growth
        app = ok(button(app, "Merge").click().run())


def test_the_novel_and_the_sizes(page: AppTest) -> None:
    page.query_params["text_a"] = "The river bank was steep."
    app = ok(page.run())
    assert "Merge 10:" in said(app)
    assert "Grey words" not in said(app)
    lines = next(data for name, data in named_charts(app, "vocabulary").items() if "size" in name)
    pieces, unknown, whole, base, _ = (numbers(line["y"]) for line in lines)
    assert list(numbers(lines[0]["x"])) == list(SIZES)
    assert (pieces[:-1] > pieces[1:]).all()
    assert pieces[-1] > 1
    assert (whole[:-1] > whole[1:]).all()
    assert (unknown < 0.001).all()
    shares = [token_table_share(SHAPES["BERT Base"], size) for size in ALL_SIZES]
    assert base == pytest.approx(shares)


def test_where_no_pair_is_left_the_picture_says_so() -> None:
    growth = grow_vocabulary(["the then"], num_merges=9)
    last = len(growth.merges)
    texts = [
        [note["text"] for note in candidate_bars(growth, step, "count").settings["annotations"]]
        for step in (last - 1, last)
    ]
    assert not any("No pair is left" in text for text in texts[0])
    assert any("No pair is left" in text for text in texts[1])


def test_words_of_unknown_letters_are_told(page: AppTest) -> None:
    page.query_params["text_a"] = "我爱学习 the"
    assert "Grey words contain a character" in said(ok(page.run()))


def test_a_text_without_repeats_has_no_merge(page: AppTest) -> None:
    page.query_params.update({"text_a": "我 ab", "growth_text": "own"})
    app = ok(page.run())
    assert "occur together twice" in said(app)
    assert not [slider for slider in app.slider if slider.label == "Merges"]


def test_tables_hold_what_is_drawn() -> None:
    growth = grow_vocabulary([OWN], num_merges=3)
    table = growth_table(growth)
    assert list(table["merged"]) == [pair.merged for pair in growth.merges]
    assert table["pieces_per_word"].iloc[-1] == growth.steps[-1].num_pieces / growth.num_words
    assert list(growth_table(grow_vocabulary(["a"], num_merges=1))["merged"]) == []
    assert list(size_table(())["vocab_size"]) == list(ALL_SIZES)


def test_unigram_cuts_the_text_with_as_many_pieces(page: AppTest) -> None:
    text = "the then they the that qu quite that then <img src=x> $x$ 爱"
    fields = {"growth_text": "own", "growth_rule": "unigram", "growth_step": "2"}
    page.query_params.update({"text_a": text, **fields})
    app = ok(page.run())
    size = len(grow_vocabulary([text], num_merges=MOST_MERGES).pieces(2))
    unigram = train_unigram([text], size)
    assert f"Unigram with {len(unigram.scores)} pieces" in said(app)
    (best, *_) = unigram.segmentations("quite", 4)
    data = named_charts(app, "vocabulary")
    drawn = next(chart for name, chart in data.items() if "unigram" in name)
    words = ["the", "then", "they", "that", "qu", "quite"]
    for bars_of, word in zip(drawn, words, strict=True):
        found = unigram.segmentations(word, 4)
        assert numbers(bars_of["x"]) == pytest.approx([way.probability for way in found], abs=1e-2)
    code = next(block.value for block in app.code if "train_unigram" in block.value)
    names: dict[str, Any] = {}
    exec(compile(code, "shown", "exec"), names)
    assert names["unigram"].scores == pytest.approx(unigram.scores, abs=1e-2)
    assert best.pieces in {way.pieces for way in unigram.segmentations("quite", 4)}
