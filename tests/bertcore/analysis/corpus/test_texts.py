"""A corpus as a stream of sentences: every kind of file, and what is wrong with it."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertcore.analysis.corpus.texts import CorpusText, open_corpus
from bertcore.model.tokenizer.truncation import MOST_CHARACTERS


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_lines_are_cut_into_sentences_of_documents(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.txt",
        "\n\nIt rained. We went in.\r\nThe bank was steep.\n\n \n\nA new one.\n",
    )
    found = list(open_corpus([path, path]).texts())
    expected = [
        (0, 0, "It rained."), (0, 1, "We went in."), (0, 2, "The bank was steep."),
        (1, 0, "A new one."),
    ]  # fmt: skip
    again = [(document + 2, number, text) for document, number, text in expected]
    assert found == [CorpusText(*row, ()) for row in [*expected, *again]]
    whole = [text.text for text in open_corpus([path], split=False).texts()]
    assert whole == ["It rained. We went in.", "The bank was steep.", "A new one."]


def test_packed_text_and_progress(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt.gz", gzip.compress(b"a b.\n" * 5000))
    read: list[int] = []
    assert len(list(open_corpus([path]).texts(read.append))) == 5000
    assert sum(read) == path.stat().st_size


def test_no_more_of_a_file_is_read_than_needed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"The river bank was steep.\n" * 400_000)
    read: list[int] = []
    texts = open_corpus([path]).texts(read.append)
    assert len([next(texts) for _ in range(1000)]) == 1000
    assert 10_000 < sum(read) < 100_000


TABLES = {
    "a.csv": 'id,text,label\n7,"One, two. Three.",x\n8,,y\n9,last,\n',
    "a.tsv": "id\ttext\tlabel\n7\tOne, two. Three.\tx\n8\t\ty\n9\tlast\t\n",
    "a.jsonl": "".join(
        json.dumps(row) + "\n"
        for row in (
            {"id": "7", "text": "One, two. Three.", "label": "x"},
            {"id": "8", "text": "", "label": "y"},
            {"id": "9", "text": "last", "label": ""},
        )
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_keep_their_other_columns(tmp_path: Path, name: str) -> None:
    corpus = open_corpus([write(tmp_path / name, TABLES[name])])
    assert [field.name for field in corpus.fields] == ["id", "label"]
    assert list(corpus.texts()) == [
        CorpusText(0, 0, "One, two. Three.", ("7", "x")),
        CorpusText(2, 0, "last", ("9", "")),
    ]
    assert corpus.num_blank == 1
    cut = open_corpus([tmp_path / name], split=True)
    assert [(t.document, t.sentence, t.text) for t in cut.texts()] == [
        (0, 0, "One, two."), (0, 1, "Three."), (2, 0, "last"),
    ]  # fmt: skip


def test_parquet_keeps_types(tmp_path: Path) -> None:
    table = pa.table({"text": ["One.", None, "Two."], "stars": [1, 2, 3], "word": ["a", "b", "c"]})
    pq.write_table(table, tmp_path / "a.parquet")
    corpus = open_corpus([tmp_path / "a.parquet"])
    assert [(f.name, f.type) for f in corpus.fields] == [
        ("stars", pa.int64()), ("table_word", pa.string()),
    ]  # fmt: skip
    assert [(t.document, t.text, t.columns) for t in corpus.texts()] == [
        (0, "One.", (1, "a")), (2, "Two.", (3, "c")),
    ]  # fmt: skip


def test_bad_rows_are_refused_or_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "One."}\n{"text": "\\ud800"}\n[]\n{"text": "b"}\n')
    with pytest.raises(ValueError, match=r"row 2 .*surrogate"):
        list(open_corpus([path]).texts())
    corpus = open_corpus([path], skip_bad_rows=True)
    assert [(t.document, t.text) for t in corpus.texts()] == [(0, "One."), (3, "b")]
    assert "2 bad rows" in str(corpus.bad_rows.sentence())


def test_an_endless_sentence_becomes_several(tmp_path: Path) -> None:
    words = "river " * (MOST_CHARACTERS // 2)
    corpus = open_corpus([write(tmp_path / "a.txt", words + "\n" + "x" * 50_000)])
    texts = [text.text for text in corpus.texts()]
    assert max(map(len, texts)) <= MOST_CHARACTERS
    assert corpus.num_cut == 2
    assert "".join(texts).replace(" ", "") == words.replace(" ", "") + "x" * 50_000


@pytest.mark.parametrize(
    ("name", "content", "options", "sentence"),
    [
        ("a.txt", "été\n".encode() + b"caf\xe9\n", {}, "not UTF-8"),
        ("a.txt", b"a\n", {"text_column": "text"}, "plain text"),
        ("a.txt.gz", gzip.compress(b"river\n" * 99, mtime=0)[:20], {}, "not a whole archive"),
        ("a.csv", b"a,b\n1,2\n", {}, "'a', 'b'.*--text"),
        ("a.csv", b"a,b\n1,2\n", {"text_column": "c"}, "no column 'c'"),
        ("a.csv", b"text,text\n1,2\n", {}, "2 columns 'text'"),
        ("a.csv", b"text,b\n1,2,3\n", {}, "3 cells"),
        ("a.parquet", b"PAR1 no\n", {}, "Parquet"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\0", {}, "an old Office file.*as CSV"),
    ],
)
def test_what_cannot_be_read_is_refused(
    tmp_path: Path, name: str, content: bytes, options: dict[str, str], sentence: str
) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(ValueError, match=sentence):
        list(open_corpus([path], **options).texts())


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    first = write(tmp_path / "a.csv", "text,x\na,b\n")
    with pytest.raises(ValueError, match="mixes tables"):
        open_corpus([first, write(tmp_path / "a.txt", "a\n")])
    with pytest.raises(ValueError, match="same columns"):
        open_corpus([first, write(tmp_path / "b.csv", "text,y\na,b\n")])
    with pytest.raises(ValueError, match="does not exist"):
        open_corpus([tmp_path / "no.txt"])
    with pytest.raises(ValueError, match="is a folder"):
        open_corpus([tmp_path])
    with pytest.raises(ValueError, match="no corpus"):
        open_corpus([])
    pq.write_table(pa.table({"text": [1, 2]}), tmp_path / "n.parquet")
    with pytest.raises(ValueError, match="int64"):
        open_corpus([tmp_path / "n.parquet"])


@pytest.mark.parametrize("name", ["ewt.conllu", "conll2003.conll"])
def test_a_tagged_word_a_line_is_no_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("the\tDET\nriver\tNOUN\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has a tagged word a line"):
        open_corpus([path])
