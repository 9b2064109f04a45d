"""Words are swapped in every kind of example; tags keep their words, answers their places."""

from dataclasses import replace
from typing import Any

import pytest

from bertcore.data.examples import (
    ChoiceExample,
    Example,
    LabelsExample,
    QuestionExample,
    TaggedExample,
    TextExample,
)
from bertcore.finetuning.data.swap_words import (
    WordSwap,
    swap_example,
)

SWAP = WordSwap([("she", "he"), ("her", "him"), ("mary", "oliver"), ("woman", "man")])


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        (TextExample("She ran", None, "1", 3), TextExample("He ran", None, "1", 3)),
        (TextExample("rain", "for him", "1", 3), TextExample("rain", "for her", "1", 3)),
        (LabelsExample("He", None, ("a",), 1), LabelsExample("She", None, ("a",), 1)),
        (
            TaggedExample(["Mary", "man-made", "her", "house", "he's"], list("ABCDE"), 1),
            TaggedExample(["Oliver", "woman-made", "his", "house", "she's"], list("ABCDE"), 1),
        ),
        (
            ChoiceExample("She ran", ["he sat", "rain"], 1, 2),
            ChoiceExample("He ran", ["she sat", "rain"], 1, 2),
        ),
    ],
)
def test_each_kind(example: Example, expected: Example) -> None:
    assert swap_example(SWAP, example) == expected


def test_what_has_none_of_the_words() -> None:
    assert swap_example(SWAP, TextExample("rain", None, "1", 3)) is None
    assert swap_example(SWAP, TaggedExample(["rain"], ["O"], 1)) is None
    assert swap_example(SWAP, QuestionExample(**_question("It rained."), answers=[])) is None
    # A word in the question alone is enough.
    asked = {**_question("It rained."), "question": "Who was she?"}
    swapped = swap_example(SWAP, QuestionExample(**asked, answers=[("rained", 3)]))
    assert isinstance(swapped, QuestionExample)
    assert (swapped.question, swapped.answers) == ("Who was he?", [("rained", 3)])


def test_answers_follow_their_places() -> None:
    text = "Mary saw the man in Paris; she ran."
    answers = [(each, text.index(each)) for each in ("Mary", "the man", "Paris", "she ran")]
    example = QuestionExample(**_question(text), answers=answers)
    swapped = swap_example(SWAP, example)
    assert isinstance(swapped, QuestionExample)
    assert swapped.context == "Oliver saw the woman in Paris; he ran."
    assert [answer for answer, _ in swapped.answers] == ["Oliver", "the woman", "Paris", "he ran"]
    for answer, start in swapped.answers:
        assert swapped.context[start : start + len(answer)] == answer
    assert swapped.id != example.id


def test_an_answer_that_cuts_a_swapped_word_leaves_no_example() -> None:
    text = "Mary ran"
    example = QuestionExample(**_question(text), answers=[("ary", 1)])
    assert swap_example(SWAP, example) is None
    assert swap_example(SWAP, replace(example, answers=[])) is not None


def _question(context: str) -> dict[str, Any]:
    return {"id": "1", "question": "Who was it?", "context": context, "row": 1}
