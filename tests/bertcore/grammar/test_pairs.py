"""Files of minimal pairs, ours and people's."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from bertcore.data.files import BadRows
from bertcore.data.sentence_list import read_sentence_list
from bertcore.grammar import bundled_pairs, pairs_of_list, read_pairs

LINES = [
    {"sentence_good": "He sings.", "sentence_bad": "He sing.", "field": "syntax", "id": 1},
    {"sentence_good": "They sing.", "sentence_bad": "They sings.", "field": "syntax", "id": 2},
    {"sentence_good": "A dog.", "sentence_bad": "An dog.", "field": "words", "id": 3},
]


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_our_pairs_are_twenty_phenomena_of_ten() -> None:
    file = bundled_pairs()
    assert file.columns == ("field", "phenomenon")
    assert Counter(pair.groups[1] for pair in file.pairs).most_common()[-1][1] == 10
    assert len({pair.groups[1] for pair in file.pairs}) == 20
    sentences = [text for pair in file.pairs for text in (pair.good, pair.bad)]
    assert len(set(sentences)) == len(sentences) == 400
    assert all(text[0].isupper() and text[-1] in ".?" for text in sentences)


def test_json_lines_packed_or_not_and_tables_are_the_same(tmp_path: Path) -> None:
    lines = "".join(json.dumps(line) + "\n" for line in LINES)
    plain = read_pairs(write(tmp_path / "pairs.jsonl", lines))
    packed = tmp_path / "pairs.jsonl.gz"
    packed.write_bytes(gzip.compress(lines.encode()))
    rows = [",".join(map(str, line.values())) for line in LINES]
    table = write(tmp_path / "pairs.csv", "\n".join([",".join(LINES[0]), *rows]))
    assert plain == read_pairs(packed) == read_pairs(table)
    # An id is different on every row, so that it groups nothing.
    assert plain.columns == ("field",)
    assert [pair.groups for pair in plain.pairs] == [("syntax",), ("syntax",), ("words",)]
    assert [pair.row for pair in plain.pairs] == [1, 2, 3]


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "p.tsv", "a\tb\tc\tsentence_good\nx y\tx z\tg\tsomething\n")
    file = read_pairs(path, good="a", bad="b", groups=["c"])
    assert (file.pairs[0].good, file.pairs[0].bad) == ("x y", "x z")
    assert (file.columns, file.pairs[0].groups) == (("c",), ("g",))


def test_a_group_is_selected() -> None:
    file = bundled_pairs().select("phenomenon", "with do")
    assert len(file.pairs) == 10
    assert {pair.groups[1] for pair in file.pairs} == {"with do"}


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("x\ty\na\tb\n", {}, "no column of good sentences; it has 'x', 'y'. Name one with --good"),
        ("good\tz\na\tb\n", {}, "no column of bad sentences"),
        ("good\tbad\na\tb\n", {"good": "no"}, "no column 'no'"),
        ("good\tbad\na\tb\n", {"groups": ["no"]}, "Name one with --groups"),
        ("good\tbad\na\tb\n", {"good": "bad"}, "Give two columns"),
        ("good\tbad\ngood\tbad\n", {"good": "good", "bad": "good"}, "Give two columns"),
        ("good\tbad\na\t \n", {}, "row 1 of .* has no sentence in column 'bad'"),
        ("good\tbad\na\tb\tc\n", {}, "has 3 cells, but there are 2 columns"),
        ("good\tgood\tbad\na\tb\tc\n", {}, "has 2 columns 'good'"),
        ("good\tbad\n", {}, "has no minimal pair to score"),
        ("", {}, "is empty"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    tmp_path: Path, text: str, options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_pairs(write(tmp_path / "p.tsv", text), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ({"a": 1}, "has an object in column 'bad'"),
        (["x"], "has a list in column 'bad'"),
        ("a \ud83d b", "holds a lone surrogate in column 'bad'"),
    ],
)
def test_what_is_no_sentence_is_a_bad_row(tmp_path: Path, cell: object, sentence: str) -> None:
    lines = json.dumps({"good": "a", "bad": cell}) + "\n" + json.dumps({"good": "b", "bad": "c"})
    path = write(tmp_path / "p.jsonl", lines)
    with pytest.raises(ValueError, match=f"row 1 of .* {sentence}"):
        read_pairs(path)
    bad_rows = BadRows(skip=True)
    assert [pair.row for pair in read_pairs(path, bad_rows=bad_rows).pairs] == [2]
    assert sentence in bad_rows.first


def test_bad_rows_are_left_out_where_asked(tmp_path: Path) -> None:
    path = write(tmp_path / "p.tsv", "good\tbad\na\t\nb\tc\n\td\n")
    bad_rows = BadRows(skip=True)
    assert [pair.row for pair in read_pairs(path, bad_rows=bad_rows).pairs] == [2]
    assert bad_rows.num == 2
    write(path, "good\tbad\na\t\n")
    with pytest.raises(ValueError, match=r"no minimal pair to score\. row 1 of"):
        read_pairs(path, bad_rows=BadRows(skip=True))


def test_a_pair_of_equal_sentences_is_kept_and_told(tmp_path: Path) -> None:
    # BLiMP itself has one.
    file = read_pairs(write(tmp_path / "p.tsv", "good\tbad\na\tb\nc\tc\n"))
    assert len(file.pairs) == 2
    told = "1 pair has the same sentence twice (row 2): a tie, which counts as wrong."
    assert file.notes == (told,)


def test_the_pairs_of_a_list() -> None:
    text = "The keys *are* here.\t*The keys is here.\nAlone.\nHe goes. ||| He go.\nSame.\tSame."
    found = pairs_of_list(read_sentence_list(text))
    assert [(pair.good, pair.bad, pair.row) for pair in found.pairs] == [
        ("The keys are here.", "The keys is here.", 1),
        ("He goes.", "He go.", 3),
        ("Same.", "Same.", 4),
    ]
    assert found.columns == ()
    assert found.num_pairs == 3
    assert found.notes == (
        "1 line has one sentence, and cannot be graded.",
        "The asterisk before 1 second sentence is left out.",
        "1 pair has the same sentence twice (row 4): a tie, which counts as wrong.",
    )
    with pytest.raises(ValueError, match="no line of the list has two sentences"):
        pairs_of_list(read_sentence_list("Alone.\nAlone too."))
