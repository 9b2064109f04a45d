"""The switches of heads and the drawn mask alone in a real Chromium: by keyboard and pointer."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import bare_view
from tests.support.browser.bare_tab import Tab

pytestmark = pytest.mark.browser

MODIFIED = """key => {
  const root = document.getElementById("place").shadowRoot;
  const event = new KeyboardEvent("keydown", {
    key, altKey: true, bubbles: true, composed: true, cancelable: true });
  return (root.activeElement ?? root).dispatchEvent(event);
}"""
"""Press a key with Alt where the focus is; tells whether the browser may act on it."""


def focused(page: Page) -> str:
    found = page.evaluate(
        "document.getElementById('place').shadowRoot.activeElement?.getAttribute('aria-label')"
    )
    return str(found)


def test_layers_are_switched_by_keyboard(tab: Tab) -> None:
    page = tab.show(bare_view.head_switches_view(2, 3))
    press = page.keyboard.press
    status = page.locator(".status")
    page.get_by_role("switch", name="Layer 0 head 0", exact=True).focus()
    press("ArrowDown")
    press("ArrowLeft")
    assert focused(page) == "All heads of layer 1"
    press("Enter")
    assert page.evaluate("window.reports.switched.off") == ["1.0", "1.1", "1.2"]
    expect(status).to_contain_text("Layer 1 has 0 of 3 heads on")
    for _ in range(6):
        press("ArrowRight")
    assert focused(page) == "Skip layer 1 whole"
    press("Space")
    assert page.evaluate("window.reports.switched.skipped") == [1]
    expect(status).to_contain_text("Layer 1 is skipped")
    # One stop of Tab, where the arrows were.
    assert page.locator(".grid button[tabindex='0']").count() == 1
    press("Shift+Tab")
    assert "layer" not in focused(page).lower()
    press("Tab")
    assert focused(page) == "Skip layer 1 whole"
    assert page.evaluate(MODIFIED, "ArrowLeft")
    assert focused(page) == "Skip layer 1 whole"
    # A click takes the keyboard along.
    page.get_by_role("button", name="All heads of layer 0").click(modifiers=["Shift"])
    assert page.evaluate("window.reports.switched.off") == ["1.0", "1.1", "1.2"]
    press("ArrowRight")
    assert focused(page).startswith("Layer 0 head 0")


COUNTED = """() => {
  window.calls = {};
  for (const name of ["fillRect", "clearRect", "putImageData"]) {
    const { [name]: old } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype[name] = function (...given) {
      window.calls[name] = (window.calls[name] ?? 0) + 1;
      return old.apply(this, given);
    };
  }
}"""
NAMES = 84
"""Pixels of the names, left of the cells and above."""


def calls(tab: Tab) -> dict[str, int]:
    """Return what was called on canvases since the last time."""
    tab.settle()
    found: dict[str, int] = tab.page.evaluate("window.calls")
    tab.page.evaluate("window.calls = {}")
    return found


def test_a_move_of_the_pointer_paints_no_cell_anew(tab: Tab) -> None:
    page = tab.show(bare_view.mask_drawing_view([f"word{k}" for k in range(512)]))
    box = page.get_by_role("application").bounding_box()
    assert box is not None
    move = page.mouse.move
    move(box["x"] + 300, box["y"] + 300)
    page.evaluate(COUNTED)
    move(box["x"] + 340, box["y"] + 300)
    move(box["x"] + 345, box["y"] + 320)
    assert set(calls(tab)) == {"clearRect"}
    page.mouse.down()
    move(box["x"] + 400, box["y"] + 400)
    page.wait_for_function("window.calls.putImageData >= 1")
    made = calls(tab)
    assert 1 <= made["putImageData"] <= 3
    assert made.get("fillRect", 0) <= 6  # the colours of the theme are read
    page.mouse.up()
    assert len(page.evaluate("window.reports.drawn")) == 1


def test_nothing_is_painted_inside_a_cell(tab: Tab) -> None:
    page = tab.show(bare_view.mask_drawing_view("abcde"))
    box = page.get_by_role("application").bounding_box()
    assert box is not None
    left, top = box["x"] + NAMES, box["y"] + NAMES
    page.mouse.move(left + 30, top + 8)
    tab.settle()
    page.evaluate(COUNTED)
    page.mouse.move(left + 33, top + 11)
    assert calls(tab) == {}
    expect(page.locator(".status")).to_have_text("a may attend to b")
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".status")).to_have_text("a may not attend to b")


def test_cells_have_the_colour_of_what_they_allow(tab: Tab) -> None:
    page = tab.show(bare_view.mask_drawing_view("abcde", [(1, 1, 2, 4)]))
    seen = page.locator("canvas").evaluate(
        """canvas => {
          const context = canvas.getContext("2d");
          const at = (row, column, x = 8, y = 8) => [...context.getImageData(
            84 + column * 22 + x, 84 + row * 22 + y, 1, 1).data];
          return { open: at(1, 1), corner: at(4, 4, 0, 0), blocked: at(1, 2), end: at(1, 4, 20, 20),
            gaps: [at(1, 1, 21), at(1, 1, 8, 21), at(4, 4, 21)] };
        }"""
    )
    assert seen["open"] == seen["corner"] == [0x34, 0x57, 0xD5, 255]
    assert seen["blocked"] == seen["end"]
    assert seen["blocked"][3] == 56
    assert [pixel[3] for pixel in seen["gaps"]] == [0, 0, 0]


def test_a_rectangle_is_chosen_by_shift_alone(tab: Tab) -> None:
    tokens = list("abcdef")
    page = tab.show(bare_view.mask_drawing_view(tokens))
    press = page.keyboard.press
    page.get_by_role("application").focus()
    for key in ("Shift+ArrowRight", "Shift+ArrowDown", "ArrowRight", "ArrowRight", "Space"):
        press(key)
    assert page.evaluate("window.reports.drawn") == [[1, 1, 3, 3]]
    expect(page.locator(".status")).to_have_text("b may not attend to d")
    for key in ("Shift+ArrowRight", "Shift+ArrowDown", "Space"):
        press(key)
    assert page.evaluate("window.reports.drawn") == []  # the first cell was blocked
    assert page.evaluate(MODIFIED, "ArrowLeft")
    # A rectangle that was begun over other tokens is let go.
    press("Shift+ArrowDown")
    page.evaluate(bare_view.mask_drawing_view(list("vwxyz")).arrival)
    page.evaluate("window.draw()")
    press("ArrowDown")
    press("Space")
    assert page.evaluate("window.reports.drawn") == [[1, 1, 0, 0]]
