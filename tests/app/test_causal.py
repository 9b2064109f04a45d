"""Every page with a BERT that was trained on next tokens: it works, or says what is lacking."""

import pytest

from bertcore import Bert
from tests.support.opened import PAGES, opener, said
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

NAMES = sorted(path.stem for path in PAGES.glob("*.py"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    return {"causal": Bert(network, tiny_tokenizer()).save(tmp_path_factory.mktemp("c") / "causal")}


@pytest.mark.parametrize("name", NAMES)
def test_every_page_opens(folders, monkeypatch, name):
    at = opener(folders, monkeypatch)("causal", name)
    assert not at.exception


def test_masked_words_shows_next_words(folders, monkeypatch):
    at = opener(folders, monkeypatch)("causal", "masked_words")
    text = said(at)
    assert "BERT with causal attention has no mask: it predicts each token" in text
    assert "the tokens before it" in text
    assert len(at.get("plotly_chart")) == 2
