"""Components that Streamlit calls again, as it does when their data or the theme changes."""

from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from app.architectures import drawing as architectures
from app.architectures import writing
from app.bundle import Bundle, read_bundle
from app.inside_layer import drawing as inside_layer
from app.layer_watch import layer_watch
from app.objectives import drawing as objectives
from app.shell import signals
from app.training_example import drawing as training_example
from bertcore.analysis.mixing.layer_stages import STAGES, LayerStages
from bertcore.objectives.table import OBJECTIVES
from tests.support.browser import bare_view
from tests.support.browser.bare_tab import Tab
from tests.support.browser.bare_view import PLACE, View, component_page, made_trace

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


def example(tokens: list[str]) -> dict[str, Any]:
    return {
        "sentences": [],
        "is_random": False,
        "is_lone": False,
        "tokens": tokens,
        "segment_ids": [0] * len(tokens),
        "text_ids": [0] * len(tokens),
        "input_tokens": tokens,
        "guesses": [],
        "pair_logits": None,
        "pair_probabilities": None,
        "nsp_loss": None,
        "colors": {"a": "#123", "b": "#456", "special": "#789", "accent": "#abc"},
    }


def test_a_training_example_shows_the_last_document_after_a_resize(tab: Tab) -> None:
    page = opened(tab, training_example.COMPONENT.bundle)
    call(page, example([f"old{k}" for k in range(24)]))
    tab.settle()
    call(page, example(["new0", "new1", "new2"]))  # in one line at every width
    tab.settle()
    page.evaluate(f"document.querySelector({PLACE!r}).style.width = '600px'")
    tab.settle()
    expect(page.get_by_text("new0").first).to_be_visible()
    expect(page.get_by_text("old0")).to_have_count(0)


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


def test_a_text_is_sent_once_when_typing_rests(tab: Tab) -> None:
    body = "<div class='st-key-text'><textarea></textarea></div>"
    page = opened(tab, signals.LIVE_TEXT.bundle, body)
    for pause in (80, 120):
        call(page, {"keys": ["text"], "pauseMs": pause})
    page.evaluate(
        """() => { window.sent = 0; document.addEventListener("keydown", (event) => {
          if (event.ctrlKey && event.key === "Enter") window.sent += 1; }); }"""
    )
    area = page.locator("textarea")
    area.fill("a word")
    page.wait_for_function("window.sent > 0")
    tab.settle()
    assert page.evaluate("window.sent") == 1
    page.evaluate("window.close()")
    area.fill("another word")
    tab.settle()
    assert page.evaluate("window.sent") == 1


def test_a_text_typed_while_the_module_was_loaded_is_sent_once(tab: Tab) -> None:
    body = "<div class='st-key-text'><textarea></textarea></div>"
    page = opened(tab, signals.LIVE_TEXT.bundle, body)
    page.evaluate(
        """() => { window.sent = 0; document.addEventListener("keydown", (event) => {
          if (event.ctrlKey && event.key === "Enter") window.sent += 1; }); }"""
    )
    page.locator("textarea").fill("a word")
    tab.settle()
    assert page.evaluate("window.sent") == 0
    for _ in range(2):
        call(page, {"keys": ["text"], "pauseMs": 80})
    page.wait_for_function("window.sent > 0")
    tab.settle()
    assert page.evaluate("window.sent") == 1


def test_the_cleanup_of_a_first_call_leaves_what_the_second_one_shows(tab: Tab) -> None:
    """Streamlit runs it late if the data changes while the module loads."""
    page = opened(tab, writing.COMPONENT.bundle)
    best = [["word", 0.5]]
    written = [{"token": f"word{k}", "probability": 0.5, "best": best} for k in range(3)]
    for count in (1, 2):
        data = {"name": "GPT", "before": [], "written": written[:count]}
        call(page, {"next": data, "masks": None})
    page.evaluate("window.closeFirst()")
    call(page, {"next": {"name": "GPT", "before": [], "written": written}, "masks": None})
    expect(page.locator("output")).to_have_text("step 3 of 3")  # one view, with the last data


def focused(page: Page, attribute: str) -> str | None:
    """Return an attribute of what has the focus within the component."""
    return page.evaluate(
        f"name => document.querySelector({PLACE!r}).shadowRoot.activeElement?.getAttribute(name)",
        attribute,
    )


def network(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "rule": "Each place reads both sides",
        "note": "",
        "tokens": ["a", "b"],
        "before": 0,
        "after": 0,
        "place": 1,
        "unread": 2,
        "nets": [{"side": "both", "weights": [[[0.5, 0.5], [0.5, 0.5]]], "reader": 1}],
        "best": (),
        "token": None,
        "probability": None,
        "rank": None,
        "result": "half of it",
    }


def test_a_network_keeps_the_focus_when_another_token_is_guessed(tab: Tab) -> None:
    page = opened(tab, architectures.COMPONENT.bundle)
    networks = [network("BERT"), network("GPT")]
    call(page, architectures.message(networks))
    page.get_by_role("application", name="GPT").press("Enter")
    assert page.evaluate("window.reports.picked") == {"panel": 1, "row": 1}
    call(page, architectures.message([*networks, network("ELMo")]))
    assert str(focused(page, "aria-label")).startswith("GPT")


def test_an_objective_keeps_the_focus(tab: Tab) -> None:
    page = opened(tab, objectives.COMPONENT.bundle)
    first, second, *_ = OBJECTIVES
    shown = [objectives.shown(name, "Too short.") for name in (first, second)]
    call(page, objectives.message(shown, "[MASK]", in_detail=False))
    page.locator("button").nth(1).focus()
    call(page, objectives.message(shown[::-1], "[MASK]", in_detail=False))
    assert focused(page, "data-name") == second
    call(page, objectives.message(shown[1:], "[MASK]", in_detail=True))
    assert focused(page, "aria-label") == OBJECTIVES[second].title


def test_a_token_of_a_layer_keeps_the_focus(tab: Tab) -> None:
    trace = made_trace(["[CLS]", "river", "bank", "[SEP]"])
    texts = tuple(trace.tokens), tuple(trace.text_ids)
    stages = LayerStages(0, *texts, STAGES, torch.ones(5, 4, 24), (0,) * 4, 9)
    page = tab.show(
        View(component_page(inside_layer.COMPONENT.bundle), inside_layer.stages_message(stages, 1))
    )
    page.get_by_role("button", name="bank").press("Enter")
    assert page.evaluate("window.reports.picked") == 2
    page.evaluate(View("", inside_layer.stages_message(stages, 2)).arrival)
    page.evaluate("window.draw()")
    assert focused(page, "title") == "Follow bank (token 2)"
    assert focused(page, "aria-pressed") == "true"


@pytest.mark.parametrize("name", ["heat_map", "lines", "neurons", "overview"])
def test_a_save_button_keeps_the_focus(tab: Tab, name: str) -> None:
    draw = getattr(bare_view, f"{name}_view")
    page = tab.show(draw(made_trace(["[CLS]", "a", "b", "[SEP]"])))
    page.get_by_role("button", name="CSV").focus()
    other = draw(made_trace(["[CLS]", "a", "b", "c", "[SEP]"], second=3))
    page.evaluate(other.arrival)
    page.evaluate("window.draw()")
    tab.settle()
    assert focused(page, "title") == "Save what is shown: table"
    if name != "overview":
        expect(page.locator(".key", has_text="sentence B")).to_have_count(1)  # drawn anew
    expect(page.locator(".key canvas, .scale canvas")).to_have_count(2 if name == "neurons" else 1)
