"""The words that ship are whole and fit each other."""

from itertools import chain

from bertcore import load
from bertcore.analysis.bias import (
    Group,
    association_tests,
    gender_pairs,
    known_tests,
    left_out_note,
    note_on_pieces,
    template_audits,
)
from bertcore.analysis.bias.words import word_pieces


def test_audits_are_whole() -> None:
    for audit in template_audits():
        assert len(audit.templates) >= 3  # paraphrases, so that a result may turn with the wording
        assert len(set(audit.fillers)) == len(audit.fillers) >= 10
        assert not set(audit.groups[0].words) & set(audit.groups[1].words)
        for template in audit.templates:
            assert template.count("[X]") == template.count("[MASK]") == 1


def test_the_shipped_vocabulary_has_every_word() -> None:
    bert = load("default", device="cpu")
    groups: list[Group] = []
    for audit in template_audits():
        groups += [*audit.groups, Group("", audit.fillers)]
    for test in association_tests():
        groups += test.sets
        sets = [set(group.words) for group in test.sets]
        assert sum(map(len, sets)) == len(set.union(*sets))
        assert len(sets[0]) == len(sets[1])
    words = {*chain(*(group.words for group in groups))}
    for word in {*words, *chain(*gender_pairs("direction"), *gender_pairs("probe"))}:
        assert word_pieces(bert, word)
    assert not {*chain(*gender_pairs("direction"))} & {*chain(*gender_pairs("probe"))}


def test_names_have_their_source_and_a_note_on_split_ones() -> None:
    bert = load("default", device="cpu")
    (test,) = (each for each in association_tests() if each.source)
    assert "Greenwald" in test.source
    assert known_tests(bert, [test]) == [test]  # every name can be written
    note = note_on_pieces(bert, test) or ""
    split = [sum(len(word_pieces(bert, word)) > 1 for word in g.words) for g in test.targets]
    assert split[0] > split[1]
    for number, group in zip(split, test.targets, strict=True):
        assert f"{number} of 16 words of {group.name!r}" in note
    (other,) = (each for each in association_tests() if each.name.startswith("Tools and dishes"))
    assert note_on_pieces(bert, other) is None


def test_what_was_left_out_is_named() -> None:
    assert left_out_note("ab", "ab") is None
    assert left_out_note("abca", "b") == (
        "Left out, because this vocabulary cannot write them (2): a, c."
    )
