"""What people paste and upload: encodings, columns, and files that are none."""

import csv

import pytest

from bertcore.data.texts import MAX_ROWS, Sentence, read_upload, shown_name
from bertcore.tokenizer.truncation import MOST_CHARACTERS

TABLE = 'id,text,label\n1,"The bank, again",money\n2,Crème brûlée,food\n'


def test_lines_with_and_without_labels() -> None:
    texts = read_upload(b"  One line.  \r\n\n \t \nA bat\tanimal \n", "a.txt")
    assert texts.sentences == (Sentence("One line."), Sentence("A bat", None, "animal"))


@pytest.mark.parametrize("name", ["a.csv", "A.CSV", "folder/x.y.csv"])
def test_a_table_finds_its_columns(name: str) -> None:
    texts = read_upload(TABLE.encode(), name)
    assert texts.columns == ("id", "text", "label")
    assert (texts.text_column, texts.pair_column, texts.label_column) == ("text", "", "label")
    assert texts.sentences == (
        Sentence("The bank, again", None, "money"),
        Sentence("Crème brûlée", None, "food"),
    )
    assert texts.notes == ()


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"]
)
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_encodings_give_the_same_sentences(encoding: str, name: str) -> None:
    texts = read_upload(TABLE.encode(encoding), name)
    assert "Crème brûlée" in texts.sentences[-1].text
    is_guess = encoding in ("utf-16-le", "utf-16-be", "latin-1")
    assert any("which is a guess" in note for note in texts.notes) == is_guess


def test_a_line_that_is_damaged_is_left_out() -> None:
    texts = read_upload("été\n".encode() * 3 + b"caf\xe9\n", "a.txt")
    assert [sentence.text for sentence in texts.sentences] == ["été"] * 3
    assert "line 4 of 'a.txt' holds a byte 0xE9 that is not UTF-8" in texts.notes[0]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters(delimiter: str) -> None:
    data = f"text{delimiter}sense\nthe bank{delimiter}river\n".encode()
    assert read_upload(data, "a.csv").sentences == (Sentence("the bank", None, "river"),)
    tsv = read_upload(b'sentence1\tsentence2\nIt "rained\tA, b\n', "a.tsv")
    assert tsv.sentences == (Sentence('It "rained', "A, b"),)


def test_chosen_columns_win_and_wrong_ones_are_answered_with_those_there_are() -> None:
    texts = read_upload(TABLE.encode(), "a.csv", text_column="label", label_column="id")
    assert texts.sentences[0] == Sentence("money", None, "1")
    bare = read_upload(TABLE.encode(), "a.csv", label_column="")
    assert bare.label_column == ""
    assert bare.sentences[0].label == ""
    for wrong in ("text_column", "pair_column", "label_column"):
        with pytest.raises(ValueError, match=r"no column 'txt'.*'id', 'text', 'label'. Choose one"):
            read_upload(TABLE.encode(), "a.csv", **{wrong: "txt"})


def test_without_a_usual_name_the_longest_column_is_the_text() -> None:
    data = b"n,words,where\n1,a much longer thing,x\n2,and one more of them,y\n"
    assert read_upload(data, "a.csv").text_column == "words"


def test_rows_without_text_are_counted() -> None:
    texts = read_upload(b"label,text\na,one\nb\nc,  \n\nd,two\n", "a.csv")
    assert [sentence.label for sentence in texts.sentences] == ["a", "d"]
    assert "1 bad row was left out; the first: row 2" in texts.notes[0]
    assert "1 row without a text" in texts.notes[1]
    with pytest.raises(ValueError, match="no sentence in column 'text'"):
        read_upload(b"label,text\na,\n", "a.csv")
    with pytest.raises(ValueError, match="no sentence in column 'text'"):
        read_upload(b"text\n", "a.csv")


@pytest.mark.parametrize("data", [b"", b"   \n\r\n "])
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_empty_files(data: bytes, name: str) -> None:
    with pytest.raises(ValueError, match=r"'a....' is empty. Choose a file"):
        read_upload(data, name)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"PK\x03\x04" + bytes(range(200)), "not a whole archive"),
        (b"\xd0\xcf\x11\xe0" + bytes(200), "an old Office file, such as .xls, not text"),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "a picture, not text"),
        (b"%PDF-1.7 " + b"abc " * 40, "is a PDF"),
        (bytes(range(256)) * 20, "is not text"),
        (b"text,label\nab\0cd,x\n", "is not text"),
    ],
)
@pytest.mark.parametrize("name", ["data.csv", "data.txt"])
def test_files_that_are_no_text(data: bytes, kind: str, name: str) -> None:
    with pytest.raises(ValueError, match=kind):
        read_upload(data, name)


@pytest.mark.parametrize("limit", [2**17, 2**26])
def test_an_open_quotation_mark_is_explained(limit: int) -> None:
    # Whatever limit of csv's, which is the process's, another reader has left behind.
    csv.field_size_limit(limit)
    data = b'text,label\n"never closed,' + b"words " * 40_000
    with pytest.raises(ValueError, match=r"row 1 .*a quotation mark that is not closed"):
        read_upload(data, "a.csv")


def test_the_first_sentences_of_fifty_megabytes_are_read() -> None:
    line = ("é" * 60 + ",x\n").encode()
    data = b"text,label\n" + line * (50 * 2**20 // len(line) - 1)
    texts = read_upload(data, "big.csv")
    assert len(texts.sentences) == MAX_ROWS
    assert {sentence.text for sentence in texts.sentences} == {"é" * 60}
    assert "first 2,000 were taken" in texts.notes[0]
    with pytest.raises(ValueError, match="has 51 MB; the limit is 50 MB"):
        read_upload(data + bytes(2**20), "big.csv")


def test_one_endless_line_is_cut_and_it_is_said() -> None:
    texts = read_upload(("é" * 10**6).encode(), "a.txt")
    assert texts.sentences[0].text == "é" * MOST_CHARACTERS
    assert "1 sentence was cut at 20,000 characters" in texts.notes[-1]


def test_rows_are_bounded_and_it_is_said() -> None:
    texts = read_upload(b"a\nb\nc", "a.txt", max_rows=2)
    assert [sentence.text for sentence in texts.sentences] == ["a", "b"]
    assert texts.notes == ("There are more than 2 sentences: the first 2 were taken.",)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("..\\..\\x.csv", "'x.csv'"),
        ("</script><img onerror=alert(1)>.csv", "'script><img onerror=alert(1)>.csv'"),
        ("a\nb\x00c.csv", "'abc.csv'"),
        ("", "'the file'"),
        ("/", "'the file'"),
    ],
)
def test_hostile_names_are_shown_tame(name: str, shown: str) -> None:
    assert shown_name(name) == shown
    assert len(shown_name("x" * 500 + ".csv")) == 62


def test_hostile_columns_and_cells_are_only_text() -> None:
    data = b"<b>text</b>,=1+1\n</script>,x\n"
    texts = read_upload(data, "a.csv", text_column="<b>text</b>")
    assert texts.sentences[0].text == "</script>"
    many = ",".join(f"c{i}" for i in range(500)) + "\n1\n"
    with pytest.raises(ValueError, match="and 480 more") as caught:
        read_upload(many.encode(), "a.csv", text_column="no")
    assert len(str(caught.value)) < 400
