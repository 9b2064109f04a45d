"""A visitor with a checkpoint of each family and head walks every page.

A page fails on an exception, on an error, where it shows nothing, and on a sentence that is wrong
for the family: special tokens that its tokenizer does not have, a number that is none, a brace that
nobody filled. Five families come with one head each; tests/app/test_signatures.py opens the pages
of each kind without a browser, and asks the same of their words. BERTSCOPE_EVERY_HEAD=1 takes every
family with every head.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.navigation import PAGES
from tests.support.browser.visit import TEXT_A, TEXT_B, Visit
from tests.support.browser.wording import wrong_words
from tests.support.tiny_families import make
from tests.support.tiny_tasks import PREFIXES, make_task

pytestmark = pytest.mark.browser

LABELS = {
    "SequenceClassification": ("bad", "good", "so-so"),
    "TokenClassification": ("O", "B-X", "I-X"),
    "QuestionAnswering": ("start", "end"),
}
HEADS = ("pretraining", *LABELS)
PRETRAINED = {
    "distilbert": "DistilBertForMaskedLM",
    "roberta": "RobertaForMaskedLM",
    "xlm-roberta": "XLMRobertaForMaskedLM",
    "electra": "ElectraForPreTraining",
    "albert": "AlbertForPreTraining",
    "modernbert": "ModernBertForMaskedLM",
}
WALKED = {
    "bert": "QuestionAnswering",
    "roberta": "TokenClassification",
    "xlm-roberta": "pretraining",
    "albert": "TokenClassification",
    "modernbert": "SequenceClassification",
}
CASES = [
    (family, head) for family in PREFIXES for head in HEADS if family != "bert" or head != HEADS[0]
]
if os.environ.get("BERTSCOPE_EVERY_HEAD") != "1":
    CASES = list(WALKED.items())

SHOWN = (
    "canvas, iframe, table, .js-plotly-plot, .words button, .row .token, .panel svg, "
    "[data-testid=stDataFrame], "
    "[data-testid=stAlertContainer], [data-testid=stMetric]"
)
"""What a page that is not empty has at least one of, in sight."""
OF_OTHER_CHECKPOINTS = ("training",)
"""Pages that tell of other checkpoints too; Inspect shows `sentiment` where there is no head."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("families")


@pytest.mark.parametrize(("family", "head"), CASES)
def test_every_page(visit: Visit, root: Path, family: str, head: str) -> None:
    folder = root / f"{family}-{head}"
    folder.mkdir()
    if head == "pretraining":
        make(PRETRAINED[family], folder)
    else:
        make_task(folder, head, family, LABELS[head])
    wrong = []
    visit.open(checkpoint=str(folder), text_a=TEXT_A, text_b=TEXT_B)
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
