"""Sentences that people paste and upload: lines, marks, columns, and files that are none."""

from typing import Any

import pytest

from bertcore.data import Sentence, read_sentence_list, read_upload
from bertcore.data.texts import MAX_ROWS, Line, SentenceList, Span, list_text, shown_name
from bertcore.model.tokenizer.truncation import MOST_CHARACTERS
from tests.support.cases import cases

TABLE = 'id,text,label\n1,"The bank, again",money\n2,Crème brûlée,food\n'


def test_lines_with_and_without_labels() -> None:
    texts = read_upload(b"  One line.  \r\n\n \t \nA bat\tanimal \n", "a.txt")
    assert texts.sentences == (Sentence("One line."), Sentence("A bat", None, "animal"))


TABLES = {
    # content: (file, sentences, words of the note)
    "le château\nla forêt\n".encode("latin-1"): (
        "a.txt", [Sentence("le château"), Sentence("la forêt")], "which is a guess"),
    "été\nété\n".encode() + b"caf\xe9\n":
        ("a.txt", [Sentence("été")] * 2, "line 3 of 'a.txt' holds"),
    b"a\nb\nc": ("a.txt", [Sentence("a"), Sentence("b")], "There are more than 2 sentences"),
    "text|sense\ncafé|x\n".encode("utf-16"): ("a.csv", [Sentence("café", None, "x")], "pipes"),
    b'sentence1\tsentence2\nIt "rained\tA, b\n': ("a.tsv", [Sentence('It "rained', "A, b")], ""),
    b"n,words\n1,a longer thing\n2,and one\n":
        ("a.csv", [Sentence("a longer thing"), Sentence("and one")], ""),
}  # fmt: skip


@pytest.mark.parametrize("data", TABLES, ids=ascii)
def test_encodings_separators_and_bounds(data: bytes) -> None:
    name, sentences, note = TABLES[data]
    texts = read_upload(data, name, max_rows=2)
    assert list(texts.sentences) == sentences
    assert note in " ".join(texts.notes)
    assert bool(note) == bool(texts.notes)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty. Choose"),
        (b"   \n\r\n ", "is empty. Choose"),
        (b"PK\x03\x04" + bytes(range(200)), "not a whole archive"),
        (b"\xd0\xcf\x11\xe0" + bytes(200), "an old Office file"),
        (b"%PDF-1.7 " + b"abc " * 40, "is a PDF"),
        (bytes(range(256)) * 20, "is not text"),
        (b"text,label\nab\0cd,x\n", "is not text"),
        (b'text,label\n"never closed,' + b"words " * 40_000, "row 1 .*not closed"),
    ],
    ids=range(8),
)
def test_what_holds_no_sentence_is_named(data: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_upload(data, "a.csv")


@pytest.mark.parametrize("name", ["a.csv", "A.CSV", "folder/x.y.csv"])
def test_a_table_finds_its_columns(name: str) -> None:
    texts = read_upload(TABLE.encode(), name)
    assert texts.sentences == (
        Sentence("The bank, again", None, "money"),
        Sentence("Crème brûlée", None, "food"),
    )
    assert texts.notes == ()


def test_rows_without_text_are_counted() -> None:
    texts = read_upload(b"label,text\na,one\nb\nc,  \n\nd,two\n", "a.csv")
    assert [sentence.label for sentence in texts.sentences] == ["a", "d"]
    assert "1 bad row was left out; the first: row 2" in texts.notes[0]
    assert "1 row without a text" in texts.notes[1]
    with pytest.raises(ValueError, match="no sentence in column 'text'"):
        read_upload(b"label,text\na,\n", "a.csv")
    with pytest.raises(ValueError, match="no sentence in column 'text'"):
        read_upload(b"text\n", "a.csv")


def test_the_first_sentences_of_fifty_megabytes_are_read() -> None:
    line = ("é" * 60 + ",x\n").encode()
    data = b"text,label\n" + line * (50 * 2**20 // len(line) - 1)
    texts = read_upload(data, "big.csv")
    assert len(texts.sentences) == MAX_ROWS
    assert {sentence.text for sentence in texts.sentences} == {"é" * 60}
    assert "first 2,000 were taken" in texts.notes[0]
    with pytest.raises(ValueError, match="has 51 MB; the limit is 50 MB"):
        read_upload(data + bytes(2**20), "big.csv")


@pytest.mark.parametrize(("name", "shown"), cases("hostile_names"))
def test_hostile_names_are_shown_tame(name: str, shown: str) -> None:
    assert shown_name(name) == shown
    assert len(shown_name("x" * 500 + ".csv")) == 62


def test_hostile_columns_and_cells_are_only_text() -> None:
    texts = read_upload(b"<b>text</b>,=1+1\n</script>,x\n", "a.csv")
    assert texts.sentences[0].text == "</script>"


# ---- a list ----


@pytest.mark.parametrize(
    ("written", "line"),
    cases("lines"),
)
def test_a_line(written: str, line: list[Any]) -> None:
    text, other, is_pair, marks = line
    marked = tuple(Span(*mark) for mark in marks)
    assert read_sentence_list(written).lines == (Line(text, other, is_pair, marked),)


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
