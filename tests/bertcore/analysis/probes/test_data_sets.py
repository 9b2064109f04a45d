"""Files as sentences for a probe: what is read, how it is divided, what is refused."""

from pathlib import Path

import pytest

from bertcore.analysis.probes import ProbeData, ProbeSentence, Task, bundled_data, read_probe_data
from bertcore.analysis.probes.data_sets import BUNDLED, divide
from tests.support.small_treebank import conll, conllu


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_treebank_that_ships_is_whole_and_says_its_licence() -> None:
    data = bundled_data("pos")
    assert len(data.sentences) == 1378
    assert len(data.labels) == 17
    assert data.notes == ()
    assert len(bundled_data("dep").labels) < 40
    assert not any(":" in label for label in bundled_data("dep").labels)
    assert "CC BY-SA 4.0" in (BUNDLED.parent / "README.md").read_text(encoding="utf-8")


def test_a_treebank_gives_tags_and_relations(tmp_path: Path) -> None:
    text = conllu(20).replace("\tobj\t", "\tobj:lvc\t")
    path = written(tmp_path, "a.conllu", text)
    first = read_probe_data(path, "pos").sentences[0]
    assert [first.text[a:b] for a, b in first.spans] == list(first.words)
    assert first.labels == ("DET", "NOUN", "VERB", "NOUN", "PUNCT")
    relations = read_probe_data(path, "dep").sentences[0].labels
    assert relations == ("det", "nsubj", "root", "obj", "punct")


def test_the_tags_of_a_file_are_labels(tmp_path: Path) -> None:
    text = conll(20, entities=True).replace("B-PER", "I-PER")  # IOB1
    data = read_probe_data(written(tmp_path, "a.txt", text))
    assert data.labels == ("B-PER", "O")
    assert data.sentences[3].text == " ".join(data.sentences[3].words)


@pytest.mark.parametrize(
    ("name", "text", "task", "message"),
    [
        ("a.conllu", conllu(20), "tags", "task is 'tags'; expected one of pos, dep"),
        ("a.conllu", conllu(7), "pos", "'.*' has 7 different sentences"),
        ("a.txt", conll(30, tags="X"), "pos", "'.*' has only the label 'X'"),
        ("a.txt", "".join(f"a x{n}\n\nb{n} y\n\n" for n in range(1001)), "pos", "'.*' has 1,002"),
        ("a.txt", conll(30), "dep", "the task is 'dep', which needs trees"),
        ("a.txt", conll(30) + "a X\nb\n\n", "pos", "line 182 of"),
        ("a.conllu", conllu(25).replace("\t2\t", "\tx\t"), "dep", "the head of word 1"),
    ],
)
def test_what_cannot_be_probed_is_a_sentence(
    tmp_path: Path, name: str, text: str, task: Task, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read_probe_data(written(tmp_path, name, text), task)


def test_division_keeps_equal_sentences_together() -> None:
    texts = [str(n // 3) for n in range(90)]
    sentences = tuple(ProbeSentence(text, (text,), ((0, 1),), ("X",)) for text in texts)
    data = ProbeData("pos", sentences)
    parts = divide(data, seed=1)
    assert sorted(number for part in parts.values() for number in part) == list(range(90))
    of_part = {name: {texts[n] for n in part} for name, part in parts.items()}
    assert not of_part["train"] & of_part["test"]
    assert not of_part["train"] & of_part["dev"]
    assert not of_part["dev"] & of_part["test"]
    assert [len(part) for part in parts.values()] == pytest.approx([54, 18, 18], abs=3)
    assert divide(data, seed=1) == parts
    assert divide(data, seed=2) != parts
