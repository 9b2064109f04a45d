"""BERT at a glance without a browser: what it sends, and where its parts lead."""

from __future__ import annotations

import pytest

from app.glance.page import PAGE_OF_PART
from app.navigation import PAGES
from tests.support.opened import ok, page_of


def test_every_part_leads_to_a_page() -> None:
    assert {*PAGE_OF_PART.values()} <= PAGES.keys()


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"text_a": "river"},
        {"text_a": "the [MASK] [MASK]", "text_b": "river"},
        {"text_a": "…\u200b", "text_b": ""},
        {"text_a": "</script><img src=x> \u202eabc $x$ `a`", "text_b": "**b** " * 60},
        {"text_a": "the river", "step": "99"},
        {"text_a": "the river", "step": "-1", "masked": "77"},
    ],
)
def test_odd_texts_and_links(
    query: dict[str, str], checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    ok(page_of("glance", **query).run())
