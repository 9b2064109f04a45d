"""Tables as people have them: each is read as pandas reads it when told the dialect."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

from bertcore.configs.columns import Columns
from bertcore.data.dialects import Delimiters, records
from bertcore.data.examples import TextExample
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.tables import open_table
from bertcore.training.tasks import find_task
from tests.support import what_opens

ROWS = [
    ("the food was cold, and the waiter slow", "bad"),
    ("a good house; a new film", "good"),
    ('she said "no" twice', "bad"),
    ("milk | fish", "good"),
    ("l'été, c'est \"bien\"", "good"),
    ("a\\b", "bad"),
] * 5


class Dialect(NamedTuple):
    """A way of writing ROWS, and what pandas has to be told to read it."""

    file: str
    write: Callable[[pd.DataFrame], str]
    read: dict[str, Any]
    example: str
    encoding: str = "utf-8"


def plain(separator: str, **options: Any) -> Callable[[pd.DataFrame], str]:
    return lambda frame: frame.to_csv(sep=separator, index=False, **options)


def escaped(frame: pd.DataFrame) -> str:
    """Write backslashes before quotation marks; the data have one of their own."""
    rows = ['"{}","{}"'.format(*(c.replace('"', '\\"') for c in row)) for row in frame.values]
    return "\n".join(["text,label", *rows]) + "\n"


DIALECTS = {
    "commas": Dialect("a.csv", plain(","), {}, '`text,label`, `"a, b",good`'),
    "semicolons": Dialect("a.csv", plain(";"), {"sep": ";"}, "`text;label`"),
    "semicolons in .txt": Dialect("a.txt", plain(";"), {"sep": ";"}, "`text;label`"),
    "pipes": Dialect("a.csv", plain("|"), {"sep": "|"}, "`text|label`"),
    "tabs": Dialect("a.tsv", plain("\t"), {"sep": "\t"}, "`text`⇥`label`"),
    "tabs in .csv": Dialect("a.csv", plain("\t"), {"sep": "\t"}, "`text`⇥`label`"),
    "a first line sep=": Dialect(
        "a.csv", lambda f: "sep=;\n" + plain(";")(f), {"sep": ";", "skiprows": 1}, "`sep=;`"
    ),
    "all cells quoted": Dialect("a.csv", plain(",", quoting=1), {}, '`"text","label"`'),
    "single quotes": Dialect(
        "a.csv",
        plain(";", quotechar="'", quoting=1),
        {"sep": ";", "quotechar": "'"},
        "`'text';'label'`",
    ),
    "spaces after separators": Dialect(
        "a.csv",
        lambda f: plain(",", quoting=1)(f).replace('","', '", "'),
        {"skipinitialspace": True},
        '`"text", "label"`',
    ),
    "Windows": Dialect("a.csv", plain(";", lineterminator="\r\n"), {"sep": ";"}, "CR LF"),
    "old Macs": Dialect("a.csv", plain(",", lineterminator="\r"), {"lineterminator": "\r"}, "CR"),
    "Latin-1": Dialect(
        "a.csv", plain(";"), {"sep": ";", "encoding": "latin-1"}, "`été`", "latin-1"
    ),
    "Windows-1252": Dialect(
        "a.csv", plain(";"), {"sep": ";", "encoding": "cp1252"}, "`été`", "cp1252"
    ),
    "UTF-16": Dialect("a.csv", plain("\t"), {"sep": "\t", "encoding": "utf-16"}, "", "utf-16"),
    "UTF-32": Dialect("a.tsv", plain("\t"), {"sep": "\t", "encoding": "utf-32"}, "", "utf-32"),
    "a byte order mark": Dialect("a.csv", plain(","), {"encoding": "utf-8-sig"}, "", "utf-8-sig"),
    "the index of pandas": Dialect(
        "a.csv", lambda f: f.to_csv(index=True), {"index_col": 0}, "`,text,label`"
    ),
}
for kind, one in DIALECTS.items():
    what_opens.add("Tables", kind, one.example or f"`{one.file}`", "found from the rows, and shown")


what_opens.opens("UTF-16 and UTF-32")


@pytest.mark.parametrize("kind", DIALECTS)
def test_a_dialect_is_read_as_by_pandas(kind: str, tmp_path: Path) -> None:
    dialect = DIALECTS[kind]
    content = dialect.write(pd.DataFrame(ROWS, columns=["text", "label"])).encode(dialect.encoding)
    path = tmp_path / dialect.file
    path.write_bytes(content)
    theirs = pd.read_csv(io.BytesIO(content), **dialect.read)
    assert [*theirs.itertuples(index=False, name=None)] == ROWS
    found = examples(path)
    assert [(one.text, one.answer) for one in found] == ROWS
    guessed = guess(path)
    assert (guessed.task, guessed.chosen) == ("classify", Columns(text="text", label="label"))


@pytest.mark.parametrize(
    ("name", "content", "dialect"),
    [
        ("a.jsonl", '{"text": "no", "label": "b"}\n' * 3, "JSON lines"),
        (
            "a.txt",
            "no;b\nyes;a\n",
            "a table with semicolons between cells, without names of columns",
        ),
        ("b.txt", "she went\nit rained\n", "one column, without names of columns"),
    ],
)
def test_how_a_file_is_read_is_told(name: str, content: str, dialect: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    bad_rows = BadRows()
    with open_table(tmp_path / name, bad_rows, has_header=lambda cells: False) as table:
        assert table.dialect == f"{dialect}, UTF-8"
        list(table.rows)
    is_told = [] if name == "a.jsonl" else [f"{name!r} is read as {dialect}, UTF-8."]
    assert bad_rows.notes() == is_told


def test_single_quotes_are_told() -> None:
    told = "a table with pipes between cells and single quotes around them"
    assert Delimiters("|", "'").describe() == told


def examples(path: Path, task: str = "classify", **columns: Any) -> list[TextExample]:
    return list(find_task(task).read(path, columns=Columns(**columns), bad_rows=BadRows()))


@what_opens.opens("backslashes before quotation marks")
def test_backslashes_before_quotation_marks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [row for row in ROWS if "\\" not in row[0]]
    path.write_text(escaped(pd.DataFrame(rows, columns=["text", "label"])))
    assert [(one.text, one.answer) for one in examples(path)] == rows


@what_opens.opens("no header")
@pytest.mark.parametrize("ending", [".txt", ".csv"])
def test_labels_after_texts_without_a_header(ending: str, tmp_path: Path) -> None:
    labels = ("sadness", "joy", "fear", "anger", "love", "surprise")
    rows = [(f"i feel {i} times cold, and {i} more", labels[i % 6]) for i in range(40)]
    path = tmp_path / f"emotions{ending}"
    path.write_text("".join(f"{text};{label}\n" for text, label in rows))
    assert [(one.text, one.answer) for one in examples(path)] == rows
    assert guess(path).chosen == Columns(text="1", label="2")


@what_opens.opens("10kGNAD")
@pytest.mark.parametrize("more", ["", ", immer noch"])
def test_single_quotes_with_the_separator_inside(more: str, tmp_path: Path) -> None:
    """tblock/10kGNAD#7: the texts were cut at the semicolon."""
    lines = [
        f"{('Wirtschaft', 'Sport')[i % 2]};'Die Bank{more} {i}; so der Chef: ''gut''.'"
        for i in range(20)
    ]
    path = tmp_path / "articles.csv"
    path.write_text("\n".join(lines) + "\n")
    found = examples(path)
    assert len(found) == 20
    assert found[0].text == f"Die Bank{more} 0; so der Chef: 'gut'."
    assert found[0].answer == "Wirtschaft"
    assert guess(path).chosen == Columns(text="2", label="1")


GOOD = [f"text {i},{('neg', 'pos')[i % 2]}" for i in range(50)]
BROKEN = {
    # what stands in row 30: (its cells, None for a bad row)
    '"he said \\"no\\" twice",neg': ('he said "no" twice', "neg"),
    '"fine" ,pos': ("fine", "pos"),
    '"a line\nbreak",pos': ("a line\nbreak", "pos"),
    'he said "no",neg': ('he said "no"', "neg"),
    "one, two, three,neg": None,
    '"never closed,neg': None,
}


@what_opens.opens("one broken row")
@pytest.mark.parametrize("broken", BROKEN)
def test_one_bad_row_costs_one_row(broken: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["text,label", *GOOD[:29], broken, *GOOD[29:]]) + "\n")
    bad = BadRows(skip=True)
    found = list(find_task("classify").read(path, bad_rows=bad))
    rows = [(one.text, one.answer) for one in found]  # type: ignore[attr-defined]
    wanted = [tuple(row.split(",")) for row in GOOD]
    cells = BROKEN[broken]
    assert bad.num == (cells is None)
    assert rows == [*wanted[:29], *([cells] if cells else []), *wanted[29:]]
    if cells is None:
        with pytest.raises(ValueError, match=r"(row 30|line 31)"):
            examples(path)


@pytest.mark.parametrize("first", ['"never closed,neg', '"text,label', "a,b,c" + ',"x' * 25])
def test_a_damaged_first_row_is_one_bad_row(first: str, tmp_path: Path) -> None:
    path, bad = tmp_path / "a.csv", BadRows(skip=True)
    path.write_text("\n".join([first, *GOOD]) + "\n")
    assert guess(path).chosen == Columns(text="1", label="2")
    rows = find_task("classify").read(path, bad_rows=bad)
    assert [f"{row.text},{row.answer}" for row in rows] == GOOD  # type: ignore[attr-defined]
    assert bad.num == 1
    for columns in ({}, {"text": "text"}):
        with pytest.raises(ValueError, match="row"):
            examples(path, **columns)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ('"he said \\"no\\" twice",neg\n', ['he said "no" twice', "neg"]),
        ('"a "quoted" word",neg,1\n', ['a "quoted" word', "neg", "1"]),
        ('"Great" product,neg\n', ['"Great" product', "neg"]),
    ],
)
def test_wrong_quotes_are_mended_before_the_width_is_known(line: str, cells: list[str]) -> None:
    """As when the dialect is guessed."""
    (found,) = records([line], Delimiters(",", '"'))
    assert (found.cells, found.wrong) == (cells, "")


def test_a_row_may_be_wider_than_csv_reads_at_first(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "text,label\n" + "good,pos\nbad,neg\n" * 5 + f"{'1,' * 10**5}\n{'x' * 10**6},pos\n"
    )
    bad = BadRows(skip=True)
    assert len(guess(path).columns) == 2
    with open_table(path, bad) as table:
        assert len([*table.rows]) == 11
    assert "row 11" in bad.first
    assert "has 100001 cells, but there are 2 columns" in bad.first


# ---- JSON ----

TABLE = [{"text": "good", "label": "pos"}, {"text": "bad", "label": "neg"}]
JSON = {
    "a list on one line": json.dumps(TABLE),
    "a list over many lines": json.dumps(TABLE, indent=2),
    "a list in an object": json.dumps({"version": 1, "data": TABLE}),
    "an object a line": "\n".join(map(json.dumps, TABLE)),
    "lists in an object (datasets)": json.dumps({"text": ["good", "bad"], "label": ["pos", "neg"]}),
} | {
    f"pandas: orient={orient!r}": pd.DataFrame(TABLE).to_json(orient=orient)
    for orient in ("records", "split", "index", "columns", "table")
}
for kind, text in JSON.items():
    if "pandas" not in kind:
        what_opens.add(
            "Tables", f"JSON: {kind}", f"`{' '.join(text.split())[:40]}...`", "a row an object"
        )
what_opens.opens("JSON of pandas")


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        (kind, ending)
        for kind in JSON
        for ending in (".json", ".jsonl", ".txt")
        # An object in .jsonl is a row.
        if ending != ".jsonl" or "list " in kind or "line" in kind or "records" in kind
    ],
)
def test_json_in_every_form(kind: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    path.write_text(JSON[kind])
    assert [(one.text, one.answer) for one in examples(path)] == [("good", "pos"), ("bad", "neg")]
    assert guess(path).task == "classify"


TREC = ["DESC:manner How did serfdom, as such, develop?", "ENTY:cremat What films has he made?"]


def test_a_label_before_each_text(tmp_path: Path) -> None:
    path = tmp_path / "train.label"
    path.write_text("\n".join(TREC * 3), encoding="latin-1")
    labels = [("How did serfdom, as such, develop?", "DESC:manner")]
    labels += [("What films has he made?", "ENTY:cremat")]
    assert [(one.text, one.answer) for one in examples(path)] == labels * 3
    assert guess(path).task == "classify"
    assert guess(path).dialect.startswith("texts with a label before each")
    path.write_text("spam: call now\nham: at noon, then\nspam: win it\nham: no\n")
    assert [one.answer for one in examples(path)] == ["spam", "ham", "spam", "ham"]


@pytest.mark.parametrize(
    "lines",
    [
        [*TREC * 3, "Why?"],
        [f"{chr(97 + i)}: text" for i in range(9)],
        ["http://a.org is a link", "http://b.org too"] * 3,
        ["note: one label"] * 4,
    ],
)
def test_lines_with_other_colons_are_one_column(lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match="has one column"):
        examples(path)


@pytest.mark.parametrize("levels", [200, 900, 100_000])
@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_a_row_of_many_levels_is_bad_and_no_crash(ending: str, levels: int, tmp_path: Path) -> None:
    path, bad = tmp_path / f"a{ending}", BadRows(skip=True)
    deep = f'{{"text": "a", "label": {"[" * levels}{"]" * levels}}}'
    rows = [deep, *map(json.dumps, TABLE)]
    path.write_text("\n".join(rows) if ending == ".jsonl" else f"[{','.join(rows)}]")
    if ending == ".json" and levels > 1000:
        with pytest.raises(ValueError, match="is not valid JSON"):
            guess(path)
        return
    assert guess(path).task == "classify"
    with open_table(path, bad) as table:
        assert [[*row.cells] for row in table.rows] == [["good", "pos"], ["bad", "neg"]]
    assert "row 1 of" in bad.first


def test_signs_that_json_forbids_and_many_tools_write(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a\tb\x01", "label": NaN}\n{"text": "c\\u0000d\u2028", "label": 1}\n')
    with open_table(path, BadRows()) as table:
        assert [row.cells[0] for row in table.rows] == ["a\tb\x01", "c\0d\u2028"]
