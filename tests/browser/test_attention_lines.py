"""The lines of attention alone in a real Chromium: numbers, keys, and what is asked for."""

import json
import re

import pytest
from playwright.sync_api import expect

from app.canvas.lines import lines
from bertcore import Trace
from bertcore.analysis import layer_attention
from tests.support.browser import bare_view
from tests.support.browser.bare_tab import Tab
from tests.support.browser.bare_view import View, made_trace

pytestmark = pytest.mark.browser


def test_lines_of_chosen_tokens_are_summed(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.lines_view(pair, 0, [1]))
    weights = pair.attentions[0, 1].numpy()
    field = page.get_by_role("application")
    field.focus()
    field.press("Home")  # [CLS] on the left
    for key in ("ArrowDown", "Enter", "ArrowDown", "Space"):
        field.press(key)
    expect(page.get_by_role("heading", level=2)).to_have_text("2 tokens together attend to")
    table = tab.sheet()
    assert table[0][:4] == ["position", "attended to", "sum", "fraction"]
    for place, _, total, share in table[1:]:
        wanted = weights[1, int(place)] + weights[2, int(place)]
        assert float(total) == pytest.approx(wanted, abs=0.007)
        assert float(share) == pytest.approx(wanted / 2, abs=0.004)
    field.press("ArrowRight")
    for key in ("ArrowDown", "Space", "ArrowDown", "Space"):
        field.press(key)
    together = weights[1:3, 3:5].sum()
    expect(page.locator(".panel")).to_contain_text("2 tokens together attend to 2 tokens together")
    said = re.search(r"Together ([\d.]+) of 2", page.locator(".panel").inner_text())
    assert said is not None
    assert float(said[1]) == pytest.approx(together, abs=0.013)
    data = json.loads(tab.save("JSON"))
    assert (data["chosen_attending"], data["chosen_attended"]) == ([1, 2], [3, 4])
    assert {row[0] for row in data["rows"]} <= {1, 2}
    field.press("Escape")
    expect(page.get_by_role("heading", level=2)).to_have_text("Point at a token")


def test_lines_by_mouse_with_shift(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.lines_view(pair, 0, [1]))
    field = page.get_by_role("application")
    field.click(position={"x": 60, "y": 45})
    field.click(position={"x": 60, "y": 145}, modifiers=["Shift"])
    expect(page.get_by_role("heading", level=2)).to_have_text("2 tokens together attend to")
    field.click(position={"x": 60, "y": 145}, modifiers=["Shift"])
    expect(page.get_by_role("heading", level=2)).to_contain_text("attends to")


@pytest.fixture
def sparing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short texts are sent as long ones are: the shown heads only."""
    monkeypatch.setattr(lines, "SMALL", 0)


@pytest.mark.usefixtures("sparing")
def test_lines_ask_for_a_head_that_they_do_not_have(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.lines_view(pair, 0, [1], look={"threshold": 0.0}))
    most = pair.num_tokens**2
    assert len(json.loads(tab.save("JSON"))["rows"]) == pytest.approx(most, abs=20)
    page.get_by_role("button", name="Head 3").click()
    expect(page.get_by_text("Head 3 on the way")).to_be_visible()
    page.wait_for_function("window.reports.selection?.heads.length === 2")
    assert page.evaluate("window.reports.selection.heads") == [1, 3]
    # The server answers with the heads that are chosen, here of the visitor's first choice.
    page.evaluate(View("", lines.message(layer_attention(pair, 0, [1, 3]), 1)).arrival)
    page.evaluate("window.draw()")
    expect(page.get_by_text("on the way")).to_have_count(0)
    rows = json.loads(tab.save("JSON"))["rows"]
    assert len(rows) == pytest.approx(2 * most, abs=40)
    weights = pair.attentions[0].numpy()
    assert {row[4] for row in rows} == {1, 3}
    for at, _, to, _, head, weight in rows:
        assert weight == pytest.approx(weights[head, at, to], abs=0.003)
    # A head that was here before is drawn at once, without an answer.
    page.get_by_role("button", name="Head 1").click()
    page.get_by_role("button", name="Head 1").click()
    expect(page.get_by_text("on the way")).to_have_count(0)
    assert len(json.loads(tab.save("JSON"))["rows"]) == len(rows)
    # Another checkpoint with the same tokens: what was kept does not count.
    other = made_trace(pair.tokens, second=12)
    other.attentions[0] = other.attentions[1].clone()
    page.evaluate(View("", lines.message(layer_attention(other, 0, [1]), 1)).arrival)
    page.evaluate("window.draw()")
    expect(page.get_by_text("Head 3 on the way")).to_be_visible()


def test_the_name_of_a_control_begins_with_its_label(tab: Tab, pair: Trace) -> None:
    """Who speaks to the computer says what is written."""
    page = tab.show(bare_view.lines_view(pair))
    label = page.locator("label", has=page.get_by_label("Show lines between sentences"))
    assert label.evaluate("label => label.firstChild.textContent") == "Show"
