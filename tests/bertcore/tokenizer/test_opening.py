"""Which files of a folder a tokenizer is read from: one row of the table after another."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertcore.tokenizer.files import TokenizerFolder
from bertcore.tokenizer.opening import BERT_FAMILY, OTHERS, choose_reader, open_other_tokenizer

BPE = ("vocab.json", "merges.txt")


@pytest.mark.parametrize(
    ("names", "family", "others"),
    [
        # files; reader of the BERT family and of others, each if they split as BERT and if not
        (("tokenizer.json",), ("WordPiece", "library"), ("WordPiece", "library")),
        (("tokenizer.json", *BPE), ("WordPiece", "library"), ("WordPiece", "library")),
        (BPE, ("library", "library"), ("converted", "converted")),
        (("vocab.txt",), ("WordPiece", "WordPiece"), ("WordPiece", "converted")),
        (("vocab.txt", *BPE), ("library", "library"), ("WordPiece", "converted")),
        (("vocab.txt", "spiece.model"), ("WordPiece", "WordPiece"), ("WordPiece", "converted")),
        ((*BPE, "spiece.model"), ("library", "library"), ("converted", "converted")),
        (("spiece.model",), ("converted", "converted"), ("converted", "converted")),
        (("sentencepiece.bpe.model",), ("converted", "converted"), ("converted", "converted")),
        (("tokenizer.model",), ("converted", "converted"), ("converted", "converted")),
        (("spm.model",), ("converted", "converted"), ("converted", "converted")),
        (("merges.txt",), (None, None), (None, None)),
        ((), (None, None), (None, None)),
    ],
)
def test_reader(
    names: tuple[str, ...],
    family: tuple[str | None, ...],
    others: tuple[str | None, ...],
    tmp_path: Path,
) -> None:
    for name in names:
        (tmp_path / name).write_text("{}")
    files = TokenizerFolder(tmp_path)
    for table, expected in ((BERT_FAMILY, family), (OTHERS, others)):
        found = tuple(choose_reader(files, table, is_berts=is_berts) for is_berts in (True, False))
        assert found == expected


def test_a_folder_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="contains no tokenizer"):
        open_other_tokenizer(tmp_path, {})
