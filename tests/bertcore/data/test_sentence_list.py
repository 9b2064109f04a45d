"""The visitor's list of sentences: its lines, marks and pairs, and what is no list."""

import pytest

from bertcore.data.texts import Line, Sentence, SentenceList, Span, list_text, read_sentence_list
from bertcore.tokenizer.truncation import MOST_CHARACTERS


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("  It rained. \r", Line("It rained.")),
        ("\ufeffA bat\tanimal", Line("A bat", "animal")),
        ("He ran. ||| He was late.", Line("He ran.", "He was late.", True)),
        ("He ran. ||| He was\tlate.", Line("He ran.", "He was\tlate.", True)),
        ("the *bank* of it", Line("the bank of it", marks=(Span(4, 8),))),
        ("*ice cream* and *milk*!", Line("ice cream and milk!", marks=(Span(0, 9), Span(14, 18)))),
        ("我*爱*学习", Line("我爱学习", marks=(Span(1, 2),))),
        ("كتب *الولد* الدرس", Line("كتب الولد الدرس", marks=(Span(4, 9),))),
        ("it is\tit *are*", Line("it is", "it are")),
        # No marks:
        ("5*3*2 and a*b*c", Line("5*3*2 and a*b*c")),
        ("**bold** 2 * 3 * 4", Line("**bold** 2 * 3 * 4")),
        ("*The keys is", Line("*The keys is")),
        # Nothing is lost:
        ("\tonly after the tab", Line("only after the tab")),
        ("||| only B", Line("only B")),
        ("only A |||", Line("only A")),
        ("a\x00b [MASK] <img src=x>", Line("a\x00b [MASK] <img src=x>")),
    ],
)
def test_a_line(written: str, line: Line) -> None:
    assert read_sentence_list(written).lines == (line,)


def test_what_lines_are_used_for() -> None:
    found = read_sentence_list("a *b*\tx\n\n \t \nc ||| d\ne\n")
    assert found.sentences == (Sentence("a b", None, "x"), Sentence("c", "d"), Sentence("e"))
    assert found.pairs == (("a b", "x"), ("c", "d"))
    assert found.consecutive == (("a b", "c"), ("c", "e"))
    assert found.marks == ((0, Span(2, 3)),)
    assert found.notes == ()


@pytest.mark.parametrize("text", ["", " \n\t\n", "|||", "\ufeff", "\u00a0\n\u3000", "||| \u00a0"])
def test_an_empty_list_is_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"no sentence in the list\. Write one per line"):
        read_sentence_list(text)


def test_long_lists_and_lines_are_cut_and_it_is_said() -> None:
    found = read_sentence_list("\n".join(f"sentence {i}" for i in range(100_000)))
    assert len(found.lines) == 500
    assert found.notes == ("There are 100,000 sentences: the first 500 were taken.",)
    equal = read_sentence_list("the same\n" * 500)
    assert len(equal.lines) == 500
    assert equal.notes[0].startswith("499 lines repeat an earlier one")
    long = read_sentence_list("x " * MOST_CHARACTERS + "*y*")
    assert long.lines == (Line(("x " * MOST_CHARACTERS)[:MOST_CHARACTERS]),)
    assert long.notes == ("1 sentence was cut at 20,000 characters.",)


def test_a_file_becomes_lines_that_are_read_again() -> None:
    sentences = (
        Sentence("It\nrained.", None, "bad\tweather"),
        Sentence("He ran.", "He was\u2028late."),
        Sentence("Plain."),
    )
    read: SentenceList = read_sentence_list(list_text(sentences))
    assert read.sentences == (
        Sentence("It rained.", None, "bad weather"),
        Sentence("He ran.", "He was late."),
        Sentence("Plain."),
    )
