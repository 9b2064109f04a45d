"""The attention page on a tiny checkpoint, without a browser."""

from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from bertcore import Bert, load
from bertcore.analysis.heads.measures import measure_heads
from bertcore.analysis.mixing.norm_weighted import summed_norms, weighted_norms
from bertcore.analysis.mixing.rollout import attention_rollout, normalize_rows
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from tests.support.opened import ok, page_of, python_shown, said, shown_names, with_results
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    return page_of("attention")


def test_a_link_opens_its_head_and_view(page: AppTest) -> None:
    page.query_params["layer"] = "1"
    page.query_params["heads"] = ["2"]
    page.query_params["view"] = "heat-map"
    app = ok(page.run())
    assert "Layer 1, head 2" in said(app)
    assert "by which the other can be sorted" in said(app)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({}, "Layer {}, head {} "),
        ({"layer": "0"}, "Layer 0, the mean of all heads,"),
        ({"heads": "2"}, "Layer 0, head 2 "),
        ({"layers": ["0", "1"]}, "Layer 0, the mean of all heads,"),
    ],
)
def test_the_head_with_the_clearest_habit_opens_unless_a_link_names_one(
    page: AppTest, bert: Bert, query: dict[str, str], told: str
) -> None:
    page.query_params.update(text_a="The river bank was steep.", text_b="", **query)
    trace = bert.trace("The river bank was steep.")
    clearest = measure_heads(trace.attentions, trace.text_ids, trace.tokens).clearest
    app = ok(page.run())
    assert told.format(*clearest) in said(app)


def test_a_link_opens_a_mean_over_layers(page: AppTest) -> None:
    page.query_params["layers"] = ["0", "1", "9"]
    page.query_params["heads"] = ["0", "3"]
    page.query_params["view"] = "heat-map"
    app = ok(page.run())
    assert app.session_state["layers"] == [0, 1]
    assert "layers=(0, 1), heads=(0, 3)" in python_shown(app)[0]


@pytest.mark.parametrize("heads", [[], ["2"], ["0", "3"]])
@pytest.mark.parametrize("measure", ["norms", "zeroing", "rollout"])
def test_the_heat_map_shows_what_the_weights_hide(
    page: AppTest, bert: Bert, measure: str, heads: list[str]
) -> None:
    page.query_params.update(view="heat-map", measure=measure, layers=["0", "1"], layer="1")
    page.query_params["heads"] = heads
    app = ok(with_results(page.run()))
    trace = bert.trace(*(app.session_state[name] for name in ("text_a", "text_b")))
    by_head = len(heads) == 1
    norms = weighted_norms(bert, trace)[1, 2] if by_head else summed_norms(bert, trace)[1]
    expected = {
        "norms": norms,
        "zeroing": value_zeroing(bert, trace)[1],
        "rollout": attention_rollout(trace.attentions, head=2 if by_head else None)[1],
    }[measure]
    names = shown_names(app, f"{measure.rstrip('s')}_map")
    np.testing.assert_allclose(names["result"].values, normalize_rows(expected), atol=1e-6)
    assert "No such map says why BERT decides" in said(app)


def test_value_zeroing_is_not_offered_for_a_long_text(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.screens.attention.page.MOST_ZEROED", 8)
    page.query_params.update(view="heat-map", measure="zeroing", text_a="the river bank " * 9)
    assert "computed for at most 8 tokens" in said(ok(page.run()))


@pytest.mark.parametrize("kind", ["head", "model", "neuron"])
def test_bertviz_says_its_limit(page: AppTest, kind: str) -> None:
    page.query_params["view"] = "bertviz"
    page.query_params["bertviz"] = kind
    page.query_params["text_a"] = "the river bank " * 30  # 64 positions: cut to 64 tokens
    app = ok(page.run())
    limits = [warning.value for warning in app.warning if "are shown here" in warning.value]
    wanted = {"model": "first 32 of 64 tokens", "neuron": "first 48 of 64 tokens"}
    assert len(limits) == (kind in wanted)
    assert all(wanted[kind] in limit for limit in limits)


@pytest.fixture(scope="module")
def broken_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The last layer's head 2 has queries that are not numbers; all other heads are sound."""
    bert = tiny_bert()
    query = bert.module.layers[-1].attention.query.weight
    width = bert.config.hidden_size // bert.config.num_attention_heads
    with torch.no_grad():
        query[2 * width : 3 * width] = torch.nan
    return str(bert.save(tmp_path_factory.mktemp("broken")))


@pytest.mark.parametrize("view", ["lines", "heat-map", "neurons"])
def test_a_head_that_gives_no_numbers_is_shown(
    page: AppTest, broken_checkpoint: str, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", broken_checkpoint)
    page.query_params["view"] = view
    page.query_params["layer"] = "1"
    page.query_params["heads"] = ["2"]
    app = ok(page.run())
    assert "Layer 1, head 2 gives weights that are not numbers (NaN)" in said(app)


@pytest.mark.parametrize(
    ("kind", "layer", "told"),
    [
        ("bert", 1, "Nothing is masked"),
        ("causal", 1, "Later tokens are masked"),
        ("modern", 0, "Nothing is masked"),
        ("modern", 1, "Tokens more than 4 away are masked"),
    ],
)
def test_the_neurons_name_the_mask_and_their_python_gives_the_weights(
    kind: str, layer: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "modern":
        make("ModernBertForMaskedLM", tmp_path)
    elif kind == "causal":
        tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"})).save(tmp_path)
    else:
        tiny_bert().save(tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    text = "the river bank was steep and it had rained"
    page = page_of("attention", text_a=text, text_b="", view="neurons", layer=str(layer), heads="2")
    app = ok(page.run())
    assert told in said(app)
    names = shown_names(app, "head_steps(")
    weights = load(tmp_path, device="cpu").trace(text).attentions[layer, 2]
    torch.testing.assert_close(names["result"].neurons.weights, weights, rtol=0, atol=1e-6)
