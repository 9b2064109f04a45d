"""Every page with each of BERT's relatives."""

import pytest

from tests.support.opened import opener, said
from tests.support.tiny_families import make

NAMES = [
    "DistilBertForMaskedLM",
    "RobertaForMaskedLM",
    "XLMRobertaForMaskedLM",
    "ElectraForMaskedLM",
    "ElectraForPreTraining",
    "AlbertForPreTraining",
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}
    for name in NAMES:
        made[name] = tmp_path_factory.mktemp("family") / name
        made[name].mkdir()
        make(name, made[name])
    return made


@pytest.fixture
def open_page(folders, monkeypatch):
    return opener(folders, monkeypatch)


@pytest.mark.parametrize(
    ("name", "view"),
    [
        *((name, "Three embeddings") for name in NAMES),
        ("DistilBertForMaskedLM", "Leave one out"),
        ("AlbertForPreTraining", "Leave one out"),
        ("RobertaForMaskedLM", "Position table"),
    ],
)
def test_tokens(open_page, name, view):
    at = open_page(name, "tokens", view=view, token="2")
    assert at.get("plotly_chart")
    text = said(at)
    assert ("no segment embeddings" in text) == (
        name.startswith("Distil") and view != "Position table"
    )
    is_wordpiece = name.startswith(("Distil", "Electra"))
    assert ("not WordPiece" in text) == (not is_wordpiece)
    assert ("## continues a word" in text) == is_wordpiece


@pytest.mark.parametrize(
    ("name", "view"),
    [*((name, "lines") for name in NAMES), ("RobertaForMaskedLM", "bertviz")],
)
def test_attention(open_page, name, view):
    open_page(name, "attention", view=view)


@pytest.mark.parametrize("name", NAMES)
def test_masked_words(open_page, name):
    at = open_page(name, "masked_words", masked="2")
    text = said(at)
    if name == "ElectraForPreTraining":
        assert "ELECTRA discriminator" in text
    else:
        mask = "<mask>" if "oberta" in name.lower() else "[MASK]"
        assert f"or type {mask}" in text
    assert at.get("plotly_chart")


@pytest.mark.parametrize("name", NAMES)
def test_sentence_pairs(open_page, name):
    at = open_page(name, "sentence_pairs")
    text = said(at)
    assert "has no next-sentence head" in text
    assert ("ALBERT gives" in text) == name.startswith("Albert")
    assert ("the same segment, or none" in text) == (not name.startswith(("Albert", "Electra")))
    assert at.get("plotly_chart")


@pytest.mark.parametrize("name", NAMES)
def test_layer_map(open_page, name):
    at = open_page(name, "layer_map", source="sentence")
    assert at.get("plotly_chart")


@pytest.mark.parametrize("name", NAMES)
def test_what_if(open_page, name):
    """DistilBERT and RoBERTa have no segment ids, or one, to choose from."""
    at = open_page(name, "what_if", off="0.1")
    assert at.get("plotly_chart")
    labels = [box.label for box in at.number_input]
    assert "Position id" in labels
    assert ("Segment id" in labels) == name.startswith(("Albert", "Electra"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("view", ["What was read", "Shape"])
def test_checkpoints(open_page, name, view):
    at = open_page(name, "checkpoints", checkpoint_view=view)
    if view == "What was read":
        assert "Family:" in said(at)
    else:
        assert len(at.table[0].value) >= 11
