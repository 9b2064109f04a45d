"""Views as HTML files, opened from the disk in a real Chromium with the network cut."""

import io
import json
import time
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from playwright.sync_api import Locator, expect

from app.parts.bertviz_views import view as bertviz
from app.parts.canvas.heat_map import heat_map
from app.parts.canvas.lines import lines
from app.parts.canvas.neurons import neurons
from app.parts.canvas.overview import overview
from app.parts.html_file import chart
from app.parts.html_file.document import File, Report, ScriptedPicture, to_html
from app.plots import Figure, theme
from app.screens.inside_layer import drawing as inside_layer
from bertcore import Trace
from bertcore.analysis.heads.attention import (
    all_neurons,
    attention_map,
    attention_overview,
    layer_attention,
    traced_steps,
)
from bertcore.analysis.mixing.layer_stages import STAGES, LayerStages
from bertscope.notebook.notebook_view import NotebookView
from tests.support.browser.bare_tab import HOSTILE, IMAGE, Tab
from tests.support.browser.bare_view import made_trace
from tests.support.browser.visit import TEXT_A, TEXT_B, Visit

pytestmark = pytest.mark.browser

LONG = "x" * 10_000
TEXT = f"</script>{IMAGE}<!-- \u202e\u200b\u2028 ]]> \ud800 {LONG}"
PARTS: dict[str, Callable[[Trace], ScriptedPicture]] = {
    "overview": lambda trace: overview.part(attention_overview(trace), 0, [1]),
    "lines": lambda trace: lines.part(layer_attention(trace, 0, [1])),
    "map": lambda trace: heat_map.part(attention_map(trace, [0], [1])),
    "neurons": lambda trace: neurons.part(traced_steps(trace, 0, 1, None)),
}


def report(part: ScriptedPicture, **more: object) -> str:
    """Return a file with hostile words in every place."""
    given = {
        "title": f"Lines {TEXT}",
        "part": part,
        "how_to_read": f"Each *line* is a weight. ![x](http://foreign.invalid/a.png) {TEXT}",
        "texts": {f"Text {IMAGE}": TEXT},
        "facts": {"Checkpoint": TEXT, f"x{IMAGE}": "y"},
        "code": f"bert.trace({TEXT!r})",
        **more,
    }
    return to_html(Report(**given))


def colours(place: Locator) -> int:
    """Return how many colours a part of the page has; an empty one has few."""
    picture = Image.open(io.BytesIO(place.screenshot())).convert("RGB")
    return len(picture.getcolors(1 << 24))


def painted(place: Locator, least: int) -> None:
    """Wait until a part of the page has more colours than this."""
    expect(place).to_be_visible()
    until(lambda: colours(place) > least)


def until(what: Callable[[], object]) -> None:
    """Wait until something is so, for seconds of a busy machine."""
    end = time.monotonic() + 30
    while not what():
        assert time.monotonic() < end, "nothing is painted"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def plain() -> Trace:
    names = [f"word{k}" for k in range(14)]
    return made_trace(["[CLS]", *names, "[SEP]"], second=9)


@pytest.mark.parametrize("name", PARTS)
def test_a_file_with_hostile_words_is_painted_and_runs_nothing(tab: Tab, name: str) -> None:
    page = tab.open(report(PARTS[name](made_trace(HOSTILE, second=12))))
    field = page.get_by_role("application")
    painted(field, 12)
    box = field.bounding_box()
    assert box is not None
    for part in (0.15, 0.4, 0.7):
        field.hover(position={"x": part * box["width"], "y": part * box["height"]})
    page.locator(".part .data-table summary").click()
    said = page.locator("main > details").first
    expect(said).to_contain_text(f"</script>{IMAGE}")
    expect(said).to_contain_text("\u2039U+202E\u203a")
    expect(page.locator("pre.code")).to_contain_text("bert.trace(")
    expect(page.locator(".caption")).to_contain_text("![x](http://foreign.invalid/a.png)")
    expect(page.locator(".caption em")).to_have_text("line")
    assert page.locator("img").count() == 0
    # Ten thousand letters without a gap do not make the page wider than the window.
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_policy_of_a_file_stops_what_would_get_through(tab: Tab, plain: Trace) -> None:
    """The second wall: a script or a picture that somehow stood in the file would do nothing."""
    written = report(heat_map.part(attention_map(plain, [0], [1])))
    inner = f"{IMAGE}<script>window.__pwned=1</script><img src='http://foreign.invalid/a.png'>"
    refused: dict[str, str | None] = {}
    tab.page.on("requestfailed", lambda asked: refused.update({asked.url: asked.failure}))
    page = tab.open(written.replace("</main>", f"{inner}</main>"))
    painted(page.get_by_role("application"), 12)
    assert page.locator("img").count() == 2
    blocked = [said for said in tab.complaints if "Content Security Policy" in said]
    assert len(blocked) == 4  # the pictures, the event handler, the script
    assert refused.pop("http://foreign.invalid/a.png") == "csp"
    assert list(refused.values()) == ["csp"]  # the picture x beside the file
    tab.complaints.clear()


def test_the_heat_map_of_a_file_shows_the_part_that_was_seen(tab: Tab, plain: Trace) -> None:
    look = heat_map.DEFAULT_OPTIONS | {"seen": "1-2-4"}
    page = tab.open(report(heat_map.part(attention_map(plain, [0], [1]), look)))
    field = page.get_by_role("application")
    painted(field, 12)
    field.hover(position={"x": 130, "y": 130})  # within the first cell that is seen
    tip = page.locator(".tip")
    expect(tip).to_contain_text("tokens 1 → 2")
    expect(tip).to_contain_text(f"{plain.attentions[0, 1, 1, 2].item():.6f}")
    expect(page.get_by_label("Head 2", exact=True)).to_be_disabled()


def test_the_lines_of_a_file_change_layer_and_head(tab: Tab, plain: Trace) -> None:
    page = tab.open(report(lines.part(layer_attention(plain, 0, [1]))))
    painted(page.get_by_role("application"), 12)
    page.get_by_label("Layer after").click()
    page.get_by_role("button", name="Head 3").click()
    page.wait_for_timeout(600)  # until the choice is told and answered
    expect(page.locator(".waiting, [aria-busy]")).to_have_count(0)
    data = json.loads(tab.save("JSON"))
    assert (data["layer"], data["heads"]) == (1, [1, 3])
    weights = plain.attentions[1].numpy()
    assert len(data["rows"]) > 50
    for at, _, to, _, head, weight in data["rows"]:
        assert weight == pytest.approx(weights[head, at, to], abs=0.003)


def test_a_long_text_leaves_other_layers_out_and_says_so(tab: Tab) -> None:
    trace = made_trace(["[CLS]", *("word" for _ in range(510)), "[SEP]"], num_heads=12)
    page = tab.open(report(lines.part(layer_attention(trace, 1, [2]))))
    painted(page.get_by_role("application"), 12)
    expect(page.get_by_text("This file contains only layer 1 of 2 layers.")).to_be_visible()
    expect(page.get_by_label("Layer before")).to_be_disabled()
    expect(page.get_by_label("Layer", exact=True)).to_be_disabled()
    assert (tab.folder / "view.html").stat().st_size < 3_000_000


@pytest.mark.parametrize("kind", ["head", "model", "neuron"])
def test_bertviz_in_a_file_is_drawn(tab: Tab, kind: str) -> None:
    trace = made_trace([token[:2000].replace("\ud800", "") for token in HOSTILE], second=12)
    shown = all_neurons(trace) if kind == "neuron" else layer_attention(trace)
    page = tab.open(report(bertviz.part(shown, kind)))
    inner = page.frame_locator(".part iframe")
    expect(page.locator(".part iframe")).to_have_attribute("title", "View of BertViz")
    expect(inner.locator("svg line").first).to_be_attached()
    if kind == "model":  # a small picture of each head, and the tokens of the one that is clicked
        inner.locator("svg > g > rect").last.click()
    expect(inner.get_by_text(IMAGE).first).to_be_attached()
    assert page.frames[1].evaluate("window.origin") == "null"


def row_of(tokens: Sequence[str], shares: np.ndarray) -> Figure:
    """Draw one row of a map, its title and hover with hostile text."""
    fig = Figure()
    hover = f"{theme.escape(IMAGE)} %{{z}}"
    fig.heat(shares[None], theme.FRACTIONS, hover, x=list(range(len(tokens))), colorbar={})
    theme.plot_layout(fig, f"In {theme.escape(IMAGE)}", "", "", 300)
    return fig


def test_a_figure_of_a_file_is_alive_and_has_its_table(tab: Tab) -> None:
    tokens = ["[CLS]", f"</script>{IMAGE}", "word", "[SEP]"]
    fig = row_of(tokens, np.array([0.1, 0.2, 0.3, 0.4]))
    data = pd.DataFrame({"token": tokens, f"share {IMAGE}": [0.1, np.nan, 0.3, 0.4]})
    file = File("bertscope-x.csv", "text/csv", data.to_csv(index=False).encode())
    page = tab.open(
        report(chart.chart(fig), table=chart.table_of(data), files=[file], scheme="dark")
    )
    painted(page.locator(".part"), 12)
    page.locator(".part .nsewdrag").first.hover()
    expect(page.locator(".part .hovertext").first).to_be_attached()
    page.get_by_text("The numbers", exact=True).click()
    cells = page.locator("main details table").evaluate(
        "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert cells[0] == ["token", f"share {IMAGE}"]
    assert [row[0] for row in cells[1:]] == tokens
    assert cells[3] == ["word", "0.3"]
    with page.expect_download() as started:
        page.get_by_role("link", name="bertscope-x.csv").click()
    assert started.value.path().read_bytes() == file.content


def strips_of(trace: Trace) -> ScriptedPicture:
    """Return all tokens of a layer, whose strips have other colours on dark ground."""
    places = list(range(trace.num_tokens))
    vectors = torch.randn(5, len(places), 24, generator=torch.Generator().manual_seed(0))
    texts = tuple(trace.tokens), tuple(trace.text_ids)
    stages = LayerStages(0, *texts, STAGES, vectors, tuple(places), 9)
    return inside_layer.COMPONENT.part(inside_layer.stages_message(stages, 1))


def figure_of(trace: Trace) -> ScriptedPicture:
    return chart.chart(row_of(trace.tokens, trace.attentions[0, 0, 1].numpy()))


RECOLOURED = {**PARTS, "strips": strips_of, "figure": figure_of}


@pytest.mark.parametrize("name", RECOLOURED)
def test_a_file_has_the_colours_of_the_system_when_they_change(
    tab: Tab, plain: Trace, name: str
) -> None:
    """As it has them when it is opened; what was picked stays."""

    def looks_like(other: np.ndarray) -> bool:
        shown = picture()
        return shown.shape == other.shape and bool(np.abs(shown - other).mean() < 0.05)

    def picture() -> np.ndarray:
        shot = page.locator(".part").screenshot(animations="disabled")
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)

    def drawn() -> np.ndarray:
        """Wait until two pictures are the same, and not of one colour."""
        until(lambda: looks_like(shown := picture()) and shown.std() > 1)
        return picture()

    page, made = tab.page, report(RECOLOURED[name](plain))
    looks = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        tab.open(made)
        looks[scheme] = drawn()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        until(lambda scheme=scheme: looks_like(looks[scheme]))
    assert np.abs(looks["dark"] - looks["light"]).mean() > 20


@pytest.mark.parametrize("name", PARTS)
def test_a_notebook_frame_is_painted(tab: Tab, plain: Trace, name: str) -> None:
    shown = NotebookView(report(PARTS[name](plain), folds=True), 900)
    # A notebook is a page of another origin, with a policy or without.
    page = tab.open(f"<!DOCTYPE html><meta charset=utf-8><p>Out[1]:</p>{shown._repr_html_()}")
    frame = page.frame_locator("iframe")
    field = frame.get_by_role("application")
    painted(field, 12)
    assert page.frames[1].evaluate("window.origin") == "null"
    expect(frame.locator("pre.code")).to_be_hidden()  # what is below the caption is folded
    assert IMAGE not in shown._repr_html_()


@pytest.mark.sweep
def test_the_app_gives_the_file_of_what_it_shows(visit: Visit, tab: Tab) -> None:
    visit.open("attention", text_a=TEXT_A, text_b=TEXT_B, layer="1", heads="2", view="lines")
    menu = visit.page.locator(".st-key-menu_attention-layer-1 button")
    given = visit.download(menu, visit.page.locator(".st-key-html_attention-layer-1 button").first)
    assert given.suggested_filename == "bertscope-attention-layer-1.html"
    page = tab.open(given.path().read_text(encoding="utf-8"))
    painted(page.get_by_role("application"), 12)
    expect(page.get_by_role("heading", level=1)).to_have_text("Attention: lines of layer 1")
    said = page.locator("main > details").first
    for text in (TEXT_A, TEXT_B, "heads = 2", "layer = 1", "Fingerprint of the weights"):
        expect(said).to_contain_text(text)
    expect(page.get_by_role("button", name="Head 2")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Head 0")).to_have_attribute("aria-pressed", "false")
