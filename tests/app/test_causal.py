"""Every page with a BERT that was trained on next tokens: it works, or says what is lacking."""

import pytest
import torch

from bertcore import Bert
from bertcore.tasks.model import start_task_model
from tests.support.exhaustive import all_but
from tests.support.opened import PAGES, opener, said
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

NAMES = sorted(path.stem for path in PAGES.glob("*.py"))
LONG = ("bias",)
"""Pages that compute for seconds, and whose own tests do it on BERT."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    folder = Bert(network, tiny_tokenizer()).save(tmp_path_factory.mktemp("c") / "causal")
    generator = torch.Generator().manual_seed(1)
    tuned = start_task_model(folder, task="classify", labels=("bad", "good"), generator=generator)
    return {"causal": folder, "tuned": tuned.save(folder.parent / "tuned")}


@pytest.mark.parametrize("name", all_but([n for n in NAMES if n not in LONG], NAMES))
def test_every_page_opens(folders, monkeypatch, name):
    at = opener(folders, monkeypatch)("causal", name)
    assert not at.exception


def test_masked_words_shows_next_words(folders, monkeypatch):
    at = opener(folders, monkeypatch)("causal", "masked_words")
    text = said(at)
    assert "BERT with causal attention has no mask: it predicts each token" in text
    assert "the tokens before it" in text
    assert len(at.get("plotly_chart")) == 2


def test_inspect_reads_a_classifier_of_last_tokens(folders, monkeypatch):
    at = opener(folders, monkeypatch)("tuned", "inspect_checkpoint", text_b="")
    text = said(at)
    assert "good" in text
    assert "has no decision to inspect" not in text
    assert len(at.get("plotly_chart")) > 0
