"""What no page says on a plain opening: an alert, or a control that names nothing."""

import re

import pytest

from app.navigation import PAGES
from tests.support.opened import PAIR, alerts, labels, opener, said

WITHOUT_B = {"compare": "Neither checkpoint has a question"}
"""What a page asks for before it has anything to show of one text."""
LONG = ("bias",)
"""Pages that compute for seconds; their own tests open them."""


@pytest.fixture(scope="module")
def folders(checkpoint):
    return {"tiny": checkpoint}


@pytest.mark.parametrize("texts", [PAIR, {**PAIR, "text_b": ""}], ids=["pair", "one text"])
@pytest.mark.parametrize("page", [page for page in PAGES if page not in LONG])
def test_nothing_is_said_where_there_is_nothing_to_say(folders, monkeypatch, page, texts):
    app = opener(folders, monkeypatch)("tiny", page, **texts)
    asked = {} if texts["text_b"] else WITHOUT_B
    told = alerts(app)
    assert len(told) == (page in asked)
    assert page not in asked or re.match(asked[page], told[0])
    assert "B is left out" not in said(app)
    for label in labels(app):
        assert label.strip(), page
        assert not re.search(r"  |\(\)| ,|\bNone\b|\bnan\b", label), label
