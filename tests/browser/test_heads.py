"""A visitor looks for the head of the word before and the one of the direct object."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.browser.visit import Visit

pytestmark = pytest.mark.browser


def open_row(visit: Visit, title: str) -> tuple[str, str, str]:
    """Click the head in a row of the list; the new tab is the visitor's. Return what it opened."""
    row = visit.page.locator(".st-key-heads_table tr").filter(has_text=title)
    link = row.get_by_role("link")
    layer, head = link.inner_text().split(".")
    example = row.locator("td").last.inner_text()
    with visit.context.expect_page() as opened:
        link.click()
    visit.page = opened.value
    expect(visit.page.get_by_role("heading", level=1, name="Attention")).to_be_visible()
    visit.settle()
    return layer, head, example


def test_from_a_habit_and_a_relation_to_the_heads_and_back(visit: Visit) -> None:
    visit.open("heads")
    visit.picture("figure_heads-grid")
    visit.picture("figure_heads-bars")
    visit.check()
    first = visit.page
    layer, head, example = open_row(visit, "the token before")
    visit.wait_for_query("heads", head)
    lines = visit.page.locator(".st-key-attention_lines")
    expect(lines.get_by_label("Layer", exact=True)).to_have_value(layer)
    expect(visit.box("A")).to_have_value(example.split(" / ")[0])
    visit.inked(".st-key-attention_lines")
    visit.check()
    visit.page = first
    visit.page.get_by_role("radio", name="head word → dependent").click()
    visit.wait_for_query("heads_list", "to_dependent")
    visit.settle()
    layer, head, example = open_row(visit, "obj: direct object")
    visit.wait_for_query("heads", head)
    expect(visit.box("A")).to_have_value(re.sub(r"\s+([.,])", r"\1", example))
    visit.check()


def test_a_newcomer_clicks_from_the_first_page_to_both_heads(visit: Visit) -> None:
    """The task of many courses, by what is written on the screen and without a file."""
    visit.open()
    visit.go_to("heads")
    answer = visit.page.get_by_text("does it most")
    expect(answer).to_contain_text("of its attention goes to the token before")
    visit.page.get_by_text("a verb's direct object", exact=True).click()
    expect(answer).to_contain_text("from a verb, the word it attends to most is its direct object")
    visit.wait_for_query("heads_measure", "obj>to_dependent")
    visit.settle()
    layer, head = re.findall(r"\d+", answer.inner_text())[:2]
    with visit.context.expect_page() as opened:
        visit.page.get_by_role("link", name="See it in a sentence").click()
    visit.page = opened.value
    visit.wait_for_query("heads", head)
    visit.settle()
    lines = visit.page.locator(".st-key-attention_lines")
    expect(lines.get_by_label("Layer", exact=True)).to_have_value(layer)
    visit.inked(".st-key-attention_lines")
    visit.check()


def test_a_cell_of_the_grid_opens_its_head(visit: Visit) -> None:
    visit.open("heads", heads_measure="evenness")
    grid = visit.picture("figure_heads-grid")
    visit.settle()
    cells = grid.locator(".scatterlayer .point")
    cells.nth(1).click(force=True)  # layer 0, head 1
    visit.wait_for_query("heads_open", "0.1")
    expect(visit.page.get_by_text("What layer 0 head 1 attends to")).to_be_visible()
    visit.check()
