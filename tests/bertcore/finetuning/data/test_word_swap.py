"""Words of pairs are exchanged whole, in their case, both ways; her and his by what follows."""

from pathlib import Path

import pytest

from bertcore.finetuning.data.swap_words import Swapping, WordSwap

PAIRS = (("she", "he"), ("woman", "man"), ("her", "him"), ("Mary", "John"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She saw a WOMAN, and he saw Mary.", "He saw a MAN, and she saw John."),
        ("woman-made, womanly, mankind, the man's", "man-made, womanly, mankind, the woman's"),
        ("he'll say HE; HE'S gone", "she'll say SHE; SHE'S gone"),
        ("mary met MARY and Mary_1", "john met JOHN and Mary_1"),
        ("nothing  here\t\n", "nothing  here\t\n"),
        ("", ""),
        ("\u017fhe", "he"),  # a long s folds to s
        ("<he>&he;", "<she>&she;"),
        ("he\u0301 and h\u00e9", "he\u0301 and h\u00e9"),  # an accent makes another word
    ],
)
def test_whole_words_in_their_case(text: str, expected: str) -> None:
    assert WordSwap(PAIRS)(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I saw her.", "I saw him."),
        ("I saw her", "I saw him"),
        ("I gave her the book.", "I gave him the book."),
        ("Her book is her own.", "His book is his own."),
        ("his book", "her book"),
        ("The book is his.", "The book is hers."),
        ("His is blue.", "Hers is blue."),
        ("The book is hers.", "The book is his."),
        ("I saw him and her.", "I saw her and him."),
        ("his or her friends", "her or his friends"),
        ("HIS/HER choice", "HER/HIS choice"),
        ('her "quiet" friends', 'his "quiet" friends'),
        ("I gave her 5 of them", "I gave him 5 of them"),
        ("his 5 friends", "her 5 friends"),
        ("I told her stories", "I told his stories"),  # the rule's limit, as its docstring says
    ],
)
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


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "no pair"),
        ([("she", "")], "empty word"),
        ([("she", "...")], "empty word"),
        ([("She", "she ")], "same word twice"),
        ([("she", "he"), ("SHE", "they")], "'she' is in two pairs"),
        ([("her", "them"), ("his", "him")], "'her' is paired with 'them'"),
    ],
)
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
