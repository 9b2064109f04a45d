"""Words of pairs are exchanged whole, in their case, both ways; her and his by what follows."""

from dataclasses import replace
from pathlib import Path
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
from bertcore.training.finetuning.data.swap_words import Swapping, WordSwap, swap_example
from tests.support.cases import cases

PAIRS = (("she", "he"), ("woman", "man"), ("her", "him"), ("Mary", "John"))


@pytest.mark.parametrize(("text", "expected"), cases("swapped_words"))
def test_whole_words_in_their_case(text: str, expected: str) -> None:
    assert WordSwap(PAIRS)(text) == expected


@pytest.mark.parametrize(("text", "expected"), cases("swapped_pronouns"))
def test_pronouns_by_what_follows(text: str, expected: str) -> None:
    assert WordSwap([("her", "his")])(text) == expected


def test_twice_is_nothing_for_every_word_that_ships() -> None:
    swap = WordSwap(Swapping.of("gender").pairs)
    for first, second in swap.pairs:
        if {first, second} <= {"her", "him", "his", "hers"}:
            continue
        for word, other in (first, second), (second, first):
            for form in str.lower, str.upper, str.title:
                text = f"The {form(word)}'s house."
                assert swap(text) == f"The {form(other)}'s house."
                assert swap(swap(text)) == text


def test_changes_say_where() -> None:
    text = "\U0001f600 Mary saw him."
    swapped = WordSwap(PAIRS).swapped(text)
    assert swapped.text == "\U0001f600 John saw her."
    assert [(text[c.start : c.end], c.before, c.after) for c in swapped.changes] == [
        ("Mary", "Mary", "John"),
        ("him", "him", "her"),
    ]
    assert WordSwap(PAIRS).swapped("none").changes == ()


def test_phrases_and_chinese() -> None:
    swap = WordSwap([("police woman", "police man"), ("man", "woman"), ("\u5979", "\u4ed6")])
    assert swap("a Police  Woman and a man") == "a Police man and a woman"
    assert swap("\u5979\u662f\u533b\u751f") == "\u4ed6\u662f\u533b\u751f"


@pytest.mark.parametrize(("pairs", "message"), cases("bad_pairs"))
def test_pairs_that_cannot_be_swapped(pairs: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WordSwap(pairs)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pairs.tsv", "# women, men\nshe\the\n\n her\thim\n"),
        ("pairs.csv", "\ufeffshe, he\nher,him"),
    ],
)
def test_files(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert Swapping.of(str(path)).pairs == (("she", "he"), ("her", "him"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 pairs"),
        (b"she\n", "line 1 .*expected two words"),
        (b"# x\na,b,c\n", "line 2 "),
        (b"a,b\na,c\n", "in two pairs"),
        (b"\xff\xfe", "nor a file of UTF-8"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "pairs.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        Swapping.of(str(path))


# ---- examples ----

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
