"""Every page on odd texts, nonsense in the address and damaged weights, and on a plain opening."""

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

import app as app_package
from app.navigation import PAGES
from app.screens.tokens.page import VIEWS as TOKEN_VIEWS
from app.server.policy import CHECKPOINT_VARIABLE
from app.shell.state import Field
from tests.support.browser.hostile import LONG, MARKUP, NOT_SEEN, SCRIPT, SIGNS
from tests.support.exhaustive import spread
from tests.support.opened import PAIR, QUICK, alerts, complaints, ok, page_of, said, with_results
from tests.support.tiny import tiny_bert


@pytest.fixture(autouse=True)
def _tiny(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, checkpoint)


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
    ("what_if", {"pattern": "drawn"}),
    *(("objectives", {"objective": name}) for name in ("next-sentence", "unilm", "mass")),
    ("architectures", {"architectures_view": "Let it write"}),
]


@pytest.mark.parametrize(("text", "way"), spread(TEXTS, WAYS))
def test_an_odd_text_is_drawn_as_text(text: str, way: tuple[str, dict[str, str]]) -> None:
    page, query = way
    text_a, text_b = TEXTS[text]
    typed = {"text_a": text_a, "text_b": text_b, "document": text_a, "other_a": f"the {text_a}"}
    app = ok(with_results(page_of(page, **{**typed, **QUICK, **query}).run()))
    assert "<img" not in json.dumps([chart.proto.spec for chart in app.get("plotly_chart")])


LIMIT = re.compile(r"602 tokens but the limit is \d+, so the last \d+ tokens of text A")
TOLD: dict[str, str | re.Pattern[str]] = {
    NOT_SEEN: "Nothing in this text is a word to the model",
    " \n\t ": "Sentence A is empty. Type a sentence above, or pick an example.",
    LONG: LIMIT,
}
"""By text A: what each page says of it."""


@pytest.mark.parametrize("page", [page for page, info in PAGES.items() if info.needs_text])
def test_a_text_without_words_or_without_end_is_told(page: str) -> None:
    for text, told in TOLD.items():
        app = ok(page_of(page, text_a=text, text_b="", **QUICK).run())
        assert re.search(told, said(app)), text


def declared_fields() -> dict[str, Field[Any]]:
    """Return the Fields of the app's modules, by module and name."""
    fields: dict[str, Field[Any]] = {}
    folder = Path(app_package.__path__[0])
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        if module == "app.main":  # importing it would run it
            continue
        for name, value in vars(importlib.import_module(module)).items():
            if isinstance(value, Field) and all(value is not field for field in fields.values()):
                fields[f"{module}.{name}"] = value
    return fields


FIELDS = declared_fields()
SOURCES = ("checkpoint", "compare_with", "runs", "text_a", "text_b", "document", "other_a")
"""Fields whose every value is asked for: what does not open is one sentence."""


def test_names_of_fields_are_unique() -> None:
    """Two pages with one field's name would overwrite each other's choice."""
    names = [field.name for field in FIELDS.values()]
    assert len({*names}) == len(names) > 50
    assert "app.screens.masked_words.page.TOP_K" in FIELDS


@pytest.mark.parametrize(("value", "page"), spread(["x>y", "-1", "999.999", "<b>"], PAGES))
def test_nonsense_in_an_address_is_left_out(value: str, page: str) -> None:
    names = {field.url or field.name for field in FIELDS.values()} - {*SOURCES}
    app = with_results(page_of(page, **dict.fromkeys(names, value)).run())
    assert "unexpected" not in complaints(app)


@pytest.mark.parametrize("text_b", [PAIR["text_b"], ""], ids=["pair", "one text"])
@pytest.mark.parametrize("page", [page for page in PAGES if page != "bias"])
def test_nothing_is_said_where_there_is_nothing_to_say(page: str, text_b: str) -> None:
    """No alert on a plain opening, and no control that names nothing."""
    app = ok(with_results(page_of(page, **{**PAIR, **QUICK, "text_b": text_b}).run()))
    needs_b = page == "compare" and not text_b
    told = alerts(app)
    assert len(told) == needs_b
    assert not needs_b or told[0].startswith("Neither checkpoint has a question")
    assert "B is left out" not in said(app)
    kinds = (app.button, app.toggle, app.checkbox, app.selectbox, app.radio, app.slider)
    for label in (control.label for kind in kinds for control in kind):
        assert label.strip()
        assert not re.search(r"  |\(\)| ,|\bNone\b|\bnan\b", label), label


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
