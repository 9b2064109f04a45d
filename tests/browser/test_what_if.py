"""A visitor switches heads off, draws a mask, and hands the view on as a link."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from bertcore import load
from bertcore.analysis.compare.before_after import compare_runs
from bertcore.analysis.heads.importance import rank_heads
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.interventions import Changes
from tests.support.browser.visit import TEXT_B, Visit

pytestmark = pytest.mark.browser

TEXT = "The man went to the river [MASK] ."


def shown_words(tab: Visit) -> list[str]:
    """Return the numbers behind the bars of the words."""
    figure = tab.picture("figure_what-if-words")
    return figure.locator(".scatterlayer .textpoint text").all_text_contents()


def switch(tab: Visit, layer: int, head: int):  # type: ignore[no-untyped-def]
    return tab.page.get_by_role("switch", name=f"Layer {layer} head {head}", exact=True)


def test_a_head_is_switched_off_and_the_link_shows_the_same(
    visit: Visit, new_visit: Callable[..., Visit]
) -> None:
    visit.open("what-if", text_a=TEXT, text_b=TEXT_B)
    before = shown_words(visit)
    assert all("±0" in text for text in before)
    expect(visit.page.get_by_text("Nothing is changed yet")).to_be_visible()
    switch(visit, 0, 1).click()
    visit.wait_for_query("off", "0.1")
    expect(visit.page.get_by_text("Nothing is changed yet")).to_have_count(0)
    visit.check()
    after = shown_words(visit)
    assert after != before
    # The arrows move, Enter switches: without a mouse.
    switch(visit, 0, 1).focus()
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("Enter")
    expect(switch(visit, 1, 1)).to_have_attribute("aria-checked", "false")
    visit.page.wait_for_function("() => new URL(location).searchParams.getAll('off').length === 2")
    visit.check()
    both = shown_words(visit)
    assert both not in (before, after)

    other = new_visit()
    other.follow(visit.page.url, "what-if")
    for head in (0, 1):
        expect(switch(other, head, 1)).to_have_attribute("aria-checked", "false")
    expect(switch(other, 0, 0)).to_have_attribute("aria-checked", "true")
    assert shown_words(other) == both
    other.page.get_by_role("button", name="Only this one").click()
    switch(other, 0, 0).click()
    expect(switch(other, 0, 1)).to_have_attribute("aria-checked", "false")
    expect(other.page.get_by_role("switch", checked=True)).to_have_count(1)
    other.check()
    other.page.get_by_role("button", name="All on").click()
    expect(other.page.get_by_text("Nothing is changed yet")).to_be_visible()
    other.check()
    assert shown_words(other) == before


def test_a_mask_is_drawn(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open("what-if", text_a=TEXT, text_b=TEXT_B, pattern="drawn")
    canvas = visit.inked(".st-key-mask_drawing")
    box = canvas.bounding_box()
    assert box is not None
    words = visit.page.locator(".st-key-what_if_strip .words button")
    expect(words.first).to_be_visible()
    num_tokens = words.count()
    cell = (box["width"] - 84 - 1) / num_tokens

    def place(row: int, column: int) -> dict[str, float]:
        return {"x": 84 + (column + 0.5) * cell, "y": 84 + (row + 0.5) * cell}

    canvas.drag_to(canvas, source_position=place(1, 2), target_position=place(3, 4))
    visit.wait_for_query("drawn", "1-3:2-4")
    canvas.click(position=place(2, 3))
    visit.wait_for_query("drawn", "1:2-4,2:2,2:4,3:2-4")
    visit.check()
    shown = shown_words(visit)
    other = new_visit()
    other.follow(visit.page.url, "what-if")
    other.inked(".st-key-mask_drawing")
    assert shown_words(other) == shown
    other.page.get_by_role("button", name="Not later ones").click()
    other.page.wait_for_function(
        "wanted => new URL(location).searchParams.get('drawn').startsWith(wanted)",
        arg=f"0:1-{num_tokens - 1},1:2-{num_tokens - 1},",
    )
    other.check()


def test_from_the_open_head_to_what_if_and_out_as_files(visit: Visit, tiny_folder: Path) -> None:
    """The head that is open on Attention is off on What if, which stays so, and is in the files."""
    text_a, text_b = "the man went to the river bank", "it had rained"
    visit.open(
        "attention",
        text_a=text_a,
        text_b=text_b,
        checkpoint=str(tiny_folder),
        layer="1",
        heads="2",
    )
    visit.page.get_by_role("button", name="Switch head 1.2 off").click()
    visit.arrive("what-if")
    for name, wanted in (("off", "1.2"), ("text_a", text_a), ("checkpoint", str(tiny_folder))):
        visit.wait_for_query(name, wanted)
    expect(switch(visit, 1, 2)).to_have_attribute("aria-checked", "false")
    visit.check()
    expect(visit.page.get_by_role("switch", checked=False)).to_have_count(1)
    # There is something to ask: a word was hidden.
    masked = int(visit.page.evaluate("new URL(location).searchParams.get('masked')"))
    visit.go_to("attention")
    visit.go_to("what-if")
    expect(switch(visit, 1, 2)).to_have_attribute("aria-checked", "false")
    visit.page.get_by_text("Which heads matter here?").click()
    visit.picture("figure_what-if-ranking")

    bert = load(tiny_folder, device="cpu")
    encoding = masked_encoding(bert, text_a, text_b, [masked])
    changes = Changes(heads_off=frozenset({(1, 2)}))
    runs = [bert.trace("", encoding=encoding, changes=each) for each in (None, changes)]
    expected = compare_runs(bert, *runs)
    record = json.loads(downloaded(visit, "json_what-if"))
    assert record["changes"]["heads_off"] == [[1, 2]]
    assert (record["text_a"], record["text_b"], record["masked"]) == (text_a, text_b, [masked])
    (shift,) = record["found"]["runs"]["shifts"]
    assert shift["words"] == list(expected.shifts[0].words)
    assert shift["after"] == pytest.approx(expected.shifts[0].after.tolist(), abs=1e-5)
    rows = list(csv.DictReader(downloaded(visit, "data_what-if-words").splitlines()))
    assert [row["piece"] for row in rows] == shift["words"]
    assert [float(row["p_after"]) for row in rows] == pytest.approx(shift["after"], abs=1e-5)

    ranking = json.loads(downloaded(visit, "json_what-if-ranking"))
    wanted = rank_heads(bert, text_a, text_b, (masked,), changes)
    assert ranking["chosen"] == wanted.chosen
    assert ranking["word"][1][2] is None  # it is off already
    assert wanted.word is not None
    assert ranking["word"][0] == pytest.approx(wanted.word[0].tolist(), abs=1e-4)
    rows = list(csv.DictReader(downloaded(visit, "data_what-if-ranking").splitlines()))
    assert [float(row["hidden"]) for row in rows[:4]] == pytest.approx(
        wanted.hidden[0].tolist(), abs=1e-4
    )


def downloaded(tab: Visit, key: str) -> str:
    """Press a download button and return what comes."""
    with tab.page.expect_download() as waiting:
        tab.page.locator(f".st-key-{key} button").first.click()  # the other is for touch
    return Path(waiting.value.path()).read_text(encoding="utf-8-sig")


def test_a_causal_checkpoint_keeps_later_tokens_out_of_the_drawing(visit: Visit) -> None:
    visit.open("what-if", text_a="the river bank", text_b="", checkpoint="causal", pattern="drawn")
    canvas = visit.inked(".st-key-mask_drawing")
    view = visit.page.locator(".st-key-mask_drawing")
    expect(view.get_by_role("button", name="Not later ones")).to_be_hidden()
    canvas.hover(position={"x": 84 + 60, "y": 84 + 10})
    expect(view.locator(".status")).to_contain_text("may not attend to")
    expect(view.locator(".status")).to_contain_text("which comes later")
    view.get_by_role("button", name="Not itself").click()
    visit.wait_for_query("drawn", "1:1,2:2,3:3,4:4")
    visit.check()
