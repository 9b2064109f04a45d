"""BERT at a glance without a browser: what it sends, and where its parts lead."""

from pathlib import Path

import pytest

from app.navigation import PAGES
from app.parts.walk.summary import summarize
from app.screens.glance.page import PAGE_OF_PART
from bertcore import Bert
from tests.support.opened import ok, page_of, shown_names
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

A, B = "the river bank was steep", "it had rained"


def test_every_part_leads_to_a_page() -> None:
    assert {*PAGE_OF_PART.values()} <= PAGES.keys()


@pytest.mark.parametrize("is_causal", [False, True])
def test_the_python_runs_the_input_that_is_drawn(
    is_causal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = tiny_network(tiny_config(is_decoder=is_causal), heads=frozenset({"mlm"}))
    bert = Bert(network, tiny_tokenizer())
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(bert.save(tmp_path / "shown")))
    app = ok(page_of("glance", text_a=A, text_b=B).run())
    masked = tuple(app.session_state["masked"])
    drawn = summarize(bert, A, B, masked).trace
    assert shown_names(app)["result"].trace.tokens == drawn.tokens
    assert ("[MASK]" in drawn.tokens) == (not is_causal)
