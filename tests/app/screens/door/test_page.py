"""The door: its words and gaps, what it says of odd texts and checkpoints, and its stored look."""

import json
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.parts.component import Component, hear
from app.parts.door.door import FIRST
from app.screens.door import told
from app.server.policy import CHECKPOINT_VARIABLE
from app.shell.words.language import languages
from bertcore import load
from bertcore.analysis.words.predictions import predict_masks
from tests.support.docs_scripts import script
from tests.support.opened import page_of

MAKE = "run `python docs/make_stored.py door` and commit first_paint.json"


class Drawn:
    """What the component was told last, and what a visitor does to it in the next run."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.deeds: list[Any] = []

    def draw(self, data: dict[str, Any], listener: Any) -> None:
        self.data = data
        if self.deeds:
            deed = self.deeds.pop()
            st.session_state["reported"] = {}
            hear("reported", lambda _: deed, listener)()
            st.rerun()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    noted = Drawn()

    def draw(self: Component, data: Any, *, key: str, **listeners: Any) -> None:
        if key == "door":
            noted.draw(data, listeners["did"])

    monkeypatch.setattr(Component, "__call__", draw)
    return noted


def opened(drawn: Drawn, **query: Any) -> AppTest:
    app = page_of("door", **query).run()
    assert not app.exception
    assert drawn.data
    return app


def text_of(data: dict[str, Any]) -> str:
    """The text as it is seen, with gaps."""
    return "".join("_" if word in data["hidden"] else part for part, word in data["parts"])


def said(parts: list[tuple[str, str]]) -> str:
    return "".join(part for part, _ in parts)


def test_what_is_drawn_before_python_answers_is_what_python_draws() -> None:
    module = script("make_stored")
    stored, now = json.loads(FIRST.read_text()), json.loads(json.dumps(module.first_doors()))
    assert [*stored] == [*languages()]
    assert module.difference(stored, now) == "", MAKE


def test_it_opens_with_a_gap_and_its_guesses(drawn: Drawn) -> None:
    app, data = opened(drawn), drawn.data
    assert text_of(data) == "He opened the _ and went in."
    (gap,) = data["gaps"]
    bert = load("default")
    found = predict_masks(bert, told.FIRST_TEXT[0], None, (4,), told.NUM_GUESSES)
    assert [word for word, _ in gap["guesses"]] == found.words[0].tolist()
    assert [p for _, p in gap["guesses"]] == pytest.approx(found.probabilities[0], abs=1e-4)
    assert "9 million parameters, trained for this app" in said(data["by"])
    assert not app.query_params, "a first visit has nothing in its address"


def test_a_hidden_word_moves_with_its_text(drawn: Drawn) -> None:
    app = opened(drawn)
    for text, seen in (
        ("Then he slowly opened the door.", "Then he slowly opened the _."),
        ("Then he slowly opened the gate.", "Then he slowly opened the gate."),
    ):
        drawn.deeds = [{"text": text, "hidden": None, "to": ""}]
        app.run()
        assert text_of(drawn.data) == seen
    assert told.NOTHING_HIDDEN in drawn.data["notes"]
    assert app.query_params["text_a"] == text
    assert app.query_params["door"] == "1"


def test_a_click_hides_all_pieces_of_a_word(drawn: Drawn) -> None:
    app = opened(drawn, text_a="The palaeontologist sat.", door="1")
    data = drawn.data
    (start,) = (word for part, word in data["parts"] if part == "palaeontologist")
    drawn.deeds = [{"text": data["text"], "hidden": [start, 99, "x"], "to": ""}]
    app.run()
    data = drawn.data
    assert text_of(data) == "The _ sat."
    assert len(app.query_params["masked"]) > 1
    (gap,) = data["gaps"]
    assert gap["told"].startswith("BERT reads “palaeontologist” as ")


@pytest.mark.parametrize("deed", [None, 3, {}, {"text": "x"}, {"text": 1, "hidden": [[]], "to": 2}])
def test_a_deed_that_no_door_reports_changes_nothing(drawn: Drawn, deed: Any) -> None:
    app, before = opened(drawn), drawn.data
    drawn.deeds = [deed]
    app.run()
    assert not app.exception
    assert drawn.data == before


@pytest.mark.parametrize(
    ("query", "seen", "noted"),
    [
        ({"text_a": ""}, "", told.NO_TEXT),
        ({"text_a": " \n"}, " \n", told.NO_TEXT),
        ({"text_a": "The cat sat."}, "The cat sat.", told.NOTHING_HIDDEN),
        ({"text_a": "The cat sat", "masked": ["1", "2", "3"]}, "_ _ _", told.ALL_HIDDEN),
        ({"text_a": "The cat sat.", "masked": ["2", "77", "-1", "x"]}, "The _ sat.", ""),
        ({"text_a": "word " * 600, "masked": "3"}, None, "the limit is 512"),
        ({"text_a": "It is [MASK].", "text_b": "Yes."}, "It is [MASK].\nYes.", ""),
        ({"text_a": "我爱学习。", "masked": "2"}, "我_学习。", "cannot read this text"),
        ({"text_a": "He ran.", "checkpoint": "sentiment"}, "He ran.", "sentiment fills no gaps"),
        ({"text_a": "He ran.", "checkpoint": "causal"}, "He ran.", "causal fills no gaps"),
        ({"checkpoint": "zh"}, "母亲说，孩子们都_家里。", ""),
        ({"checkpoint": "ru"}, "Он открыл _ и вошёл в комнату.", ""),
        ({"text_a": "<b>hi</b> **x**", "masked": "2"}, "<_>hi</b> **x**", ""),
    ],
)
def test_odd_texts_and_checkpoints(
    drawn: Drawn, query: dict[str, Any], seen: str | None, noted: str
) -> None:
    app = opened(drawn, door="1", **query)
    data = drawn.data
    assert not app.error
    assert seen in (None, text_of(data))
    assert noted in " ".join(data["notes"])
    assert bool(data["notes"]) == bool(noted)
    has_gap = "_" in text_of(data) or "[MASK]" in text_of(data)
    assert bool(data["gaps"]) == has_gap
    assert [*map(len, (gap["guesses"] for gap in data["gaps"]))] == [5] * len(data["gaps"])
    if "cannot read" in noted:
        assert data["ways"][0]["to"] == "zh"


def test_another_checkpoint_is_named_with_its_size(
    drawn: Drawn, checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, checkpoint)
    opened(drawn)
    data = drawn.data
    assert said(data["by"]).startswith("Guesses of ")
    assert "thousand parameters" in said(data["by"])
    assert "trained for this app" not in said(data["by"])
    assert sum(p for _, p in data["gaps"][0]["guesses"]) < 0.5, "untrained: nothing stands out"
