"""Texts, labels, names and vocabularies that want to harm: shown as they are, run never."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from bertcore import Bert
from bertcore.model.tokenizer import Tokenizer
from tests.support.browser.hostile import IMAGE, LONG, MARKUP, NOT_SEEN, SCRIPT, SIGNS
from tests.support.browser.visit import TEXT_A, TEXT_B, Visit
from tests.support.tiny import tiny_config, tiny_network, tiny_vocabulary

pytestmark = pytest.mark.browser


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


@pytest.mark.sweep
def test_texts_that_come_one_after_the_other(visit: Visit) -> None:
    """On one page; tests/app/test_odd_visits.py gives them to every page."""
    visit.open("tokens", text_a=TEXT_A, text_b=TEXT_B)
    for text_a, text_b in ((SIGNS, SIGNS), ("river", ""), (NOT_SEEN, "")):
        visit.write(text_a, text_b)
        visit.check()
        assert not visit.was_tricked()
        expect(visit.box("A")).to_have_value(text_a)
    expect(visit.notices("Nothing in this text is a word to the model")).to_have_count(1)
    visit.write("", "")
    empty = "Sentence A is empty. Type a sentence above, or pick an example."
    expect(visit.notices()).to_have_text([empty], use_inner_text=True)
    visit.box("A").fill(LONG)
    expect(visit.page.get_by_text("The text is too long for a link")).to_be_visible()
    visit.check()
    expect(visit.box("A")).to_have_value(LONG)
    visit.write(TEXT_A, TEXT_B)
    expect(visit.notices("limit")).to_have_count(0)
    visit.check()


def test_a_vocabulary_a_folder_and_a_card(visit: Visit, hostile_folder: Path) -> None:
    where = str(hostile_folder)
    visit.open("tokens", checkpoint=where, text_a=TEXT_A, view="Nearest words")
    nearest = visit.picture("figure_nearest-words")
    expect(nearest).to_contain_text(IMAGE.split()[-1])  # shown letter by letter, in two lines
    nearest.hover()
    visit.check()
    visit.go_to("masked-words")
    visit.page.locator(".st-key-hidden_words button").click()  # the one that the page chose
    visit.wait_for_query("masked", None)
    visit.token("mask_strip", "bank").click()
    visit.wait_for_query("masked", "7")
    for question in (
        "What would BERT predict after each layer",
        "How does each word's rank change",
    ):
        visit.page.get_by_text(question).click()
    for name in ("masked-words", "lens", "ranks"):
        visit.picture(f"figure_{name}").hover()
    expect(visit.page.locator(".st-key-figure_masked-words")).to_contain_text("<img src=x")
    visit.check()
    assert not visit.was_tricked()
    visit.go_to("inspect")
    visit.page.get_by_text("What is in this checkpoint?").click()
    expect(visit.page.get_by_role("heading", name=hostile_folder.name, level=2)).to_be_visible()
    for view in ("Shape", "Model card"):
        visit.page.get_by_role("radio", name=view).click()
        visit.wait_for_query("checkpoint_view", view)
        visit.check()
        assert not visit.was_tricked()


def test_a_file_and_its_name(visit: Visit, tmp_path: Path) -> None:
    table = tmp_path / f"{IMAGE}.csv"
    visit.open("heads", heads_source="file")
    rows = [f"{SCRIPT} one,{IMAGE}", f"{MARKUP},<b onmouseover=window.__pwned=1>b</b>", "für,x"]
    table.write_bytes("\n".join(["text,label", *rows * 2]).encode("latin-1"))
    visit.page.locator('[data-testid="stFileUploader"] input[type=file]').set_input_files(table)
    expect(visit.page.get_by_text("which is a guess")).to_be_visible()  # of the encoding
    visit.picture("figure_heads-grid").hover()
    visit.check()
    assert not visit.was_tricked()


@pytest.mark.sweep
def test_the_tests_notice_what_they_look_for(visit: Visit) -> None:
    """What these tests assert to be absent is seen where it is present."""
    visit.open()
    assert not visit.was_tricked()
    fetch = "fetch('http://foreign.invalid/a').catch(() => { window.__pwned = 1 })"
    visit.page.evaluate(fetch)
    assert visit.was_tricked()
    assert visit.foreign == []  # the content policy cuts it off
    visit.page.goto("about:blank")
    with visit.page.expect_console_message(lambda said: "ERR_NAME_NOT_RESOLVED" in said.text):
        visit.page.evaluate(fetch)
    assert visit.foreign == ["http://foreign.invalid/a"]
    assert any("foreign.invalid" in said for said in visit.complaints)
    visit.foreign.clear()
    visit.complaints.clear()
