"""Every page with each other architecture: it works, or says in a sentence what is lacking."""

import numpy as np
import pytest

from bertcore import load
from tests.support.exhaustive import all_but
from tests.support.opened import PAIR, opener, said
from tests.support.tiny_others import MASKED, make_other

NAMES = [*MASKED, "GPT2LMHeadModel", "XLNetModel"]
WHOLE = NAMES[1:-1]
"""Those that differ in what a page says: one DeBERTa, all with their heads."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}
    for name in NAMES:
        made[name] = tmp_path_factory.mktemp("other") / name
        make_other(name, made[name])
    return made


@pytest.fixture
def open_page(folders, monkeypatch):
    return opener(folders, monkeypatch)


VIEWS = {
    "Three embeddings": None,
    "LayerNorm": {
        "XLNet": "XLNet has no LayerNorm",
        "T5": "T5 has no",
        "GPT2": "GPT-2 has no",
        "EuroBert": "EuroBERT has no LayerNorm",
    },
    "Leave one out": dict.fromkeys(NAMES, "but not its parts"),
    "Position table": dict.fromkeys(
        ("DebertaForMaskedLM", "DebertaV2ForMaskedLM", "XLNet", "T5", "EuroBert"),
        "adds no position vectors",
    ),
    "Nearest words": None,
}


ALL = [(name, view) for view in VIEWS for name in WHOLE]
DIFFERENT = ("LayerNorm", "Position table")
"""Views that one family has and another lacks."""


@pytest.mark.parametrize(
    ("name", "view"),
    all_but([case for case in ALL if case[0] in WHOLE[:2] or case[1] in DIFFERENT], ALL),
)
def test_tokens(open_page, name, view):
    at = open_page(name, "tokens", view=view, token="2")
    lacks = {k: v for k, v in (VIEWS[view] or {}).items() if name.startswith(k)}
    if name.startswith("MobileBert") and view == "LayerNorm":
        lacks = {name: "MobileBERT has no LayerNorm"}
    for sentence in lacks.values():
        assert sentence in said(at)
    assert bool(at.get("plotly_chart")) == (not lacks)


@pytest.mark.parametrize(
    ("name", "view"),
    [
        *((name, "lines") for name in NAMES),
        ("XLNetLMHeadModel", "heat-map"),
        ("GPT2LMHeadModel", "bertviz"),
        ("GPT2LMHeadModel", "decoder"),
        ("DebertaV2ForMaskedLM", "neurons"),
        ("T5ForConditionalGeneration", "decoder"),
        ("BartForConditionalGeneration", "decoder"),
    ],
)
def test_attention(open_page, name, view):
    at = open_page(name, "attention", view=view)
    text = said(at)
    assert ("but not its queries and keys" in text) == (view == "neurons")
    has_decoder = name.startswith(("T5", "Bart"))
    assert bool(at.get("plotly_chart")) == (has_decoder and view == "decoder")


@pytest.mark.parametrize("name", NAMES)
def test_masked_words(open_page, name):
    at = open_page(name, "masked_words", masked="3", candidates="the")
    text = said(at)
    if name == "GPT2LMHeadModel":
        assert "GPT-2 has no mask" in text
        assert "the tokens before it" in text  # next tokens are drawn in place of masked words
        assert len(at.get("plotly_chart")) == 2
    elif name.endswith("Model") and "LMHead" not in name:
        assert "no masked-word (MLM) head" in text
    else:
        assert at.get("plotly_chart")
    lens = {"XLNetLM": "second stream", "T5": "come from its decoder", "Bart": "from its decoder"}
    for start, sentence in lens.items():
        assert (sentence in text) or not name.startswith(start)


@pytest.mark.parametrize("name", WHOLE)
def test_sentence_pairs(open_page, name):
    at = open_page(name, "sentence_pairs")
    assert ("no next-sentence head" in said(at)) == (not name.startswith("MobileBert"))
    assert at.get("plotly_chart")


@pytest.mark.parametrize("name", WHOLE)
def test_layer_map(open_page, name):
    assert open_page(name, "layer_map").get("plotly_chart")


@pytest.mark.parametrize("name", ["DebertaForMaskedLM", "GPT2LMHeadModel"])
def test_what_if_needs_the_parts_and_says_so(open_page, name):
    at = open_page(name, "what_if")
    assert "but not its parts" in said(at)
    assert not at.get("plotly_chart")


@pytest.mark.parametrize("name", WHOLE)
def test_the_rollout_follows_from_attention_alone(open_page, folders, name):
    at = open_page(name, "attention", view="heat-map", measure="rollout", layer="1")
    scope: dict[str, object] = {}
    exec(at.code[1].value, scope)
    weights = load(folders[name], device="cpu").trace(*PAIR.values()).attentions.mean(1).numpy()
    mixed = 0.5 * np.eye(weights.shape[-1]) + 0.5 * weights
    np.testing.assert_allclose(scope["fractions"], mixed[1] @ mixed[0], atol=1e-5)
    for measure in ("norms", "zeroing"):
        at = open_page(name, "attention", view="heat-map", measure=measure)
        assert "but not its parts" in said(at)


@pytest.mark.parametrize("name", ["XLNetLMHeadModel", "GPT2LMHeadModel"])
def test_heads(open_page, name, monkeypatch):
    at = open_page(name, "heads")
    assert at.get("plotly_chart")


@pytest.mark.parametrize("name", WHOLE)
def test_minimal_pair(open_page, name):
    at = open_page(name, "minimal_pair", other_a="The lake bank was steep.")
    assert at.get("plotly_chart")


@pytest.mark.parametrize(
    ("name", "view"),
    [
        *((name, "What was read") for name in WHOLE),
        *(("T5ForConditionalGeneration", view) for view in ("Doctor", "Shape")),
        ("MobileBertForPreTraining", "Doctor"),
    ],
)
def test_what_is_in_a_checkpoint(open_page, name, view):
    at = open_page(name, "inspect_checkpoint", contents="1", checkpoint_view=view)
    if view == "What was read":
        assert "another architecture, run by transformers" in said(at)
    if view == "Shape":
        assert len(at.table[0].value) >= 5


@pytest.mark.parametrize("name", ["T5ForConditionalGeneration", "GPT2LMHeadModel"])
@pytest.mark.parametrize("page", ["compare", "inspect_checkpoint"])
def test_pages_of_fine_tuned_checkpoints_do_not_crash(open_page, name, page):
    at = open_page(name, page)
    assert said(at)
