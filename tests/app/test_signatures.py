"""Every page with a checkpoint of each kind: it works, or says in the core's words what is lacking.

What a page can draw follows from the capabilities of a checkpoint, so a few checkpoints stand for
all families: each capability is there in one and absent in another.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.navigation import DOOR, PAGES
from bertcore import load
from bertcore.model.architecture.families import CAPABILITIES, Capability
from tests.support import tiny_tasks
from tests.support.browser.wording import wrong_words
from tests.support.exhaustive import all_but, spread
from tests.support.opened import charts, opener, said
from tests.support.rigged_models import started
from tests.support.tiny import causal_bert, tiny_bert
from tests.support.tiny_families import make
from tests.support.tiny_generic import make_generic
from tests.support.tiny_others import make_other, make_other_task


def causal_classifier(folder: Path) -> None:
    """It decides by the last token."""
    base = causal_bert().save(folder.with_name("base"))
    started(base, labels=("bad", "good")).save(folder)


MADE: dict[str, tuple[str, Callable[[Path], object]]] = {
    # name: (whose special tokens a page may name, what writes it)
    "DistilBERT": ("distilbert", lambda folder: make("DistilBertForMaskedLM", folder)),
    "RoBERTa": ("roberta", lambda folder: make("RobertaForMaskedLM", folder)),
    "ELECTRA's discriminator": ("electra", lambda folder: make("ElectraForPreTraining", folder)),
    "ALBERT": ("", lambda folder: make("AlbertForPreTraining", folder)),
    "ModernBERT": ("", lambda folder: make("ModernBertForMaskedLM", folder)),
    "RoBERTa's tagger": (
        "roberta",
        lambda folder: tiny_tasks.make_task(folder, "TokenClassification", "roberta"),
    ),
    "causal BERT": ("bert", lambda folder: causal_bert().save(folder)),
    "causal classifier": ("bert", causal_classifier),
    "MobileBERT": ("", lambda folder: make_other("MobileBertForPreTraining", folder)),
    "DeBERTa": ("", lambda folder: make_other("DebertaV2ForMaskedLM", folder)),
    "XLNet": ("", lambda folder: make_other("XLNetLMHeadModel", folder)),
    "T5": ("", lambda folder: make_other("T5ForConditionalGeneration", folder)),
    "GPT-2": ("", lambda folder: make_other("GPT2LMHeadModel", folder)),
    "RoFormer": ("", lambda folder: make_generic(folder, "roformer")),
    "SqueezeBERT": ("", lambda folder: make_generic(folder, "squeezebert")),
    "NomicBERT": (
        "",
        lambda folder: make_generic(folder, "nomic_bert", "ForSequenceClassification"),
    ),
}
NAMES = list(MADE)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for number, (name, (_, write)) in enumerate(MADE.items()):
        found[name] = tmp_path_factory.mktemp("kinds") / str(number)
        found[name].mkdir()
        write(found[name])
    return found


@pytest.fixture
def open_page(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Open a page on a checkpoint, and make sure that its words are those of the family."""
    opened = opener(folders, monkeypatch)

    def worded(name: str, page: str, **query: str) -> AppTest:
        app = opened(name, page, **query)
        tells_of_others = page in ("inspect_checkpoint", "lessons", "papers")
        assert wrong_words(said(app), "" if tells_of_others else MADE[name][0]) == []
        return app

    return worded


def test_each_capability_is_there_and_absent(folders: dict[str, Path]) -> None:
    found = [set(load(folder, device="cpu").capabilities) for folder in folders.values()]
    found.append(set(tiny_bert().capabilities))
    assert set.union(*found) == set(CAPABILITIES)
    assert not set.intersection(*found)


SCRIPTS = [page for page in PAGES if page != "training"]
REFUSED = {
    ("T5", "bias"): "but T5 has 6 sentinels",
    ("T5", "training_example"): "The tokenizer lacks one of the tokens",
}
ALL = [(name, page) for page in SCRIPTS for name in NAMES]
LONG = ("bias",)
"""Pages that compute for seconds, and whose own tests do it on BERT."""
USUAL = [case for number, case in enumerate(ALL) if number % 4 == 0 and case[1] not in LONG]
"""Each page with three checkpoints or four, and each checkpoint on a quarter of the pages."""


@pytest.mark.parametrize(("name", "page"), all_but(USUAL, ALL))
def test_every_page(open_page: Callable[..., AppTest], name: str, page: str) -> None:
    refusal = REFUSED.get((name, page))
    if refusal is None:
        assert said(open_page(name, page)) or page == DOOR  # which is one component
    else:
        with pytest.raises(AssertionError, match=refusal):
            open_page(name, page)


NEEDS: dict[str, tuple[str, dict[str, str], Capability | None]] = {
    # page, what is in the address, the capability without which nothing is drawn
    "whole embedding": ("tokens", {"view": "Three embeddings"}, None),
    "nearest words": ("tokens", {"view": "Nearest words"}, None),
    "normalised": ("tokens", {"view": "LayerNorm"}, "norm"),
    "positions": ("tokens", {"view": "Position table"}, "positions"),
    "one left out": ("tokens", {"view": "Leave one out"}, "parts"),
    "neurons": ("attention", {"view": "neurons"}, "queries"),
    "norms": ("attention", {"view": "heat-map", "measure": "norms"}, "parts"),
    "value zeroing": ("attention", {"view": "heat-map", "measure": "zeroing"}, "parts"),
    "next sentence": ("sentence_pairs", {}, "nsp"),
    "what if": ("what_if", {"off": "0.1"}, "parts"),
}
CANVASES = ("neurons", "norms", "value zeroing")
"""Views that Plotly does not draw."""
CASES = [(name, view) for view in NEEDS for name in NAMES]
CASES.remove(("ModernBERT", "one left out"))  # it has parts, but neither of those left out


@pytest.mark.parametrize(("name", "view"), all_but(CASES[::3], CASES))
def test_what_is_absent_is_said_in_the_words_of_the_core(
    open_page: Callable[..., AppTest], folders: dict[str, Path], name: str, view: str
) -> None:
    page, query, capability = NEEDS[view]
    app = open_page(name, page, token="2", **query)
    absent = load(folders[name], device="cpu").absent
    if capability in absent:
        assert absent[capability][1:] in said(app)
    elif view not in CANVASES:
        assert app.get("plotly_chart")
    is_drawn_all_the_same = page == "sentence_pairs" or (name, view) == ("ModernBERT", "positions")
    if capability in absent and not is_drawn_all_the_same:
        assert not app.get("plotly_chart")


CONTENTS = {"contents": "1"}
"""The heading that tells what is in the folder."""


@pytest.mark.parametrize(
    ("name", "page", "query", "expected", "count"),
    [
        ("ELECTRA's discriminator", "masked_words", {}, "predicts for each token whether it", 1),
        ("RoBERTa", "masked_words", {"masked": "2"}, "or type <mask>", 1),
        ("DistilBERT", "masked_words", {"masked": "2"}, "or type [MASK]", 1),
        ("GPT-2", "masked_words", {"masked": "3"}, "the tokens before it", 2),
        ("causal BERT", "masked_words", {}, "has no mask: it predicts each token", 2),
        ("XLNet", "masked_words", {"masked": "3"}, "second stream", 1),
        ("T5", "masked_words", {"masked": "3"}, "come from its decoder", 1),
        ("ALBERT", "sentence_pairs", {}, "probability that A comes before B", 1),
        ("DistilBERT", "sentence_pairs", {}, "the same segment, or none", 1),
        ("DistilBERT", "tokens", {"token": "2"}, "no segment embeddings", 1),
        ("RoBERTa", "tokens", {"token": "2"}, "not WordPiece", 1),
        ("DistilBERT", "tokens", {"token": "2"}, "## continues a word", 1),
        ("ModernBERT", "attention", {"layer": "1"}, "attends within 4 tokens to each side", 0),
        ("ModernBERT", "tokens", {"view": "Leave one out"}, "adds no position vectors", 0),
        ("causal classifier", "inspect_checkpoint", {"text_b": ""}, "good", 1),
        ("T5", "attention", {"view": "decoder"}, "", 1),
        ("ModernBERT", "inside_layer", {"layer_view": "all", "layer": "2"}, "neurons fire", 0),
        ("T5", "inspect_checkpoint", {**CONTENTS, "checkpoint_view": "Doctor"}, "", 0),
        ("T5", "inspect_checkpoint", CONTENTS, "another architecture, run by transformers", 0),
        ("ALBERT", "inspect_checkpoint", CONTENTS, "Family:", 0),
        ("MobileBERT", "inspect_checkpoint", {**CONTENTS, "checkpoint_view": "Doctor"}, "", 0),
    ],
)
def test_what_a_family_alone_says(
    open_page: Callable[..., AppTest],
    name: str,
    page: str,
    query: dict[str, str],
    expected: str,
    count: int,
) -> None:
    app = open_page(name, page, **query)
    assert expected in said(app)
    assert len(app.get("plotly_chart")) >= count


def test_rotary_positions_are_drawn(open_page: Callable[..., AppTest]) -> None:
    app = open_page("ModernBERT", "tokens", view="Position table")
    assert "rotates its queries and keys" in said(app)
    (chart,) = charts(app)
    titles = [note["text"] for note in chart["layout"]["annotations"]]
    assert titles == [
        "Layers 0, 3: full attention, base 160,000",
        "Layers 1, 2: window of 4 to each side, base 10,000",
    ]


HEADS = {
    "SequenceClassification": ("bad", "good", "so-so"),
    "TokenClassification": ("O", "B-X", "I-X"),
    "QuestionAnswering": ("start", "end"),
}
WITH_HEADS = [
    *((family, head) for family in tiny_tasks.SHAPES if family != "bert" for head in HEADS),
    ("deberta-v2", "SequenceClassification"),
    ("mobilebert", "TokenClassification"),
    ("xlnet", "QuestionAnswering"),
]
WHYS = {"words": 2, "layers": 3, "swaps": 2, "compare": None, "what_if": None}
"""What is shown of a head: on Inspect, with how many pictures, or a page."""


@pytest.mark.parametrize(("pair", "why"), spread(WITH_HEADS, WHYS))
def test_a_task_head(
    pair: tuple[str, str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, head = pair
    write = tiny_tasks.make_task if family in tiny_tasks.SHAPES else make_other_task
    write(tmp_path, head, family, HEADS[head])
    opened = opener({"it": tmp_path}, monkeypatch)
    expected = WHYS[why]
    if expected is None:
        # Other architectures have no heads to switch off: the page says so.
        is_drawn = why == "compare" or family in tiny_tasks.SHAPES
        drawn = opened("it", why, compare_with=str(tmp_path)).get("plotly_chart")
        assert bool(drawn) == is_drawn
    else:
        app = opened("it", "inspect_checkpoint", inspect_why=why)
        ends = head == "QuestionAnswering"  # the logits of start and end stand beside the answer
        assert len(app.get("plotly_chart")) == expected + ends
        assert "Example" not in said(app)


@pytest.mark.parametrize("page", ["attention", "heads"])
def test_attention_that_is_no_weights_carries_a_warning(
    open_page: Callable[..., AppTest], page: str
) -> None:
    app = open_page("SqueezeBERT", page)
    assert any("returns scores as attention" in box.value for box in app.warning)
    assert not any("as attention" in box.value for box in open_page("RoFormer", page).warning)
