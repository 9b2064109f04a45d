"""A visitor sees what grammar the checkpoint knows, and opens a pair that it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browser.visit import TIMEOUT_MS, Visit

pytestmark = pytest.mark.browser


def test_a_phenomenon_is_clicked_and_a_pair_opened(visit: Visit) -> None:
    visit.open("grammar")
    figure = visit.page.locator(".st-key-figure_grammar-accuracy .js-plotly-plot")
    expect(figure).to_be_visible(timeout=4 * TIMEOUT_MS)
    rows = figure.locator(".ytick text")
    expect(rows).to_have_count(20)
    visit.check()

    first = rows.first.text_content() or ""
    figure.locator(".scatterlayer .point").first.click(force=True)
    visit.wait_for_query("grammar_group", first)
    visit.settle()  # until then the figure before it stands beside the new one
    heading = visit.page.get_by_role("heading", level=2)
    expect(heading.filter(has_text=f"{first}: ")).to_be_visible()
    bold = figure.locator(".ytick text").filter(has_text=first)
    expect(bold).to_have_attribute("data-unformatted", f"<b>{first}</b>")

    visit.page.set_viewport_size({"width": 1280, "height": 900})
    table = visit.page.get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    visit.settle()
    box = table.bounding_box()
    assert box is not None
    # "open" in the second column of the first row: cells are drawn on a canvas.
    x, y = box["x"] + 182, box["y"] + 52
    visit.page.mouse.move(x - 3, y)
    visit.page.mouse.move(x, y)
    with visit.context.expect_page() as opened:
        visit.page.mouse.click(x, y)
    visit.page = opened.value
    expect(visit.page.get_by_role("heading", level=1, name="Minimal pair")).to_be_visible()
    visit.settle()
    expect(visit.box("A")).not_to_have_value("")
    expect(visit.page.get_by_label("Second version")).not_to_have_value("")
    visit.check()


@pytest.mark.exhaustive
def test_pairs_that_want_to_harm_are_shown_as_text(visit: Visit, tmp_path: Path) -> None:
    image = "<img src=x onerror=window.__pwned=1>"
    markup = "![a](http://foreign.invalid/a.png) [b](javascript:window.__pwned=1) $x$ **c** |"
    lines = [
        {
            "sentence_good": f"the {word} {image} was",
            "sentence_bad": f"the {word} was {markup}",
            f"kind {image}": f"{image} {markup}" if number % 2 else "</script><script>",
            "second": str(number % 3),
        }
        for number, word in enumerate("river bank house dog cat film".split())
    ]
    path = tmp_path / f"{image.replace('/', '')}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    visit.open("grammar", grammar_source="file", grammar_column=f"kind {image}")
    visit.page.locator("input[type=file]").set_input_files(path)
    figure = visit.picture("figure_grammar-accuracy")
    expect(figure.locator(".ytick text")).to_have_count(2)
    first = figure.locator(".ytick text").first.text_content() or ""
    figure.locator(".scatterlayer .point").first.click(force=True)
    # The click replaces the figure: only the new one shows the group that was clicked in bold.
    bold = figure.locator('.ytick text[data-unformatted^="<b>"]')
    expect(bold).to_have_text(first)
    visit.wait_for_query("grammar_group", first)
    heading = visit.page.get_by_role("heading", level=2).filter(has_text="wrong")
    expect(heading).to_contain_text(first)
    visit.settle()
    # The first trace: word frequency, the last, is upright strokes without any width.
    traces = figure.locator(".scatterlayer .trace")
    traces.first.locator(".point").last.hover(force=True)
    expect(figure.locator(".hoverlayer .hovertext")).not_to_have_count(0)
    visit.check()
    assert not visit.was_tricked()
