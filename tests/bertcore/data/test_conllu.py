"""Reading CoNLL-U, whole and damaged."""

import pytest

from bertcore.analysis.heads.texts import BUNDLED_TREES
from bertcore.data.conllu import NO_HEAD, read_conllu
from tests.support.cases import cases

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


@pytest.mark.parametrize(("line", "message"), cases("damaged_trees"))
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


def test_our_own_trees_are_trees_of_the_text_they_name() -> None:
    lines = BUNDLED_TREES.read_text(encoding="utf-8").split("\n")
    sentences = read_conllu(lines)
    texts = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    assert [sentence.text for sentence in sentences] == texts
    assert len(set(texts)) == len(texts) >= 80
    for sentence in sentences:
        heads, relations = sentence.heads, sentence.relations
        assert heads.count(-1) == 1
        assert relations[heads.index(-1)] == "root"
        assert {name.partition(":")[0] for name in relations} <= UNIVERSAL
        assert not any(relations[head] == "punct" for head in heads if head >= 0)
        for word in range(len(heads)):  # every way up ends at the root
            for _ in heads:
                word = heads[word] if word >= 0 else -1
            assert word == -1
        arcs = [sorted(arc) for arc in enumerate(heads) if arc[1] >= 0]
        crossing = [(a, b) for a in arcs for b in arcs if a[0] < b[0] < a[1] < b[1]]
        assert crossing == []  # English of this kind is projective: a typing error is not
