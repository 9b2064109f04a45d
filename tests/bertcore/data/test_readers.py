"""Readers of examples: the usual files, their quirks, and one sentence for each wrong one."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import pytest

from bertcore.configs.columns import Columns
from bertcore.data.encodings import find_encoding
from bertcore.data.examples import ChoiceExample, TextExample
from bertcore.data.files import BadRows, recode
from bertcore.data.read_choices import read_choices
from bertcore.data.read_questions import read_questions
from bertcore.data.read_tags import read_tags
from bertcore.tasks import TASKS, find_task
from bertcore.tasks.read import read_examples
from tests.support.finetuning_files import write_questions
from tests.support.what_opens import opens


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def texts(path: Path, task: str = "classify", **columns: str) -> list[TextExample]:
    return list(find_task(task).read(path, columns=Columns(**columns), bad_rows=BadRows()))


def refused(path: Path, task: str = "classify", **columns: str) -> str:
    with pytest.raises(ValueError, match=r"\.$") as caught:  # a sentence
        texts(path, task, **columns)
    return str(caught.value)


@opens("Tables", "a packed table", "`.csv.gz`, `.tsv.xz`, `.jsonl`", "by its content")
@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_tables_in_every_form(tmp_path: Path, packing: str) -> None:
    rows = [("a film", "good"), ('she said "no", twice', "bad"), ("été", "good")]
    csv_lines = [
        "id,label,sentence",
        "1,good,a film",
        '2,bad,"she said ""no"", twice"',
        "3,good,été",
    ]
    contents = {
        "t.tsv": "sentence\tlabel\n" + "".join(f"{t}\t{label}\n" for t, label in rows),
        "t.csv": "\r\n".join(csv_lines),
        "bom.csv": "\ufeff" + "\n".join(csv_lines),
        "t.jsonl": "".join(json.dumps({"sentence": t, "label": a}) + "\n" for t, a in rows),
    }
    for name, content in contents.items():
        path = tmp_path / (name + packing)
        opener = {"": open, ".gz": gzip.open, ".xz": lzma.open}[packing]
        with opener(path, "wt", encoding="utf-8", newline="") as file:
            file.write(content)
        found = texts(path)
        assert [(e.text, e.answer) for e in found] == rows, name
        assert [e.row for e in found] == [1, 2, 3]


@opens(
    "Tables",
    "quotation marks in a TSV",
    '`"I think so," he said.`',
    "text, unless nearly all cells are quoted",
)
def test_quotation_marks_of_a_tsv(tmp_path: Path) -> None:
    """In GLUE's files they are text; where all cells are quoted by CSV's rules they are not."""
    plain = write(
        tmp_path / "mrpc.tsv",
        "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String",
        '1\t1\t2\t"I think so," he said.\tHe said "yes".',
        '0\t3\t4\t"Open\t"Closed"',
    )
    assert [(e.text, e.text_pair) for e in texts(plain, "pair")] == [
        ('"I think so," he said.', 'He said "yes".'),
        ('"Open', '"Closed"'),
    ]
    quoted = write(
        tmp_path / "qqp.tsv",
        "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate",
        '1\t2\t3\t"What is ""love""?"\tWhy?\t0',
    )
    assert texts(quoted, "pair")[0].text == 'What is "love"?'


def test_the_forms_of_glue(tmp_path: Path) -> None:
    cola = write(tmp_path / "cola.tsv", "gj04\t1\t\tHe sailed.", "gj04\t0\t*\tHe sail the.")
    assert [(e.text, e.answer) for e in texts(cola)] == [("He sailed.", "1"), ("He sail the.", "0")]
    stsb = write(
        tmp_path / "sts.tsv",
        "main\tx\t2012\t0001\t5.000\tA plane.\tAn air plane.",
        "main\tx\t2012\t0002\t2.5\tA dog.\tA cat.\tsource a\tsource b",
    )
    found = texts(stsb, "regress")
    assert [(e.text, e.text_pair, e.answer) for e in found] == [
        ("A plane.", "An air plane.", "5.000"),
        ("A dog.", "A cat.", "2.5"),
    ]
    assert "which the task 'pair' cannot use" in refused(stsb, "pair")
    rte = write(tmp_path / "rte.tsv", "index\tsentence1\tsentence2\tlabel", "0\tA\tB\tentailment")
    assert texts(rte, "pair")[0].answer == "entailment"
    qnli = write(tmp_path / "q.tsv", "index\tquestion\tsentence\tlabel", "0\tWho?\tHe.\tyes")
    assert (texts(qnli, "pair")[0].text, texts(qnli, "pair")[0].text_pair) == ("Who?", "He.")
    sick = write(
        tmp_path / "sick.tsv",
        "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score",
        "1\tA\tB\tNEUTRAL\t4.5",
    )
    assert (texts(sick, "pair")[0].answer, texts(sick, "regress")[0].answer) == ("NEUTRAL", "4.5")


def test_columns_by_name_and_number(tmp_path: Path) -> None:
    named = write(tmp_path / "n.csv", "body,more,mark", "a,b,x")
    assert texts(named, "pair", text="body", text_pair="more", label="mark")[0].text_pair == "b"
    bare = write(tmp_path / "b.tsv", "x\tthe text", "y\tanother")
    assert [e.answer for e in texts(bare, text="2", label="1")] == ["x", "y"]


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "body,mark", "a,x")
    assert "no column 'review' for --text; it has 'body', 'mark'" in refused(table, text="review")
    assert "usual name for the label; it has 'body', 'mark'. Name it with --label" in refused(table)
    assert "Name it with --text-pair" in refused(table, "pair", text="body")


@opens(
    "Tables",
    "bad rows",
    "too few cells, an empty text",
    "refused with the row; `--skip-bad-rows` leaves them out",
)
def test_bad_rows_are_refused_or_counted(tmp_path: Path) -> None:
    table = write(tmp_path / "t.tsv", "sentence\tlabel", "a\tx", "b", "c\t", "\ty", "d\ty")
    assert "row 2 of" in refused(table)
    assert "has 1 cells, but there are 2 columns" in refused(table)
    bad = BadRows(skip=True)
    found = list(find_task("classify").read(table, bad_rows=bad))
    # What has no label is left out, and counted, where labels get their names (test_file_labels).
    assert [(e.text, e.answer) for e in found] == [("a", "x"), ("c", ""), ("d", "y")]
    assert bad.num == 2
    assert "2 bad rows were left out; the first: row 2" in str(bad.sentence())
    score = write(tmp_path / "s.tsv", "sentence\tscore", "a\tmany", "b\t1")
    assert "has the score 'many' in column 'score'; expected a number" in refused(score, "regress")
    unscored, bad = write(tmp_path / "nan.tsv", "sentence\tscore", "a\tnan", "b\t1"), BadRows()
    assert [e.answer for e in find_task("regress").read(unscored, bad_rows=bad)] == ["1"]
    assert bad.notes() == ["1 example has no label and was left out (1 nan)."]
    assert "expected a number that float32 can represent" in refused(
        write(tmp_path / "large.tsv", "sentence\tscore", "a\t1e308"), "regress"
    )
    half = write(
        tmp_path / "half.jsonl",
        '{"text": "a \\ud83d\\ude00", "label": "x"}',
        '{"text": "a \\ud83d", "label": "x"}',
    )
    assert refused(half).count("row 2 of") == 1
    assert "a lone surrogate in column 'text'" in refused(half)
    bad = BadRows(skip=True)
    assert len(list(find_task("classify").read(half, bad_rows=bad))) == 1
    assert bad.num == 1


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "none.tsv")
    assert "is a folder" in refused(tmp_path)
    assert "is empty" in refused(write(tmp_path / "empty.tsv"))
    assert "is empty" in refused(write(tmp_path / "empty.jsonl"))
    assert "is no .parquet file" in refused(write(tmp_path / "t.parquet", "x"))
    late = tmp_path / "late.tsv"
    late.write_bytes(b"sentence\tlabel\n" + "été\t1\n".encode() * 20_000 + b"caf\xc3\t1\n")
    assert "(line 20002) holds a byte 0xC3 that is not UTF-8" in refused(late)
    half = tmp_path / "half.csv"
    half.write_bytes("text,label\na,1\n".encode("utf-16")[:-1])
    assert "was read as UTF-16, but is damaged" in refused(half)
    cut = tmp_path / "cut.tsv.gz"
    cut.write_bytes(gzip.compress(b"sentence\tlabel\n" + b"abc\t1\n" * 1000)[:-20])
    assert "is not a whole archive" in refused(cut)
    open_quote = write(tmp_path / "q.csv", "text,label", '"never closed,1', "b,2")
    assert "(line 2) opens a quotation mark that is not closed" in refused(open_quote)
    broken = write(tmp_path / "b.jsonl", '{"text": "a", "label": 1}', '{"text": "b"}')
    examples = list(find_task("classify").read(broken, bad_rows=BadRows()))
    assert [example.answer for example in examples] == ["1", ""]  # counted where labels are read
    scores, bad = find_task("regress"), BadRows()
    assert len(list(scores.read(broken, bad_rows=bad))) == 1
    assert "1 example has no label and was left out" in bad.notes()[0]


def test_tags_in_columns_become_iob2(tmp_path: Path) -> None:
    path = write(
        tmp_path / "eng.txt",
        "-DOCSTART- -X- -X- O",
        "",
        "U.N. NNP I-NP I-ORG",
        "Peter NNP I-NP I-PER",
        "Blackburn NNP I-NP I-PER",
        "",
        "",
        "London NNP I-NP I-LOC",
        "Paris NNP I-NP B-LOC",
    )
    found = list(read_tags(path, bad_rows=BadRows()))
    assert [e.words for e in found] == [["U.N.", "Peter", "Blackburn"], ["London", "Paris"]]
    assert [e.tags for e in found] == [["I-ORG", "I-PER", "I-PER"], ["I-LOC", "B-LOC"]]
    named = list(read_examples(path, find_task("tag"), bad_rows=BadRows()))
    assert [e.labels for e in named] == [["B-ORG", "B-PER", "I-PER"], ["B-LOC", "B-LOC"]]
    assert [e.row for e in found] == [3, 8]
    by_column = next(read_tags(path, columns=Columns(label="2"), bad_rows=BadRows()))
    assert by_column.tags == ["NNP", "NNP", "NNP"]


def test_a_treebank_and_json_lines(tmp_path: Path) -> None:
    tree = write(
        tmp_path / "t.conllu",
        "# text = Don't run",
        "1-2\tDon't\t_\t_\t_",
        "1\tDo\tdo\tAUX\tVB",
        "2\tn't\tnot\tPART\tRB",
        "2.1\tgone\tgo\tVERB\tVB",
        "3\trun\trun\tVERB\tVB",
    )
    found = list(read_tags(tree, bad_rows=BadRows()))
    assert found[0].words == ["Do", "n't", "run"]
    assert found[0].tags == ["AUX", "PART", "VERB"]
    lines = write(tmp_path / "t.jsonl", '{"tokens": ["a", "b"], "ner_tags": ["O", "B-X"]}')
    assert next(read_tags(lines, bad_rows=BadRows())).tags == ["O", "B-X"]
    uneven = write(tmp_path / "u.jsonl", '{"tokens": ["a", "b"], "tags": ["O"]}')
    with pytest.raises(ValueError, match=r"row 1 of .* has 2 words but 1 tags"):
        list(read_tags(uneven, bad_rows=BadRows()))
    ragged = write(tmp_path / "r.txt", "a O", "b", "", "c O")
    with pytest.raises(ValueError, match=r"line 2 of .* has 1 columns"):
        list(read_tags(ragged, bad_rows=BadRows()))
    bad = BadRows(skip=True)
    assert [e.words for e in read_tags(ragged, bad_rows=bad)] == [["c"]]
    assert bad.num == 1


def test_a_line_with_other_columns_would_take_another_for_its_tag(tmp_path: Path) -> None:
    path = write(tmp_path / "r.txt", "a O", "b B-X note", "", "c O")
    with pytest.raises(
        ValueError, match=r"line 2 of .* has 3 columns, but the lines before have 2"
    ):
        list(read_tags(path, bad_rows=BadRows()))
    bad = BadRows(skip=True)
    assert [e.words for e in read_tags(path, bad_rows=bad)] == [["c"]]
    named = read_tags(path, columns=Columns(label="2"), bad_rows=BadRows())
    assert [e.tags for e in named] == [["O", "B-X"], ["O"]]


@opens(
    "Questions",
    "an answer that is elsewhere",
    "a wrong `answer_start`",
    "refused, with what stands there",
)
def test_questions_whose_answer_is_elsewhere(tmp_path: Path) -> None:
    path = write_questions(tmp_path / "q.json", 4)
    assert len(list(read_questions(path, bad_rows=BadRows()))) == 4
    content = json.loads(path.read_text())
    content["data"][0]["paragraphs"][1]["qas"][0]["answers"][0]["answer_start"] = 2
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"question 'q1' .* at character 2, but the text has"):
        list(read_questions(path, bad_rows=BadRows()))
    bad = BadRows(skip=True)
    assert len(list(read_questions(path, bad_rows=bad))) == 3
    other = write(tmp_path / "other.json", '{"rows": []}')
    with pytest.raises(ValueError, match="it has no row"):
        list(read_questions(other, bad_rows=BadRows()))
    with pytest.raises(ValueError, match="not valid JSON"):
        list(read_questions(write(tmp_path / "n.json", "{"), bad_rows=BadRows()))


@opens("Questions", "SWAG", "`sent1,sent2,ending0,...,label`", "multiple choice")
def test_choices(tmp_path: Path) -> None:
    path = write(
        tmp_path / "swag.csv", "sent1,sent2,ending0,ending1,label", "A man sits.,He,eats.,flies.,0"
    )
    assert list(read_choices(path, bad_rows=BadRows())) == [
        ChoiceExample("A man sits.", ["He eats.", "He flies."], 0, 1)
    ]
    wrong = write(tmp_path / "w.csv", "sent1,ending0,ending1,label", "A,b,c,3")
    with pytest.raises(ValueError, match=r"has the answer '3'; expected a number from 0 to 1"):
        list(read_choices(wrong, bad_rows=BadRows()))
    none = write(tmp_path / "n.csv", "sent1,label", "A,0")
    with pytest.raises(ValueError, match="for the choices: ending0"):
        list(read_choices(none, bad_rows=BadRows()))


@opens("Tables", "UTF-16 and UTF-32", 'a spreadsheet\'s "Unicode text"', "by the byte order mark")
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.csv.gz"])
def test_a_byte_order_mark_says_the_encoding(name: str, encoding: str, tmp_path: Path) -> None:
    """As spreadsheets write "Unicode text"."""
    text = 'text,label\r\n"été, ✓",y\r\n'
    if "tsv" in name:
        text = "text\tlabel\r\nété, ✓\ty\r\n"
    if "jsonl" in name:
        text = '{"text": "été, ✓", "label": "y"}\r\n'
    raw = text.encode(encoding)
    path = tmp_path / name
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    (example,) = TASKS["classify"].read(path, bad_rows=BadRows())
    assert (example.text, example.answer) == ("été, ✓", "y")


def test_few_accents_are_named_as_the_usual_encoding_that_reads_them_so(tmp_path: Path) -> None:
    """Arabic Windows-1256 has é at the same place; a word of Cyrillic reads differently."""
    path = tmp_path / "t.csv"
    for text, name in (("été,pos\nhiver,neg\n", "cp1252"), ("снег,да\nлёд,нет\n", "cp1251")):
        path.write_bytes(text.encode(name) * 6)
        assert find_encoding(path).name == name


def test_a_file_is_written_anew_in_another_encoding(tmp_path: Path) -> None:
    source, target = tmp_path / "s.csv", tmp_path / "t.csv"
    source.write_bytes("text,label\r\n“naïve”,1\r\n".encode("cp1252"))
    recode(source, target, "cp1252")
    assert target.read_bytes() == "text,label\r\n“naïve”,1\r\n".encode()
    source.write_bytes(b"text,label\na\x81,1\n")
    with pytest.raises(ValueError, match=r"is not in Western Europe .* a byte 0x81"):
        recode(source, target, "cp1252")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.csv", "t.csv"]


@opens("Tables", "a column twice", "`text,text,label`", "refused if it is read")
def test_a_column_that_stands_twice_is_refused_where_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "text,text,label,label2,label2", "a,b,1,2,3")
    assert "has 2 columns 'text' (1 and 2)" in refused(path)
    ok = write(tmp_path / "u.csv", "text,label,,", "a,1,2,3")
    assert next(TASKS["classify"].read(ok, bad_rows=BadRows())).answer == "1"
