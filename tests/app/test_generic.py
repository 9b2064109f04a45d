"""Encoders that are in no table of ours: every page works with them, or says what is lacking."""

import pytest

from app.navigation import PAGES
from tests.support.exhaustive import all_but
from tests.support.opened import opener, said
from tests.support.tiny_generic import make_generic

MADE = {
    "roformer": "ForMaskedLM",
    "rembert": "ForMaskedLM",
    "megatron-bert": "ForMaskedLM",
    "nomic_bert": "ForSequenceClassification",
    "convbert": "ForTokenClassification",
}
SCRIPTS = [script for script in PAGES if script not in ("training", "grammar")]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}
    for model_type, ending in MADE.items():
        made[model_type] = tmp_path_factory.mktemp("generic") / model_type
        make_generic(made[model_type], model_type, ending)
    return made


@pytest.mark.parametrize("script", all_but([s for s in SCRIPTS if s != "probes"], SCRIPTS))
@pytest.mark.parametrize("model_type", ["roformer", "nomic_bert"])
def test_every_page(folders, monkeypatch, model_type, script):
    at = opener(folders, monkeypatch)(model_type, script)
    assert said(at)


@pytest.mark.parametrize("view", ["Three embeddings", "LayerNorm", "Nearest words"])
@pytest.mark.parametrize("model_type", ["rembert", "megatron-bert", "nomic_bert"])
def test_tokens(folders, monkeypatch, model_type, view):
    at = opener(folders, monkeypatch)(model_type, "tokens", view=view, token="2")
    lacks = view == "LayerNorm" and model_type == "megatron-bert"
    assert bool(at.get("plotly_chart")) != lacks
    assert ("MegatronBert has no LayerNorm after its embeddings" in said(at)) == lacks


@pytest.mark.parametrize("why", ["words", "parts", "layers"])
@pytest.mark.parametrize("model_type", ["nomic_bert", "convbert"])
def test_inspect(folders, monkeypatch, model_type, why):
    at = opener(folders, monkeypatch)(model_type, "inspect_checkpoint", inspect_why=why)
    expected = {"words": 3, "parts": 1, "layers": 2}[why]
    assert len(at.get("plotly_chart")) == 1 + expected
    assert "Example" not in said(at)
