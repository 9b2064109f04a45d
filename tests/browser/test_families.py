"""A visitor with a checkpoint of a family walks every page.

A page fails on an exception, on an error, where it shows nothing, and on a sentence that is wrong
for the family: special tokens that its tokenizer does not have, a number that is none, a brace that
nobody filled. tests/app/test_signatures.py opens the pages of each kind without a browser, and asks
the same of their words.
"""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.navigation import PAGES
from tests.support.browser.visit import TEXT_A, TEXT_B, Visit
from tests.support.browser.wording import wrong_words
from tests.support.tiny_families import make
from tests.support.tiny_tasks import make_task

pytestmark = pytest.mark.browser

WALKED = {
    # family: its head, and the labels of that
    "bert": ("QuestionAnswering", ("start", "end")),
    "roberta": ("TokenClassification", ("O", "B-X", "I-X")),
    "xlm-roberta": ("pretraining", ()),
    "albert": ("TokenClassification", ("O", "B-X", "I-X")),
    "modernbert": ("SequenceClassification", ("bad", "good", "so-so")),
}
SHOWN = (
    "canvas, iframe, table, .js-plotly-plot, .words button, .row .token, .panel svg, "
    "[data-testid=stDataFrame], "
    "[data-testid=stAlertContainer], [data-testid=stMetric]"
)
"""What a page that is not empty has at least one of, in sight."""
OF_OTHER_CHECKPOINTS = ("training",)
"""Pages that tell of other checkpoints too; Inspect shows `sentiment` where there is no head."""


@pytest.mark.parametrize("family", WALKED)
def test_every_page(visit: Visit, tmp_path: Path, family: str) -> None:
    head, labels = WALKED[family]
    if head == "pretraining":
        make("XLMRobertaForMaskedLM", tmp_path)
    else:
        make_task(tmp_path, head, family, labels)
    wrong = []
    visit.open(checkpoint=str(tmp_path), text_a=TEXT_A, text_b=TEXT_B)
    for page in (page.name for page in PAGES.values()):
        visit.go_to(page)
        visit.check()
        main = visit.page.get_by_test_id("stMain")
        try:
            expect(main.locator(SHOWN).locator("visible=true").first).to_be_visible()
        except AssertionError:
            wrong.append(f"{page}: nothing is shown")
            continue
        shows_another = page == "inspect" and head == "pretraining"
        told = "" if page in OF_OTHER_CHECKPOINTS or shows_another else family
        wrong += [f"{page}: {said}" for said in wrong_words(main.inner_text(), told)]
    assert not wrong, "\n".join(wrong)
