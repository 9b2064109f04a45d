"""The page Bias on a tiny checkpoint, without a browser."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.screens.bias import page as bias_page
from app.screens.bias.page import AUDITS
from bertcore import load
from bertcore.analysis.bias import (
    Group,
    along_direction,
    associate,
    association_tests,
    debias_table,
    gender_pairs,
    measure_effects,
    run_association_tests,
    score_templates,
)
from bertcore.model.network import ALL_HEADS
from tests.support.opened import named_charts, numbers, ok, page_of, said, shown_names
from tests.support.tiny import tiny_bert


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    app = page_of("bias", seconds=180)
    # A few words: the tiny vocabulary spells most of ours in letters.
    app.query_params["bias_templates"] = "[X] was very [MASK].\nSee [X], so [MASK]."
    app.query_params["bias_words_1"] = "she, woman"
    app.query_params["bias_words_2"] = "he"
    app.query_params["bias_fillers"] = "good, bad, new"
    return app


def test_templates_are_those_of_the_core(page: AppTest, checkpoint: str) -> None:
    app = ok(page.run())
    groups = Group("a", ("she", "woman")), Group("b", ("he",))
    templates = ["[X] was very [MASK].", "See [X], so [MASK]."]
    scores = score_templates(load(checkpoint), templates, groups, ["good", "bad", "new"])
    (dots,) = named_charts(app, "bias")["templates"]
    means = np.sort(scores.differences().mean(0))[::-1]
    np.testing.assert_allclose(numbers(dots["x"]), means, atol=1e-5)
    assert f"{scores.differences().mean():+.2f} nats" in said(app)
    assert "200 pairs" in said(app)
    assert "Goldfarb-Tarrant" in said(app)
    assert list(named_charts(app, "bias")) == ["templates"]  # the others are closed
    audit = list(AUDITS.values())[3]  # fills the boxes
    app.selectbox(key="bias_audit").set_value(audit.name).run()
    assert app.text_area(key="bias_fillers").value == ", ".join(audit.fillers)
    assert app.text_area(key="bias_words_2").value == ", ".join(audit.groups[1].words)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("bias_templates", "no slot", "0 slots"),
        ("bias_words_1", "he", "in the groups"),
        ("bias_fillers", "<img src=x onerror=alert(1)>", "can be written"),
        ("bias_fillers", ", ".join(f"w{i}" for i in range(61)), "at most 60"),
    ],
)
def test_bad_input_is_a_sentence(page: AppTest, name: str, text: str, expected: str) -> None:
    app = ok(page.run())
    app.text_area(key=name).set_value(text).run()
    assert not app.exception
    assert expected in " ".join(error.value for error in app.error)
    assert "Goldfarb-Tarrant" in said(app)  # the rest of the page stands


def test_words_that_the_vocabulary_lacks_are_left_out_of_picture_and_code(page: AppTest) -> None:
    page.query_params["bias_words_1"] = "she, \u4e00"
    page.query_params["bias_fillers"] = "good, \u4e00, new"
    app = ok(page.run())
    assert "Left out" in said(app)
    (dots,) = named_charts(app, "bias")["templates"]
    names = shown_names(app, "audit_templates(")
    means = np.sort(names["result"].scores.differences().mean(0))[::-1]
    np.testing.assert_allclose(numbers(dots["x"]), means, atol=1e-5)
    assert len(means) == 2


def test_without_any_interval_there_is_no_verdict(page: AppTest) -> None:
    page.query_params |= {
        "bias_templates": "[X] was very [MASK].",
        "bias_words_1": "she",
        "bias_fillers": "good",
    }
    told = said(ok(page.run()))
    assert "no interval, so no verdict" in told
    assert "lean to" not in told


def test_associations_are_those_of_the_core_and_of_the_code(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown word is left out of a set, and a test with too few known words altogether."""
    # A checkpoint of its own: what another test drew with the whole tests is kept.
    bert = tiny_bert(seed=1)
    bert.save(tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    first, second, *others = association_tests()
    x, y = second.targets
    lacking = replace(second, targets=(Group(x.name, (*x.words, "\u4e00")), y))
    hopeless = replace(first, targets=(Group("none", ("\u4e00", "\u4e01")), y))
    tests = (hopeless, lacking, *others)
    monkeypatch.setattr(bias_page, "TESTS", {test.name: test for test in tests})
    monkeypatch.setattr(
        sys.modules[run_association_tests.__module__], "association_tests", lambda: tests
    )
    page.query_params["bias_near"] = "1"
    page.query_params["bias_test"] = second.name
    app = ok(page.run())
    charts = named_charts(app, "bias")
    shown = numbers(charts["associations"][0]["x"])
    expected = [associate(bert, test).effect_size for test in (second, *others)]
    np.testing.assert_allclose(shown, expected, atol=1e-5)
    tested, words = (
        shown_names(app, name)["result"]
        for name in ("run_association_tests(bert", "run_association_test(bert")
    )
    np.testing.assert_allclose([each.association.effect_size for each in tested], shown, atol=1e-5)
    drawn = [np.sort(numbers(trace["x"])) for trace in charts["association-words"]]
    scores = [np.sort(each) for each in words.association.scores]
    np.testing.assert_allclose(np.concatenate(drawn), np.concatenate(scores), atol=1e-5)


def test_the_direction_by_layer_is_what_the_code_returns(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a pair that the vocabulary cannot write."""
    lacking = (*gender_pairs("direction"), ("\u4e00", "he"))
    own = {"direction": lacking, "probe": gender_pairs("probe")}
    monkeypatch.setattr(sys.modules[along_direction.__module__], "gender_pairs", own.__getitem__)
    page.query_params["bias_along"] = "1"
    app = ok(page.run())
    charts = named_charts(app, "bias")
    layers = shown_names(app, "along_layers(")["result"]
    shown = numbers(charts["direction"][0]["z"])
    assert shown.shape[1] == 3  # embeddings and two layers
    cosines = np.array([each.cosines for each in layers])
    order = np.argsort(-cosines.mean(0), kind="stable")
    np.testing.assert_allclose(shown, cosines.T[order], atol=1e-5)
    assert f"{cosines[0, order[0]]:+.2f}" in charts["direction"][0]["text"][0][0]
    lines = np.stack([numbers(trace["y"]) for trace in charts["probes"]])
    probes = [[probe.accuracy for probe in each.probes.values()] for each in layers]
    np.testing.assert_allclose(np.array(probes).T, lines, atol=1e-6)


def test_the_price_of_a_correction(page: AppTest, checkpoint: str) -> None:
    page.query_params["bias_price"] = "1"
    app = ok(page.run())
    bert = load(checkpoint)
    effects = measure_effects(bert, debias_table(bert))
    (table,) = (each.value for each in app.dataframe if "measure" in each.value)
    assert list(table["measure"]) == [effect.name for effect in effects]
    shown = table["after"].iloc[-1]
    assert shown.startswith(f"{effects[-1].after.mean:.1%} ({effects[-1].after.low:.1%}")


def test_without_the_head_the_templates_say_why(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_bert(heads=ALL_HEADS - {"mlm"}).save(tmp_path_factory.mktemp("t") / "no-mlm")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    app = page_of("bias", seconds=120)
    app.query_params["bias_near"] = "1"
    app = ok(app.run())
    assert "masked" in said(app).lower()
    assert set(named_charts(app, "bias")) == {"associations", "association-words"}
