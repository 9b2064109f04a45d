"""Every page with each other architecture: it works, or says in a sentence what is lacking."""

import json

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


ATTENTION_ALONE = ["Attention weights", "Rollout", "Flow"]


@pytest.mark.parametrize("name", WHOLE)
def test_mixing_shows_what_follows_from_attention_alone(open_page, folders, name):
    """Each strip is a product, or a sum of narrowest places, made here by hand."""
    at = open_page(name, "mixing", mix_layer="1", mix_token="4")
    assert "but not its parts" in said(at)
    assert "Left out: Norm-weighted, … with residual, Value zeroing, Gradient" in said(at)
    drawn = {
        strip: [cell[1] for cell in row]
        for trace in json.loads(at.get("plotly_chart")[0].proto.spec)["data"]
        for strip, row in zip(trace["y"], trace["customdata"], strict=True)
    }
    assert list(drawn) == ATTENTION_ALONE
    weights = load(folders[name], device="cpu").trace(*PAIR.values()).attentions.mean(1).numpy()
    mixed = 0.5 * np.eye(weights.shape[-1]) + 0.5 * weights
    narrowest = np.minimum(mixed[1, 4][:, None], mixed[0]).sum(0)
    expected = [weights[1, 4], (mixed[1] @ mixed[0])[4], narrowest / narrowest.sum()]
    np.testing.assert_allclose(list(drawn.values()), expected, atol=1e-5)
    assert ("reads from left to right" in said(at)) == (name == "GPT2LMHeadModel")
    assert ("'s encoder" in said(at)) == name.startswith(("T5", "Bart"))
    if name == "GPT2LMHeadModel":  # nothing flows from tokens that come later
        assert max(max(row[5:]) for row in drawn.values()) == 0


@pytest.mark.parametrize("name", ["DebertaV2ForMaskedLM", "GPT2LMHeadModel"])
def test_mixing_of_every_token_and_its_python(open_page, name):
    at = open_page(name, "mixing", mix_layer="0", mix_view="all", mix_head="1")
    maps = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert len(maps["data"]) == 3
    scope: dict[str, object] = {}
    exec(at.code[0].value, scope)
    assert set(scope["fractions"]) == {"weights", "rollout", "flow"}
    assert len(at.get("plotly_chart")) == 2  # the maps, and how far they agree


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
        *(("T5ForConditionalGeneration", view) for view in ("Doctor", "Shape", "Memory")),
        ("MobileBertForPreTraining", "Doctor"),
    ],
)
def test_checkpoints(open_page, name, view):
    at = open_page(name, "checkpoints", checkpoint_view=view)
    if view == "What was read":
        assert "another architecture, run by transformers" in said(at)
    if view == "Shape":
        assert len(at.table[0].value) >= 5


@pytest.mark.parametrize("name", ["T5ForConditionalGeneration", "GPT2LMHeadModel"])
@pytest.mark.parametrize("page", ["compare", "inspect_checkpoint"])
def test_pages_of_fine_tuned_checkpoints_do_not_crash(open_page, name, page):
    at = open_page(name, page)
    assert said(at)
