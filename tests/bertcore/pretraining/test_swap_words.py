"""Pretraining on documents with swapped words: packed, recorded, resumed bit by bit, refused."""

import json
from pathlib import Path

import pytest
import torch

from bertcore import load
from bertcore.pretraining.data.corpus import open_corpus, read_sentences
from tests.support.command_line import make_texts, metrics, recipe, refusal, succeed, words_of

PAIRS = "dog\tcat\nman, woman\n"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.txt, valid.txt, the tokenizer tok and pairs.txt."""
    folder = make_texts(tmp_path_factory.mktemp("texts"))
    (folder / "pairs.txt").write_text(PAIRS)
    return folder


def test_documents_are_there_twice_and_a_resumed_run_is_the_same(
    texts: Path, tmp_path: Path
) -> None:
    more = ["--steps", "6", *recipe(swap_words=str(texts / "pairs.txt"))]
    succeed(*words_of(texts, tmp_path / "whole", *more))
    run = tmp_path / "whole"
    with_words = sum(
        bool({"dog", "cat", "man", "woman"} & {*" ".join(document).replace(".", "").split()})
        for document in read_sentences([texts / "train.txt"])
    )
    assert with_words > 10
    settings = json.loads((run / "config.json").read_text())
    assert settings["data_report"]["train"]["num_documents"] == 40 + with_words
    assert settings["data_report"]["valid"]["num_documents"] == 8  # held-out text as it is
    assert settings["swap"]["pairs"] == [["dog", "cat"], ["man", "woman"]]
    assert f"{with_words} were added" in settings["swap"]["note"]
    part = tmp_path / "part"
    succeed(*words_of(texts, part, *more))
    for folder in (part / "checkpoints").iterdir():
        if folder.name == "step-6":
            folder.rename(tmp_path / "gone")
    (texts / "pairs.txt").rename(texts / "elsewhere.txt")  # a run needs it no more
    try:
        assert "Done." in succeed("pretrain", "--out", part, "--resume")
    finally:
        (texts / "elsewhere.txt").rename(texts / "pairs.txt")
    assert metrics(part) == metrics(run)
    ours, theirs = (load(each / "checkpoints" / "step-6", device="cpu") for each in (part, run))
    for a, b in zip(ours.module.parameters(), theirs.module.parameters(), strict=True):
        assert torch.equal(a, b)


def test_substitution_keeps_the_number_of_documents(texts: Path, tmp_path: Path) -> None:
    swap = [*recipe(swap_words=str(texts / "pairs.txt"), swap_mode="substitute")]
    succeed(*words_of(texts, tmp_path / "run", "--steps", "1", *swap))
    succeed(*words_of(texts, tmp_path / "plain", "--steps", "1"))
    swapped, plain = (open_corpus(tmp_path / name / "data" / "train") for name in ("run", "plain"))
    assert swapped.num_documents == plain.num_documents == 40
    assert swapped.fingerprint != plain.fingerprint


def test_refusals(texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    steps = ["--steps", "3"]
    assert "--swap-mode would have no effect" in refusal(
        *words_of(texts, out, *steps, *recipe(swap_mode="augment"))
    )
    assert "no set of words 'nothing'" in refusal(
        *words_of(texts, out, *steps, *recipe(swap_words="nothing"))
    )
    (tmp_path / "pairs.txt").write_text("law,order\n")
    swap = [*recipe(swap_words=str(tmp_path / "pairs.txt"))]
    assert "none of the 40 training documents" in refusal(*words_of(texts, out, *steps, *swap))
    assert not out.exists()
