"""The page Objectives: the numbers of the core, other draws, odd texts and shares."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.screens.objectives.page import OPENED, OTHERS
from app.shell import frame
from bertcore import load
from bertcore.analysis.objectives.answers import objective_answer, shipped_for, why_no_answer
from bertcore.analysis.objectives.demo import count_objective, objective_example
from bertcore.lessons.papers import read_papers
from bertcore.model.checkpoints.source import SHIPPED, TOYS, read_toy
from bertcore.model.objectives.table import OBJECTIVES
from tests.support.exhaustive import spread
from tests.support.opened import (
    PAIR,
    component_data,
    named_charts,
    numbers,
    ok,
    page_of,
    said,
    shown_names,
)
from tests.support.tiny import tiny_bert

HOSTILE = "</script><img src=x> \u202eabc. $x$ `a` {b} [MASK] [SEP] | <b>no</b>. Two sentences."


@pytest.fixture
def page(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tiny))
    return page_of("objectives", seconds=60, **PAIR, objective_open=list(OPENED.options or ()))


def drawn(app: AppTest) -> dict[str, Any]:
    """Return what the page's drawing is sent."""
    sent = component_data(app)
    return next(one for one in sent if "objectives" in one)


def test_all_are_side_by_side(page: AppTest, tiny: Path) -> None:
    app = ok(page.run())
    assert "million tokens" in said(app)  # of equal time
    rows = drawn(app)["objectives"]
    assert [row["name"] for row in rows] == list(OBJECTIVES)
    bert = load(tiny, device="cpu")
    for row in rows:
        assert row["error"] == ""
        found = objective_example(bert, row["name"], *PAIR.values(), others=OTHERS, seed=20)
        assert [token["text"] for token in row["reads"]] == [one.text for one in found.reads]
        assert row["verdict"] == found.verdict


@pytest.mark.parametrize("name", OBJECTIVES)
def test_one_in_detail_is_the_cores(page: AppTest, tiny: Path, name: str) -> None:
    page.query_params["objective"] = name
    app = ok(page.run())
    others = OTHERS if name == "next-sentence" else ()
    bert = load(tiny, device="cpu")
    if (reason := why_no_answer(bert, name)) is not None:
        shipped = shipped_for(name)
        no_answer = frame.sentence_of(ValueError(reason))
        assert ("has no answer of its own" if shipped else no_answer) in said(app)
        if shipped is not None:
            bert = load(shipped, device="cpu")
            assert why_no_answer(bert, name) is None
    found = objective_example(bert, name, *PAIR.values(), others=others, seed=20)
    row = drawn(app)["objectives"][0]
    assert bool(row["answers"]) == (why_no_answer(bert, name) is None)
    assert row["writes"] == list(found.writes)
    assert OBJECTIVES[name].formula in app.latex[0].value
    charts = named_charts(app, "objective")
    shown = numbers(charts["looks"][0]["z"])
    assert (shown == found.looks[0].allowed).all()
    shares = [rate for rate in OBJECTIVES[name].rates if not rate.unit]
    if shares:
        counts = count_objective(bert, name, *PAIR.values(), others=others, seed=20)
        means = [rate.mean for rate in counts.rates if not rate.unit]
        draws, *papers = (list(numbers(trace["x"])) for trace in charts["counts"])
        assert draws == pytest.approx(means)
        given = [rate.paper for rate in shares if rate.paper is not None]
        assert papers == ([pytest.approx(given)] if given else [])
        assert ("orange: the paper" in said(app)) == bool(given)
    assert ("released configuration" in said(app)) == (name == "bart-infilling")
    for claim in read_papers().claims_about(name):
        assert f"| {claim.told} | {claim.true} | [{claim.source[0].paper.short}](" in said(app)


def test_the_answer_is_the_cores(page: AppTest, tiny: Path) -> None:
    page.query_params |= {"objective": "spans", "objective_seed": "4", "objective_share": "40"}
    app = ok(page.run())
    bert = load(tiny, device="cpu")
    answer = objective_answer(bert, "spans", *PAIR.values(), seed=4, share=0.4)
    assert f"**{answer.loss:.2f}** nats" in said(app)
    assert "SpanBERT's own head" in said(app)
    assert "From both ends" in said(app)
    losses = [one["loss"] for one in drawn(app)["objectives"][0]["answers"]]
    assert losses == pytest.approx([one.loss for one in answer.places], abs=1e-5)
    assert [one.text for one in shown_names(app, "objective_example(")["result"].reads] == [
        one["text"] for one in drawn(app)["objectives"][0]["reads"]
    ]


def test_toys_answer_and_are_marked_with_their_scores(page: AppTest) -> None:
    answered = {shipped_for(name): name for name in OBJECTIVES if shipped_for(name) in TOYS}
    assert answered.keys() == TOYS.keys()
    page.query_params["objective"] = "masked-words"
    app = ok(page.run())
    for name, objective in answered.items():
        app = ok(app.selectbox(key="shown_objective").set_value(objective).run())
        told, toy = said(app), read_toy(str(name))
        assert f"**{name}** reads and answers here, **a toy** that trained for" in told
        assert f"{toy.accuracy:.1%} of {toy.fraction_of}; {toy.guessing:.1%} by guessing" in told
        assert ("hardly better than guessing" in told) == toy.is_near_guessing
        assert "has no answer of its own" in told
        assert "This checkpoint's mean loss here is" in told


def test_without_the_toys_an_absent_head_is_a_sentence(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(SHIPPED, "toy-bart", tmp_path)
    page.query_params["objective"] = "bart-infilling"
    app = ok(page.run())
    assert "No answer.** This checkpoint was not trained with it." in said(app)
    monkeypatch.setitem(SHIPPED, "toy-unilm", tmp_path)
    app = ok(app.selectbox(key="shown_objective").set_value("unilm").run())
    assert "`bertscope pretrain --objective unilm`" in said(app)  # as code


def test_sentence_order_is_said_to_be_drawn_only(page: AppTest) -> None:
    page.query_params["objective"] = "sentence-order"
    assert "No answer.** It is drawn only: no checkpoint that ships" in said(ok(page.run()))


def test_a_toy_that_is_opened_says_its_score_too(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", "toy-rtd")
    page.query_params["objective"] = "replaced-tokens"
    told = said(ok(page.run()))
    assert "**toy-rtd** reads and answers here" in told
    assert "hardly better than guessing" in told
    assert "has no answer of its own" not in told


def test_draw_again_and_back_to_all(page: AppTest) -> None:
    page.query_params["objective"] = "masked-words"
    app = ok(page.run())
    before = drawn(app)["objectives"][0]["reads"]
    again = next(one for one in app.button if one.label == "Draw again")
    app = ok(again.click().run())
    assert drawn(app)["objectives"][0]["reads"] != before
    app = ok(next(one for one in app.button if "side by side" in one.label).click().run())
    assert len(drawn(app)["objectives"]) == len(OBJECTIVES)


def test_another_objective_has_its_own_share(page: AppTest) -> None:
    page.query_params |= {"objective": "masked-words", "objective_share": "100"}
    app = ok(page.run())
    assert app.slider[0].value == 99  # of a link to all, the nearest
    app = ok(app.selectbox(key="shown_objective").set_value("mass").run())
    assert app.slider[0].value == 50
    app = ok(app.selectbox(key="shown_objective").set_value("spans").run())
    assert app.slider[0].value == 15


@pytest.mark.parametrize(
    ("objective", "mask", "sentence"),
    [
        ("masked-words", "", "attends to all of them, on both sides"),
        ("causal", "", "attends to itself and to those before it"),
        ("unilm", "bidirectional", "attends to all of them, on both sides"),
        ("unilm", "right-to-left", "attends to itself and to those after it"),
        ("unilm", "prefix", "those of text B to A"),
        ("bart-masking", "", "the decoder's own"),
    ],
)
def test_the_caption_fits_the_mask(page: AppTest, objective: str, mask: str, sentence: str) -> None:
    page.query_params |= {"objective": objective, "objective_mask": mask}
    app = ok(page.run())
    assert sentence in said(app)
    assert "Mask drawn" not in said(app)


def test_a_unilm_answers(page: AppTest, tmp_path: Path) -> None:
    unilm = tiny_bert()
    unilm.objective = "unilm"
    page.query_params |= {"objective": "unilm", "checkpoint": str(unilm.save(tmp_path / "unilm"))}
    app = ok(page.run())
    answer = objective_answer(unilm, "unilm", *PAIR.values(), seed=20)
    assert f"**{answer.loss:.2f}** nats" in said(app)


@pytest.mark.parametrize(
    ("text", "name"),
    spread(
        ["man", HOSTILE, "他去了河边。天气很好。", "word " * 900, "The man.\n\n\nShe sat."],
        ["all", "next-sentence", "unilm", "bart-sentences", "mass"],
    ),
)
def test_odd_texts(page: AppTest, name: str, text: str) -> None:
    page.query_params |= {"objective": name, "text_a": text, "text_b": ""}
    app = ok(page.run())
    if name == "all":
        rows = {row["name"]: row["error"] for row in drawn(app)["objectives"]}
        assert not rows["masked-words"]
        assert ("pair" in rows["sentence-order"]) == (text in ("man", "word " * 900))
    elif text == "man":
        assert app.info
