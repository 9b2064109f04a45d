"""The attention views alone in a real Chromium: files, hostile tokens, names; and the overview."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from app.bertviz_views import view as bertviz_view
from app.canvas.shared import transport
from bertcore import Trace
from tests.support.browser import bare_view
from tests.support.browser.bare_tab import HOSTILE, Tab
from tests.support.browser.bare_view import View, made_trace

pytestmark = pytest.mark.browser

FORMATS = ("SVG", "PNG", "CSV", "JSON", "NPZ")
VIEWS: dict[str, Callable[..., View]] = {
    "overview": bare_view.overview_view,
    "lines": bare_view.lines_view,
    "heat map": bare_view.heat_map_view,
}


@pytest.mark.parametrize("name", VIEWS)
def test_hostile_tokens_in_every_file(tab: Tab, name: str) -> None:
    trace = made_trace(HOSTILE, second=12)
    page = tab.show(VIEWS[name](trace))
    tab.sheet()  # the table is drawn too
    box = page.get_by_role("application").bounding_box()
    assert box is not None
    for part in (0.15, 0.4, 0.7):  # in the lines the names of both columns, in the others cells
        page.mouse.move(box["x"] + part * box["width"], box["y"] + part * box["height"])
        tab.settle()
    files = {kind: tab.save(kind) for kind in FORMATS}
    tree = ET.fromstring(files["SVG"])
    tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert tags <= {"svg", "path", "rect", "text", "image"}
    assert not [a for element in tree.iter() for a in element.attrib if a.startswith("on")]
    picture = Image.open(io.BytesIO(files["PNG"]))
    assert picture.width == round(2 * float(tree.attrib["width"]))
    assert len(picture.getcolors(1 << 24)) > 20
    rows = list(csv.reader(io.StringIO(files["CSV"].decode("utf-8-sig"), newline="")))
    data = json.loads(files["JSON"])
    assert len(rows) == len(data["rows"]) + 1
    assert len(rows[0]) == len(data["columns"])
    assert not [cell for row in rows for cell in row if re.match(r"[=+@].", cell)]
    with np.load(io.BytesIO(files["NPZ"])) as arrays:
        assert {array.dtype.kind for array in map(arrays.__getitem__, arrays.files)} <= set("fiU")
    # A picture that is opened as a page of its own runs nothing either.
    page.set_content(f"<!DOCTYPE html><body>{files['SVG'].decode()}</body>")
    tab.settle()


def test_the_files_of_the_heat_map_hold_tokens_and_weights(tab: Tab) -> None:
    trace = made_trace(HOSTILE)
    weights = trace.attentions[0, 0].numpy()
    tab.show(bare_view.heat_map_view(trace))
    with np.load(io.BytesIO(tab.save("NPZ"))) as arrays:
        assert np.array_equal(arrays["attention"], weights)
        # NumPy cannot hold a trailing NUL, and half of a pair is no sign.
        assert arrays["attending"].tolist() == [t.replace("\ud800", "\ufffd") for t in HOSTILE]
    data = json.loads(tab.save("JSON"))
    assert data["columns"][1:] == [f"{place} {token}" for place, token in enumerate(HOSTILE)]
    numbers = np.array([row[1:] for row in data["rows"]])
    assert np.allclose(numbers, weights, rtol=1e-6, atol=0)
    rows = list(csv.reader(io.StringIO(tab.save("CSV").decode("utf-8-sig"), newline="")))
    assert rows[18][0] == f"17 {HOSTILE[17]}"
    assert np.allclose(np.array([row[1:] for row in rows[1:]], np.float32), weights, rtol=1e-6)


def test_bertviz_shows_the_lines_of_a_token_under_the_pointer(tab: Tab) -> None:
    """BertViz's listeners are called as d3 version 5 calls them: with datum and index."""
    trace = made_trace(["[CLS]", "the", "bank", "[SEP]"])
    tab.page.set_content(bertviz_view.head_view(trace.attentions, trace.tokens).html)
    tab.page.get_by_text("bank").first.hover()
    lines = tab.page.locator("#attention line[visibility='visible']")
    expect(lines.first).to_be_attached()
    assert set(lines.evaluate_all("x => x.map(y => y.getAttribute('left-token-index'))")) == {"2"}
    layer = tab.page.locator("select#layer")
    assert layer.locator("option").all_inner_texts() == ["0", "1"]
    opacities = "x => x.map(y => y.getAttribute('stroke-opacity'))"
    before = tab.page.locator("#attention line").evaluate_all(opacities)
    layer.select_option("1")
    assert tab.page.locator("#attention line").evaluate_all(opacities) != before


@pytest.mark.parametrize("name", ["lines", "heat map", "neurons"])
def test_a_choice_made_while_another_text_is_computed_is_shown(
    tab: Tab, pair: Trace, name: str
) -> None:
    other = made_trace(["[CLS]", "other", "text", "[SEP]"])
    draw = {**VIEWS, "neurons": bare_view.neurons_view}[name]
    page = tab.show(draw(pair, 0))
    if name == "heat map":
        page.get_by_label("Layer 1", exact=True).click()
    else:
        page.get_by_label("Layer", exact=True).select_option("1")
    page.wait_for_function("window.reports.selection?.revision === 1")
    for data in (draw(other, 0), View("", transport.change(draw(other, 1).data, revision=1))):
        page.evaluate(data.arrival)
        page.evaluate("window.draw()")
    expect(page.locator(".waiting")).to_have_count(0)
    if name == "heat map":
        chosen = page.get_by_label("Layer 1", exact=True)
        expect(chosen).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_role("heading")).to_contain_text("Layer 1")
    else:
        expect(page.get_by_label("Layer", exact=True)).to_have_value("1")


LAID_OUT = [
    (name, width, scheme)
    for name in ("lines", "heat map")
    for width in (1100, 460)
    for scheme in ("light", "dark")
]


@pytest.mark.parametrize(("name", "width", "scheme"), LAID_OUT)
def test_names_do_not_overlap(tab: Tab, name: str, width: int, scheme: str) -> None:
    """The words of the picture as a browser lays them out: none on another, none cut off."""
    tab.page.emulate_media(color_scheme=scheme)
    trace = made_trace(HOSTILE * 4, second=40)
    tab.show(VIEWS[name](trace, width=width))
    tab.page.set_content(f"<!DOCTYPE html><body>{tab.save('SVG').decode()}</body>")
    boxes = tab.page.evaluate(
        """() => [...document.querySelectorAll("text")].map(text => {
          const box = text.getBoundingClientRect();
          return [box.left, box.top, box.right, box.bottom, text.textContent];
        })"""
    )
    left, top, right, bottom = tab.page.evaluate(
        """() => { const box = document.querySelector("svg").getBoundingClientRect();
        return [box.left, box.top, box.right, box.bottom]; }"""
    )
    named = [box for box in boxes if not re.fullmatch(r"[\d.]+%?", box[4])]
    assert len(named) >= 40
    for box in named:
        assert box[0] >= left - 1, box
        assert box[2] <= right + 1, box
        assert box[3] <= bottom + 8, box
        assert box[1] >= top - 8, box
    for k, one in enumerate(named):
        for other in named[k + 1 :]:
            wide = min(one[2], other[2]) - max(one[0], other[0])
            high = min(one[3], other[3]) - max(one[1], other[1])
            # Lines of text may touch: an ascent and a descent share 6 pixels at most.
            assert min(wide, high) <= 6, (one, other)
