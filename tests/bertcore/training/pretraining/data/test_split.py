"""A text parted in two loses nothing; the novel that ships is whole."""

from pathlib import Path

import pytest

from bertcore.training.pretraining import read_documents
from bertcore.training.pretraining.data.corpus import NOVEL, split_held_out
from tests.support.small_corpus import small_documents, write_documents


@pytest.mark.parametrize(
    ("num", "fraction", "expected"), [(2, 0.05, 1), (40, 0.05, 2), (9, 0.5, 4)]
)
def test_every_document_is_in_one_of_the_two(
    tmp_path: Path, num: int, fraction: float, expected: int
) -> None:
    documents = small_documents(num)
    source = write_documents(tmp_path / "all.txt", documents)
    train, valid = tmp_path / "train.txt", tmp_path / "valid.txt"
    assert split_held_out([source], train, valid, fraction=fraction) == (num - expected, expected)
    found = [list(read_documents([path])) for path in (train, valid)]
    assert [len(part) for part in found] == [num - expected, expected]
    assert sorted(map(tuple, found[0] + found[1])) == sorted(map(tuple, documents))


def test_what_cannot_be_parted_is_refused(tmp_path: Path) -> None:
    source, train, valid = (tmp_path / f"{name}.txt" for name in ("all", "train", "valid"))
    source.write_text("one\ndocument\n")
    with pytest.raises(ValueError, match="at least 2 are needed"):
        split_held_out([source], train, valid)
    assert not train.exists()
    with pytest.raises(ValueError, match="fraction is"):
        split_held_out([], train, valid, fraction=0.6)


def test_the_novel_has_its_chapters_and_no_one_elses_words() -> None:
    train, valid = (list(read_documents([path])) for path in (NOVEL.train, NOVEL.valid))
    assert (len(train), len(valid)) == (56, 5)
    assert train[0][0].startswith("It is a truth universally acknowledged")
    text = " ".join(paragraph for document in train + valid for paragraph in document)
    assert 120_000 < len(text.split()) < 123_000
    assert "gutenberg" not in text.lower()
