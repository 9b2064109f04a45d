"""Texts, labels, names and vocabularies that want to harm: shown as they are, run never."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from bertcore import Bert
from bertcore.tokenizer import Tokenizer
from tests.support.browser.visit import TEXT_A, TEXT_B, TEXT_PAGES, Visit
from tests.support.tiny import tiny_config, tiny_network, tiny_vocabulary

pytestmark = pytest.mark.browser

IMAGE = "<img src=x onerror=window.__pwned=1>"
SCRIPT = f"</script>{IMAGE}"
MARKUP = "![a](http://foreign.invalid/a.png) [b](javascript:window.__pwned=1) $x$ :smile: **c**"
SIGNS = "שלום \u202eolleh\u202c 👩\u200d👩\u200d👧 fi\u200bsh nul\0nul e\u0301"
NOT_SEEN = "\u200b\u200d"
LONG = "river " * 600


@pytest.fixture(scope="module")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint whose name, vocabulary and card are hostile."""
    pieces = [f"{IMAGE}{number}" for number in range(200)]
    tokenizer = Tokenizer([*tiny_vocabulary(), *pieces], do_lower_case=True, model_max_length=64)
    network = tiny_network(tiny_config(vocab_size=tokenizer.vocab_size))
    folder = tmp_path_factory.mktemp("hostile") / f"{IMAGE}**_*"
    Bert(network, tokenizer, name=IMAGE).save(folder)
    card = f"# {SCRIPT}\n<script>window.__pwned=1</script>\n{MARKUP}\n![b][c]\n\n[c]: http://foreign.invalid/c.png"
    (folder / "README.md").write_text(card, encoding="utf-8")
    return folder


def use(visit: Visit, name: str) -> None:
    """Do on a page what brings its tokens to more places."""
    if name == "glance":
        visit.inked(".st-key-glance")
        plane = visit.page.locator(".st-key-glance .plane")
        for place in (60, 140, 300, 500, 800):
            plane.hover(position={"x": place, "y": 200})
        plane.press("ArrowRight")
        visit.wait_for_query("step", "1")
    elif name == "tokens":
        visit.page.locator(".st-key-strip .words button").nth(3).click()
        visit.wait_for_query("token", "3")
        visit.picture()
    elif name == "attention":
        visit.page.get_by_role("radio", name="BertViz").click()
        frame = visit.page.frame_locator("iframe")
        expect(frame.locator("svg line").first).to_be_attached()
        visit.check()
        assert not visit.was_tricked()
        visit.page.get_by_role("radio", name="Heat map").click()
        visit.inked(".st-key-attention_map")
        visit.page.locator(".st-key-attention_map .field").hover(position={"x": 200, "y": 200})
        visit.page.get_by_role("radio", name="Lines").click()
        visit.inked(".st-key-attention_lines")
        visit.page.locator(".st-key-attention_lines .scroller").hover(position={"x": 20, "y": 60})
    elif name == "masked-words":
        visit.page.locator(".st-key-mask_strip .words button").nth(1).click()
        visit.wait_for_query("masked", "1")
        visit.page.get_by_label("Words to score at this mask").fill(f"{SCRIPT}, river")
        visit.page.keyboard.press("Enter")
        visit.wait_for_query("candidates", f"{SCRIPT}, river")
        visit.picture("figure_masked-words").hover()
    elif name == "sentence-pairs":
        visit.page.get_by_label("Sentences, one per line").fill(f"{SCRIPT}\n{MARKUP}\n{SIGNS}")
        visit.page.keyboard.press("Control+Enter")
        visit.wait_for_query("sentences", f"{SCRIPT}\n{MARKUP}\n{SIGNS}")
        for name in ("similar-map", "similar-words", "similar-pairs", "pair-matrix"):
            visit.picture(f"figure_{name}").hover()
    elif name == "mixing":
        visit.page.locator(".st-key-mix_strip .words button").nth(1).click()
        visit.wait_for_query("mix_token", "1")
        visit.picture("figure_mixing").hover()
    elif name == "minimal-pair":
        visit.page.locator(".st-key-other_a textarea").fill(f"{SCRIPT} {SIGNS} {MARKUP}")
        visit.wait_for_query("other_a", f"{SCRIPT} {SIGNS} {MARKUP}")
        visit.settle()
        visit.picture("figure_minimal-pair-attention").hover()
    elif name == "compare":
        visit.picture("figure_compare-gradients").hover()
        visit.page.get_by_role("radio", name="Heads").click()
        visit.inked(".st-key-compare_map_second")
        visit.page.locator(".st-key-compare_map_first .field").hover(position={"x": 150, "y": 150})
        visit.page.get_by_role("radio", name="Answers").click()
        visit.settle()
    elif name == "what-if":
        visit.page.get_by_role("switch", name="Layer 0 head 1", exact=True).click()
        visit.wait_for_query("off", "0.1")
        visit.settle()
        visit.picture("figure_what-if-words").hover()
        visit.picture("figure_what-if-hidden").hover()
    elif name == "inspect":  # test_inspect.py has models with a task head
        expect(visit.page.get_by_text("has no decision to inspect")).to_be_visible()
    elif name == "layer-map":
        visit.picture("figure_layer-map").hover()
    elif name == "objectives":
        visit.page.locator(".st-key-objectives button", has_text="Replaced tokens").click()
        visit.wait_for_query("objective", "replaced-tokens")
        visit.picture("figure_objective-looks").hover()
    elif name == "architectures":
        visit.page.locator(".st-key-architectures svg .token").nth(3).click()
        visit.page.get_by_role("radio", name="Let it write").click()
        expect(visit.page.locator(".st-key-writing .chip").first).to_be_visible()
        visit.page.get_by_role("radio", name="Why words are hidden").click()
        visit.picture("figure_two-layers").hover()
    else:  # a new page: the first of its pictures
        visit.page.locator(".js-plotly-plot").first.hover()


@pytest.mark.parametrize("name", TEXT_PAGES)
def test_texts(visit: Visit, name: str) -> None:
    visit.open(name, text_a=TEXT_A, text_b=TEXT_B)
    visit.check()

    def write(text_a: str, text_b: str = TEXT_B) -> None:
        visit.write(text_a, text_b)
        visit.check()
        assert not visit.was_tricked()
        expect(visit.box("A")).to_have_value(text_a)

    write(SCRIPT, f"{MARKUP} {SCRIPT}")
    use(visit, name)
    visit.check()
    assert not visit.was_tricked()
    write(SIGNS, SIGNS)
    write("river", "")
    write(NOT_SEEN, "")
    assert count(visit, "Nothing in this text is a word to the model") == 1
    for blank in ("", " \n\t "):
        write(blank, "")
        assert visit.notices() == [
            "Sentence A is empty. Type a sentence above, or pick an example."
        ]

    visit.box("A").fill(LONG)
    expect(visit.page.get_by_text("The text is too long for a link")).to_be_visible()
    visit.check()
    assert count(visit, r"602 tokens but the limit is \d+, so the last \d+ tokens of text A") == 1
    expect(visit.box("A")).to_have_value(LONG)
    visit.write(TEXT_A, TEXT_B)
    assert count(visit, "limit") == 0
    visit.check()


def count(visit: Visit, pattern: str) -> int:
    """Return the number of boxes with a sentence."""
    return sum(bool(re.search(pattern, notice)) for notice in visit.notices())


def test_a_vocabulary_a_folder_and_a_card(visit: Visit, hostile_folder: Path) -> None:
    where = str(hostile_folder)
    visit.open("tokens", checkpoint=where, text_a=TEXT_A, view="Nearest words")
    nearest = visit.picture("figure_nearest-words")
    expect(nearest).to_contain_text(IMAGE)  # shown, letter by letter
    nearest.hover()
    visit.check()
    visit.go_to("masked-words")
    visit.token("mask_strip", "bank").click()
    visit.wait_for_query("masked", "7")
    for name in ("masked-words", "lens", "ranks"):
        visit.picture(f"figure_{name}").hover()
    expect(visit.page.locator(".st-key-figure_masked-words")).to_contain_text("<img src=x")
    visit.check()
    assert not visit.was_tricked()
    visit.go_to("checkpoints")
    expect(visit.page.get_by_role("heading", name=hostile_folder.name, level=2)).to_be_visible()
    for view in ("Shape", "Model card", "Memory"):
        visit.page.get_by_role("radio", name=view).click()
        visit.wait_for_query("checkpoint_view", view)
        visit.check()
        assert not visit.was_tricked()


def test_labels_of_the_layer_map(visit: Visit) -> None:
    visit.open("layer-map", map_source="pasted", map_colour="label", map_unit="sentences")
    lines = [
        f"{SCRIPT} one\t{IMAGE}",
        f"{MARKUP}\t<b onmouseover=window.__pwned=1>b</b>",
        "fish\tx",
    ]
    visit.page.get_by_label("One sentence per line").fill("\n".join(lines * 2))
    visit.page.keyboard.press("Control+Enter")
    visit.settle()
    figure = visit.picture("figure_layer-map")
    label = figure.locator(".hoverlayer .hovertext").first
    for number in range(3):
        for _ in range(20):  # a drawing made anew under the pointer shows no label by itself
            visit.page.mouse.move(0, 0)
            figure.locator(".scatterlayer .points path").nth(number).hover(force=True)
            if label.count():
                break
            visit.page.wait_for_timeout(200)
        expect(label).to_be_attached()
    visit.check()
    assert not visit.was_tricked()


def test_the_tests_notice_what_they_look_for(visit: Visit) -> None:
    """What these tests assert to be absent is seen where it is present."""
    visit.open()
    assert not visit.was_tricked()
    fetch = "fetch('http://foreign.invalid/a').catch(() => { window.__pwned = 1 })"
    visit.page.evaluate(fetch)
    assert visit.was_tricked()
    assert visit.foreign == []  # the content policy cuts it off
    visit.page.goto("about:blank")
    visit.page.evaluate(fetch)
    visit.page.wait_for_function("window.__pwned === 1")
    assert visit.foreign == ["http://foreign.invalid/a"]
    assert any("foreign.invalid" in said for said in visit.complaints)
    visit.foreign.clear()
    visit.complaints.clear()
