"""The page Training example: the numbers of the core, other draws, odd documents."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.plots import percent
from app.screens.training_example.drawing import message
from bertcore import load
from bertcore.analysis.attribution import answer, task_input
from bertcore.analysis.compare.weight_drift import relative_change, step_drift, weight_drift
from bertcore.analysis.words.epoch_masks import epoch_masks
from bertcore.analysis.words.training_example import TrainingExample, one_step, training_example
from bertcore.training.tasks import open_task_model
from tests.support.opened import named_charts, numbers, ok, page_of, said
from tests.support.tiny_families import make

TEXT = "The film was very good. She sat on the mat. It had rained all night. The man was old."
HOSTILE = "</script><img src=x> \u202eabc. $x$ `a` {b} [MASK] [SEP]. <b>no</b>"


@pytest.fixture
def page(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tiny))
    opened = {"example_loss": "1", "example_fates": "1"}
    return page_of("training_example", seconds=60, document=TEXT, **opened)


def example_of(folder: Path, text: str = TEXT, **options: Any) -> TrainingExample:
    return training_example(load(folder, device="cpu"), text, **options)


def formulas(app: AppTest) -> str:
    return " ".join(one.value for one in app.latex)


def test_the_losses_are_the_cores(page: AppTest, tiny: Path) -> None:
    app = ok(page.run())
    found = example_of(tiny, seed=3)
    shown = formulas(app)
    assert found.nsp_loss is not None
    assert f"{found.mlm_loss:.3f} + {found.nsp_loss:.3f}" in shown
    assert f"{found.loss:.3f}" in shown
    for guess in found.guesses[:7]:
        assert f"{guess.loss:.3f}" in shown
    assert f"sees {len(found.tokens)} tokens here and learns from {len(found.guesses)}" in said(app)
    sent = message(found, "[MASK]")
    assert sent["mlm_loss"] == found.mlm_loss
    assert [guess["token"] for guess in sent["guesses"]] == [g.token for g in found.guesses]


def test_another_draw_another_share_other_fates(page: AppTest, tiny: Path) -> None:
    page.query_params |= {"example_seed": "8", "example_share": "50", "example_actions": "0/20/80"}
    app = ok(page.run())
    options = {"seed": 8, "masked_lm_prob": 0.5, "actions": (0.0, 0.2, 0.8)}
    assert f"{example_of(tiny, **options).loss:.3f}" in formulas(app)
    assert "| 20% | **kept**" in said(app)
    assert "| 0% |" not in said(app)  # nothing is learned from what does not occur
    again = next(button for button in app.button if button.label == "Draw again")
    app = ok(again.click().run())
    options["seed"] = 9
    assert f"{example_of(tiny, **options).loss:.3f}" in formulas(app)


def test_one_step_is_the_cores(page: AppTest, tiny: Path) -> None:
    page.query_params["example_step"] = "1"
    app = ok(page.run())
    found = example_of(tiny, seed=3)
    effect = one_step(load(tiny, device="cpu"), found)
    assert f"goes from **{found.loss:.3f}** to **{effect.loss:.3f}** nats" in said(app)
    dots = named_charts(app, "one")["step"][:2]
    right = found.pair_probabilities
    assert right is not None
    before = [*(guess.probability for guess in found.guesses), right[int(found.is_random)]]
    assert list(numbers(dots[0]["x"])) == pytest.approx(before, abs=1e-6)
    after = [*effect.probabilities, effect.pair_probability]
    assert list(numbers(dots[1]["x"])) == pytest.approx(after, abs=1e-5)
    drift = step_drift(load(tiny, device="cpu"), found)
    grid = numbers(named_charts(app, "step")["layers"][0]["z"])
    kinds = [kind for layer, kind in drift.layers if layer == 0]
    expected = [[drift.layers[layer, kind].relative for kind in kinds] for layer in range(2)]
    np.testing.assert_allclose(grid, expected, rtol=1e-4)
    others = numbers(named_charts(app, "step")["others"][0]["x"])
    assert list(others) == pytest.approx([d.relative for d in drift.others.values()])
    assert f"in {len(drift.layers) + len(drift.others)} of" in said(app)
    assert "sum of both objectives" in said(app)


def test_both_phases_are_the_shipped_ones(page: AppTest) -> None:
    """Whatever is open: the answers and the drift of default and sentiment, or qa."""
    page.query_params["example_phases"] = "1"
    app = ok(page.run())
    bert, tuned = load("default", device="cpu"), load("sentiment", device="cpu")
    found = training_example(bert, TEXT, seed=3)
    drift = weight_drift(bert, tuned)
    shown = said(app)
    for layer in range(bert.config.num_hidden_layers):
        moved = relative_change([d for (n, _), d in drift.layers.items() if n == layer])
        assert (
            f"| layer {layer} | trained from noise | copied, then moved by {moved:.1%} |" in shown
        )
    assert percent(max(found.pair_probabilities or ())) in shown
    model = open_task_model("sentiment")
    label = answer(model, task_input(model, "The film was very good."))
    assert f"**{label.labels[label.best]} {percent(label.probabilities.max())}**" in shown
    assert drift.only_first
    assert not drift.mis_shaped
    app = ok(app.button_group(key="example_tuned").set_value("qa").run())
    app = ok(app.text_input(key="example_question").set_value("Who sat on the mat?").run())
    model, shown = open_task_model("qa"), said(app)
    spans = answer(model, task_input(model, "Who sat on the mat?", TEXT))
    surest = max(spans.no_answer, spans.spans[0].probability)
    assert f"“{spans.spans[0].text}” {percent(spans.spans[0].probability)}" in shown
    assert f"no answer {percent(spans.no_answer)}" in shown
    assert f" {percent(surest)}**" in shown
    assert "vectors s and e" in shown
    app = ok(app.text_input(key="example_question").set_value(" ").run())
    assert "Write a question" in app.info[0].value


def test_masks_over_epochs_are_the_cores(page: AppTest, tiny: Path) -> None:
    page.query_params |= {"example_seed": "8", "example_share": "30", "example_actions": "0/20/80"}
    page.query_params["example_epochs"] = "1"
    app = ok(page.run())
    drawn = named_charts(app, "epoch")["masks"]
    bert = load(tiny, device="cpu")
    for chart, copies in zip(drawn, (10, 0), strict=False):
        masking = {"seed": 8, "masked_lm_prob": 0.3, "actions": (0.0, 0.2, 0.8)}
        found = epoch_masks(bert, TEXT, dupe_factor=copies, **masking)
        assert 1 not in found.fates  # no [MASK]
        assert (numbers(chart["z"]) == found.fates).all()
        assert f"{found.num_never}" in said(app)


def test_without_a_next_sentence_head_the_pair_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("DistilBertForMaskedLM", tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    app = ok(page_of("training_example", seconds=60, document=TEXT, example_loss="1").run())
    assert formulas(app)
    assert "pair" not in formulas(app)
    assert example_of(tmp_path).nsp_loss is None


@pytest.mark.parametrize("text", ["", " \n "])
def test_an_empty_document_is_a_note(page: AppTest, text: str) -> None:
    app = page.run()
    app = ok(app.text_area(key="document").set_value(text).run())
    assert "document is empty" in app.info[0].value
    assert not app.latex


def test_unknown_words_are_told(page: AppTest) -> None:
    page.query_params["document"] = "他去了河边。天气很好。"
    app = ok(page.run())
    assert "[UNK]" in app.warning[0].value.replace("\\", "")
    assert not ok(app.text_area(key="document").set_value(TEXT).run()).warning
