"""Fine-tuned checkpoints of other architectures on the pages that explain and compare them."""

import pytest

from tests.support.opened import opener, said
from tests.support.tiny_others import make_other_task

HEADS = {
    "SequenceClassification": ("bad", "good", "so-so"),
    "TokenClassification": ("O", "B-X", "I-X"),
    "QuestionAnswering": ("start", "end"),
}
MADE = {
    "deberta-v2 classifier": ("deberta-v2", "SequenceClassification"),
    "mobilebert tagger": ("mobilebert", "TokenClassification"),
    "xlnet answers": ("xlnet", "QuestionAnswering"),
    "mpnet classifier": ("mpnet", "SequenceClassification"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}
    for name, (family, head) in MADE.items():
        made[name] = tmp_path_factory.mktemp("fine-tuned") / family
        make_other_task(made[name], head, family, HEADS[head])
    return made


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("why", ["words", "parts", "layers", "swaps"])
def test_inspect(folders, monkeypatch, name, why):
    at = opener(folders, monkeypatch)(name, "inspect_checkpoint", inspect_why=why)
    expected = {"words": 3, "parts": 1, "layers": 2, "swaps": 0}[why]
    assert len(at.get("plotly_chart")) == 1 + expected
    assert "Example" not in said(at)
    if why == "parts":
        lacks_positions = name.startswith(("deberta", "xlnet"))
        assert ("adds no position vectors" in said(at)) == lacks_positions


def test_compare_two_classifiers(folders, monkeypatch):
    """With itself: the same answers, and the tokens that support them."""
    second = str(folders["deberta-v2 classifier"])
    at = opener(folders, monkeypatch)("deberta-v2 classifier", "compare", compare_with=second)
    assert at.get("plotly_chart")
    assert "Which tokens support it" in said(at)
