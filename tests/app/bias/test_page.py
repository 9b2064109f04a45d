"""The page Bias on a tiny checkpoint, without a browser."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.bias import associations
from app.bias.templates import AUDITS
from app.shell.jobs import background, waiting
from bertcore import load
from bertcore.bias import (
    Group,
    along_direction,
    association,
    association_tests,
    direction_words,
    erase,
    fit_erasure,
    measure_erasure,
    score_templates,
    table_vectors,
    template_audits,
    top_fills,
)
from bertcore.network import ALL_HEADS
from tests.support.opened import charts as all_charts
from tests.support.opened import named_charts, numbers, ok, page_of, said
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
    groups = [Group("a", ("she", "woman")), Group("b", ("he",))]
    templates = ["[X] was very [MASK].", "See [X], so [MASK]."]
    fillers = ["good", "bad", "new"]
    scores = score_templates(load(checkpoint), templates, groups, fillers)
    means = np.sort(scores.differences().mean(0))[::-1]
    dots = named_charts(app, "bias")["templates"][-1]
    np.testing.assert_allclose(numbers(dots["x"]), means, atol=1e-5)
    assert f"{scores.differences().mean():+.2f} nats" in said(app)
    fills = top_fills(load(checkpoint), templates, (groups[0], groups[1]))
    between, within = named_charts(app, "bias")["disco"]
    np.testing.assert_allclose(numbers(between["x"]), fills.overlap_between())
    np.testing.assert_allclose(numbers(within["x"]), fills.overlap_within())
    assert f"**{fills.overlap_between().mean():.0%}** of their 3 most probable" in said(app)
    assert "200 minimal pairs" in said(app)
    assert "Goldfarb-Tarrant" in said(app)


def test_another_audit_fills_the_boxes(page: AppTest) -> None:
    app = ok(page.run())
    audit = list(AUDITS.values())[3]
    app.selectbox(key="bias_audit").set_value(audit.name).run()
    assert app.text_area(key="bias_fillers").value == ", ".join(audit.fillers)
    assert app.text_area(key="bias_words_2").value == ", ".join(audit.groups[1].words)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("bias_templates", "no slot", "0 slots"),
        ("bias_words_1", "he", "in the groups"),
        ("bias_words_1", "", "has no word"),
        ("bias_fillers", "", "no filler"),
        ("bias_fillers", "\u4e00", "can be written"),
        ("bias_fillers", "<img src=x onerror=alert(1)>", "can be written"),
        ("bias_fillers", ", ".join(f"w{i}" for i in range(61)), "at most 60"),
    ],
)
def test_bad_input_is_a_sentence(page: AppTest, name: str, text: str, expected: str) -> None:
    app = ok(page.run())
    app.text_area(key=name).set_value(text).run()
    assert not app.exception
    errors = " ".join(error.value for error in app.error)
    assert expected in errors
    assert "Goldfarb-Tarrant" in said(app)  # the rest of the page stands


def test_association_tests_are_those_of_the_core(page: AppTest, checkpoint: str) -> None:
    page.query_params["bias_view"] = "associations"
    app = ok(page.run())
    bert = load(checkpoint)
    expected = []
    for each in association_tests():
        sets = (*each.test.targets, *each.test.attributes)
        expected.append(association(*(table_vectors(bert, words) for words in sets)).effect_size)
    charts = named_charts(app, "bias")
    found = [numbers(trace["x"])[0] for trace in charts["associations"]]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert "bias-association-words" in " ".join(f"bias-{name}" for name in charts)


def test_a_direction_by_layer(page: AppTest) -> None:
    page.query_params["bias_view"] = "direction"
    app = ok(page.run())
    charts = named_charts(app, "bias")
    shown = numbers(charts["direction"][0]["z"])
    assert shown.shape[1] == 3  # embeddings and two layers
    assert (np.abs(shown) <= 1).all()
    assert len(charts["probes"]) == 4


def test_words_that_the_vocabulary_lacks_are_left_out_and_named(page: AppTest) -> None:
    app = ok(page.run())
    app.text_area(key="bias_fillers").set_value("good, \u4e00, new").run()
    assert not app.error
    assert "Left out" in said(app)
    assert len(numbers(named_charts(app, "bias")["templates"][-1]["x"])) == 2


def test_the_templates_code_asks_for_words_that_the_vocabulary_has(page: AppTest) -> None:
    page.query_params["bias_words_1"] = "she, \u4e00"
    page.query_params["bias_fillers"] = "good, \u4e00, new"
    app = ok(page.run())
    names: dict[str, Any] = {}
    exec(next(c.value for c in app.code if "score_templates(" in c.value), names)
    means = np.sort(names["scores"].differences().mean(0))[::-1]
    dots = named_charts(app, "bias")["templates"][-1]
    np.testing.assert_allclose(numbers(dots["x"]), means, atol=1e-5)


def test_the_association_code_leaves_out_what_the_vocabulary_lacks(
    page: AppTest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An unknown word is left out of a set, and a test with too few known words altogether."""
    # A checkpoint of its own: what another test drew with the whole tests is kept.
    tiny_bert(seed=1).save(tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    first, second, *others = association_tests()
    x, y = second.test.targets
    lacking = second.test._replace(targets=((*x, "\u4e00"), y))
    hopeless = first.test._replace(targets=(("\u4e00", "\u4e01"), y))
    tests = (replace(first, test=hopeless), replace(second, test=lacking), *others)
    monkeypatch.setattr(associations, "TESTS", {each.name: each for each in tests})
    monkeypatch.setattr("bertcore.bias.association_tests", lambda: tests)
    page.query_params["bias_view"] = "associations"
    page.query_params["bias_test"] = second.name
    app = ok(page.run())
    charts = named_charts(app, "bias")
    codes = [c.value for c in app.code if "known_part(" in c.value]
    capsys.readouterr()
    exec(codes[0], {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(others) + 1
    shown = [numbers(trace["x"])[0] for trace in charts["associations"]]
    np.testing.assert_allclose([float(line.split()[-2]) for line in printed], shown, atol=1e-5)
    names: dict[str, Any] = {}
    exec(codes[1] + "\nfound = association(*sets)", names)
    scores = [np.sort(each) for each in names["found"].scores]
    drawn = [np.sort(numbers(trace["x"])) for trace in charts["association-words"]]
    np.testing.assert_allclose(np.concatenate(drawn), np.concatenate(scores), atol=1e-5)


def test_the_direction_code_prints_what_is_drawn(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With pairs and words that the vocabulary cannot write, and all lines of the probes."""
    own, (first, *others) = direction_words(), template_audits()
    lacking = replace(own, pairs=(*own.pairs, ("\u4e00", "he")))
    audits = (replace(first, fillers=(*first.fillers, "\u4e00")), *others)
    for module in ("bertcore.bias", along_direction.__module__):
        monkeypatch.setattr(sys.modules[module], "direction_words", lambda: lacking)
        monkeypatch.setattr(sys.modules[module], "template_audits", lambda: audits)
    page.query_params["bias_view"] = "direction"
    app = ok(page.run())
    charts = named_charts(app, "bias")
    names: dict[str, Any] = {}
    codes = [c.value for c in app.code if "along_direction(" in c.value]
    exec(codes[0], names)
    last = dict(zip(names["found"].words, names["found"].cosines, strict=True))
    shown = charts["direction"][0]
    drawn = dict(zip(shown["y"], numbers(shown["z"])[:, -1], strict=True))
    assert drawn == pytest.approx(last, abs=1e-5)
    capsys.readouterr()
    exec(codes[1], {})
    printed = [float(line.split()[-2]) for line in capsys.readouterr().out.splitlines()]
    lines = np.stack([numbers(trace["y"]) for trace in charts["probes"]])
    np.testing.assert_allclose(printed, lines.T.ravel(), atol=1e-6)


def test_without_any_interval_there_is_no_verdict(page: AppTest) -> None:
    page.query_params |= {
        "bias_templates": "[X] was very [MASK].",
        "bias_words_1": "she",
        "bias_fillers": "good",
    }
    told = said(ok(page.run()))
    assert "no interval, so no verdict" in told
    assert "lean to" not in told


def test_without_the_head_the_templates_say_why(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_bert(heads=ALL_HEADS - {"mlm"}).save(tmp_path_factory.mktemp("t") / "no-mlm")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    app = ok(page_of("bias", seconds=120).run())
    assert "masked" in said(app).lower()
    assert not named_charts(app, "bias")
    other = page_of("bias", seconds=120)
    other.query_params["bias_view"] = "associations"
    app = ok(other.run())
    assert "associations" in named_charts(app, "bias")


def test_an_erasure_before_and_after(page: AppTest, checkpoint: str) -> None:
    page.query_params["bias_view"] = "erase"
    page.query_params["bias_erase_state"] = "1"
    page.query_params["bias_erase_text"] = "she was [MASK] <img src=x onerror=alert(1)>"
    app = ok(page.run())
    bert = load(checkpoint)
    erasure = fit_erasure(bert, 1, "leace")
    effects = measure_erasure(bert, erasure)
    charts = named_charts(app, "bias")
    shown = [numbers(trace["x"]) for trace in charts["erased"]]
    shares, gaps = ([each for each in effects if each.is_share is kind] for kind in (True, False))
    expected = [
        [getattr(each, side).mean for each in panel]
        for panel in (shares, gaps)
        for side in ("before", "after")
    ]
    for found, wanted in zip(shown, expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-4)
    layout = next(one["layout"] for one in all_charts(app) if "yaxis2" in one["layout"])
    names = [name for axis in ("yaxis", "yaxis2") for name in layout[axis]["ticktext"]]
    assert [name.replace("<br>", " ") for name in names] == [each.name for each in shares + gaps]
    assert max(len(line) for name in names for line in name.split("<br>")) < 28
    chance = [row for row, each in enumerate(shares) if each.neutral == 0.5]
    assert 0 < len(chance) < len(shares)
    lines = [each for each in layout["shapes"] if each["xref"] == "x"]
    assert [(each["x0"], each["y0"] + 0.5) for each in lines] == [(0.5, row) for row in chance]
    assert "Live only" in said(app)
    assert "residual" in said(app)
    text = "she was [MASK] <img src=x onerror=alert(1)>"
    (best, *_) = erase(bert, erasure).fill_mask(text, top_k=1)[0]
    assert max(numbers(charts["erased-words"][1]["x"])) == pytest.approx(best[1], abs=1e-4)
    app.text_input(key="bias_erase_text").set_value("no slot").run()
    assert "Write" in said(app)


def test_the_last_state_can_be_saved(page: AppTest) -> None:
    page.query_params["bias_view"] = "erase"
    page.query_params["bias_erase_state"] = "2"
    page.query_params["bias_erase_method"] = "direction"
    app = ok(page.run())
    assert "bias erase --layer 2 --method direction --save" in said(app)


def test_a_report_is_made_when_asked(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    # All measures are made, which on a busy machine takes longer than the other tests wait.
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 170.0)
    monkeypatch.setattr(background, "PATIENCE", 180.0)
    app = ok(page.run())
    label = "Download the report (HTML)"
    assert label not in [each.proto.label for each in app.get("download_button")]
    (button,) = [each for each in app.button if each.label == "Make a report"]
    app = ok(button.click().run())
    assert label in [each.proto.label for each in app.get("download_button")]
