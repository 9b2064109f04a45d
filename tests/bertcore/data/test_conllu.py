"""Reading CoNLL-U, whole and damaged."""

from itertools import combinations

import pytest

from bertcore.analysis.heads.texts import BUNDLED_TREES
from bertcore.data.conllu import NO_HEAD, read_conllu

# The 37 relations of Universal Dependencies, version 2.
UNIVERSAL = set(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse "
    "dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan "
    "parataxis punct reparandum root vocative xcomp".split()
)


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


def test_words_that_are_no_parts_of_their_surface_share_its_span() -> None:
    lines = [row("1-2", "du"), row("1", "de", "3", "case"), row("2", "le", "3", "det")]
    (found,) = read_conllu([*lines, row("3", "roi", "0", "root"), ""])
    assert found.text == "du roi"
    assert found.spans == ((0, 2), (0, 2), (3, 6))


def test_line_ends_marks_blank_lines_and_a_missing_last_one() -> None:
    lines = ["\ufeff# a comment\r\n", f"{row('1', 'Go', '0', 'root')}\r\n", " \r\n", "\n"]
    found = read_conllu([*lines, "# another\n", row("1", "Stop", "0", "root")])
    assert [sentence.text for sentence in found] == ["Go", "Stop"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3 go _ _ _ _ 0 root _ _", "line 9 of x.conllu: it has 1 column; expected 10"),
        (row("8", "go", "0", "root"), "the word's number is '8'; expected 7"),
        (row("x" * 99, "go", "0", "root"), "the word's number is 'x{40}…'; expected 7"),
        (row("7", " ", "0", "root"), r"the word \(column 2\) is empty"),
        (row("7", "go", "_", "root"), r"the head of word 7 \(column 7\) is '_'"),
        (row("7", "go", "-1", "root"), r"the head of word 7 \(column 7\) is '-1'"),
        (row("7", "go", "²", "root"), r"the head of word 7 \(column 7\) is '²'"),
        (row("7", "go", "7", "x"), r"the head of word 7 \(column 7\) is '7'"),
        (row("7", "go", "0", "_"), r"the relation \(column 8\) is empty"),
        (row("6-7", "go"), "the multiword token '6-7' does not begin at the next word, 7"),
        (row("7", "go", "9", "x"), "line 1 of x.conllu: .* word 7 has the head 9, but there are 7"),
        (row("7-8", "go"), "line 1 of x.conllu: .* ends within a multiword token: word 8"),
    ],
)
def test_a_damaged_line_is_named(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_conllu([*SENTENCE[1:], line, ""], "x.conllu")


@pytest.mark.parametrize("head", ["_", "x", "1", "9", "99999999999999999999"])
def test_a_reader_of_tags_asks_for_no_tree(head: str) -> None:
    """One head that is none stopped a file whose tags alone were read."""
    lines = [*SENTENCE, "", row("1", "Go", head, "_"), ""]
    *_, found = read_conllu(lines, needs_trees=False)
    assert (found.words, found.heads, found.relations) == (("Go",), (NO_HEAD,), ("_",))
    bad: list[str] = []
    assert len(read_conllu(lines, "x", bad.append)) == len(read_conllu(SENTENCE))
    assert len(bad) == 1


@pytest.mark.parametrize("odd", ["\0", "\udce9"])
def test_a_byte_that_no_text_has_costs_one_sentence(odd: str) -> None:
    unread = row("1", "Go", "0", "root").replace("_", odd, 1)
    assert read_conllu([unread])[0].words == ("Go",)
    bad: list[str] = []
    found = read_conllu([row("1", f"G{odd}", "0", "root"), "", *SENTENCE], "x", bad.append)
    assert found == read_conllu(["", "", *SENTENCE])
    assert "line 1 of x: it holds a byte 0x" in bad[0]


@pytest.mark.parametrize("lines", [[], [""], ["# only a comment"]])
def test_a_file_without_a_sentence(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="has no sentence"):
        read_conllu(lines)


def test_our_own_trees_are_trees_of_the_text_they_name() -> None:
    lines = BUNDLED_TREES.read_text(encoding="utf-8").split("\n")
    sentences = read_conllu(lines)
    texts = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    assert [sentence.text for sentence in sentences] == texts
    assert len(sentences) >= 80
    assert len(set(texts)) == len(texts)
    for sentence in sentences:
        assert sentence.heads.count(-1) == 1
        assert sentence.relations[sentence.heads.index(-1)] == "root"
        for word in range(len(sentence.words)):  # every way up ends at the root
            for _ in sentence.words:
                word = sentence.heads[word] if word >= 0 else -1
            assert word == -1
        assert all(name.partition(":")[0] in UNIVERSAL for name in sentence.relations)
        assert not any(
            sentence.relations[head] == "punct" for head in sentence.heads if head >= 0
        )  # a mark has no dependents
        for dependent, head in enumerate(sentence.heads):
            assert head < 0 or sentence.words[head].isalpha()
            for single in ("nsubj", "obj", "iobj"):  # a verb has one of each
                same = [
                    at
                    for at, other in enumerate(sentence.heads)
                    if other == head and sentence.relations[at] == single
                ]
                assert sentence.relations[dependent] != single or len(same) == 1
        crossing = [
            (a, b)
            for a, b in combinations([sorted(arc) for arc in enumerate(sentence.heads)], 2)
            if min(*a, *b) >= 0 and (a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1])
        ]
        assert crossing == []  # English of this kind is projective: a typing error is not
    relations = {name for sentence in sentences for name in sentence.relations}
    objects = [
        dependent - head
        for sentence in sentences
        for dependent, (head, name) in enumerate(
            zip(sentence.heads, sentence.relations, strict=True)
        )
        if name == "obj"
    ]
    assert len(objects) >= 80
    assert max(objects.count(place) for place in set(objects)) < 0.5 * len(objects)
    assert {"nsubj", "obj", "iobj", "det", "amod", "case", "obl", "nmod:poss"} <= relations
