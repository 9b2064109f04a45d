"""The examples: each is read by its checkpoint, and what is hidden first is found."""

import pytest

from app.shell.sentence_box import DEFAULT, EXAMPLES, MAT, MAT_PAIR, WHY_NO_CAT
from bertcore import load
from bertcore.analysis.words.predictions import predict_masks
from bertcore.analysis.words.surprise import example_mask
from bertcore.model.checkpoints.source import DEFAULT as SHIPPED
from tests.support.opened import page_of


def test_the_word_that_the_app_hides_first_is_found() -> None:
    bert = load(SHIPPED, device="cpu")
    texts = DEFAULT.text_a, DEFAULT.text_b
    position = example_mask(bert, *texts)
    found = predict_masks(bert, *texts, [position], top_k=2)
    assert found.words[0][0] == bert.tokenize(*texts).tokens[position] == "money"
    best, second = found.probabilities[0].tolist()
    assert best > max(0.4, 5 * second)
    assert bert.next_sentence(*texts).is_next > 0.8


@pytest.mark.parametrize("text", ["The [MASK] sat on the mat", MAT.text_a])
def test_why_no_cat_sat_on_the_mat_and_the_pair_that_makes_it_one(text: str) -> None:
    bert = load(SHIPPED, device="cpu")
    alone = predict_masks(bert, text, None, [], top_k=5)
    pair = predict_masks(bert, MAT_PAIR.text_a, MAT_PAIR.text_b, [], top_k=1)
    assert alone.words[0][0] == "man"
    assert "cat" not in alone.words[0].tolist()
    assert pair.words[0].tolist() == ["cat"]
    assert pair.probabilities[0, 0] == pytest.approx(0.447, abs=0.002)
    at = page_of("masked_words", text_a=text).run()
    assert [WHY_NO_CAT in caption.value for caption in at.caption].count(True) == 1
    at.button(key="mat_pair").click().run()
    assert not at.exception
    assert (at.text_area(key="text_a").value, at.text_area(key="text_b").value) == (
        MAT_PAIR.text_a,
        MAT_PAIR.text_b,
    )
    assert not any(WHY_NO_CAT in caption.value for caption in at.caption)


def test_each_example_of_a_language_is_read_by_its_checkpoint() -> None:
    for example in EXAMPLES:
        if example.group in ("Lecture notes", "Chinese", "Russian"):
            bert = load(example.checkpoint or SHIPPED, device="cpu")
            ids = bert.tokenize(example.text_a, example.text_b or None).input_ids
            assert bert.tokenizer.unk_id not in ids, example.title
