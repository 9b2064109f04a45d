"""A tool made by a link: what its names leave, and what it says of names that are none."""

from importlib import import_module

import pytest
from streamlit.testing.v1 import AppTest

from app.navigation import DOOR, PAGES
from app.screens.tokens.views import SUM
from app.shell.withheld.class_link import ALL, Tool, controls, labels, link
from tests.support.browser.hostile import MARKUP
from tests.support.opened import page_of, with_results

MANY = ",".join(f"name-{number}" for number in range(2_000))
EVERY_PAGE = ",".join(page.name for folder, page in PAGES.items() if folder != DOOR)


def _made(**query: str | list[str]) -> tuple[Tool, dict[str, str]]:
    """Return the tool of a visit that begins with a query, and the address afterwards."""

    def visit() -> None:
        import streamlit as st

        from app.navigation import PAGES
        from app.shell import state
        from app.shell.withheld import class_link

        state.begin_run()
        st.session_state["made"] = class_link.begin(PAGES)
        state.sync_url()

    at = AppTest.from_function(visit)
    at.query_params.update(query)
    at.run()
    assert not at.exception
    made: Tool = at.session_state["made"]
    return made, dict(at.query_params)


@pytest.mark.parametrize(
    ("query", "pages", "hidden_views", "hidden_controls"),
    [
        ({"show": "tokens,attention"}, {"tokens", "attention"}, set(), set()),
        ({"show": ["tokens", "attention"]}, {"tokens", "attention"}, set(), set()),
        ({"show": " TOKENS,tokens,,heads"}, {"tokens", "heads"}, set(), set()),
        ({"hide": EVERY_PAGE.replace("bias,", "")}, {"bias"}, set(), set()),
        ({"show": "tokens,bias", "hide": "bias"}, {"tokens"}, set(), set()),
        ({"hide": "layer-norm"}, None, {"layer-norm"}, set()),
        ({"hide": "layer,checkpoint"}, None, set(), {"layer", "inside_layer", "checkpoint"}),
        ({"show": "heads-bars", "hide": "temperature"}, {"heads"}, None, {"temperature"}),
        ({"show": "", "hide": ",,"}, None, set(), set()),
    ],
)
def test_names_leave_pages_views_and_controls(query, pages, hidden_views, hidden_controls) -> None:
    tool, _ = _made(**query)
    assert tool.pages == pages
    assert tool.controls == hidden_controls
    assert tool.notes == ()
    if hidden_views is None:  # a view was named: the others of its page are hidden
        assert "heads-grid" in tool.views
        assert "heads-bars" not in tool.views
    else:
        assert tool.views == hidden_views


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"show": "bogus"}, "bogus."),
        ({"hide": MARKUP}, "is not in this app: "),
        ({"show": "temperature"}, "temperature."),  # no page and no view
        ({"show": "door"}, "door."),  # which is always there
        ({"hide": MANY}, "and 1,995 more."),
        ({"hide": "x" * 3_000}, "x" * 40 + "."),
    ],
)
def test_unknown_names_are_told_and_leave_all(query, told) -> None:
    tool, address = _made(**query)
    (note,) = tool.notes
    assert told in note
    assert "<" not in note.replace("\\<", "")
    assert (tool.pages, tool.views, tool.controls) == (None, ALL.views, ALL.controls)
    assert address == {}


def test_known_names_stay_in_the_address() -> None:
    tool, address = _made(show="Tokens,bogus,heads-bars", hide="heads-grid")
    assert len(tool.notes) == 1
    assert address == {"show": "tokens,heads-bars", "hide": "heads-grid"}
    assert link(["tokens", "heads-bars"], []) == "show=tokens,heads-bars"


def test_a_link_that_hides_every_page_says_so() -> None:
    tool, _ = _made(hide=EVERY_PAGE)
    assert tool.pages == frozenset()
    assert "hides every page" in tool.notes[0]


def test_fields_are_known_by_both_names() -> None:
    assert controls()["layer"] == {"layer", "inside_layer"}
    assert controls()["inside_layer"] == {"inside_layer"}
    assert "show" not in controls()


def test_controls_are_called_what_the_page_calls_them() -> None:
    assert labels()["checkpoint"] == ("", "Checkpoint")
    assert labels()["top_k"] == ("masked_words", "Words for each mask")
    assert len(labels()) > 30
    assert {*labels()} <= {*controls()}
    assert {folder for folder, _ in labels().values()} <= {*PAGES, "classroom", ""}


def test_a_hidden_view_is_neither_computed_nor_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("app.shell.pictures.show"), "Compute", None)  # not called
    shown = AppTest.from_function(_ask)
    shown.session_state["_tool_of_link"] = Tool(views=frozenset({SUM.name}))
    shown.run()
    assert [text.value for text in shown.text] == ["None", "ended"]
    assert len(shown.caption) == 2


def _ask() -> None:
    import streamlit as st

    from app.screens.tokens.views import SUM
    from app.shell import computed, show
    from app.shell.jobs.waiting import Pending

    st.text(str(show(SUM, None)))
    try:
        computed(SUM, None)
    except Pending:
        st.text("ended")


def test_the_headings_and_buttons_of_hidden_views_go() -> None:
    at = page_of("masked_words", text_a="The [MASK] sat.")
    question = "How does each word's rank change from layer to layer?"
    at.session_state["_tool_of_link"] = Tool(headings=frozenset({("masked_words", question)}))
    labels = [room.label for room in with_results(at.run()).expander]
    assert labels
    assert f"**{question}**" not in labels
    at = page_of("tokens")
    at.session_state["_tool_of_link"] = Tool(views=frozenset({SUM.name}))
    at.run()
    assert SUM.question not in [header.value for header in at.header]
