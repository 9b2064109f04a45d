"""The tuned lens on Masked words: fitted on the page, shown beside the plain one, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertcore
from app.masked_words import lens
from bertcore import Model
from bertcore.analysis.tuned_lens import (
    FILE_NAME,
    TunedLensSettings,
    fit_tuned_lens,
    read_tuned_lens,
    save_tuned_lens,
)
from bertcore.analysis.words.lens import layer_predictions
from tests.support.opened import (
    button,
    complaints,
    numbers,
    ok,
    page_of,
    said,
    with_results,
)
from tests.support.tiny import WORDS, tiny_bert

TEXT = "the river bank was steep"
SENTENCES = [f"{word} the water and the house was old" for word in WORDS * 5]


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "checkpoint"
    tiny_bert(seed=3).save(folder)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    return bertcore.load(folder, device="cpu")


def charts(app: AppTest) -> dict[str, Any]:
    return {
        chart.proto.id.rpartition("figure_")[2]: json.loads(chart.proto.spec)["data"]
        for chart in app.get("plotly_chart")
    }


def page(**query: Any) -> AppTest:
    return page_of("masked_words", seconds=120, text_a=TEXT, masked="2", **query)


def test_it_is_fitted_on_a_typed_text_and_stands_beside_the_plain_lens(
    checkpoint: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = TunedLensSettings(num_steps=3)

    def fit(model: Model, sentences: Any, **options: Any) -> Any:
        assert len(sentences) > 100
        return fit_tuned_lens(model, sentences, fast, **options)

    monkeypatch.setattr(lens, "fit_tuned_lens", fit)
    app = ok(page(lens_text="Your own text").run())
    assert button(app, "Fit the lens").disabled
    app.text_area(key="lens_own_text").set_value("\n".join(SENTENCES))
    app = ok(app.run())
    app = ok(with_results(button(app, "Fit the lens").click().run()))
    app = ok(app.run())
    assert checkpoint.report is not None
    path = Path(checkpoint.report.folder) / FILE_NAME
    fitted = read_tuned_lens(path, checkpoint)
    assert fitted.text == "a typed text"
    drawn = charts(app)
    assert {"lens", "tuned-lens", "ranks", "tuned-ranks", "tuned-lens-gain"} <= set(drawn)
    for name, tuned in (("lens", None), ("tuned-lens", fitted)):
        found = layer_predictions(checkpoint, TEXT, None, (2,), (2,), 5, tuned)
        shown = numbers(drawn[name][0]["z"])
        np.testing.assert_allclose(shown, found.probabilities[:, 0], atol=1e-5)
    shown = numbers(drawn["tuned-lens-gain"][0]["y"])
    np.testing.assert_allclose(shown, fitted.gain.plain.bits.mean, atol=1e-5)
    codes = [block.value for block in app.code if "tuned" in block.value]
    assert len(codes) == 3
    for code in codes:
        exec(code, {})  # what the visitor would run


def test_too_little_text_is_told(checkpoint: Model) -> None:
    app = ok(page(lens_text="Your own text").run())
    app.text_area(key="lens_own_text").set_value("Only one sentence.")
    app = app.run()
    app = with_results(button(app, "Fit the lens").click().run())
    assert "Give a longer text" in complaints(app)


def test_the_lens_of_another_checkpoint_is_refused_with_both_names(
    checkpoint: Model, tmp_path: Path
) -> None:
    tiny_bert(seed=9).save(tmp_path / "other")
    other = bertcore.load(tmp_path / "other", device="cpu")
    assert checkpoint.report is not None
    fitted = fit_tuned_lens(other, SENTENCES, TunedLensSettings(num_steps=1))
    save_tuned_lens(fitted, Path(checkpoint.report.folder) / FILE_NAME)
    app = page().run()
    told = complaints(app)
    assert "was fitted for" in told
    assert "other" in told
    assert "checkpoint" in told
    assert {"lens", "ranks"} <= set(charts(app))  # the plain lens stays
    assert button(app, "Fit the lens")


def test_without_a_lens_the_page_is_as_before(checkpoint: Model) -> None:
    app = ok(page().run())
    drawn = charts(app)
    assert "tuned-lens" not in drawn
    assert "lens" in drawn
    assert "Fit a tuned lens on" in [group.label for group in app.button_group]
    assert "tuned" not in said(app)


def test_a_link_that_asks_to_fit_on_a_blank_text_waits(checkpoint: Model) -> None:
    address = {"lens_fit": "1", "lens_text": lens.OWN_TEXT}
    app = ok(page_of("masked_words", text_a=TEXT, **address).run())
    assert not app.error
    assert button(app, "Fit the lens").disabled
