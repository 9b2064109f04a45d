"""Every page with each of BERT's relatives."""

import pytest

from tests.support.browser.wording import wrong_words
from tests.support.exhaustive import all_but
from tests.support.opened import charts, opener, said
from tests.support.tiny_families import make
from tests.support.tiny_tasks import make_task

NAMES = [
    "DistilBertForMaskedLM",
    "RobertaForMaskedLM",
    "XLMRobertaForMaskedLM",
    "ElectraForMaskedLM",
    "ElectraForPreTraining",
    "AlbertForPreTraining",
    "ModernBertForMaskedLM",
]


MODEL_TYPES = {
    "DistilBertForMaskedLM": "distilbert",
    "RobertaForMaskedLM": "roberta",
    "XLMRobertaForMaskedLM": "xlm-roberta",
    "ElectraForMaskedLM": "electra",
    "ElectraForPreTraining": "electra",
}
"""Those that have special tokens of one form."""


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
    """Open a page on a checkpoint, and make sure that its words are those of the family."""
    opened = opener(folders, monkeypatch)

    def worded(name, page, **query):
        at = opened(name, page, **query)
        family = "" if query.get("contents") else MODEL_TYPES.get(name, "")
        assert wrong_words(said(at), family) == []
        return at

    return worded


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
        name.startswith(("Distil", "Modern")) and view != "Position table"
    )
    is_wordpiece = name.startswith(("Distil", "Electra"))
    assert ("not WordPiece" in text) == (not is_wordpiece)
    assert ("## continues a word" in text) == is_wordpiece


@pytest.mark.parametrize(
    ("name", "view"),
    [
        *((name, "lines") for name in NAMES),
        ("RobertaForMaskedLM", "bertviz"),
        ("ModernBertForMaskedLM", "neurons"),
        ("ModernBertForMaskedLM", "heat-map"),
    ],
)
def test_attention(open_page, name, view):
    open_page(name, "attention", view=view)


@pytest.mark.parametrize("name", NAMES)
def test_masked_words(open_page, name):
    at = open_page(name, "masked_words", masked="2")
    text = said(at)
    if name == "ElectraForPreTraining":
        assert "ELECTRA's discriminator predicts for each token whether it was replaced" in text
    else:
        mask = "<mask>" if name.startswith(("Roberta", "XLM", "Modern")) else "[MASK]"
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
    at = open_page(name, "layer_map")
    assert at.get("plotly_chart")


@pytest.mark.parametrize("name", NAMES)
def test_what_if(open_page, name):
    """DistilBERT and RoBERTa have no segment ids, or one, to choose from; ModernBERT no ids."""
    at = open_page(name, "what_if", off="0.1")
    assert at.get("plotly_chart")
    labels = [box.label for box in at.number_input]
    assert ("Position id" in labels) == (not name.startswith("Modern"))
    assert ("Segment id" in labels) == name.startswith(("Albert", "Electra"))


VIEWS = [(name, view) for name in NAMES for view in ("What was read", "Shape")]


@pytest.mark.parametrize(("name", "view"), all_but([*VIEWS[::4], *VIEWS[3::4]], VIEWS))
def test_what_is_in_a_checkpoint(open_page, name, view):
    at = open_page(name, "inspect_checkpoint", contents="1", checkpoint_view=view)
    if view == "What was read":
        assert "Family:" in said(at)
    else:
        assert len(at.table[0].value) >= 11


def test_the_window_of_a_layer_is_told(open_page):
    at = open_page("ModernBertForMaskedLM", "attention", layer="1")
    assert "Layer 1 attends within 4 tokens to each side" in said(at)
    assert "cells beyond it are masked" in said(at)
    assert "attends within" not in said(open_page("ModernBertForMaskedLM", "attention", layer="0"))


def test_rotary_positions_are_drawn(open_page):
    at = open_page("ModernBertForMaskedLM", "tokens", view="Position table")
    assert "rotates its queries and keys" in said(at)
    (chart,) = charts(at)
    titles = [note["text"] for note in chart["layout"]["annotations"]]
    assert titles == [
        "Layers 0, 3: full attention, base 160,000",
        "Layers 1, 2: window of 4 to each side, base 10,000",
    ]


@pytest.mark.parametrize("page", ["glance", "minimal_pair"])
def test_modernbert_on_the_other_pages(open_page, page):
    open_page("ModernBertForMaskedLM", page)


HEADS = {
    "SequenceClassification": ("bad", "good", "so-so"),
    "TokenClassification": ("O", "B-X", "I-X"),
    "QuestionAnswering": ("start", "end"),
}
WITH_HEADS = [
    (family, head)
    for family in ("distilbert", "roberta", "xlm-roberta", "electra", "albert", "modernbert")
    for head in HEADS
]


@pytest.fixture(scope="module")
def fine_tuned(tmp_path_factory):
    made = {}
    for family, head in WITH_HEADS:
        folder = made[f"{family} {head}"] = tmp_path_factory.mktemp("fine-tuned") / family
        folder.mkdir()
        make_task(folder, head, family, HEADS[head])
    return made


def spread(choices):
    """Return (family, head, choice): usually each family, head and choice, but not all triples."""
    cases = [(*pair, choice) for pair in WITH_HEADS for choice in choices]
    usual = [
        (*pair, choices[sum(divmod(number, len(HEADS))) % len(choices)])
        for number, pair in enumerate(WITH_HEADS)
    ]
    return all_but(usual, cases)


@pytest.mark.parametrize(("family", "head", "why"), spread(["words", "layers", "swaps"]))
def test_inspect(fine_tuned, monkeypatch, family, head, why):
    at = opener(fine_tuned, monkeypatch)(f"{family} {head}", "inspect_checkpoint", inspect_why=why)
    expected = {"words": 3, "layers": 1, "swaps": 0}[why]
    assert len(at.get("plotly_chart")) == 1 + expected
    assert "Example" not in said(at)


@pytest.mark.parametrize(("family", "head", "page"), spread(["compare", "what_if", "heads"]))
def test_pages_with_a_task_head(fine_tuned, monkeypatch, family, head, page):
    at = opener(fine_tuned, monkeypatch)(f"{family} {head}", page)
    assert at.get("plotly_chart")
