"""The sets that ship are whole and fit each other; association tests are read from files."""

import json
from itertools import chain
from pathlib import Path

import pytest

from bertcore import load
from bertcore.bias import (
    association_tests,
    direction_words,
    group_sets,
    known_tests,
    read_association,
    run_association_tests,
    template_audits,
)
from bertcore.bias.slots import word_pieces
from bertcore.bias.templates import check_template


def test_audits_are_whole() -> None:
    for audit in template_audits():
        assert len(audit.templates) >= 3  # paraphrases, so that a result may turn with the wording
        assert len(set(audit.fillers)) == len(audit.fillers) >= 10
        assert not set(audit.groups[0].words) & set(audit.groups[1].words)
        for template in audit.templates:
            check_template(template)


def test_the_shipped_vocabulary_has_every_word() -> None:
    bert = load("default", device="cpu")
    direction = direction_words()
    tests = [each.test for each in association_tests()]
    words = {
        *chain(*group_sets().values()),
        *chain(*(audit.fillers for audit in template_audits())),
        *chain(*(set_ for test in tests for set_ in (*test.targets, *test.attributes))),
        *chain(*direction.pairs, *direction.probe),
    }
    for word in words:
        assert word_pieces(bert, word)


def test_association_sets_do_not_overlap() -> None:
    for each in association_tests():
        sets = [set(words) for words in (*each.test.targets, *each.test.attributes)]
        assert sum(map(len, sets)) == len(set.union(*sets))
        assert len(each.test.targets[0]) == len(each.test.targets[1])


def test_names_have_their_source_and_a_note_on_split_ones() -> None:
    bert = load("default", device="cpu")
    (test,) = (each for each in association_tests() if each.source)
    assert "Greenwald" in test.source
    (known,) = known_tests(bert, [test])
    assert known == test  # every name can be written
    (outcome,) = run_association_tests(bert, [test])
    split = [sum(len(word_pieces(bert, word)) > 1 for word in set_) for set_ in test.test.targets]
    assert split[0] > split[1]
    for number, name in zip(split, test.test.names, strict=False):
        assert f"{number} of 16 words of {name!r}" in outcome.association.note
    (other,) = (each for each in association_tests() if each.name.startswith("Tools and dishes"))
    assert "pieces" not in run_association_tests(bert, [other])[0].association.note


def test_a_probe_is_tried_on_other_words() -> None:
    words = direction_words()
    assert not {*chain(*words.pairs)} & {*chain(*words.probe)}
    with pytest.raises(ValueError, match="no direction"):
        direction_words("size")


def test_the_layout_of_seat_is_read(tmp_path: Path) -> None:
    path = tmp_path / "weat0.jsonl"
    sets = {
        part: {"category": part.upper(), "examples": [f"{part} a", f"{part} b"]}
        for part in ("targ1", "targ2", "attr1", "attr2")
    }
    path.write_text(json.dumps(sets, indent=1))
    found = read_association(path)
    assert found.name == "weat0"
    assert found.test.names == ("TARG1", "TARG2", "ATTR1", "ATTR2")
    assert found.test.attributes[1] == ("attr2 a", "attr2 b")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"targ1": 3, "targ2": 3, "attr1": 3, "attr2": 3}', "[" * 100_000],
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="not an association test"):
        read_association(path)


@pytest.mark.parametrize("examples", [[], [" "], "abc", [1, 2]])
def test_sets_without_texts_are_refused(tmp_path: Path, examples: object) -> None:
    path = tmp_path / "a.json"
    sets = {p: {"category": p, "examples": ["x"]} for p in ("targ1", "targ2", "attr1")}
    path.write_text(json.dumps({**sets, "attr2": {"category": "attr2", "examples": examples}}))
    with pytest.raises(ValueError, match="attr2"):
        read_association(path)


@pytest.mark.parametrize("sets", [("targ1", "targ2"), ("attr1", "attr2")])
def test_sets_that_overlap_are_refused(tmp_path: Path, sets: tuple[str, str]) -> None:
    path = tmp_path / "a.json"
    parts = ("targ1", "targ2", "attr1", "attr2")
    examples = {p: [f"{p} one", "Nurse " if p in sets else f"{p} two"] for p in parts}
    examples[sets[1]][1] = "nurse"
    path.write_text(json.dumps({p: {"category": p, "examples": examples[p]} for p in parts}))
    with pytest.raises(ValueError, match=f"'nurse' is in the sets '{sets[0]}' and '{sets[1]}'"):
        read_association(path)


def test_two_sets_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    parts = ("targ1", "targ2", "attr1", "attr2")
    path.write_text(json.dumps({p: {"category": "same", "examples": [p]} for p in parts}))
    with pytest.raises(ValueError, match="same category"):
        read_association(path)
