"""The minimal-pair page on a tiny checkpoint, without a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.minimal_pair import compared as minimal_pair
from app.minimal_pair.compared import MOST_DRAWN
from bertcore import Bert
from bertcore.analysis.compare.minimal_pair import align, aligned_attention, compare_pair
from bertcore.analysis.words.training_example import example_version
from bertcore.network import ALL_HEADS
from tests.support.opened import button, named_charts, numbers, ok, page_of, said
from tests.support.tiny import tiny_bert

A, B = "the cat [MASK] on the mat", "it had rained"
OTHER = "the dogs [MASK] not on the mat"


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    texts = {"text_a": A, "text_b": B, "other_a": OTHER}
    return page_of("minimal_pair", seconds=120, pair_attention="1", **texts)


def charts(app: AppTest) -> dict[str, Any]:
    return named_charts(app, "minimal-pair")


def tokens(app: AppTest) -> str:
    return next(e.proto.body for e in app.get("html") if "aligned" in e.proto.body)


def test_every_picture_is_the_cores(page: AppTest, bert: Bert) -> None:
    app = ok(page.run())
    found = charts(app)
    first, second = bert.trace(A, B), bert.trace(OTHER, B)
    true = compare_pair(bert, first, second)
    names = ["words", "next-sentence", "vectors", "attention", "heads"]
    assert list(found) == names
    one, two = aligned_attention(first, second, true.columns, 1)
    drawn = numbers(found["attention"][0]["z"])
    np.testing.assert_allclose(drawn, 100 * (two - one).numpy(), atol=1e-4)
    np.testing.assert_allclose(numbers(found["vectors"][0]["z"]), true.hidden_change, atol=1e-6)
    np.testing.assert_allclose(numbers(found["heads"][0]["z"]), true.attention_change, atol=1e-6)
    assert true.next_first is not None
    assert true.next_second is not None
    answers = [true.next_first.is_next, true.next_second.is_next]
    assert list(numbers(found["next-sentence"][0]["x"])) == pytest.approx(answers, abs=1e-6)
    assert list(numbers(found["words"][0]["x"])) == pytest.approx(true.shifts[0].before, abs=1e-6)
    assert list(numbers(found["words"][1]["x"])) == pytest.approx(true.shifts[0].after, abs=1e-6)
    shown = tokens(app)
    for token in ("cat", "dog", "##s", "not"):
        assert f">{token}</bdi>" in shown
    assert shown.count('title="no token here"') == sum(None in c for c in true.columns) == 2


def test_the_python_shown_gives_the_same(page: AppTest, bert: Bert) -> None:
    page.query_params["pair_layer"] = "0"
    page.query_params["pair_head"] = "2"
    app = ok(page.run())
    code = max((c.value for c in app.code), key=len)
    names: dict[str, Any] = {}
    exec(code, names)  # what the visitor would run
    first, second = bert.trace(A, B), bert.trace(OTHER, B)
    one, two = aligned_attention(first, second, align(first, second), 0, 2)
    np.testing.assert_allclose(names["difference"], two - one, atol=1e-6)
    drawn = numbers(charts(app)["attention"][0]["z"])
    np.testing.assert_allclose(drawn, 100 * (two - one).numpy(), atol=1e-4)


def test_a_head_is_opened_from_the_list(page: AppTest) -> None:
    app = ok(page.run())
    first = next(b for b in app.button if b.label.endswith(" bits"))
    layer, head = map(int, first.label.partition(":")[0].split("."))
    app = ok(first.click().run())
    assert (app.selectbox(key="pair_layer").value, app.selectbox(key="pair_head").value) == (
        layer,
        head,
    )


def test_swapping_negates_what_is_drawn(page: AppTest) -> None:
    app = ok(page.run())
    before = numbers(charts(app)["attention"][0]["z"])
    app = ok(button(app, "Swap versions").click().run())
    assert app.session_state["text_a"] == OTHER
    assert app.session_state["other_a"] == A
    after = numbers(charts(app)["attention"][0]["z"])
    np.testing.assert_allclose(after, -before, atol=1e-5)


@pytest.mark.parametrize("other", ["", "  \n"])
def test_without_a_second_version_an_example_is_shown(
    page: AppTest, bert: Bert, other: str
) -> None:
    page.query_params["other_a"] = other
    app = ok(page.run())
    version = example_version(bert, A, B)
    assert version is not None
    assert f"{version.replacement} in place of {version.original}" in said(app).replace("*", "")
    assert {"attention", "heads", "vectors"} <= set(charts(app))
    app = ok(button(app, "Edit it").click().run())
    assert app.session_state["other_a"] == version.text
    assert app.session_state["other_b"] == version.text_pair


def test_the_same_text_says_so_and_draws_nothing(page: AppTest) -> None:
    page.query_params["other_a"] = A
    app = ok(page.run())
    assert "The two versions are the same" in said(app)
    assert not charts(app)
    app = ok(button(app, "Copy the first version").click().run())
    assert (app.session_state["other_a"], app.session_state["other_b"]) == (A, B)
    app = ok(app.text_area(key="other_a").set_value(A.replace("cat", "dog")).run())
    assert set(charts(app)) >= {"attention", "heads", "vectors"}


def test_of_a_long_pair_the_tokens_that_change_most_are_drawn(page: AppTest, bert: Bert) -> None:
    words = ["the", "river", "bank", "was", "steep", "and", "it", "had"] * 6
    long = " ".join(words)
    other = " ".join([*words[:40], "dog", *words[41:]])
    page.query_params.update({"text_a": long, "text_b": B, "other_a": other})
    app = ok(page.run())
    first, second = bert.trace(long, B), bert.trace(other, B)
    true = compare_pair(bert, first, second)
    total = len(true.columns)
    assert total > MOST_DRAWN
    assert f"{MOST_DRAWN} of {total} tokens" in said(app)
    found = charts(app)
    vectors = numbers(found["vectors"][0]["z"])
    assert vectors.shape[1] == MOST_DRAWN
    change = np.nan_to_num(true.hidden_change).max(0)
    assert vectors.max() == pytest.approx(change.max(), abs=1e-6)
    left = np.sort(change)[: total - MOST_DRAWN]
    assert np.nanmax(vectors, axis=0).min() >= left.max() - 1e-6
    names = next(c.proto.spec for c in app.get("plotly_chart") if "vectors" in c.proto.id)
    assert "the → dog · 41" in json.dumps(json.loads(names), ensure_ascii=False)
    app = ok(app.toggle(key="pair_all").set_value(True).run())
    assert numbers(charts(app)["attention"][0]["z"]).shape == (total, total)
    assert "tokens are drawn" not in said(app)


def test_only_b_may_differ(page: AppTest, bert: Bert) -> None:
    page.query_params["other_a"] = ""
    page.query_params["other_b"] = "he bought milk"
    app = ok(page.run())
    first, second = bert.next_sentence(A, B), bert.next_sentence(A, "he bought milk")
    drawn = list(numbers(charts(app)["next-sentence"][0]["x"]))
    assert drawn == pytest.approx([first.is_next, second.is_next], abs=1e-6)


@pytest.mark.parametrize("example", minimal_pair.EXAMPLES, ids=lambda e: e.title)
def test_examples(page: AppTest, example: minimal_pair.Example) -> None:
    page.query_params["other_b"] = "he bought milk"
    app = ok(page.run())
    app = ok(button(app, example.title).click().run())
    assert (app.session_state["text_a"], app.session_state["text_b"]) == (
        example.first,
        example.text_b,
    )
    assert app.session_state["other_a"] == example.second
    names = set(charts(app))
    assert {"attention", "heads", "vectors"} <= names
    assert ("words" in names) == ("[MASK]" in example.first)
    assert ("next-sentence" in names) == bool(example.text_b)


def test_a_newcomer_finds_a_version(page: AppTest) -> None:
    for name in ("text_a", "text_b", "other_a"):
        del page.query_params[name]
    app = ok(page.run())
    assert app.session_state["other_a"] == minimal_pair.NEWCOMERS_VERSION
    assert {"next-sentence", "attention", "heads", "vectors"} <= set(charts(app))
    app = ok(app.text_area(key="other_a").set_value("").run())
    assert "since there is no second version yet" in said(app)


def test_a_checkpoint_without_heads_shows_what_differs_inside(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tiny_bert(heads=ALL_HEADS - {"mlm", "nsp"}).save(tmp_path / "bare")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(bare))
    app = ok(page.run())
    assert "no masked-word (MLM) head" in said(app)
    assert list(charts(app)) == ["vectors", "attention", "heads"]


def test_the_newcomers_version_goes_with_its_text(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    app = ok(page_of("minimal_pair", seconds=120).run())
    assert app.text_area(key="other_a").value == minimal_pair.NEWCOMERS_VERSION
    app.text_area(key="text_a").set_value("the cat sat on the mat")
    app = ok(app.run())
    assert app.text_area(key="other_a").value == ""


def test_nothing_is_computed_for_a_closed_heading(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    del page.query_params["pair_attention"]
    app = ok(page.run())
    assert set(charts(app)) == {"words", "next-sentence", "vectors"}
    app.session_state["pair_attention"] = True  # as a click does
    app = ok(app.run())
    assert set(charts(app)) >= {"attention", "heads"}
    assert app.query_params["pair_attention"] == "1"
