"""Files that visitors upload to the page Probes: read by their look, refused with a sentence."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from app.probes import source
from app.shell import uploads
from bertcore.probes import ProbeData, Task
from tests.support.small_treebank import conll, conllu


def read_file(name: str, data: bytes, task: Task) -> ProbeData:
    box = source.FILE
    copy = uploads.write_copy(name, data, box.most, box.instead, box.kind)
    return source.read_file(copy.path, name, task)


NAMES = ("a.conllu", "b.txt", "../../c", "d.conllu.gz")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("task", ["pos", "dep", "distance", "depth"])
def test_a_treebank_is_known_by_its_look(name: str, task: Task) -> None:
    text = conllu(25).encode()
    data = read_file(name, gzip.compress(text) if name.endswith(".gz") else text, task)
    assert len(data.sentences) == 25
    assert data.task == task
    if task == "dep":
        assert set(data.labels) == {"det", "nsubj", "root", "obj", "punct"}


def test_tags_of_a_conll_file() -> None:
    data = read_file("a.txt", conll(25, entities=True).encode(), "ner")
    assert set(data.labels) == {"O", "B-PER"}
    assert len(data.sentences) == 25


def test_sentences_whose_tags_do_not_align_are_left_out_and_told() -> None:
    text = conll(25) + "word\nother TAG\n\n"
    data = read_file("my tags.txt", text.encode(), "pos")
    assert len(data.sentences) == 25
    (note,) = data.notes
    assert "1 bad row" in note
    assert "'my tags.txt'" in note
    assert "/tmp" not in note


@pytest.mark.parametrize(
    ("name", "text", "task", "nouns"),
    [
        ("a.conllu", "", "pos", ("no sentence",)),
        ("a.txt", "", "pos", ("0 different sentences", "at least 20")),
        ("a.txt", conll(3), "pos", ("3 different sentences", "at least 20")),
        ("a.txt", conll(25, tags="X"), "pos", ("only the label 'X'",)),
        ("a.txt", conll(25), "distance", ("needs trees", "CoNLL-U")),
        ("a.txt", conll(25), "ner", ("B-TYPE",)),
        ("a.conllu", conllu(25), "ner", ("no entities",)),
        (
            "a.conllu",
            conllu(25).replace("\t2\t", "\tx\t"),
            "dep",
            ("the head of word 1 (column 7)",),
        ),
        ("a.conllu", conllu(25).replace("\t", " "), "dep", ("expected 10",)),
        ("a.txt", "one\ntwo\n\n" * 30, "pos", ("30 bad rows", "a word and its tag")),
        ("a.gz", "BZh91AY&SY no archive", "pos", ("not a whole archive",)),
    ],
)
def test_files_that_cannot_be_probed(
    name: str, text: str, task: Task, nouns: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match=r"\.") as caught:
        read_file(name, text.encode(), task)
    for noun in nouns:
        assert noun in str(caught.value)
    assert "/tmp" not in str(caught.value)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(ValueError, match="UTF-8") as caught:
        read_file("a.txt", b"\xff\xfe\xfa" * 50 + b"\x00", "pos")
    assert "/tmp" not in str(caught.value)


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "FILE", replace(source.FILE, most=1000))
    with pytest.raises(ValueError, match="bertscope probe --data"):
        read_file("a.conllu", conllu(40).encode(), "pos")
