"""Files as sentences for a probe: what is read, how it is divided, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertcore.probes.data_sets import (
    BUNDLED,
    ProbeData,
    bundled_data,
    divide,
    is_tree,
    of_words,
    read_probe_data,
)

TREE = (
    "1\tDogs\t_\tNOUN\t_\t_\t2\tnsubj:pass\t_\t_\n"
    "2\tran{n}\t_\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
    "3\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n"
)


def trees(folder: Path, count: int = 20, tree: str = TREE) -> Path:
    path = folder / "trees.conllu"
    path.write_text("".join(tree.replace("{n}", str(n)) for n in range(count)))
    return path


def tagged(folder: Path, lines: str, count: int = 20) -> Path:
    path = folder / "tags.conll"
    path.write_text("".join(lines.replace("{n}", str(n)) for n in range(count)))
    return path


def test_the_treebank_that_ships_is_whole_and_says_its_licence() -> None:
    data = bundled_data("pos")
    assert len(data.sentences) == 1378
    assert len(data.labels) == 17
    assert data.notes == ()
    assert len(bundled_data("dep").labels) < 40
    assert not any(":" in label for label in bundled_data("dep").labels)
    assert "CC BY-SA 4.0" in (BUNDLED.parent / "README.md").read_text(encoding="utf-8")


def test_a_treebank_gives_tags_relations_and_trees(tmp_path: Path) -> None:
    path = trees(tmp_path)
    first = read_probe_data(path, "pos").sentences[0]
    assert first.text == "Dogs ran0."
    assert first.words == ("Dogs", "ran0", ".")
    assert [first.text[a:b] for a, b in first.spans] == list(first.words)
    assert first.labels == ("NOUN", "VERB", "PUNCT")
    assert read_probe_data(path, "dep").sentences[0].labels == ("nsubj", "root", "punct")
    tree = read_probe_data(path, "distance").sentences[0]
    assert (tree.labels, tree.heads) == ((), (1, -1, 1))
    assert tree.is_punctuation == (False, False, True)


def test_a_file_of_entities_becomes_iob2(tmp_path: Path) -> None:
    path = tagged(tmp_path, "Anna{n} x I-PER\nin x O\nParis x I-LOC\n\n")
    data = read_probe_data(path, "ner")
    assert data.labels == ("B-LOC", "B-PER", "O")
    assert data.sentences[3].text == "Anna3 in Paris"


def test_what_cannot_be_probed_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"task is 'tags'.*pos, dep"):
        read_probe_data(trees(tmp_path), "tags")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"7 different sentences.*20"):
        read_probe_data(trees(tmp_path, 7), "pos")
    with pytest.raises(ValueError, match="1 different sentences"):
        read_probe_data(trees(tmp_path, 30, TREE.replace("{n}", "")), "pos")
    with pytest.raises(ValueError, match="no entities"):
        read_probe_data(trees(tmp_path), "ner")
    one = TREE.replace("NOUN", "X").replace("VERB", "X").replace("PUNCT", "X")
    with pytest.raises(ValueError, match="only the label 'X'"):
        read_probe_data(trees(tmp_path, 20, one), "pos")
    with pytest.raises(ValueError, match="needs trees"):
        read_probe_data(tagged(tmp_path, "a{n} X\nb Y\n\n"), "depth")
    with pytest.raises(ValueError, match=r"'X'.*B-TYPE"):
        read_probe_data(tagged(tmp_path, "a{n} X\nb Y\n\n"), "ner")
    with pytest.raises(ValueError, match=r"line 2 .* columns"):  # a word without its tag
        read_probe_data(tagged(tmp_path, "a{n} X\nb\n\n"), "pos")


def test_heads_that_form_no_tree_are_left_out_of_trees_alone(tmp_path: Path) -> None:
    path = trees(tmp_path, 21)
    loop = TREE.replace("{n}", "x").replace("\t0\troot", "\t1\tobj")
    path.write_text(path.read_text() + loop)
    assert len(read_probe_data(path, "pos").sentences) == 22
    data = read_probe_data(path, "depth")
    assert len(data.sentences) == 21
    assert "1 sentences are left out" in data.notes[0]
    assert is_tree((1, -1, 1))
    assert not is_tree((1, 0, -1))
    assert not is_tree((-1, -1))
    assert not is_tree(())


def test_division_keeps_equal_sentences_together() -> None:
    sentences = tuple(of_words(["a", str(n // 3)], ["X", "Y"]) for n in range(90))
    data = ProbeData("pos", sentences)
    parts = divide(data, seed=1)
    numbers = [number for part in parts.values() for number in part]
    assert sorted(numbers) == list(range(90))
    texts = {name: {sentences[n].text for n in part} for name, part in parts.items()}
    assert not texts["train"] & texts["test"]
    assert not texts["train"] & texts["dev"]
    assert not texts["dev"] & texts["test"]
    assert [len(part) for part in parts.values()] == pytest.approx([54, 18, 18], abs=3)
    assert divide(data, seed=1) == parts
    assert divide(data, seed=2) != parts
