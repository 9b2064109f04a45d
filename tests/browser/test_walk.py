"""A visitor does one thing on a page, goes away, comes back, and hands the link on."""

import io
import re
from collections.abc import Callable

import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from app.navigation import PAGES, REMOVED, REMOVED_VIEWS
from tests.support.browser.visit import TEXT_A, TEXT_B, Visit

pytestmark = pytest.mark.browser

MASKED = "The man went to the river [MASK] and was steep"
VERSIONS = {"text_a": "the man went to the [MASK] .", "other_a": "the woman went to the [MASK] ."}
IsSo = Callable[[Visit], None]
ACTS: dict[str, tuple[str, dict[str, str], Callable[[Visit], IsSo]]] = {}
"""By name: a page, its query, and what a visitor does there; it returns what then must hold."""


def on(page: str, **query: str) -> Callable[[Callable[[Visit], IsSo]], None]:
    """Enter an act into ACTS."""
    return lambda act: ACTS.update({act.__name__: (page, query, act)})


def place(canvas: Locator, x: float, y: float) -> dict[str, float]:
    """Return the point of a canvas at fractions of its width and height."""
    box = canvas.bounding_box()
    return {"x": x * box["width"], "y": y * box["height"]}


@on("tokens", text_a=TEXT_A)
def token_is_chosen(visit: Visit) -> IsSo:
    visit.token("strip", "river").click()
    visit.wait_for_query("token", "6")
    expect(visit.page.get_by_text("How “river” is cut")).to_be_visible()
    question = visit.page.get_by_role("combobox", name="Question")
    visit.choose(question, "Which pieces are alike in the token table?")

    def is_chosen(tab: Visit) -> None:
        tab.picture("figure_nearest-words")
        expect(tab.token("strip", "river")).to_have_attribute("aria-selected", "true")

    return is_chosen


@on("attention", text_a=TEXT_A, text_b=TEXT_B, other_heads="1")
def head_is_opened_from_the_overview(visit: Visit) -> IsSo:
    heads = visit.page.locator(".st-key-attention_lines .heads .head")
    expect(heads.first).to_be_visible()
    overview = visit.inked(".st-key-attention_overview")
    box = overview.bounding_box()
    cell = (box["width"] - 30) / heads.count()  # beside it stand the layers' numbers
    overview.click(position={"x": 30 + 2.5 * cell, "y": 20 + 1.5 * cell})
    visit.wait_for_query("heads", "2")

    def is_open(tab: Visit) -> None:
        tab.inked(".st-key-attention_lines")
        lines = tab.page.locator(".st-key-attention_lines")
        expect(lines.get_by_label("Layer", exact=True)).to_have_value("1")
        expect(lines.locator(".head[aria-pressed=true]")).to_have_text("2")

    return is_open


@on("attention", text_a=TEXT_A, text_b=TEXT_B, view="neurons", layer="1", heads="2")
def query_token_is_chosen(visit: Visit) -> IsSo:
    visit.inked(".st-key-attention_neurons")
    view = visit.page.locator(".st-key-attention_neurons")
    view.get_by_label("Query token", exact=True).select_option("6")
    visit.wait_for_query("neurons", "query:6")
    return lambda tab: expect(tab.page.locator(".sum")).to_contain_text("“river” attends to")


@on("masked-words", text_a=TEXT_A, surprise="1", ranks="1", own_words="1", after_layers="1")
def word_is_hidden(visit: Visit) -> IsSo:
    visit.page.locator(".st-key-hidden_words button").click()  # the one that the page chose
    visit.wait_for_query("masked", None)
    visit.token("mask_strip", "bank").click()
    visit.wait_for_query("masked", "7")
    visit.picture("figure_masked-words")
    visit.page.get_by_label("Words to score at this mask").fill("river, bank, fishing")
    visit.page.keyboard.press("Enter")

    def is_hidden(tab: Visit) -> None:
        for name in ("masked-words", "lens", "ranks", "surprise", "candidates"):
            tab.picture(f"figure_{name}")
        expect(tab.page.locator(".st-key-mask_strip button.marked")).to_have_count(1)

    return is_hidden


@on("sentence-pairs", text_a=TEXT_A, text_b=TEXT_B, between="1")
def pair_is_swapped(visit: Visit) -> IsSo:
    visit.picture("figure_next-sentence")
    visit.page.get_by_role("button", name="Swap A and B").click()
    visit.wait_for_query("text_a", TEXT_B)

    def is_swapped(tab: Visit) -> None:
        expect(tab.box("A")).to_have_value(TEXT_B)
        expect(tab.box("B")).to_have_value(TEXT_A)
        tab.picture("figure_attention-mass")

    return is_swapped


@on("layer-map", text_a=TEXT_A, text_b=TEXT_B, map_method="pca")
def slider_moves(visit: Visit) -> IsSo:
    name = "Map of the points by layer"
    points = visit.picture("figure_layer-map").locator(".scatterlayer .points path").first
    slider = visit.page.get_by_role("slider", name=name)
    last = int(slider.get_attribute("aria-valuemax") or 0)
    before = points.get_attribute("transform")
    slider.press("ArrowLeft")
    visit.wait_for_query("map_layer", str(last - 1))
    expect(points).not_to_have_attribute("transform", before or "")

    def is_moved(tab: Visit) -> None:
        tab.picture("figure_layer-map")
        moved = tab.page.get_by_role("slider", name=name)
        expect(moved).to_have_attribute("aria-valuenow", str(last - 1))

    return is_moved


@on("layer-map", text_a=TEXT_A, text_b=TEXT_B, map_method="pca")
def map_is_drawn_in_3d(visit: Visit) -> IsSo:
    visit.page.get_by_role("button", name="More", exact=True).click()
    visit.page.get_by_role("radio", name="3-D").click()
    drawn = ".st-key-figure_layer-map .gl-container canvas"
    return lambda tab: expect(tab.page.locator(drawn).first).to_be_visible()


@on("inspect", contents="1")
def checkpoint_is_typed(visit: Visit) -> IsSo:
    combobox = visit.page.get_by_role("combobox", name="Checkpoint")
    combobox.fill("causal")
    combobox.press("Enter")
    visit.wait_for_query("checkpoint", "causal")
    return lambda tab: expect(tab.page.get_by_role("heading", name="causal")).to_be_visible()


def switch(tab: Visit, layer: int, head: int) -> Locator:
    return tab.page.get_by_role("switch", name=f"Layer {layer} head {head}", exact=True)


def changed_words(tab: Visit) -> list[str]:
    """Return the numbers behind the bars of the words."""
    figure = tab.picture("figure_what-if-words")
    return figure.locator(".scatterlayer .textpoint text").all_text_contents()


@on("what-if", text_a=MASKED, text_b=TEXT_B)
def heads_are_switched_off(visit: Visit) -> IsSo:
    assert all("±0" in text for text in changed_words(visit))
    switch(visit, 0, 1).click()
    visit.wait_for_query("off", "0.1")
    after = changed_words(visit)
    switch(visit, 0, 1).focus()
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_function("() => new URL(location).searchParams.getAll('off').length === 2")
    visit.settle()
    both = changed_words(visit)
    assert both != after

    def are_off(tab: Visit) -> None:
        expect(tab.page.get_by_role("switch", checked=False)).to_have_count(2)
        assert changed_words(tab) == both

    return are_off


@on("what-if", text_a=MASKED, text_b=TEXT_B, pattern="drawn")
def mask_is_drawn(visit: Visit) -> IsSo:
    canvas = visit.inked(".st-key-mask_drawing")
    box = canvas.bounding_box()
    words = visit.page.locator(".st-key-what_if_strip .words button")
    expect(words.first).to_be_visible()
    cell = (box["width"] - 84 - 1) / words.count()
    start, end = ({"x": 84 + (x + 0.5) * cell, "y": 84 + (y + 0.5) * cell} for y, x in DRAWN)
    canvas.drag_to(canvas, source_position=start, target_position=end)
    visit.wait_for_query("drawn", "1-3:2-4")
    visit.settle()
    shown = changed_words(visit)

    def is_drawn(tab: Visit) -> None:
        tab.inked(".st-key-mask_drawing")
        assert changed_words(tab) == shown

    return is_drawn


DRAWN = ((1, 2), (3, 4))
"""The cells, row and column, between which the mask is drawn."""


@on("architectures", text_a=TEXT_A)
def token_is_guessed_by_three_networks(visit: Visit) -> IsSo:
    panels = visit.page.locator(".st-key-architectures .panel")
    panels.nth(1).locator(".token", has_text="river").click()
    visit.wait_for_query("word", "6")

    def is_guessed(tab: Visit) -> None:
        shown = tab.page.locator(".st-key-architectures .panel")
        expect(shown).to_have_count(3)
        expect(shown.nth(0).locator(".token.hidden")).to_contain_text("[MASK]")
        expect(shown.nth(0).locator(".truth")).to_contain_text("river")
        expect(shown.nth(1).locator(".status")).to_contain_text("and 0 to the right.")

    return is_guessed


@on("inside-layer", text_a=TEXT_A, layer_view="all")
def token_of_all_is_followed(visit: Visit) -> IsSo:
    visit.page.locator(".st-key-layer_all .token").filter(has_text="steep").click()
    visit.wait_for_query("layer_token", "10")
    expect(visit.page.locator(".st-key-layer_drawing .sheet")).to_be_visible()
    steep = lambda tab: tab.token("layer_strip", "steep")  # noqa: E731
    return lambda tab: expect(steep(tab)).to_have_attribute("aria-selected", "true")


@on("minimal-pair", **VERSIONS, pair_attention="1")
def head_of_the_differences_is_opened(visit: Visit) -> IsSo:
    strip = visit.page.get_by_role("group", name="The tokens of both versions, aligned")
    expect(strip.get_by_text("woman", exact=True)).to_be_visible()
    heads = visit.picture("figure_minimal-pair-heads")
    visit.settle()
    heads.locator(".scatterlayer .point").nth(1).click(force=True)

    def is_open(tab: Visit) -> None:
        expect(tab.page.get_by_role("combobox", name="Layer")).to_have_value("0")
        expect(tab.page.get_by_role("combobox", name="Head")).to_have_value("1")
        tab.picture("figure_minimal-pair-attention")

    return is_open


@on("compare", text_a=VERSIONS["text_a"])
def head_of_both_is_opened(visit: Visit) -> IsSo:
    visit.page.get_by_text("Which heads attend differently").click()
    grid = visit.picture("figure_compare-heads")
    visit.inked(".st-key-compare_map_second")
    # The transparent points over the cells are what can be clicked.
    grid.locator(".scatterlayer .points path").nth(2).click(force=True)
    visit.wait_for_query("compare_head", "0.2")
    opened = "Layer 0 head 2 in both"
    return lambda tab: expect(tab.page.get_by_role("heading", name=opened)).to_be_visible()


@on("heads", heads_measure="evenness")
def cell_of_the_grid_is_opened(visit: Visit) -> IsSo:
    grid = visit.picture("figure_heads-grid")
    visit.settle()
    grid.locator(".scatterlayer .point").nth(1).click(force=True)
    visit.wait_for_query("heads_open", "0.1")
    said = "What layer 0 head 1 attends to"
    return lambda tab: expect(tab.page.get_by_text(said)).to_be_visible()


@on("glance", text_a=MASKED, text_b=TEXT_B)
def steps_are_walked(visit: Visit) -> IsSo:
    visit.inked(".st-key-glance")
    plane = visit.page.locator(".st-key-glance .plane")
    plane.press("Home")
    plane.press("ArrowDown")
    said = visit.page.locator(".st-key-glance .live-region")
    expect(said).to_contain_text("the, token 1")
    visit.page.get_by_role("button", name="Next", exact=True).click()
    visit.wait_for_query("step", "1")
    walk = {"name": "Walk through BERT"}
    return lambda tab: expect(tab.page.get_by_role("group", **walk)).to_contain_text("2 / 11")


SWEPT = pytest.param("word_is_hidden", marks=pytest.mark.sweep)


@pytest.mark.parametrize("name", [SWEPT, *(name for name in ACTS if name != "word_is_hidden")])
def test_it_stays_and_is_in_the_link(
    visit: Visit, new_visit: Callable[..., Visit], name: str
) -> None:
    page, query, act = ACTS[name]
    visit.open(page, **query)
    is_so = act(visit)
    is_so(visit)
    visit.go_to("papers" if page == "tokens" else "tokens")
    visit.go_to(page)
    is_so(visit)
    other = new_visit()
    other.follow(visit.page.url, page)
    is_so(other)
    for tab in (visit, other):
        tab.check()


PARTS = [
    (0.263, 0.5, "tokens", "token"),  # an embedding
    (0.42, 0.09, "attention", "heads"),  # a head
    (0.435, 0.5, "inside-layer", None),  # feed-forward
    (0.815, 0.5, "layer-map", None),  # the last layer's output
    (0.95, 0.2, "sentence-pairs", None),
    (0.95, 0.47, "masked-words", None),
]
"""Places as fractions of the whole drawing, the page that a click opens, a name in its address."""


def test_a_part_of_the_drawing_opens_its_page(visit: Visit) -> None:
    visit.open("glance", text_a=MASKED, text_b=TEXT_B, step="10")
    for x, y, name, query in PARTS:
        visit.inked(".st-key-glance")
        plane = visit.page.locator(".st-key-glance .plane")
        plane.click(position=place(plane, x, y))
        visit.arrive(name)
        if query:
            expect(visit.page).to_have_url(re.compile(rf"[?&]{query}="))
        expect(visit.box("A")).to_have_value(MASKED)
        visit.check()
        visit.go_to("glance")


def test_a_click_on_a_word_of_the_walk_hides_it_and_the_last_step_leads_on(visit: Visit) -> None:
    visit.open("glance", text_a="The strawberry was on the table.")
    hidden = visit.page.locator(".st-key-hidden_words")
    hidden.get_by_role("button").click()
    visit.wait_for_query("masked", None)
    visit.page.get_by_role("button", name="Hide a word").click()
    expect(hidden).to_be_visible()
    hidden.get_by_role("button").click()
    visit.wait_for_query("masked", None)
    plane = visit.page.locator(".st-key-glance .plane")
    box = visit.inked(".st-key-glance").bounding_box()
    assert box is not None
    strawberry = {"x": 30, "y": 40 + 24 * 2.9}  # its two pieces are the third and the fourth row
    plane.click(position=strawberry)
    expect(hidden.get_by_role("button")).to_contain_text("Show strawberry again")
    told = visit.page.locator(".st-key-glance .texts .open")
    expect(told).to_contain_text("1 of the 2 of “strawberry”")
    plane.click(position=strawberry)
    expect(hidden).to_have_count(0)
    plane.press("ArrowLeft")
    for _ in range(8):  # nothing is hidden, so no step shows the guess
        visit.page.get_by_role("button", name="Next", exact=True).click()
    ways = visit.page.locator(".st-key-glance .ways button")
    expect(ways).to_have_text(["Take lesson 1", "Tokens & embeddings", "Inspect my model"])
    ways.nth(2).click()
    visit.arrive("inspect")
    visit.check()


def test_a_newcomer_clicks_from_a_relation_to_its_head(visit: Visit) -> None:
    """The task of many courses, by what is written on the screen and without a file."""
    visit.open("heads")
    visit.page.get_by_text("a verb's direct object", exact=True).click()
    visit.wait_for_query("heads_measure", "obj>to_dependent")
    visit.settle()
    answer = visit.page.get_by_text("does it most")
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


def test_masks_are_filled_step_by_step(visit: Visit) -> None:
    view = {"architectures_view": "Let it write", "written_tokens": "3"}
    visit.open("architectures", text_a=TEXT_A, **view)
    writing = visit.page.locator(".st-key-writing")
    still_open = writing.locator("section").last.locator(".chip.open")
    expect(writing.locator("output")).to_have_text("step 3 of 3")
    for _ in range(2):
        writing.get_by_role("button", name="Step back").click()
    expect(still_open).to_have_count(2)
    writing.get_by_role("button", name="Play").click()
    expect(still_open).to_have_count(0)
    visit.check()


@pytest.mark.parametrize("name", REMOVED)
def test_a_removed_address_opens_the_page_that_took_over(visit: Visit, name: str) -> None:
    heir, _ = REMOVED[name]
    visit.page.goto(f"{visit.url}/{name}?text_a=He+sat+on+the+bank.&corpus_view=senses&layer=3")
    visit.arrive(PAGES[heir].name)
    expect(visit.page.get_by_text("was removed in 0.3.0")).to_be_visible()
    visit.wait_for_query("text_a", "He sat on the bank.")  # also where no box shows it
    for field, value in REMOVED_VIEWS.get(name, {}).items():
        visit.wait_for_query(field, value)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_are_legible_in_light_and_dark(new_visit: Callable[..., Visit], scheme: str) -> None:
    """The ground follows the system's setting, and what a canvas and Plotly write stands out."""
    visit = new_visit(color_scheme=scheme)
    visit.open("attention", text_a=TEXT_A, text_b=TEXT_B)
    canvas = Image.open(io.BytesIO(visit.inked(".st-key-attention_lines").screenshot()))
    names = canvas.crop((6, 6, round(0.26 * canvas.width), canvas.height - 6))
    visit.go_to("tokens")
    label = visit.picture().locator(".xtick text").first
    for picture in (names, Image.open(io.BytesIO(label.screenshot()))):
        shades = picture.convert("L").histogram()
        ground = max(range(256), key=shades.__getitem__)
        ink = max((grey for grey in range(256) if shades[grey]), key=lambda s: abs(s - ground))
        assert ground < 60 if scheme == "dark" else ground > 220
        lights = [((grey / 255 + 0.055) / 1.055) ** 2.4 + 0.05 for grey in (ground, ink)]
        assert max(lights) / min(lights) > 4.5  # as WCAG has it
    visit.check()


def test_on_a_phone_a_step_brings_picture_and_guesses_into_view(
    new_visit: Callable[..., Visit],
) -> None:
    visit = new_visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit.open("glance")
    visit.page.get_by_role("button", name="Next", exact=True).tap()
    visit.wait_for_query("step", "1")
    for part in (".glance .title", ".glance canvas"):
        expect(visit.page.locator(part)).to_be_in_viewport(ratio=1)
