"""Components alone: called again, as Streamlit does when data or theme change, and by keyboard."""

from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect

from app.parts.bundle import Bundle, read_bundle
from app.parts.layer_watch import layer_watch
from app.screens.architectures import drawing as architectures
from app.screens.architectures import writing
from app.screens.inside_layer import drawing as inside_layer
from app.screens.objectives import drawing as objectives
from app.shell.browser import signals
from bertcore.analysis.mixing.layer_stages import STAGES, LayerStages
from bertcore.model.objectives.table import OBJECTIVES
from tests.support.browser import bare_view
from tests.support.browser.bare_tab import Tab
from tests.support.browser.bare_view import PLACE, component_page, made_trace

pytestmark = pytest.mark.browser


def opened(tab: Tab, bundle: Bundle, body: str = "") -> Page:
    """Return a page that holds the component, and elements beside it."""
    tab.page.set_content(component_page(bundle).replace("<body>", f"<body>{body}"))
    tab.page.wait_for_function("window.call !== undefined")
    return tab.page


def call(page: Page, data: dict[str, Any]) -> None:
    """Call the component; `closeFirst` and `close` are the cleanups of its first and last call."""
    page.evaluate(
        "data => { window.close = window.call(data); window.closeFirst ??= window.close; }", data
    )


def focused(page: Page, attribute: str) -> str:
    """Return an attribute of what has the focus within the component."""
    return str(
        page.evaluate(
            "([place, name]) => document.querySelector(place).shadowRoot"
            ".activeElement?.getAttribute(name)",
            [PLACE, attribute],
        )
    )


_PLOT = """<div class="figure"><div class="js-plotly-plot"><svg tabindex="0"><g class="menulayer">
<rect class="slider-rail-touch-rect" width="90" height="9"/></g></svg></div></div>
<script>
const plot = document.querySelector(".js-plotly-plot");
plot.on = plot.removeListener = () => {};
plot.layout = { sliders: [{ steps: [0, 1, 2], active: 0 }] };
window.clicks = 0;
plot.addEventListener("mousedown", () => { window.clicks += 1; });
</script>"""


def test_an_arrow_key_moves_a_slider_by_one_step(tab: Tab) -> None:
    page = opened(tab, read_bundle(layer_watch.__file__), _PLOT)
    for label in ("light", "dark"):
        call(page, {"figure": ".figure", "label": label})
    slider = page.get_by_role("slider", name="dark")
    slider.press("ArrowRight")
    assert page.evaluate("window.clicks") == 1
    page.evaluate("window.close()")
    slider.press("ArrowRight")
    assert page.evaluate("window.clicks") == 1


@pytest.mark.parametrize("is_early", [False, True], ids=["usual", "while the module was loaded"])
def test_a_text_is_sent_once_when_typing_rests(tab: Tab, is_early: bool) -> None:
    page = opened(
        tab, signals.LIVE_TEXT.bundle, "<div class='st-key-text'><textarea></textarea></div>"
    )
    page.evaluate(
        """() => { window.sent = 0; document.addEventListener("keydown", (event) => {
          if (event.ctrlKey && event.key === "Enter") window.sent += 1; }); }"""
    )
    area = page.locator("textarea")
    if is_early:
        area.fill("a word")
    for pause in (80, 120):
        call(page, {"keys": ["text"], "pauseMs": pause})
    if not is_early:
        area.fill("a word")
    page.wait_for_function("window.sent > 0")
    tab.settle()
    assert page.evaluate("window.sent") == 1
    page.evaluate("window.close()")
    area.fill("another word")
    tab.settle()
    assert page.evaluate("window.sent") == 1


def test_the_cleanup_of_a_first_call_leaves_what_the_second_one_shows(tab: Tab) -> None:
    """Streamlit runs it late if the data changes while the module loads."""
    page = opened(tab, writing.COMPONENT.bundle)
    best = [["word", 0.5]]
    written = [{"token": f"word{k}", "probability": 0.5, "best": best} for k in range(3)]
    for count in (1, 2, 3):
        data = {"name": "GPT", "before": [], "written": written[:count]}
        if count == 3:
            page.evaluate("window.closeFirst()")
        call(page, {"next": data, "masks": None})
    expect(page.locator("output")).to_have_text("step 3 of 3")  # one view, with the last data


def network(name: str) -> dict[str, Any]:
    return {
        **dict.fromkeys(("token", "probability", "rank")),
        "name": name,
        "rule": "Each place reads both sides",
        "note": "",
        "tokens": ["a", "b"],
        "before": 0,
        "after": 0,
        "place": 1,
        "unread": 2,
        "nets": [architectures._net(np.full((1, 2, 2), 0.5, np.float32), 1, range(2), "both")],
        "best": (),
        "result": "half of it",
    }


def test_what_has_the_focus_keeps_it_when_it_is_drawn_anew(tab: Tab) -> None:
    page = opened(tab, architectures.COMPONENT.bundle)
    networks = [network("BERT"), network("GPT")]
    call(page, architectures.message(networks))
    page.get_by_role("application", name="GPT").press("Enter")
    assert page.evaluate("window.reports.picked") == {"panel": 1, "row": 1}
    call(page, architectures.message([*networks, network("ELMo")]))
    assert focused(page, "aria-label").startswith("GPT")

    page = opened(tab, objectives.COMPONENT.bundle)
    first, second, *_ = OBJECTIVES
    shown = [objectives.shown(name, "Too short.") for name in (first, second)]
    call(page, {"objectives": shown, "mask": "[MASK]", "in_detail": False})
    page.locator("button").nth(1).focus()
    call(page, {"objectives": shown[::-1], "mask": "[MASK]", "in_detail": False})
    assert focused(page, "data-name") == second
    call(page, {"objectives": shown[1:], "mask": "[MASK]", "in_detail": True})
    assert focused(page, "aria-label") == OBJECTIVES[second].title

    trace = made_trace(["[CLS]", "river", "bank", "[SEP]"])
    texts = tuple(trace.tokens), tuple(trace.text_ids)
    stages = LayerStages(0, *texts, STAGES, torch.ones(5, 4, 24), (0,) * 4, 9)
    page = opened(tab, inside_layer.COMPONENT.bundle)
    call(page, inside_layer.stages_message(stages, 1))
    page.get_by_role("button", name="bank").press("Enter")
    assert page.evaluate("window.reports.picked") == 2
    call(page, inside_layer.stages_message(stages, 2))
    assert focused(page, "title") == "Follow bank (token 2)"
    assert focused(page, "aria-pressed") == "true"


@pytest.mark.parametrize("name", ["heat_map", "lines", "neurons", "overview"])
def test_a_save_button_keeps_the_focus(tab: Tab, name: str) -> None:
    draw = getattr(bare_view, f"{name}_view")
    page = tab.show(draw(made_trace(["[CLS]", "a", "b", "[SEP]"])))
    page.get_by_text("Save", exact=True).click()
    page.get_by_role("button", name="CSV").focus()
    page.evaluate(draw(made_trace(["[CLS]", "a", "b", "c", "[SEP]"], second=3)).arrival)
    page.evaluate("window.draw()")
    tab.settle()
    assert focused(page, "title") == "Save what is shown: table"
    if name != "overview":
        expect(page.locator(".key", has_text="sentence B")).to_have_count(1)  # drawn anew
    expect(page.locator(".key canvas, .scale canvas")).to_have_count(2 if name == "neurons" else 1)


def test_layers_are_switched_by_keyboard(tab: Tab) -> None:
    page = tab.show(bare_view.head_switches_view(2, 3))
    press = page.keyboard.press
    page.get_by_role("switch", name="Layer 0 head 0", exact=True).focus()
    press("ArrowDown")
    press("ArrowLeft")
    assert focused(page, "aria-label") == "All heads of layer 1"
    press("Enter")
    assert page.evaluate("window.reports.switched.off") == ["1.0", "1.1", "1.2"]
    for _ in range(6):
        press("ArrowRight")
    press("Space")
    assert page.evaluate("window.reports.switched.skipped") == [1]
    expect(page.locator(".status")).to_contain_text("Layer 1 is skipped")
    # One stop of Tab, where the arrows were.
    press("Shift+Tab")
    assert "layer" not in focused(page, "aria-label").lower()
    press("Tab")
    assert focused(page, "aria-label") == "Skip layer 1 whole"
    # A click takes the keyboard along.
    page.get_by_role("button", name="All heads of layer 0").click(modifiers=["Shift"])
    press("ArrowRight")
    assert focused(page, "aria-label").startswith("Layer 0 head 0")


def test_cells_of_a_mask_have_the_colour_of_what_they_allow(tab: Tab) -> None:
    page = tab.show(bare_view.mask_drawing_view("abcde", [(1, 1, 2, 4)]))
    seen = page.locator("canvas").evaluate(
        """canvas => {
          const context = canvas.getContext("2d");
          const at = (row, column, x = 8, y = 8) => [...context.getImageData(
            84 + column * 22 + x, 84 + row * 22 + y, 1, 1).data];
          return { open: at(1, 1), blocked: at(1, 2), gap: at(1, 1, 21) };
        }"""
    )
    assert seen["open"] == [0x34, 0x57, 0xD5, 255]
    assert (seen["blocked"][3], seen["gap"][3]) == (56, 0)


def test_a_rectangle_of_a_mask_is_chosen_by_shift_alone(tab: Tab) -> None:
    page = tab.show(bare_view.mask_drawing_view("abcdef"))
    press = page.keyboard.press
    page.get_by_role("application").focus()
    for key in ("Shift+ArrowRight", "Shift+ArrowDown", "ArrowRight", "ArrowRight", "Space"):
        press(key)
    assert page.evaluate("window.reports.drawn") == [[1, 1, 3, 3]]
    expect(page.locator(".status")).to_have_text("b may not attend to d")
    for key in ("Shift+ArrowRight", "Shift+ArrowDown", "Space"):
        press(key)
    assert page.evaluate("window.reports.drawn") == []  # the first cell was blocked
    # A rectangle that was begun over other tokens is let go.
    press("Shift+ArrowDown")
    page.evaluate(bare_view.mask_drawing_view("vwxyz").arrival)
    page.evaluate("window.draw()")
    press("ArrowDown")
    press("Space")
    assert page.evaluate("window.reports.drawn") == [[1, 1, 0, 0]]


_ARRIVAL = """<!DOCTYPE html><div data-testid="stApp" data-test-script-state="notRunning">
<a href="#other">Other page</a><div id="place"></div></div><script type="module">%s
window.requests = 0;
window.mount = () => bundle.default({
  data: { sign: "done" }, parentElement: document.body, setStateValue: () => {},
  setTriggerValue: () => { window.requests += 1; } });
window.unmount = window.mount();
</script>"""
DRAW = "document.querySelector('#place').className = 'st-key-done'"
RUN = "document.querySelector('div').dataset.testScriptState = 'running'"
REST = RUN.replace("running", "notRunning")
GAP = "document.querySelector('a').dataset.testid = 'stSkeleton'"
FILL = "delete document.querySelector('a').dataset.testid"
CLICK = "document.querySelector('a').click()"
BACK = "dispatchEvent(new PopStateEvent('popstate'))"
LEAVE, AGAIN = "window.unmount()", "() => { window.unmount = window.mount(); }"
RERUNS: dict[str, list[str | tuple[int, int]]] = {
    "once all is drawn": [(10_000, 0), DRAW, (200, 1), (4000, 1), (2000, 2)],  # the first was lost
    "not while the page runs": [DRAW, RUN, (10_000, 0), REST, GAP, (10_000, 0), FILL, (200, 1)],
    "not of a page left by a click": [CLICK, DRAW, (1000, 0), LEAVE, (20_000, 0)],
    "after a click that was answered": [CLICK, RUN, (200, 0), DRAW, REST, (200, 1)],
    "late after a click that starts no run": [CLICK, DRAW, (4000, 0), (2000, 1)],
    "not after going back": [BACK, DRAW, (1000, 0)],
    "once when called again": [AGAIN, DRAW, (200, 1), LEAVE, (20_000, 1)],
}
"""When a rerun is requested: what happens, or milliseconds and how many were requested by then."""


@pytest.mark.parametrize("when", RERUNS)
def test_a_rerun_is_requested(tab: Tab, when: str) -> None:
    page = tab.page
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now()") + 3_600_000)  # ahead of it, however slow
    page.set_content(_ARRIVAL % signals.ARRIVAL.bundle.script)
    page.wait_for_function("window.unmount !== undefined")
    for event in RERUNS[when]:
        if isinstance(event, str):
            page.evaluate(event)
        else:
            page.clock.run_for(event[0])
            assert page.evaluate("window.requests") == event[1]
