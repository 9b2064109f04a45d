"""The heat map of attention alone in a real Chromium: numbers, order, zoom and keys."""

import io
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from playwright.sync_api import expect

from bertcore import Trace
from tests.support.browser import bare_view
from tests.support.browser.bare_tab import BROKEN, Tab, reds
from tests.support.browser.bare_view import made_trace

pytestmark = pytest.mark.browser


def test_heat_map_zooms_and_moves(tab: Tab) -> None:
    trace = made_trace(["[CLS]", *(f"word{k}" for k in range(510)), "[SEP]"])
    page = tab.show(bare_view.heat_map_view(trace))
    field = page.get_by_role("application")
    box = field.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 400, box["y"] + 400)
    before = page.locator(".tip").inner_text()
    for _ in range(8):
        page.mouse.wheel(0, -240)
    tab.settle()
    page.mouse.move(box["x"] + 401, box["y"] + 400)
    # What is under the pointer stays under it.
    assert page.locator(".tip").inner_text() == before
    shown = ET.fromstring(tab.save("SVG"))
    words = [text.text for text in shown.iter("{http://www.w3.org/2000/svg}text")]
    assert 8 <= sum(word.startswith("word") for word in words if word) <= 60
    page.mouse.move(box["x"] + 400, box["y"] + 400)
    page.mouse.down()
    page.mouse.move(box["x"] + 520, box["y"] + 300, steps=4)
    page.mouse.up()
    page.mouse.move(box["x"] + 521, box["y"] + 300)
    assert page.locator(".tip").inner_text() == before
    field.dblclick(position={"x": 400, "y": 400})
    expect(page.get_by_label("The whole map (key 0, or double click)")).to_be_disabled()


def test_heat_map_by_keyboard_says_exact_numbers(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.heat_map_view(pair))
    field = page.get_by_role("application")
    field.focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowRight"):
        field.press(key)
    weight = pair.attentions[0, 0, 2, 1].item()
    expect(page.locator(".live-region")).to_have_text(f"word1 attends to word0: {weight:.6f}")
    table = tab.sheet()
    assert table[3][2] == f"{weight:.4f}"
    for key in ("+", "+", "End"):
        field.press(key)
    expect(page.locator(".live-region")).to_contain_text("word1 attends to [SEP]")


def test_arrow_keys_sort_by_the_marked_cell_at_once(tab: Tab, pair: Trace) -> None:
    look = {"rows": "chosen", "columns": "chosen"}
    page = tab.show(bare_view.heat_map_view(pair, look=look))
    weights = pair.attentions[0, 0].numpy()
    field = page.get_by_role("application")
    field.focus()
    field.press("ArrowDown")
    with np.load(io.BytesIO(tab.save("NPZ"))) as arrays:
        rows, columns = arrays["row_order"], arrays["column_order"]
    marked = page.locator(".line").inner_text()
    by_weight = np.argsort(-weights[:, 0]).tolist()
    row = by_weight[by_weight.index(0) + 1]  # the map opens with the first token marked
    assert rows.tolist() == by_weight
    assert columns.tolist() == np.argsort(-weights[row]).tolist()
    assert f"{weights[row, 0]:.6f}" in marked


def test_only_a_click_of_the_main_button_marks_a_cell(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.heat_map_view(pair))
    field, line = page.get_by_role("application"), page.locator(".line")
    box = field.bounding_box()
    assert box is not None
    x, y = box["x"] + 300, box["y"] + 300
    page.mouse.click(x, y, button="right")
    expect(line).not_to_contain_text("marked")
    page.mouse.move(x, box["y"] - 20)
    page.mouse.down()
    page.mouse.move(x, y)
    page.mouse.up()
    expect(line).not_to_contain_text("marked")
    page.mouse.click(x, y)
    expect(line).to_contain_text("(marked")


def test_a_second_finger_moves_nothing(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.heat_map_view(pair))
    field = page.get_by_role("application")
    for _ in range(3):
        field.press("+")
    page.wait_for_function("window.reports.look?.seen")
    seen = page.evaluate("window.reports.look.seen")
    box = field.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 300)
    page.mouse.down()
    for name in ("pointermove", "pointerup", "pointercancel"):
        field.dispatch_event(name, {"pointerId": 77, "clientX": 500, "clientY": 600})
    page.mouse.up()
    expect(page.locator(".line")).to_contain_text("(marked")  # it was a click
    page.wait_for_timeout(600)  # longer than a report waits
    assert page.evaluate("window.reports.look.seen") == seen


def test_a_swipe_scrolls_the_page_while_the_whole_map_is_seen(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.heat_map_view(pair))
    field = page.get_by_role("application")
    expect(field).to_have_css("touch-action", "manipulation")
    field.press("+")
    expect(field).to_have_css("touch-action", "none")
    field.press("0")
    expect(field).to_have_css("touch-action", "manipulation")


def test_heat_map_shows_what_is_no_number(tab: Tab, broken: Trace) -> None:
    page = tab.show(bare_view.heat_map_view(broken))
    expect(page.get_by_text(BROKEN)).to_be_visible()
    assert json.loads(tab.save("JSON"))["rows"][3][1] is None
    assert tab.sheet()[4][1] == "\u2013"
    assert reds(tab) > 0.5 / broken.num_tokens * 0.4  # of the picture, which has names too
    tab.show(bare_view.heat_map_view(broken, 0, [1]))
    expect(page.get_by_text(BROKEN)).to_have_count(0)
    assert reds(tab) == 0


def test_heat_map_reports_a_mean(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.heat_map_view(pair))
    page.get_by_label("Head 2", exact=True).click(modifiers=["Shift"])
    page.get_by_label("The mean over all layers").click()
    page.wait_for_function("window.reports.selection?.layers.length === 2")
    assert page.evaluate("window.reports.selection.heads") == [0, 2]
