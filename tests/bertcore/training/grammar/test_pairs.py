"""Files of minimal pairs, ours and people's."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from bertcore.data.files import BadRows
from bertcore.training.grammar import bundled_pairs, read_pairs
from tests.support.cases import cases

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


@pytest.mark.parametrize(("text", "sentence"), cases("bad_minimal_pairs"))
def test_what_cannot_be_used(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_pairs(write(tmp_path / "p.tsv", text))


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (["x"], "has no sentence in column 'bad'"),
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
