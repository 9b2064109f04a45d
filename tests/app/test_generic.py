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
SCRIPTS = [script for script in PAGES if script != "training"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}
    for model_type, ending in MADE.items():
        made[model_type] = tmp_path_factory.mktemp("generic") / model_type
        make_generic(made[model_type], model_type, ending)
    return made


PAGES_OF = [(model_type, s) for model_type in ("roformer", "nomic_bert") for s in SCRIPTS]
"""The first one predicts words; the second one has rotary positions and a task's head."""
WITH_A_HEAD = ("tokens", "attention", "what_if", "compare", "inspect_checkpoint")
LONG = ("bias",)
"""Pages that compute for seconds, and whose own tests do it on BERT."""
USUAL = [
    (model_type, script)
    for model_type, script in PAGES_OF
    if script not in LONG and (model_type == "roformer" or script in WITH_A_HEAD)
]


@pytest.mark.parametrize(("model_type", "script"), all_but(USUAL, PAGES_OF))
def test_every_page(folders, monkeypatch, model_type, script):
    at = opener(folders, monkeypatch)(model_type, script)
    assert said(at)


VIEWS = [
    (model_type, view)
    for view in ("Three embeddings", "LayerNorm", "Nearest words")
    for model_type in ("rembert", "megatron-bert", "nomic_bert")
]


@pytest.mark.parametrize(("model_type", "view"), all_but([VIEWS[0], *VIEWS[4:9:2]], VIEWS))
def test_tokens(folders, monkeypatch, model_type, view):
    at = opener(folders, monkeypatch)(model_type, "tokens", view=view, token="2")
    lacks = view == "LayerNorm" and model_type == "megatron-bert"
    assert bool(at.get("plotly_chart")) != lacks
    assert ("MegatronBert has no LayerNorm after its embeddings" in said(at)) == lacks


WHYS = [(t, why) for why in ("words", "layers") for t in ("nomic_bert", "convbert")]


@pytest.mark.parametrize(("model_type", "why"), all_but([WHYS[0], WHYS[3]], WHYS))
def test_inspect(folders, monkeypatch, model_type, why):
    at = opener(folders, monkeypatch)(model_type, "inspect_checkpoint", inspect_why=why)
    expected = {"words": 3, "layers": 1}[why]
    assert len(at.get("plotly_chart")) == 1 + expected
    assert "Example" not in said(at)
