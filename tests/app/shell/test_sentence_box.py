"""The examples: each is read by its checkpoint, and what is hidden first is found."""

from app.shell.sentence_box import DEFAULT, EXAMPLES
from bertcore import load
from bertcore.analysis.words.predictions import predict_masks
from bertcore.analysis.words.surprise import example_mask
from bertcore.checkpoints.source import DEFAULT as SHIPPED


def test_the_word_that_the_app_hides_first_is_found() -> None:
    bert = load(SHIPPED, device="cpu")
    texts = DEFAULT.text_a, DEFAULT.text_b
    position = example_mask(bert, *texts)
    found = predict_masks(bert, *texts, [position], top_k=2)
    assert found.words[0][0] == bert.tokenize(*texts).tokens[position] == "money"
    best, second = found.probabilities[0].tolist()
    assert best > max(0.4, 5 * second)
    assert bert.next_sentence(*texts).is_next > 0.8


def test_a_hidden_cat_is_found_beside_the_cat_that_sat() -> None:
    bert = load(SHIPPED, device="cpu")
    example = next(one for one in EXAMPLES if one.text_a == "The cat sat.")
    found = predict_masks(bert, example.text_a, example.text_b, [], top_k=1)
    assert found.words[0].tolist() == ["cat"]


def test_each_example_of_a_language_is_read_by_its_checkpoint() -> None:
    for example in EXAMPLES:
        if example.group in ("Lecture notes", "Chinese", "Russian"):
            bert = load(example.checkpoint or SHIPPED, device="cpu")
            ids = bert.tokenize(example.text_a, example.text_b or None).input_ids
            assert bert.tokenizer.unk_id not in ids, example.title
