"""Reading CoNLL-U, whole and damaged. Run: pytest tests/bertcore/test_analysis_conllu.py"""

from __future__ import annotations

import re

import pytest

from bertcore.analysis.conllu import BUNDLED, read_conllu


def row(place: str, form: str, head: str = "_", relation: str = "_", misc: str = "_") -> str:
    return "\t".join([place, form, "_", "_", "_", "_", head, relation, "_", misc])


SENTENCE = [
    "# text = He didn't go, 8.1.",
    row("1", "He", "4", "nsubj"),
    row("2-3", "didn't"),
    row("2", "did", "4", "aux"),
    row("3", "n't", "4", "advmod"),
    row("4", "go", "0", "root", "SpaceAfter=No"),
    row("4.1", "gone"),
    row("5", ",", "6", "punct", "Lang=en|SpaceAfter=No"),
    row("6", "8.1", "4", "obj:x"),
]


def test_words_tree_text_and_spans() -> None:
    (found,) = read_conllu(SENTENCE)
    assert found.text == "He didn't go,8.1"
    assert found.words == ("He", "did", "n't", "go", ",", "8.1")
    assert [found.text[start:end] for start, end in found.spans] == list(found.words)
    assert found.heads == (3, 3, 3, -1, 5, 3)
    assert found.relations == ("nsubj", "aux", "advmod", "root", "punct", "obj:x")
    assert found.line == 2


def test_words_that_are_no_parts_of_their_surface_share_its_span() -> None:
    lines = [row("1-2", "du"), row("1", "de", "3", "case"), row("2", "le", "3", "det")]
    (found,) = read_conllu([*lines, row("3", "roi", "0", "root"), ""])
    assert found.text == "du roi"
    assert found.spans == ((0, 2), (0, 2), (3, 6))


def test_line_ends_marks_blank_lines_and_a_missing_last_one() -> None:
    lines = ["\ufeff# a comment\r\n", f"{row('1', 'Go', '0', 'root')}\r\n", " \r\n", "\n"]
    found = read_conllu([*lines, "# another\n", row("1", "Stop", "0", "root")])
    assert [sentence.text for sentence in found] == ["Go", "Stop"]
    assert [sentence.line for sentence in found] == [2, 6]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3 go _ _ _ _ 0 root _ _", "line 9 of x.conllu: it has 1 column; expected 10"),
        (row("8", "go", "0", "root"), "the word's number is '8'; expected 7"),
        (row("x" * 99, "go", "0", "root"), "the word's number is 'x{40}…'; expected 7"),
        (row("7", " ", "0", "root"), r"the word \(column 2\) is empty"),
        (row("7", "go", "_", "root"), r"the head \(column 7\) is '_'"),
        (row("7", "go", "-1", "root"), r"the head \(column 7\) is '-1'"),
        (row("7", "go", "²", "root"), r"the head \(column 7\) is '²'"),
        (row("7", "go", "7", "x"), "word 7 is its own head"),
        (row("7", "go", "0", "_"), r"the relation \(column 8\) is empty"),
        (row("6-7", "go"), "the multiword token '6-7' does not begin at the next word, 7"),
        (row("7", "go", "9", "x"), "line 1 of x.conllu: .* word 7 has the head 9, but there are 7"),
        (row("7-8", "go"), "line 1 of x.conllu: .* ends within a multiword token: word 8"),
    ],
)
def test_a_damaged_line_is_named(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_conllu([*SENTENCE[1:], line, ""], "x.conllu")


@pytest.mark.parametrize("lines", [[], [""], ["# only a comment"]])
def test_a_file_without_a_sentence(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="has no sentence"):
        read_conllu(lines)


def test_our_own_trees_are_trees_of_the_text_they_name() -> None:
    lines = BUNDLED.read_text(encoding="utf-8").split("\n")
    sentences = read_conllu(lines)
    texts = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    assert [sentence.text for sentence in sentences] == texts
    assert len(sentences) >= 25
    for sentence in sentences:
        assert sentence.heads.count(-1) == 1
        assert sentence.relations[sentence.heads.index(-1)] == "root"
        for word in range(len(sentence.words)):  # every way up ends at the root
            for _ in sentence.words:
                word = sentence.heads[word] if word >= 0 else -1
            assert word == -1
        assert all(re.fullmatch("[a-z]+(:[a-z]+)?", name) for name in sentence.relations)
    relations = {name for sentence in sentences for name in sentence.relations}
    assert {"nsubj", "obj", "iobj", "det", "amod", "case", "obl", "nmod:poss"} <= relations
