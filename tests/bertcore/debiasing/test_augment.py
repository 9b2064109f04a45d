"""Texts with words swapped are added, or taken with chance 1/2; the same seed gives the same."""

import pytest

from bertcore.debiasing import Augmenter, Swapping, WordSwap, swap_document

SWAP = WordSwap([("she", "he")])


def _swap(text: str) -> str | None:
    other = SWAP(text)
    return None if other == text else other


def test_each_text_with_a_word_is_there_twice() -> None:
    augmenter = Augmenter(_swap, mode="augment", seed=1)
    assert list(augmenter(["she ran", "rain", "he sat"])) == [
        "she ran",
        "he ran",
        "rain",
        "he sat",
        "she sat",
    ]
    assert (augmenter.num_texts, augmenter.num_with_words, augmenter.num_swapped) == (3, 2, 2)
    assert "2 of 3 texts" in augmenter.note("texts", "mine")


def test_substitution_takes_about_half_and_none_twice() -> None:
    texts = [f"she ran {i}" for i in range(1000)]
    first, again, other = (
        list(Augmenter(_swap, mode="substitute", seed=seed)(texts)) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert [text.split()[-1] for text in first] == [text.split()[-1] for text in texts]
    assert 430 < sum(text.startswith("he") for text in first) < 570


def test_texts_without_a_word_are_refused() -> None:
    augmenter = Augmenter(_swap, mode="augment", seed=1)
    assert list(augmenter(["rain"])) == ["rain"]
    with pytest.raises(ValueError, match="none of the 1 texts"):
        augmenter.note("texts", "mine")


def test_documents_sentence_by_sentence() -> None:
    assert swap_document(SWAP, ["she ran.", "Rain."]) == ["he ran.", "Rain."]
    assert swap_document(SWAP, ["Rain."]) is None


def test_settings_are_checked() -> None:
    assert Swapping.of("gender").mode == "augment"
    with pytest.raises(ValueError, match="swap_mode is 'both'"):
        Swapping.of("gender", "both")
    with pytest.raises(ValueError, match="no set of words"):
        Swapping.of("nothing")
