"""The canvases of attention alone in a real Chromium: numbers, keys, pointer, files, names."""

import csv
import io
import json
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import expect

from app.parts.bertviz_views import view as bertviz_view
from app.parts.canvas.lines import lines
from app.parts.canvas.shared import transport
from bertcore import Trace
from bertcore.analysis import layer_attention
from bertcore.analysis.mixing.neurons import head_neurons
from tests.support.browser import bare_view
from tests.support.browser.bare_tab import BROKEN, HOSTILE, Tab, reds
from tests.support.browser.bare_view import View, made_trace

pytestmark = pytest.mark.browser

VIEWS: dict[str, Callable[..., View]] = {
    "overview": bare_view.overview_view,
    "lines": bare_view.lines_view,
    "heat map": bare_view.heat_map_view,
    "neurons": bare_view.neurons_view,
}
WIDTH = 16
"""Of the queries and keys of a head."""


def neural_trace(tokens: list[str]) -> Trace:
    """Return a made trace whose attention comes from its random queries and keys."""
    trace = made_trace(tokens, second=12)
    generator = torch.Generator().manual_seed(1)
    shape = (2, 4, len(tokens), WIDTH)
    queries = 2 * torch.randn(shape, generator=generator)
    keys = torch.randn(shape, generator=generator)
    weights = (queries @ keys.mT / math.sqrt(WIDTH)).softmax(-1)
    activations = replace(trace.activations, queries=queries, keys=keys, attentions=weights)
    return replace(trace, activations=activations)


@pytest.mark.parametrize("name", VIEWS)
def test_hostile_tokens_in_every_file(tab: Tab, name: str) -> None:
    page = tab.show(VIEWS[name](neural_trace(HOSTILE)))
    tab.sheet()  # the table is drawn too
    box = page.get_by_role("application").bounding_box()
    assert box is not None
    for part in (0.15, 0.4, 0.7):  # in the lines the names of both columns, in the others cells
        page.mouse.move(box["x"] + part * box["width"], box["y"] + part * box["height"])
        tab.settle()
    files = {kind: tab.save(kind) for kind in ("SVG", "PNG", "CSV", "JSON", "NPZ")}
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
    assert np.allclose([row[1:] for row in data["rows"]], weights, rtol=1e-6, atol=0)
    rows = list(csv.reader(io.StringIO(tab.save("CSV").decode("utf-8-sig"), newline="")))
    assert rows[18][0] == f"17 {HOSTILE[17]}"
    assert np.allclose(np.array([row[1:] for row in rows[1:]], np.float32), weights, rtol=1e-6)


def test_the_files_of_the_neurons_hold_what_the_core_computes(tab: Tab) -> None:
    trace = neural_trace(["[CLS]", *(f"word{k}" for k in range(30)), "[SEP]"])
    computed = head_neurons(trace, 1, 2)
    tab.show(bare_view.neurons_view(trace, 1, 2, look={"query": 5}))
    data = json.loads(tab.save("JSON"))
    assert (data["layer"], data["head"], data["query"], data["token"]) == (1, 2, 5, "word4")
    order = [row[0] for row in data["rows"]]
    assert order == computed.weights[5].argsort(descending=True, stable=True).tolist()
    drawn = np.array([[*row[2:]] for row in data["rows"]])
    products = computed.queries[5] * computed.keys
    expected = [computed.scores[5, order], computed.weights[5, order], products[order]]
    for shown, numbers in zip((drawn[:, 0], drawn[:, 1], drawn[:, 2:]), expected, strict=True):
        np.testing.assert_allclose(shown, numbers, rtol=1e-5, atol=1e-6)
    with np.load(io.BytesIO(tab.save("NPZ"))) as arrays:
        assert np.array_equal(arrays["products"], products.numpy())
        assert arrays["tokens"].tolist() == trace.tokens


def test_lines_of_chosen_tokens_are_summed(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.lines_view(pair, 0, [1]))
    weights = pair.attentions[0, 1].numpy()
    field = page.get_by_role("application")
    field.focus()
    field.press("Home")  # [CLS] on the left
    for key in ("ArrowDown", "Enter", "ArrowDown", "Space"):
        field.press(key)
    expect(page.get_by_role("heading", level=2)).to_have_text("2 tokens together attend to")
    for position, _, total, share in tab.sheet()[1:]:
        expected = weights[1, int(position)] + weights[2, int(position)]
        assert float(total) == pytest.approx(expected, abs=0.007)
        assert float(share) == pytest.approx(expected / 2, abs=0.004)
    field.press("ArrowRight")
    for key in ("ArrowDown", "Space", "ArrowDown", "Space"):
        field.press(key)
    said = re.search(r"Together ([\d.]+) of 2", page.locator(".panel").inner_text())
    assert float(said[1]) == pytest.approx(weights[1:3, 3:5].sum(), abs=0.013)
    data = json.loads(tab.save("JSON"))
    assert (data["chosen_attending"], data["chosen_attended"]) == ([1, 2], [3, 4])
    field.press("Escape")
    expect(page.get_by_role("heading", level=2)).to_have_text("Point at a token, or tap it")
    field.click(position={"x": 60, "y": 45})
    field.click(position={"x": 60, "y": 145}, modifiers=["Shift"])
    expect(page.get_by_role("heading", level=2)).to_have_text("2 tokens together attend to")


def test_lines_ask_for_a_head_that_they_do_not_have(
    tab: Tab, pair: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "SMALL", 0)  # short texts are sent as long ones: the shown heads

    def arrive(trace: Trace, heads: list[int]) -> None:
        page.evaluate(View("", lines.message(layer_attention(trace, 0, heads), 1)).arrival)
        page.evaluate("window.draw()")

    page = tab.show(bare_view.lines_view(pair, 0, [1], look={"threshold": 0.0}))
    page.get_by_role("button", name="Head 3").click()
    expect(page.get_by_text("Head 3 on the way")).to_be_visible()
    page.wait_for_function("window.reports.selection?.heads.length === 2")
    arrive(pair, [1, 3])
    expect(page.get_by_text("on the way")).to_have_count(0)
    rows = json.loads(tab.save("JSON"))["rows"]
    weights = pair.attentions[0].numpy()
    assert {row[4] for row in rows} == {1, 3}
    assert len(rows) == pytest.approx(2 * pair.num_tokens**2, abs=40)
    for at, _, to, _, head, weight in rows:
        assert weight == pytest.approx(weights[head, at, to], abs=0.003)
    for _ in range(2):  # a head that was here before is drawn at once, without an answer
        page.get_by_role("button", name="Head 1").click()
    expect(page.get_by_text("on the way")).to_have_count(0)
    # Another checkpoint with the same tokens: what was kept does not count.
    other = made_trace(pair.tokens, second=12)
    other.attentions[0] = other.attentions[1].clone()
    arrive(other, [1])
    expect(page.get_by_text("Head 3 on the way")).to_be_visible()


def test_heat_map_zooms_and_moves(tab: Tab) -> None:
    trace = made_trace(["[CLS]", *(f"word{k}" for k in range(510)), "[SEP]"])
    page = tab.show(bare_view.heat_map_view(trace))
    field = page.get_by_role("application")
    expect(field).to_have_css("touch-action", "manipulation")  # a swipe scrolls the page
    box = field.bounding_box()
    page.mouse.move(box["x"] + 400, box["y"] + 400)
    before = page.locator(".tip").inner_text()
    for _ in range(8):
        page.mouse.wheel(0, -240)
    tab.settle()
    expect(field).to_have_css("touch-action", "none")
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


def test_arrow_keys_sort_by_the_marked_cell_at_once(tab: Tab, pair: Trace) -> None:
    look = {"rows": "chosen", "columns": "chosen"}
    page = tab.show(bare_view.heat_map_view(pair, look=look))
    weights = pair.attentions[0, 0].numpy()
    page.get_by_role("application").press("ArrowDown")
    with np.load(io.BytesIO(tab.save("NPZ"))) as arrays:
        rows, columns = arrays["row_order"], arrays["column_order"]
    by_weight = np.argsort(-weights[:, 0]).tolist()
    row = by_weight[by_weight.index(0) + 1]  # the map opens with the first token marked
    assert rows.tolist() == by_weight
    assert columns.tolist() == np.argsort(-weights[row]).tolist()
    assert f"{weights[row, 0]:.6f}" in page.locator(".line").inner_text()


def test_only_a_click_of_the_main_button_or_one_finger_marks_a_cell(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.heat_map_view(pair))
    field, line = page.get_by_role("application"), page.locator(".line")
    box = field.bounding_box()
    x, y = box["x"] + 300, box["y"] + 300
    page.mouse.click(x, y, button="right")
    expect(line).not_to_contain_text("marked")
    page.mouse.move(x, box["y"] - 20)
    page.mouse.down()
    page.mouse.move(x, y)
    page.mouse.up()
    expect(line).not_to_contain_text("marked")
    page.mouse.down()
    for name in ("pointermove", "pointerup", "pointercancel"):
        field.dispatch_event(name, {"pointerId": 77, "clientX": 500, "clientY": 600})
    page.mouse.up()
    expect(line).to_contain_text("(marked")


def test_what_is_no_number_is_shown(tab: Tab, pair: Trace) -> None:
    broken = made_trace(pair.tokens)
    broken.attentions[0, 0, 3] = torch.nan
    page = tab.show(bare_view.heat_map_view(broken))
    expect(page.get_by_text(BROKEN)).to_be_visible()
    assert json.loads(tab.save("JSON"))["rows"][3][1] is None
    assert tab.sheet()[4][1] == "\u2013"
    assert reds(tab) > 0.5 / broken.num_tokens * 0.4  # of the picture, which has names too
    tab.show(bare_view.heat_map_view(broken, 0, [1]))
    expect(page.get_by_text(BROKEN)).to_have_count(0)
    assert reds(tab) == 0


def test_bertviz_shows_the_lines_of_a_token_under_the_pointer(tab: Tab) -> None:
    """BertViz's listeners are called as d3 version 5 calls them: with datum and index."""
    trace = made_trace(["[CLS]", "the", "bank", "[SEP]"])
    tab.page.set_content(bertviz_view.head_view(trace.attentions, trace.tokens).html)
    tab.page.get_by_text("bank").first.hover()
    drawn = tab.page.locator("#attention line[visibility='visible']")
    expect(drawn.first).to_be_attached()
    assert set(drawn.evaluate_all("x => x.map(y => y.getAttribute('left-token-index'))")) == {"2"}
    opacities = "x => x.map(y => y.getAttribute('stroke-opacity'))"
    before = tab.page.locator("#attention line").evaluate_all(opacities)
    tab.page.locator("select#layer").select_option("1")
    assert tab.page.locator("#attention line").evaluate_all(opacities) != before


@pytest.mark.parametrize("name", ["lines", "heat map", "neurons"])
def test_a_choice_made_while_another_text_is_computed_is_shown(
    tab: Tab, pair: Trace, name: str
) -> None:
    other, draw = made_trace(["[CLS]", "other", "text", "[SEP]"]), VIEWS[name]
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
        pressed = page.get_by_label("Layer 1", exact=True)
        expect(pressed).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_role("heading")).to_contain_text("Layer 1")
    else:
        expect(page.get_by_label("Layer", exact=True)).to_have_value("1")


@pytest.mark.parametrize("width", [1100, 460])
@pytest.mark.parametrize("name", ["lines", "heat map"])
def test_names_do_not_overlap(tab: Tab, name: str, width: int) -> None:
    """The words of the picture as a browser lays them out: none on another, none cut off."""
    tab.show(VIEWS[name](made_trace(HOSTILE * 4, second=40), width=width))
    tab.page.set_content(f"<!DOCTYPE html><body>{tab.save('SVG').decode()}</body>")
    (_, *frame), *boxes = tab.page.evaluate(
        """() => [...document.querySelectorAll("svg, text")].map(node => {
          const box = node.getBoundingClientRect();
          return [node.textContent, box.left, box.top, box.right, box.bottom];
        })"""
    )
    names = np.array([box for text, *box in boxes if not re.fullmatch(r"[\d.]+%?", text)])
    assert len(names) >= 40
    left, top, right, bottom = frame
    assert (names[:, :2] >= [left - 1, top - 8]).all()
    assert (names[:, 2:] <= [right + 1, bottom + 8]).all()
    shared = np.minimum(names[:, None, 2:], names[:, 2:]) - np.maximum(
        names[:, None, :2], names[:, :2]
    )
    # Lines of text may touch: an ascent and a descent share 6 pixels at most.
    assert shared.min(-1)[~np.eye(len(names), dtype=bool)].max() <= 6
