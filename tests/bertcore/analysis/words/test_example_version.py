"""The example of a second version: one whole word replaced by the model's best other word."""

import pytest

from bertcore import Bert, load
from bertcore.analysis.words.surprise import example_mask
from bertcore.analysis.words.training_example import example_version
from bertcore.network import ALL_HEADS
from tests.support.tiny import tiny_bert


@pytest.fixture(scope="module")
def shipped() -> Bert:
    bert = load("default", device="cpu")
    assert isinstance(bert, Bert)
    return bert


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("Paris is the capital of France.", None),
        ("He went to the shop.", "Then he bought some milk."),
        ("  The OLD man   sat by the river. ", None),
    ],
)
def test_one_word_is_replaced_by_the_best_other(shipped: Bert, text: str, pair: str | None) -> None:
    version = example_version(shipped, text, pair)
    assert version is not None
    before, after = text + (pair or ""), version.text + (version.text_pair or "")
    assert before != after
    assert before.replace(version.original, version.replacement, 1) == after
    position = example_mask(shipped, text, pair)
    encoding = shipped.tokenize(text, pair)
    assert encoding.tokens[position] == version.original.lower()
    assert version.original[0].isupper() == version.replacement[0].isupper()
    (best,) = shipped.fill_mask(
        text.replace(version.original, "[MASK]"),
        pair and pair.replace(version.original, "[MASK]"),
        top_k=20,
    )
    words = [w for w, _ in best if w.isalpha() and w != version.original.lower()]
    assert version.replacement.lower() == words[0]


def test_no_whole_word_has_no_example(shipped: Bert) -> None:
    assert example_version(shipped, "!? 3 . ;") is None


def test_what_cannot_be_hidden_is_refused() -> None:
    with pytest.raises(ValueError, match="no masked-word"):
        example_version(tiny_bert(heads=ALL_HEADS - {"mlm"}), "the river")
    with pytest.raises(ValueError, match="no token"):
        example_version(tiny_bert(), "[MASK]")
