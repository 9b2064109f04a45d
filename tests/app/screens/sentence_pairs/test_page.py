"""The sentence-pairs page on a tiny checkpoint, without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.plots.formats import percent, plain
from app.screens.sentence_pairs.page import EXAMPLE
from bertcore import Bert
from bertcore.model.network import ALL_HEADS
from tests.support.opened import button, charts, ok, page_of, said
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

A, B = "the river bank was steep", "it had rained"


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    return page_of("sentence_pairs", text_a=A, text_b=B, variants="1", between="1", several="1")


def test_the_answer_is_that_of_the_core(page: AppTest, bert: Bert) -> None:
    app = ok(page.run())
    assert f"**{percent(bert.next_sentence(A, B).is_next)}** probability that B follows A" in said(
        app
    )
    assert len(charts(app)) == 7  # answer, variants, attention, similarity and its words, matrix
    assert "topic" in said(app)
    assert "The dotted line is what uniform attention would give." in said(app)


def test_swapping_exchanges_the_texts_and_the_answer(page: AppTest, bert: Bert) -> None:
    app = ok(page.run())
    swap = next(b for b in app.button if b.label == "Swap A and B")
    ok(swap.click().run())
    assert (app.session_state["text_a"], app.session_state["text_b"]) == (B, A)
    assert f"**{percent(bert.next_sentence(B, A).is_next)}** probability that B follows A" in said(
        app
    )


@pytest.mark.parametrize(("way", "one"), [("all 0", 0), ("exchanged", 1)])
def test_other_segment_ids_change_the_answer(page: AppTest, bert: Bert, way: str, one: int) -> None:
    page.query_params["segments"] = way
    app = ok(page.run())
    before = bert.tokenize(A, B).segment_ids
    ids = [0] * len(before) if way == "all 0" else [1 - s for s in before]
    answer = bert.next_sentence(A, B, segment_ids=ids).is_next
    assert f"**{percent(answer)}** probability that B follows A" in said(app)


def test_without_b_an_example_is_shown_and_ones_own_text_is_a_click_away(
    page: AppTest, bert: Bert
) -> None:
    page.query_params["text_b"] = ""
    app = ok(page.run())
    shown = percent(bert.next_sentence(EXAMPLE.text_a, EXAMPLE.text_b).is_next)
    assert f"In this example: BERT: **{shown}** probability that B follows A" in said(app)
    assert "Example:" in said(app)
    assert not [header for header in app.header if shown in header.value]
    assert len(charts(app)) == 7
    assert button(app, "Swap A and B").disabled  # the sentences are not the visitor's
    ok(button(app, "Your sentence with this B").click().run())
    assert (app.session_state["text_a"], app.session_state["text_b"]) == (A, EXAMPLE.text_b)
    assert "Example:" not in said(app)


def test_a_causal_bert_reads_a_before_b(
    tmp_path: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    folder = Bert(network, tiny_tokenizer()).save(tmp_path / "causal")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    text = said(ok(page.run()))
    assert "A is read before B, so A to B is 0" in text
    assert "uniform attention" not in text


def test_one_segment_has_the_answer_without_changes_of_segments(
    tmp_path: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    single = tiny_bert(tiny_config(type_vocab_size=1))
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(single.save(tmp_path / "single")))
    app = ok(page.run())
    assert (
        f"**{percent(single.next_sentence(A, B).is_next)}** probability that B follows A"
        in said(app)
    )
    assert len(charts(app)) == 7


def test_the_matrix_follows_its_sentences(page: AppTest) -> None:
    app = ok(page.run())
    ok(app.text_area(key="sentences").set_value("a\n\n b \nc").run())
    assert len(charts(app)[-1]["layout"]["yaxis"]["ticktext"]) == 3
    ok(app.text_area(key="sentences").set_value("one").run())
    assert "at least two sentences" in said(app)
    ok(app.text_area(key="sentences").set_value("\n".join(f"it {i}" for i in range(20))).run())
    assert "the first 12" in said(app)
    assert len(charts(app)[-1]["layout"]["yaxis"]["ticktext"]) == 12


@pytest.mark.parametrize(
    "text",
    ["[SEP] [SEP]", "</script><img src=x onerror=alert(1)>", "{braces}", "x " * 600],
)
def test_strange_texts_do_not_break_the_page(page: AppTest, text: str) -> None:
    page.query_params["text_b"] = text
    app = ok(page.run())
    assert "that B follows A" in said(app)


def test_a_b_of_nothing_is_one_sentence(page: AppTest) -> None:
    page.query_params["text_b"] = "\u200b"
    app = page.run()
    assert not app.exception
    assert [error.value for error in app.error] == [
        plain(
            "Text B has no tokens, so no attention flows between the two texts. "
            "Write both sentences."
        )
    ]


def test_without_the_head_one_sentence_says_so_and_attention_is_there(
    tmp_path: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_bert(heads=ALL_HEADS - {"nsp"}).save(tmp_path / "headless")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    app = ok(page.run())
    assert "no next-sentence (NSP) head" in said(app)
    assert len(app.warning) == 1
    assert len(charts(app)) == 4  # attention; the similarity needs no head
