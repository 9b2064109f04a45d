"""The what-if page on a tiny checkpoint, without a browser."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertcore import Bert
from bertcore.analysis.compare.steering import steer_by_words
from bertcore.analysis.heads.importance import rank_heads
from bertcore.model.interventions import Changes
from bertcore.model.network import ALL_HEADS
from tests.support.opened import (
    button,
    charts,
    complaints,
    named_charts,
    numbers,
    ok,
    page_of,
    python_shown,
    said,
    with_results,
)
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make

A, B = "the river [MASK] was steep", "it had rained"


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    monkeypatch.chdir(tmp_path)
    return page_of("what_if", text_a=A, text_b=B)


def ranked(app: AppTest) -> AppTest:
    """Open the ranking and wait for it: the timer that asks for it does not run here."""
    app.session_state["rank"] = True
    app = app.run()
    for _ in range(30):
        if "ranking" in named_charts(ok(app), "what-if"):
            return app
        app = app.run()
    pytest.fail("the ranking did not come")


def shown_answer(app: AppTest) -> list[float]:
    """Return the next-sentence probability before and after, as drawn."""
    bars = named_charts(app, "what-if")["next-sentence"][:2]
    return [float(numbers(bar["x"])[0]) for bar in bars]


def true_answer(bert: Bert, changes: Changes) -> float:
    hidden = bert.trace(A, B, changes=changes).hidden_states[-1]
    return float(bert.module.nsp_logits(hidden[None])[0].softmax(-1)[0].detach())


def test_opens_with_nothing_changed(page: AppTest, bert: Bert) -> None:
    app = ok(page.run())
    assert "Nothing is changed yet" in said(app)
    assert len(charts(app)) == 2  # words, answer
    assert not any("How does each" in heading.label for heading in app.expander)
    before, after = shown_answer(app)
    assert before == after == pytest.approx(true_answer(bert, Changes()), abs=1e-6)
    assert not any(one.label.startswith("Undo all") for one in app.button)


@pytest.mark.parametrize(
    ("query", "changes"),
    [
        ({"off": ["0.3", "1.0"]}, Changes(heads_off=frozenset({(0, 3), (1, 0)}))),
        ({"skip": ["1"]}, Changes(layers_skipped=frozenset({1}))),
        ({"pattern": "causal"}, Changes(pattern="causal")),
        ({"pattern": "prefix", "prefix": "3"}, Changes(pattern="prefix", prefix_length=3)),
        ({"pattern": "prefix"}, Changes(pattern="prefix")),
        (
            {"pattern": "drawn", "drawn": "0-3:6,5:1-2"},
            Changes(pattern="drawn", blocked=((0, 3, 6, 6), (5, 5, 1, 2))),
        ),
    ],
)
def test_a_link_is_a_view(
    page: AppTest, bert: Bert, query: dict[str, str | list[str]], changes: Changes
) -> None:
    for name, value in query.items():
        page.query_params[name] = value
    app = ok(page.run())
    before, after = shown_answer(app)
    assert before == pytest.approx(true_answer(bert, Changes()), abs=1e-6)
    assert after == pytest.approx(true_answer(bert, changes), abs=1e-6)
    if changes.pattern != "prefix":
        assert repr(changes) in " ".join(python_shown(app))
    assert "Nothing is changed" not in said(app)


@pytest.fixture
def causal(page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    bert = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(bert.save(tmp_path / "causal")))
    return page


@pytest.mark.parametrize("pattern", ["causal", "prefix"])
def test_where_attention_is_causal_only_a_drawing_changes_it(causal: AppTest, pattern: str) -> None:
    causal.query_params["pattern"] = pattern
    app = ok(causal.run())
    assert app.button_group(key="pattern").options == ["Causal", "Drawn"]
    assert "sees itself and those before it, as in training" in said(app)
    assert "Nothing is changed yet" in said(app)


def test_a_drawing_that_leaves_later_tokens_alone_is_told(causal: AppTest) -> None:
    causal.query_params.update({"pattern": "drawn", "drawn": "0:0"})
    app = causal.run()
    assert "Later tokens stay masked" in said(app)
    assert "token 0 may attend to nothing" in complaints(app).lower()


def test_a_window_is_kept(page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("ModernBertForMaskedLM", tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    assert "Layers with a window keep it" in said(ok(page.run()))


def test_a_pair_that_is_not_judged_is_no_question(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("RobertaForMaskedLM", tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    page.query_params["text_a"] = "the river bank was steep"
    app = page.run()
    app.session_state["masked"] = []
    app = ok(app.run())
    assert "there is no pair that this checkpoint judges" in said(app)


def test_what_a_link_asks_for_and_does_not_exist_is_ignored(page: AppTest) -> None:
    page.query_params["off"] = ["9.9", "x", "0.1"]
    page.query_params["skip"] = ["77"]
    page.query_params["pattern"] = "sideways"
    page.query_params["drawn"] = "0:99,q"
    app = ok(page.run())
    assert app.session_state["off"] == ["0.1"]
    assert "Changes(heads_off=frozenset([(0, 1)]))" in " ".join(python_shown(app))


def test_changes_are_undone(page: AppTest) -> None:
    page.query_params["off"] = ["0.3"]
    app = ok(page.run())
    app = ok(button(app, "Undo all").click().run())
    assert app.session_state["off"] == []
    assert "Nothing is changed yet" in said(app)


def test_a_drawing_that_blinds_a_token_is_told_and_can_be_mended(page: AppTest) -> None:
    page.query_params["pattern"] = "drawn"
    page.query_params["drawn"] = "2:0-10"
    app = page.run()
    assert not app.exception
    assert "Token 2 may attend to nothing" in complaints(app)
    ok(button(app, "Undo all").click().run())


def test_heads_are_ranked_and_a_head_that_is_off_is_empty(page: AppTest, bert: Bert) -> None:
    app = ranked(page.run())
    assert len(charts(app)) == 3
    assert "Change of ln p" in said(app)
    ((layer, head, _),) = rank_heads(bert, A, B).strongest("word", 1)
    (framed,) = charts(app)[-1]["layout"]["shapes"]
    assert (framed["x0"], framed["y0"]) == (head - 0.5, layer - 0.5)
    name = f"{layer}.{head}"
    assert name in named_charts(app, "what-if")["ranking"][-1]["customdata"]
    app.session_state["off"] = [name]
    app = ranked(app.run())
    assert len(charts(app)) == 3  # the layers and heads that the change moved are closed
    effect = named_charts(app, "what-if")["ranking"][0]
    assert np.isnan(numbers(effect["z"])).sum() == 1  # the head that is off
    app = ok(app.button_group(key="rank_by").set_value("hidden").run())
    assert "vectors turn without the head" in said(app)


def test_a_ranking_is_of_the_checkpoint_that_is_open(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.query_params["off"] = ["1.3"]
    app = ranked(page.run())
    small = tiny_bert(tiny_config(num_hidden_layers=1, num_attention_heads=2))
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(small.save(tmp_path / "small")))
    app = ranked(app.run())
    assert app.session_state["off"] == []
    assert numbers(named_charts(app, "what-if")["ranking"][0]["z"]).shape == (1, 2)


def test_two_lists_of_words_steer_the_answers_beside_random_directions(
    page: AppTest, bert: Bert
) -> None:
    page.query_params.update(
        {"steer_a": "good, very new", "steer_b": "bad,old,", "steer_state": "1", "steer_by": "2.5"}
    )
    app = ok(with_results(page.run()))
    words = (("good", "very new"), ("bad", "old"))
    word, following = steer_by_words(bert, A, B, (), Changes(), *words, state=1, strength=2.5)
    bars = named_charts(app, "what-if")["steer"]
    for row, answer in enumerate((word, following)):
        before, after = (each for each in bars if each["type"] == "bar" and row == _row(each))
        np.testing.assert_allclose(numbers(before["x"]), answer.before, rtol=1e-4)
        np.testing.assert_allclose(numbers(after["x"]), answer.after, rtol=1e-4)
    assert "Nothing is changed yet" in said(app)  # it is no change of the run above


def _row(trace: dict[str, Any]) -> int:
    return int(trace.get("xaxis", "x")[1:] or 1) - 1


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ({"steer_b": " ,"}, "B has 0 words"),
        ({"steer_a": "good", "steer_b": "good"}, "same mean"),
        ({"steer_a": "good", "steer_b": "bad", "steer_in": "<b>{0}</b>"}, "0 places"),
        ({"steer_a": ",".join(map(str, range(60))), "steer_b": "bad"}, "A has 60"),
    ],
)
def test_lists_that_cannot_steer_are_told(page: AppTest, query: dict[str, str], what: str) -> None:
    page.query_params.update(query)
    assert what in complaints(with_results(page.run()))


def test_a_newcomer_gets_a_word_hidden_once(page: AppTest) -> None:
    page.query_params["text_a"] = "the river bank was steep"
    page.query_params["text_b"] = ""
    app = ok(page.run())
    assert len(app.session_state["masked"]) == 1
    assert len(charts(app)) == 1
    app.session_state["masked"] = []
    app = ok(app.run())
    assert app.session_state["masked"] == []
    assert "no question to answer" in said(app)


def test_a_checkpoint_without_heads_shows_what_changes_inside(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tiny_bert(heads=ALL_HEADS - {"mlm", "nsp"}).save(tmp_path / "bare")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(bare))
    page.query_params["off"] = ["0.3"]
    app = ok(page.run())
    assert "no masked-word (MLM) head" in said(app)
    assert list(named_charts(app, "what-if")) == ["hidden"]
    app = ranked(app)
    assert "vectors turn without the head" in said(app)
