"""Odd texts, addresses of nonsense and damaged weights on every page: answers, and no exception."""

import json
from pathlib import Path

import pytest
import torch

from app.access.policy import CHECKPOINT_VARIABLE
from app.navigation import PAGES
from app.tokens.page import VIEWS as TOKEN_VIEWS
from tests.app.test_fields import FIELDS
from tests.support.browser.hostile import MARKUP, SCRIPT, SIGNS
from tests.support.exhaustive import spread
from tests.support.opened import QUICK, complaints, ok, page_of, with_results
from tests.support.tiny import tiny_bert

TEXTS = {
    "a letter": ("a", ""),
    "a script": (SCRIPT, MARKUP),
    "signs": (SIGNS, SIGNS),
    "another writing": ("他去了河边。天气很好。", "שלום \U0001f642"),
    "long": ("word " * 200, "**b** " * 60),
    "paragraphs": ("The man.\n\n\nShe sat.", ""),
    "special tokens": ("[MASK] [MASK] [SEP] [UNK]", "[CLS]"),
    "accents": ("e\u0301" * 40, "…\u200b"),
}
WAYS: list[tuple[str, dict[str, str]]] = [
    *((page, {}) for page in PAGES if page not in ("training", "bias")),
    *(("tokens", {"view": view}) for view in TOKEN_VIEWS),
    *(("attention", {"view": view}) for view in ("heat-map", "bertviz", "neurons")),
    ("inside_layer", {"layer_view": "all"}),
    ("layer_map", {"map_view": "geometry"}),
    ("what_if", {"pattern": "drawn", "segment": "1.1"}),
    *(("objectives", {"objective": name}) for name in ("next-sentence", "unilm", "mass")),
    ("architectures", {"architectures_view": "Let it write"}),
]


@pytest.mark.parametrize(("text", "way"), spread(TEXTS, WAYS))
def test_an_odd_text_is_drawn_as_text(
    text: str, way: tuple[str, dict[str, str]], checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, checkpoint)
    page, query = way
    text_a, text_b = TEXTS[text]
    typed = {"text_a": text_a, "text_b": text_b, "document": text_a, "other_a": f"the {text_a}"}
    app = ok(with_results(page_of(page, **{**typed, **QUICK, **query}).run()))
    assert "<img" not in json.dumps([chart.proto.spec for chart in app.get("plotly_chart")])


SOURCES = ("checkpoint", "compare_with", "runs", "text_a", "text_b", "document", "other_a")
"""Fields whose every value is asked for: what does not open is one sentence."""


@pytest.mark.parametrize(("value", "page"), spread(["x>y", "-1", "999.999", "<b>"], PAGES))
def test_nonsense_in_an_address_is_left_out(
    value: str, page: str, checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, checkpoint)
    names = {field.url or field.name for field in FIELDS.values()} - {*SOURCES}
    app = with_results(page_of(page, **dict.fromkeys(names, value)).run())
    assert "unexpected" not in complaints(app)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bert = tiny_bert()
    with torch.no_grad():
        bert.module.layers[1].feed_forward.output.weight[0, 0] = torch.nan
    return bert.save(tmp_path_factory.mktemp("damaged"))


TELLS = ("compare", "inside_layer", "minimal_pair", "what_if")
"""Pages on which a number that is none would spoil every picture."""


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ("training", "bias")])
def test_damaged_weights_are_told(
    page: str, damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(damaged))
    texts = {"text_a": "the man went to the [MASK] .", "other_a": "the woman went to the [MASK] ."}
    told = complaints(with_results(page_of(page, **texts, **QUICK).run()))
    assert "unexpected" not in told
    assert "NaN" in told or page not in TELLS
