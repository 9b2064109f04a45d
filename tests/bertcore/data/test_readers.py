"""Readers of examples: the usual files, their quirks, and one sentence for each wrong one."""

import gzip
import io
import json
import lzma
import zipfile
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from bertcore.configs.columns import Columns
from bertcore.data.files import BadRows
from bertcore.tasks import find_task
from tests.support import what_opens
from tests.support.what_opens import opens


def texts(path: Path, task: str = "classify", **columns: str) -> list[Any]:
    return list(find_task(task).read(path, columns=Columns(**columns), bad_rows=BadRows()))


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


STSB = "main\tx\t2012\t0001\t5.000\tA plane.\tAn air plane.\n"
CONLL = (
    "-DOCSTART- -X- -X- O\n\nU.N. NNP I-NP I-ORG\nPeter NNP I-NP I-PER\n\n\nParis NNP I-NP B-LOC\n"
)
TREE = (
    "# text = Don't run\n1-2\tDon't\t_\t_\t_\n1\tDo\tdo\tAUX\tVB\n2\tn't\tnot\tPART\tRB\n"
    "2.1\tgone\tgo\tV\tVB\n"
)
SICK = "sentence_A\tsentence_B\tentailment_label\trelatedness_score\nA\tB\tN\t4.5\n"
READ: dict[str, tuple[str, str, dict[str, str], list[tuple[object, ...]]]] = {
    # file: (content, task, columns, fields of the examples but for their rows)
    "cola.tsv": ("gj04\t1\t\tHe ran.\ngj04\t0\t*\tHe run the.\n", "classify", {},
                 [("He ran.", None, "1"), ("He run the.", None, "0")]),
    "sts.tsv": (STSB + "main\tx\t2012\t0002\t2.5\tA dog.\tA cat.\ta\tb\n", "regress", {},
                [("A plane.", "An air plane.", "5.000"), ("A dog.", "A cat.", "2.5")]),
    "rte.tsv": ("index\tsentence1\tsentence2\tlabel\n0\tA\tB\tentailment\n", "pair", {},
                [("A", "B", "entailment")]),
    "qnli.tsv": ("index\tquestion\tsentence\tlabel\n0\tWho?\tHe.\tyes\n", "pair", {},
                 [("Who?", "He.", "yes")]),
    "sick.tsv": (SICK, "pair", {}, [("A", "B", "N")]),
    "sick scores.tsv": (SICK, "regress", {}, [("A", "B", "4.5")]),
    "mrpc.tsv": ('Quality\t#1 String\t#2 String\n1\t"I think so," he said.\tHe said "yes".\n'
                 '0\t"Open\t"Closed"\n', "pair", {},
                 [('"I think so," he said.', 'He said "yes".', "1"), ('"Open', '"Closed"', "0")]),
    "qqp.tsv": ('id\tquestion1\tquestion2\tis_duplicate\n1\t"What is ""love""?"\tWhy?\t0\n',
                "pair", {}, [('What is "love"?', "Why?", "0")]),
    "names.csv": ("body,more,mark\na,b,x\n", "pair",
                  {"text": "body", "text_pair": "more", "label": "mark"}, [("a", "b", "x")]),
    "numbers.tsv": ("x\tthe text\ny\tanother\n", "classify", {"text": "2", "label": "1"},
                    [("the text", None, "x"), ("another", None, "y")]),
    "unnamed twice.csv": ("text,label,,\na,1,2,3\n", "classify", {}, [("a", None, "1")]),
    "no label.jsonl": ('{"text": "a", "label": 1}\n{"text": "b"}\n', "classify", {},
                       [("a", None, "1"), ("b", None, "")]),
    "no score.tsv": ("sentence\tscore\na\tnan\nb\t1\n", "regress", {}, [("b", None, "1")]),
    "eng.txt": (CONLL, "tag", {},
                [(["U.N.", "Peter"], ["I-ORG", "I-PER"]), (["Paris"], ["B-LOC"])]),
    "eng by column.txt": (CONLL, "tag", {"label": "2"},
                          [(["U.N.", "Peter"], ["NNP", "NNP"]), (["Paris"], ["NNP"])]),
    "ragged by column.txt": ("a O\nb B-X note\n\nc O\n", "tag", {"label": "2"},
                             [(["a", "b"], ["O", "B-X"]), (["c"], ["O"])]),
    "tree.conllu": (TREE, "tag", {}, [(["Do", "n't"], ["AUX", "PART"])]),
    "lists.jsonl": ('{"tokens": ["a", "b"], "ner_tags": ["O", "B-X"]}\n', "tag", {},
                    [(["a", "b"], ["O", "B-X"])]),
    "swag.csv": ("sent1,sent2,ending0,ending1,label\nA man.,He,eats.,flies.,0\n", "choice", {},
                 [("A man.", ["He eats.", "He flies."], 0)]),
}  # fmt: skip
for row in (
    ("Tables", "spreadsheets", "`.xlsx`, `.ods`", "refused: save the table as CSV"),
    ("Tables", "quotation marks in a TSV", '`"I think so," he said.`',
     "text, unless nearly all cells are quoted"),
    ("Tables", "bad rows", "too few cells, an empty text",
     "refused with the row; `--skip-bad-rows` leaves them out"),
    ("Questions", "an answer that is elsewhere", "a wrong `answer_start`",
     "refused, with what stands there"),
):  # fmt: skip
    what_opens.add(*row)
what_opens.add("Questions", "SWAG", "`sent1,sent2,ending0,...,label`", "multiple choice")
what_opens.add("Tables", "a column twice", "`text,text,label`", "refused if it is read")


@pytest.mark.parametrize("name", READ)
def test_examples_are_read(name: str, tmp_path: Path) -> None:
    content, task, columns, fields = READ[name]
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = [astuple(one) for one in texts(path, task, **columns)]
    assert [tuple(one[: len(row)]) for one, row in zip(found, fields, strict=True)] == fields


ANSWER = {"text": ["b"], "answer_start": [2]}
QUESTION = json.dumps({"question": "q?", "context": "a text", "answers": ANSWER})
LATE = b"sentence\tlabel\n" + "été\t1\n".encode() * 20_000 + b"caf\xc3\t1\n"


def workbook() -> bytes:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as book:
            book.writestr("[Content_Types].xml", "<x/>")
            book.writestr("xl/workbook.xml", "<x/>")
        return file.getvalue()


REFUSED: dict[str, tuple[str | bytes, str, dict[str, str], str, int]] = {
    # file: (content, task, columns, words, examples that are left without the bad rows)
    "empty.tsv": ("\n", "classify", {}, "is empty", -1),
    "empty.jsonl": ("\n", "classify", {}, "is empty", -1),
    "t.parquet": ("x", "classify", {}, "is no .parquet file", -1),
    "a.xlsx": (workbook(), "classify", {}, "as CSV", -1),
    "late.tsv": (LATE, "classify", {},
                 "(line 20002) holds a byte 0xC3 that is not UTF-8", 20_000),
    "half.csv": ("text,label\na,1\n".encode("utf-16")[:-1], "classify", {},
                 "was read as UTF-16, but is damaged", -1),
    "cut.tsv.gz": (gzip.compress(b"sentence\tlabel\n" + b"abc\t1\n" * 1000)[:-20], "classify", {},
                   "is not a whole archive", -1),
    "picture.csv": (b"\x89PNG\r\n\x1a\n" + bytes(90), "classify", {}, "a picture, not text", -1),
    "bytes.csv": (bytes(range(256)) * 20, "classify", {}, "is not text", -1),
    "short.tsv": ("sentence\tlabel\na\tx\nb\nc\t\nd\ty\n", "classify", {},
                  "has 1 cells, but there are 2 columns", 3),
    "no text.tsv": ("sentence\tlabel\n\ty\nd\ty\n", "classify", {}, "has no text", 1),
    "q.csv": ('text,label\n"never closed,1\nb,2\n', "classify", {},
              "(line 2) opens a quotation mark that is not closed", 1),
    "elsewhere.jsonl": (QUESTION, "qa", {}, "at character 2, but the text has", 0),
    "stsb.tsv": (STSB, "pair", {}, "which the task 'pair' cannot use", -1),
    "another name.csv": ("body,mark\na,x\n", "classify", {"text": "review"},
                         "no column 'review' for --text; it has 'body', 'mark'", -1),
    "no usual label.csv": ("body,mark\na,x\n", "classify", {},
                           "the label; it has 'body', 'mark'. Name it with --label", -1),
    "no pair.csv": ("body,mark\na,x\n", "pair", {"text": "body"}, "Name it with --text-pair", -1),
    "twice.csv": ("text,text,label\na,b,1\n", "classify", {}, "has 2 columns 'text' (1 and 2)", -1),
    "score.tsv": ("sentence\tscore\na\tmany\nb\t1\n", "regress", {},
                  "has the score 'many' in column 'score'; expected a number", 1),
    "large.tsv": ("sentence\tscore\na\t1e308\n", "regress", {}, "a number that float32 can", 0),
    "half.jsonl": ('{"text": "a", "label": "x"}\n{"text": "a \\ud83d", "label": "x"}\n',
                   "classify", {},
                   "a lone surrogate in column 'text'", 1),
    "uneven.jsonl": ('{"tokens": ["a", "b"], "tags": ["O"]}\n', "tag", {},
                     "row 1 of", 0),
    "ragged.txt": ("a O\nb\n\nc O\n", "tag", {}, "has 1 columns", 1),
    "wide.txt": ("a O\nb B-X note\n\nc O\n", "tag", {},
                 "has 3 columns, but the lines before have 2", 1),
    "wrong choice.csv": ("sent1,ending0,ending1,label\nA,b,c,3\n", "choice", {},
                         "has the answer '3'; expected a number from 0 to 1", 0),
    "no choice.csv": ("sent1,label\nA,0\n", "choice", {}, "has no columns of choices: ending0", -1),
    "no row.json": ('{"rows": []}', "qa", {}, "it has no row", -1),
    "no json.json": ("{", "qa", {}, "not valid JSON", -1),
    "one label.txt": ("__label__agood\n__l[abel__b b\n", "classify", {},
                      "no column with a usual name for the text", -1),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_one_sentence_and_costs_its_row_alone(
    name: str, tmp_path: Path
) -> None:
    content, task, columns, words, num = REFUSED[name]
    path, bad = tmp_path / name, BadRows(skip=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=r"\.$") as caught:  # a sentence
        texts(path, task, **columns)
    assert words in str(caught.value)
    if num >= 0:
        rows = find_task(task).read(path, columns=Columns(**columns), bad_rows=bad)
        assert (len(list(rows)), bad.num) == (num, 1)
