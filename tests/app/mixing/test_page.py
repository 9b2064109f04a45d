"""The page "How tokens mix" on a tiny checkpoint, without a browser."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from streamlit.testing.v1 import AppTest

from app.mixing import measures
from app.mixing.figures import NAMES
from app.mixing.measures import Choice, Texts
from app.mixing.page import SHORT
from app.shell import cache
from app.shell.jobs import background
from bertcore import Bert
from bertcore.analysis.mixing.attention_gradients import (
    NextSentenceLogit,
    attention_gradients,
    best_word,
)
from bertcore.analysis.mixing.flow import AttentionFlow, attention_flow, attention_rollout, rollout
from bertcore.analysis.mixing.maps import normalize_rows
from bertcore.analysis.mixing.norm_weighted import block_norms, weighted_norms
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from bertcore.network import ALL_HEADS
from tests.support.exhaustive import spread
from tests.support.opened import (
    charts,
    finish_jobs,
    named_charts,
    numbers,
    ok,
    page_of,
    said,
)
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

A, B = "the river [MASK] was steep", "it had rained"
MASK = 3


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    monkeypatch.setattr("app.mixing.measures.MOMENT", 60.0)  # a busy machine is no finding
    return page_of("mixing", seconds=120, text_a=A, text_b=B)


@pytest.fixture(scope="module")
def folders(checkpoint: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    causal = Bert(network, tiny_tokenizer()).save(tmp_path_factory.mktemp("causal"))
    return {"tiny": checkpoint, "causal": str(causal)}


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Three layers: through two, flow is a formula."""
    config = tiny_config(num_hidden_layers=3)
    return str(tiny_bert(config).save(tmp_path_factory.mktemp("deep")))


def run(snippet: str) -> dict[str, Any]:
    """Return what a snippet defines."""
    names: dict[str, Any] = {}
    exec(compile(snippet, "shown", "exec"), names)
    return names


def strips(app: AppTest) -> dict[str, list[float | None]]:
    """Return the drawn fractions of each strip, by its name; None where nothing is drawn."""
    return {
        name: [cell[1] for cell in row]
        for trace in charts(app)[0]["data"]
        for name, row in zip(trace["y"], trace["customdata"], strict=True)
    }


def test_every_strip_is_the_measure_of_the_core(page: AppTest, bert: Bert) -> None:
    page.query_params["mix_layer"] = "1"
    app = ok(page.run())
    trace = bert.trace(A, B)
    zeroing = normalize_rows(value_zeroing(bert, trace))
    gradients = attention_gradients(bert, trace, best_word(bert, trace, MASK))
    expected = {
        "weights": trace.attentions[1].mean(0),
        "norms": block_norms(bert, trace).summed[1],
        "block": block_norms(bert, trace).normalized[1],
        "zeroing": zeroing[1],
        "gradient": gradients.product(1).abs().mean(0),
        "rollout": attention_rollout(trace.attentions)[1],
        "flow": attention_flow(trace.attentions).values,
        "zeroing_rollout": rollout(zeroing)[1],
    }
    drawn = strips(app)
    assert list(drawn) == [NAMES[name] for name in expected]
    for name, values in expected.items():
        wanted = normalize_rows(values)[MASK].numpy()
        np.testing.assert_allclose(drawn[NAMES[name]], wanted, atol=1e-5, err_msg=name)
    titles = [header.value for header in app.header]
    assert r"Where does “\[MASK\]” get its information?" in titles
    assert "Attention is not explanation" in said(app)


def test_one_head_next_sentence_and_without_itself(page: AppTest, bert: Bert) -> None:
    page.query_params.update(
        {"mix_layer": "0", "mix_head": "2", "mix_target": "next", "mix_others": "1"}
    )
    page.query_params["mix_token"] = "1"
    app = ok(page.run())
    trace = bert.trace(A, B)
    gradients = attention_gradients(bert, trace, NextSentenceLogit())
    expected = {
        "weights": trace.attentions[0, 2],
        "norms": weighted_norms(bert, trace)[0, 2],
        "gradient": gradients.product(0)[2].abs(),
        "flow": attention_flow(trace.attentions[:1], head=2).values,
    }
    drawn = strips(app)
    for name, values in expected.items():
        row = values[1].clone()
        row[1] = 0
        wanted = (row / row.sum()).numpy()
        np.testing.assert_allclose(drawn[NAMES[name]], wanted, atol=1e-5, err_msg=name)
    assert all(row[1] == 0 for row in drawn.values())
    said_there = said(app)
    assert "In layer 0, head 2, **the** attends most to " in said_there
    assert "of its attention to the other tokens" in said_there
    assert "of all changes by other tokens; value zeroing: all heads)" in said_there


SNIPPETS: dict[str, dict[str, str]] = {
    "one token": {},
    "itself left out": {"mix_others": "1"},
    "one head, itself left out": {"mix_others": "1", "mix_head": "2", "mix_target": "next"},
    "every token": {"mix_view": "all"},
    "every token, itself left out": {"mix_view": "all", "mix_others": "1"},
}


@pytest.mark.parametrize(("query", "name"), spread(SNIPPETS.values(), ["tiny", "causal"]))
def test_the_python_gives_what_is_drawn(
    page: AppTest, folders: dict[str, str], monkeypatch: pytest.MonkeyPatch, name: str, query: Any
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", folders[name])
    if name == "causal":  # it has no mask
        page.query_params["mix_token"] = "3"
    page.query_params.update({"mix_layer": "1", **query})
    app = ok(page.run())
    shown, agreement = (run(code.value) for code in app.code[:2])
    measured = [one for one in NAMES if name == "tiny" or one != "gradient"]
    assert list(shown["fractions"]) == measured
    if "mix_view" in query:
        drawn = {trace["yaxis"]: trace for trace in charts(app)[0]["data"]}
        for trace, values in zip(drawn.values(), shown["fractions"].values(), strict=True):
            np.testing.assert_allclose(numbers(trace["customdata"]), values, atol=1e-5)
    else:
        drawn = strips(app)
        for one, values in shown["row"].items():
            np.testing.assert_allclose(drawn[NAMES[one]], values, atol=1e-5, err_msg=one)
    correlations = numbers(named_charts(app, "mixing")["agreement"][0]["z"])
    np.testing.assert_allclose(correlations, agreement["agreement"], atol=1e-6)


def test_a_token_left_out_has_no_rank(page: AppTest, bert: Bert) -> None:
    """Its 0 in every measure would count as agreement."""
    page.query_params.update({"mix_layer": "1", "mix_others": "1"})
    app = ok(page.run())
    trace = bert.trace(A, B)
    weights = trace.attentions[1].mean(0)[MASK].numpy()
    rolled = attention_rollout(trace.attentions)[1][MASK].numpy()
    (expected, _) = spearmanr(np.delete(weights, MASK), np.delete(rolled, MASK))
    (chart,) = named_charts(app, "mixing")["agreement"]
    places = [list(chart["x"]).index(SHORT[one]) for one in ("weights", "rollout")]
    assert numbers(chart["z"])[tuple(places)] == pytest.approx(expected, abs=1e-5)


def test_flow_to_one_token_is_shown_where_all_would_take_too_long(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, deep: str
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", deep)
    monkeypatch.setattr("app.mixing.measures.MOST_WORK", 11**3)
    monkeypatch.setattr("bertcore.analysis.mixing.flow.MOST_WORK", 11**3)
    page.query_params["mix_layer"] = "2"
    app = ok(page.run())
    shown = run(app.code[0].value)
    np.testing.assert_allclose(strips(app)[NAMES["flow"]], shown["row"]["flow"], atol=1e-5)
    app.session_state["mix_view"] = "all"
    app = ok(app.run())
    assert "flow" not in run(app.code[0].value)["maps"]
    assert "for every one of 11 tokens, it would take too long" in said(app)


def test_a_causal_bert_has_no_chart_of_the_last_token(
    page: AppTest, folders: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", folders["causal"])
    app = ok(page.run())
    assert len(charts(app)) == 2  # the strips, and how far they agree
    assert "sep" not in named_charts(app, "mixing")
    assert "so the chart of [SEP] is left out" in said(app)
    assert "Gradient × attention is left out" in said(app)
    app.session_state["mix_token"], app.session_state["mix_others"] = 0, True
    assert "**[CLS]** attends to no other token." in said(ok(app.run()))


def test_the_gradient_says_when_nothing_reaches_the_output(page: AppTest) -> None:
    """In the last layer next sentence hangs on the row of [CLS] alone."""
    page.query_params.update({"mix_layer": "1", "mix_target": "next"})
    app = ok(page.run())
    assert "strip of the gradient is empty" in said(app)
    app.session_state["mix_token"] = 0
    assert "strip of the gradient is empty" not in said(ok(app.run()))


def test_every_token_is_a_map_of_each_measure(page: AppTest, bert: Bert) -> None:
    page.query_params["mix_view"] = "all"
    app = ok(page.run())
    maps = charts(app)[0]["data"]
    assert len(maps) == len(NAMES)
    assert {trace["coloraxis"] for trace in maps} == {"coloraxis"}
    assert len({trace["xaxis"] for trace in maps}) == len(NAMES)
    assert len(charts(app)) == 3


@pytest.mark.parametrize("view", ["token", "all"])
def test_what_is_slow_is_awaited_and_then_drawn(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    may_go_on = threading.Event()

    def slow(*args: Any, **options: Any) -> AttentionFlow:
        assert may_go_on.wait(100)
        return attention_flow(*args, **options)

    monkeypatch.setattr("app.mixing.measures.attention_flow", slow)
    monkeypatch.setattr("app.mixing.measures.MOMENT", 0.0)
    page.query_params.update({"text_a": f"a text nobody measured {view}", "mix_view": view})
    app = ok(page.run())
    assert "Flow: " in str([bar.proto for bar in app.get("progress")])
    first = json.dumps(charts(app)[0])
    assert (NAMES["flow"] in first) == (view == "token")  # an empty strip keeps its place
    may_go_on.set()
    finish_jobs()
    app = ok(app.run())  # in a browser it comes by itself
    assert len(app.get("progress")) == 0
    assert len(charts(app)) == 3
    assert NAMES["flow"] in json.dumps(charts(app)[0])
    if view == "token":
        assert not any(None in row for row in strips(app).values())


def test_what_takes_long_waits_until_it_is_asked_for(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(page.run())
    assert [toggle.key for toggle in app.toggle if toggle.key == "mix_slow"] == []
    monkeypatch.setattr("app.mixing.measures.AT_ONCE", 0.0)
    app = ok(page.run())
    (switch,) = [toggle for toggle in app.toggle if toggle.key == "mix_slow"]
    assert switch.label.startswith("Compute value zeroing rolled out too (about 5 seconds)")
    assert NAMES["zeroing_rollout"] not in strips(app)
    assert NAMES["zeroing"] in strips(app)
    app = ok(switch.set_value(True).run())
    assert NAMES["zeroing_rollout"] in strips(app)
    assert app.query_params["mix_slow"] == "1"
    app.session_state["mix_view"] = "all"
    app = ok(app.run())
    assert len(charts(app)[0]["data"]) == len(NAMES)
    app = ok(app.toggle(key="mix_slow").set_value(False).run())
    assert len(charts(app)[0]["data"]) == len(NAMES) - 2
    assert "Compute value zeroing and value zeroing rolled out too" in app.toggle[-1].label


def test_switching_off_or_elsewhere_gives_the_work_up(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[Any] = []
    monkeypatch.setattr("app.mixing.measures.AT_ONCE", 0.0)
    monkeypatch.setattr("app.mixing.measures.waiting.leave", left.append)
    page.query_params.update({"mix_slow": "1", "mix_layer": "1"})
    app = ok(page.run())
    assert not left
    asked = {key for key in background._jobs if key[0] in ("flow", "zeroing")}
    app = ok(app.toggle(key="mix_slow").set_value(False).run())
    assert {key[0] for key in left} == {"flow", "zeroing"}
    assert set(left) <= asked
    left.clear()
    app.session_state["mix_token"] = 2
    ok(app.run())
    ((kind, key),) = left  # value zeroing has all tokens: it goes on
    assert (kind, key[-1]) == ("flow", MASK)


def test_estimates_grow_as_the_work_does(checkpoint: str) -> None:
    key = cache.BertKey(checkpoint, checkpoint, "cpu", "float32", ())
    short, long = (Texts(key, "the " * count, None) for count in (20, 42))  # 22 and 44 tokens
    choice = Choice(layer=1, head=None, token=0, target=None)
    for rows, power in ((1, 3), (None, 4)):
        before, after = (
            measures.seconds_of(texts, choice._replace(layer=3), rows or texts.trace.num_tokens)
            for texts in (short, long)
        )
        assert after["flow"] == pytest.approx(before["flow"] * 2**power)
        assert after["zeroing_rollout"] == pytest.approx(before["zeroing_rollout"] * 4)
        assert ("zeroing" in after) == (rows is None)
    assert measures.seconds_of(short, choice, 1)["flow"] == 0  # two layers: a formula, no search


def test_more_than_can_be_computed_says_so(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.mixing.measures.MOST_WORK", -1)
    app = ok(page.run())
    assert "Flow is left out: through 2 layers, for one of 11 tokens" in said(app)
    assert NAMES["flow"] not in strips(app)
    assert NAMES["zeroing_rollout"] in strips(app)
    monkeypatch.setattr("app.mixing.measures.MOST_MAPPED", 8)
    app.session_state["mix_view"] = "all"
    app = app.run()
    assert not app.exception
    assert "at most 8 tokens" in app.error[0].value


@pytest.mark.parametrize(
    ("text", "view"),
    spread(
        [
            "</script><img src=x onerror=alert(1)>",
            "שלום \u202eabc\u202c 🕊️",
            "{braces} %{x} <b>",
            "a",
        ],
        ["token", "all"],
    ),
)
def test_strange_texts_are_drawn_as_they_are(page: AppTest, view: str, text: str) -> None:
    page.query_params.update({"text_a": text, "text_b": "", "mix_view": view})
    app = ok(page.run())
    drawn = json.dumps(charts(app)[0])
    assert "<img" not in drawn
    assert '<b>"' not in drawn


def test_checkpoints_of_one_layer_one_head_and_no_output(
    tmp_path: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(num_hidden_layers=1, num_attention_heads=1)
    folder = tiny_bert(config, heads=ALL_HEADS - {"mlm", "nsp"}).save(tmp_path / "bare")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    app = ok(page.run())
    assert "Gradient × attention is left out" in said(app)
    assert NAMES["gradient"] not in strips(app)


def test_nan_weights_are_one_sentence(
    tmp_path: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tiny_bert()
    with torch.no_grad():
        broken.module.layers[1].attention.query.weight[0, 0] = torch.nan
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(broken.save(tmp_path / "nan")))
    app = page.run()
    assert not app.exception
    assert len(app.error) == 1
    assert "attention weights of layer 1 contain NaN" in app.error[0].value.replace("\\", "")


def test_a_token_that_is_no_more_there_is_moved(page: AppTest) -> None:
    page.query_params["mix_token"] = "999"
    app = ok(page.run())
    assert app.session_state["mix_token"] == 10
