"""The attention views alone in a real Chromium: their numbers, keys and files, and hostile tokens.

Run: pytest tests/browser/test_attention_views.py
"""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from app.components import attention_view, bertviz_view
from app.figures.attention_words import merge_to_words, words_of
from bertcore import Trace
from bertcore.analysis.heads import measure_heads
from tests.browser import bare_view
from tests.browser.bare_view import View, made_trace

pytestmark = pytest.mark.browser

RUN = "window.__pwned=1"
IMAGE = f"<img src=x onerror={RUN}>"
HOSTILE = [
    "[CLS]",
    f"</script>{IMAGE}",
    f"<!--<script>{RUN}</script>",
    f'"><svg onload={RUN}>',
    f"' onmouseover='{RUN}",
    f"${{{RUN}}}",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"]]>{IMAGE}",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u202e" + "desrever" + "\u2066",
    "\u200b\u200d",
    "\u2028\u2029",
    "nul\0\x1b[31m",
    "e" + "\u0301" * 60,
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\ud800 half",
    "=cmd|' /C calc'!A0",
    'a,b"c\r\nd',
    "x" * 10_000,
    "\u0634" * 10_000,
    "word",
    "##s",
    "",
    "[SEP]",
]
FORMATS = ("SVG", "PNG", "CSV", "JSON", "NPZ")
VIEWS: dict[str, Callable[..., View]] = {
    "overview": bare_view.overview,
    "lines": bare_view.lines,
    "heat map": bare_view.heat_map,
}


class Tab:
    """A page that holds one view."""

    def __init__(self, page: Page) -> None:
        self.page, self.complaints = page, []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda m: m.type == "error" and self.complaints.append(m.text))
        page.on("request", self._note)
        page.route("**/*", lambda route: route.abort())

    def _note(self, request) -> None:
        if not request.url.startswith(("data:", "blob:", "about:")):
            self.complaints.append(f"asked for {request.url}")

    def show(self, view: View) -> Page:
        self.page.set_content(view.page)
        self.page.wait_for_function("window.draw !== undefined")
        self.page.evaluate(view.arrival)
        self.page.evaluate("window.draw()")
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait for what is drawn in the next frames, and said or filled a moment later."""
        self.page.wait_for_timeout(300)

    def save(self, name: str) -> bytes:
        """Return the file that the button of this name gives."""
        with self.page.expect_download() as started:
            self.page.get_by_role("button", name=name, exact=True).click()
        path = started.value.path()
        assert started.value.suggested_filename.endswith(f".{name.lower()}")
        return path.read_bytes()

    def sheet(self) -> list[list[str]]:
        """Return the table below the view, its head first."""
        details = self.page.locator("details")
        if not details.evaluate("details => details.open"):
            details.locator("summary").click()
        self.settle()
        return self.page.locator("details table").evaluate(
            "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
        )


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    """A tab without a network; what it complained of fails the test."""
    context = browser.new_context(viewport={"width": 1180, "height": 1400}, accept_downloads=True)
    found = Tab(context.new_page())
    yield found
    tricked = found.page.evaluate("'__pwned' in window")
    context.close()
    assert not tricked
    assert found.complaints == []


@pytest.fixture(scope="module")
def pair() -> Trace:
    names = [f"word{k}" for k in range(18)]
    return made_trace(["[CLS]", *names[:8], "##s", *names[8:], "##ly", "##er", "[SEP]"], second=12)


@pytest.fixture
def broken(pair: Trace) -> Trace:
    """One token of one head whose weights are not numbers."""
    made = made_trace(pair.tokens)
    made.attentions[0, 0, 3] = float("nan")
    return made


BROKEN = re.compile("are not numbers \\(NaN\\)")


def reds(tab: Tab) -> float:
    """Return the share of the saved picture that is red."""
    picture = np.asarray(Image.open(io.BytesIO(tab.save("PNG"))).convert("RGB")).astype(int)
    return float((np.abs(picture - [214, 40, 90]).max(-1) < 12).mean())


# ---- files ----


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
    tab.show(bare_view.heat_map(trace))
    with np.load(io.BytesIO(tab.save("NPZ"))) as arrays:
        assert np.array_equal(arrays["attention"], weights)
        # NumPy cannot hold a trailing NUL, and half of a pair is no sign.
        assert arrays["looks"].tolist() == [t.replace("\ud800", "\ufffd") for t in HOSTILE]
    data = json.loads(tab.save("JSON"))
    assert data["columns"][1:] == [f"{place} {token}" for place, token in enumerate(HOSTILE)]
    numbers = np.array([row[1:] for row in data["rows"]])
    assert np.allclose(numbers, weights, rtol=1e-6, atol=0)
    rows = list(csv.reader(io.StringIO(tab.save("CSV").decode("utf-8-sig"), newline="")))
    assert rows[18][0] == f"17 {HOSTILE[17]}"
    assert np.allclose(np.array([row[1:] for row in rows[1:]], np.float32), weights, rtol=1e-6)


def test_bertviz_shows_hostile_tokens(tab: Tab) -> None:
    trace = made_trace([token.replace("\ud800", "") for token in HOSTILE])
    for draw in (bertviz_view.head_view, bertviz_view.model_view):
        tab.page.set_content("<!DOCTYPE html><iframe width=900 height=900></iframe>")
        html = draw(trace.attentions, trace.tokens).html
        tab.page.locator("iframe").evaluate("(frame, html) => { frame.srcdoc = html; }", html)
        expect(tab.page.frame_locator("iframe").locator("svg line").first).to_be_attached()
        tab.settle()
        assert not any(frame.evaluate("'__pwned' in window") for frame in tab.page.frames)


# ---- what is legible ----


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 460])
@pytest.mark.parametrize("name", ["lines", "heat map"])
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


# ---- overview ----


def test_overview_sorts_and_dims(tab: Tab, pair: Trace) -> None:
    measured = measure_heads(pair.attentions, pair.text_ids, pair.tokens).to_next.flatten().numpy()
    page = tab.show(bare_view.overview(pair))
    page.get_by_label("Measure of the heads").select_option("to_next")
    page.get_by_label("Order of the heads").select_option("all")
    rows = json.loads(tab.save("JSON"))["rows"]
    num_heads = pair.attentions.shape[1]
    assert [row[0] * num_heads + row[1] for row in rows] == np.argsort(-measured).tolist()
    page.get_by_label("Dim heads below").fill("60")
    limit = measured.min() + 0.6 * (measured.max() - measured.min())
    kept = json.loads(tab.save("JSON"))["rows"]
    assert kept == [row for row in rows if row[3] >= limit]
    assert 0 < len(kept) < len(rows)
    page.get_by_label("Highest first").click()
    assert json.loads(tab.save("JSON"))["rows"] == rows[::-1]
    page.get_by_label("Order of the heads").select_option("layer")
    by_layer = json.loads(tab.save("JSON"))["rows"]
    assert [row[0] for row in by_layer] == [0] * num_heads + [1] * num_heads
    page.wait_for_function("window.reports.look?.order === 'layer'")
    assert page.evaluate("window.reports.look") == {
        "measure": "to_next",
        "order": "layer",
        "lowest": True,
        "limit": None,
    }


def test_overview_by_keyboard(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.overview(pair))
    grid = page.get_by_role("application")
    grid.focus()
    for key in ("Home", "ArrowRight", "ArrowDown", "ArrowRight"):
        grid.press(key)
    expect(page.locator(".said")).to_contain_text("Layer 1, head 2: ")
    grid.press("Enter")
    assert page.evaluate("window.reports.picked") == {"layer": 1, "heads": [2]}
    table = tab.sheet()
    assert table[0][:3] == ["layer", "head", "token before"]
    assert len(table) == 1 + pair.attentions[:, :, 0, 0].numel()


# ---- lines ----


def line_weights(tab: Tab) -> dict[tuple[int, int], float]:
    """Return the weights of the drawn lines of one head, by place."""
    return {(row[0], row[2]): row[5] for row in json.loads(tab.save("JSON"))["rows"]}


def test_lines_between_words(tab: Tab, pair: Trace) -> None:
    tab.show(bare_view.lines(pair, 1, [2], look={"words": True, "threshold": 0.1}))
    words = words_of(pair)
    merged = merge_to_words(pair.attentions[1, 2].numpy(), words.starts)
    found = line_weights(tab)
    assert len(found) > 10
    for (row, column), weight in found.items():
        wanted = merged[words.starts.index(row), words.starts.index(column)]
        assert weight == pytest.approx(wanted, abs=0.012)  # three pieces, each within 0.003
    assert len(found) == pytest.approx((merged >= 0.1).sum(), abs=2)


def test_lines_of_chosen_tokens_are_summed(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.lines(pair, 0, [1]))
    weights = pair.attentions[0, 1].numpy()
    field = page.get_by_role("application")
    field.focus()
    field.press("Home")  # [CLS] on the left
    for key in ("ArrowDown", "Enter", "ArrowDown", "Space"):
        field.press(key)
    expect(page.get_by_role("heading", level=4)).to_have_text("2 tokens together look at")
    table = tab.sheet()
    assert table[0][:4] == ["place", "is looked at", "sum", "share"]
    for place, _, total, share in table[1:]:
        wanted = weights[1, int(place)] + weights[2, int(place)]
        assert float(total) == pytest.approx(wanted, abs=0.007)
        assert float(share) == pytest.approx(wanted / 2, abs=0.004)
    field.press("ArrowRight")
    for key in ("ArrowDown", "Space", "ArrowDown", "Space"):
        field.press(key)
    together = weights[1:3, 3:5].sum()
    expect(page.locator(".panel")).to_contain_text("2 tokens together look at 2 tokens together")
    said = re.search(r"Together ([\d.]+) of 2", page.locator(".panel").inner_text())
    assert said is not None
    assert float(said[1]) == pytest.approx(together, abs=0.013)
    data = json.loads(tab.save("JSON"))
    assert (data["chosen_looking"], data["chosen_looked_at"]) == ([1, 2], [3, 4])
    assert {row[0] for row in data["rows"]} <= {1, 2}
    field.press("Escape")
    expect(page.get_by_role("heading", level=4)).to_have_text("Point at a token")


def test_lines_by_mouse_with_shift(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.lines(pair, 0, [1]))
    field = page.get_by_role("application")
    field.click(position={"x": 60, "y": 45})
    field.click(position={"x": 60, "y": 145}, modifiers=["Shift"])
    expect(page.get_by_role("heading", level=4)).to_have_text("2 tokens together look at")
    field.click(position={"x": 60, "y": 145}, modifiers=["Shift"])
    expect(page.get_by_role("heading", level=4)).to_contain_text("looks at")


def test_chosen_tokens_are_told_and_open_again(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.lines(pair, 0, [1]))
    field = page.get_by_role("application")
    field.focus()
    for key in (
        "Home",
        "ArrowDown",
        "ArrowDown",
        "Enter",
        "ArrowDown",
        "Space",
        "ArrowRight",
        "Space",
    ):
        field.press(key)
    page.wait_for_function("window.reports.look?.chosen === 'l2.3r3'")
    title = page.get_by_role("heading", level=4).inner_text()
    table = tab.sheet()
    page = tab.show(bare_view.lines(pair, 0, [1], look={"chosen": "l2.3.999r3"}))
    assert page.get_by_role("heading", level=4).inner_text() == title
    assert tab.sheet() == table
    field.focus()
    field.press("Escape")
    page.wait_for_function("window.reports.look?.chosen === ''")


@pytest.fixture
def sparing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short texts are sent as long ones are: the shown heads only."""
    monkeypatch.setattr(attention_view, "SMALL", 0)


@pytest.mark.usefixtures("sparing")
def test_lines_ask_for_a_head_that_they_do_not_have(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.lines(pair, 0, [1], look={"threshold": 0.0}))
    lines = pair.num_tokens**2
    assert len(json.loads(tab.save("JSON"))["rows"]) == pytest.approx(lines, abs=20)
    page.get_by_role("button", name="Head 3").click()
    expect(page.get_by_text("Head 3 on the way")).to_be_visible()
    page.wait_for_function("window.reports.selection?.heads.length === 2")
    assert page.evaluate("window.reports.selection.heads") == [1, 3]
    # The server answers with the heads that are chosen, here of the visitor's first choice.
    page.evaluate(View("", attention_view.message(pair, 0, [1, 3], 1)).arrival)
    page.evaluate("window.draw()")
    expect(page.get_by_text("on the way")).to_have_count(0)
    rows = json.loads(tab.save("JSON"))["rows"]
    assert len(rows) == pytest.approx(2 * lines, abs=40)
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
    page.evaluate(View("", attention_view.message(other, 0, [1], 1)).arrival)
    page.evaluate("window.draw()")
    expect(page.get_by_text("Head 3 on the way")).to_be_visible()


@pytest.mark.usefixtures("sparing")
def test_lines_show_what_is_no_number(tab: Tab, broken: Trace) -> None:
    page = tab.show(bare_view.lines(broken, 0, [0]))
    expect(page.get_by_text(BROKEN)).to_be_visible()
    expect(page.get_by_text("no line is drawn")).to_be_visible()
    assert 0 < reds(tab) < 0.05
    rows = json.loads(tab.save("JSON"))["rows"]
    assert 3 not in {row[0] for row in rows}
    assert len({row[0] for row in rows}) > 10
    field = page.get_by_role("application")
    field.focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowDown"):
        field.press(key)
    assert tab.sheet()[1][2:4] == ["NaN", "NaN"]
    # The mean with a head that gives numbers is none either, in this row only.
    tab.show(bare_view.lines(broken, 0, [0, 1], look={"mean": True}))
    assert 3 not in {row[0] for row in json.loads(tab.save("JSON"))["rows"]}
    tab.show(bare_view.lines(broken, 0, [1]))
    expect(page.get_by_text(BROKEN)).to_have_count(0)
    assert reds(tab) == 0


def test_overview_shows_what_is_no_number(tab: Tab, broken: Trace) -> None:
    page = tab.show(bare_view.overview(broken, 0, [0]))
    expect(page.get_by_text("are not numbers (NaN), in layer 0 head 0.")).to_be_visible()
    assert 0 < reds(tab) < 0.05
    rows = json.loads(tab.save("JSON"))["rows"]
    assert [row[:2] for row in rows if row[2] is None] == [[0, 0]]
    with np.load(io.BytesIO(tab.save("NPZ"))) as arrays:
        assert np.isnan(arrays["thumbnails"][0, 0]).any(1).sum() == 1
        assert not np.isnan(arrays["thumbnails"][1]).any()


# ---- heat map ----


def test_heat_map_between_words_is_exact(tab: Tab, pair: Trace) -> None:
    tab.show(bare_view.heat_map(pair, 1, [2], look={"words": True}))
    words = words_of(pair)
    data = json.loads(tab.save("JSON"))
    merged = merge_to_words(pair.attentions[1, 2].numpy(), words.starts)
    assert np.allclose([row[1:] for row in data["rows"]], merged, atol=1e-6)
    assert [row[0] for row in data["rows"]] == [
        f"{start} {name}" for start, name in zip(words.starts, words.names, strict=True)
    ]


def test_heat_map_orders_rows_and_columns(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.heat_map(pair))
    weights = pair.attentions[0, 0].numpy()

    def orders() -> tuple[list[int], list[int]]:
        with np.load(io.BytesIO(tab.save("NPZ"))) as arrays:
            rows, columns = arrays["row_order"], arrays["column_order"]
            assert np.array_equal(arrays["attention"], weights[rows][:, columns])
            return rows.tolist(), columns.tolist()

    page.get_by_label("Order of the rows").select_option("entropy")
    page.get_by_label("Order of the columns").select_option("received")
    entropy = -(weights * np.log(weights)).sum(1)
    assert orders() == (np.argsort(entropy).tolist(), np.argsort(-weights.sum(0)).tolist())
    for axis in ("rows", "columns"):
        page.get_by_label(f"Order of the {axis}").select_option("text")
    field = page.get_by_role("application")
    field.focus()
    for key in ("Home", "ArrowDown", "ArrowRight", "ArrowRight"):
        field.press(key)
    page.get_by_label("Order of the columns").select_option("chosen")
    assert orders()[1] == np.argsort(-weights[1]).tolist()


def test_heat_map_zooms_and_moves(tab: Tab) -> None:
    trace = made_trace(["[CLS]", *(f"word{k}" for k in range(510)), "[SEP]"])
    page = tab.show(bare_view.heat_map(trace))
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


def test_heat_map_reports_what_is_seen_of_it_and_opens_there(tab: Tab) -> None:
    trace = made_trace(["[CLS]", *(f"word{k}" for k in range(98)), "[SEP]"])
    page = tab.show(bare_view.heat_map(trace))
    field = page.get_by_role("application")
    field.press("ArrowDown")
    for _ in range(3):
        field.press("+")
    for _ in range(6):
        field.press("PageDown")
    field.press("End")
    page.wait_for_function("window.reports.look?.seen.startsWith('37.6-75')")
    seen = page.evaluate("window.reports.look.seen")
    first_row, first_column, span = (float(part) for part in seen.split("-"))
    assert span == pytest.approx(100 / 1.6**3, abs=0.05)
    assert first_column == pytest.approx(100 - span, abs=0.1)
    again = tab.show(bare_view.heat_map(trace, look={"seen": seen}))
    expect(again.get_by_label("Zoom out (key −)")).to_be_enabled()
    shown = ET.fromstring(tab.save("SVG"))
    words = [text.text for text in shown.iter("{http://www.w3.org/2000/svg}text")]
    rows = [int(word.removeprefix("word")) for word in words if word and word.startswith("word")]
    assert min(rows) >= first_row - 2  # the first token is [CLS]: word k stands at k + 1
    field = again.get_by_role("application")
    field.press("0")
    again.wait_for_function("window.reports.look?.seen === ''")
    # Of another size than was meant: as much as there is.
    tab.show(
        bare_view.heat_map(made_trace(["[CLS]", "a", "b", "c", "d", "[SEP]"]), look={"seen": seen})
    )
    expect(tab.page.get_by_label("Zoom out (key −)")).to_be_disabled()


def test_heat_map_by_keyboard_says_exact_numbers(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.heat_map(pair))
    field = page.get_by_role("application")
    field.focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowRight"):
        field.press(key)
    weight = pair.attentions[0, 0, 2, 1].item()
    expect(page.locator(".said")).to_have_text(f"word1 looks at word0: {weight:.6f}")
    table = tab.sheet()
    assert table[3][2] == f"{weight:.4f}"
    for key in ("+", "+", "End"):
        field.press(key)
    expect(page.locator(".said")).to_contain_text("word1 looks at [SEP]")


def test_heat_map_shows_what_is_no_number(tab: Tab, broken: Trace) -> None:
    page = tab.show(bare_view.heat_map(broken))
    expect(page.get_by_text(BROKEN)).to_be_visible()
    assert json.loads(tab.save("JSON"))["rows"][3][1] is None
    assert tab.sheet()[4][1] == "\u2013"
    assert reds(tab) > 0.5 / broken.num_tokens * 0.4  # of the picture, which has names too
    tab.show(bare_view.heat_map(broken, 0, [1]))
    expect(page.get_by_text(BROKEN)).to_have_count(0)
    assert reds(tab) == 0


def test_heat_map_reports_a_mean(tab: Tab, pair: Trace) -> None:
    page = tab.show(bare_view.heat_map(pair))
    page.get_by_label("Head 2", exact=True).click(modifiers=["Shift"])
    page.get_by_label("The mean over all layers").click()
    page.wait_for_function("window.reports.selection?.layers.length === 2")
    assert page.evaluate("window.reports.selection.heads") == [0, 2]
