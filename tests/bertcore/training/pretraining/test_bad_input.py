"""Wrong options, wrong texts, folders in use: one sentence each, and nothing is written."""

import gzip
import lzma
from pathlib import Path

import pytest

from bertcore.training.engine import run_lock
from bertcore.training.pretraining.data import corpus
from tests.bertcore.training.engine.test_run_lock import other_process
from tests.support.command_line import invoke, recipe, refusal, succeed, words_of
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_tokenizer


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--minutes", "1"], "both were given"),
        (["--hidden", "33"], "hidden_size 33 is not divisible by"),
        (recipe(masked_lm_prob=0.9), "masked_lm_prob is 0.9, which hides 4 tokens of a row of 5"),
        (recipe(masked_lm_prob="nan"), "masked_lm_prob is 'nan'; expected a number"),
        (recipe(maskedlm_prob=0.2), "Did you mean masked_lm_prob?"),
        (recipe(mask_shares="80/10"), "mask_shares is '80/10'; expected three"),
        (["--objective", "mlm+sop"], "needs a sentence-order head, which BERT does not have"),
        (
            ["--objective", "mlm+nsp", *recipe(family="albert")],
            "needs a next-sentence head, which ALBERT does not have",
        ),
        (
            ["--objective", "causal", *recipe(family="roberta")],
            "is trained on the shape of BERT itself, not of RoBERTa",
        ),
        (
            ["--objective", "causal", *recipe(masked_lm_prob=0.2)],
            "masked_lm_prob would have no effect",
        ),
        (["--objective", "causal", *recipe(dupe_factor=2)], "dupe_factor would"),
        (["--objective", "rtd", *recipe(mask_shares="100/0/0")], "mask_shares would"),
        (["--objective", "unilm", *recipe(family="distilbert")], "this DistilBERT has 0"),
        (
            ["--objective", "rtd", *recipe(family="albert")],
            "a replaced-token head, which ALBERT does not have. Choose a family that has it (elec",
        ),
        (recipe(gradient_accumulation=3), "expected a multiple of 3"),
        (["--heads", "0"], "--heads"),
        (["--max-seq-length", "513"], "has positions for only 512 tokens"),
        (["--max-seq-length", "4"], "max_seq_length is 4; expected at least 5"),
        (["--batch-size", "99999"], "fewer than one batch of 99999"),
        (["--device", "abacus"], "device is 'abacus'"),
        (["--vocab-size", "99"], "--vocab-size would have no effect"),
        (["--corpus", "nowhere.txt"], "'nowhere.txt' does not exist"),
        (
            recipe(optimizer="adamw", muon_learning_rate=1),
            "muon_learning_rate would have no effect",
        ),
    ],
)
def test_wrong_options_are_one_sentence_and_write_nothing(
    texts: Path, tmp_path: Path, more: list[str], sentence: str
) -> None:
    assert sentence in refusal(*words_of(texts, tmp_path / "run", "--steps", "3", *more))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("role", ["train.txt", "valid.txt"])
def test_wrong_files_are_one_sentence_and_write_nothing(
    texts: Path, tmp_path: Path, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "LONGEST_LINE", 3000)
    good = (texts / role).read_bytes()
    place, runs = tmp_path / "texts", tmp_path / "runs"
    place.mkdir()
    runs.mkdir()
    for name in ("train.txt", "valid.txt"):
        (place / name).write_bytes((texts / name).read_bytes())
    tiny_tokenizer().save(place / "tok")
    whole = lzma.compress(good * 200)
    cases: list[tuple[bytes, str, str]] = [
        (b"", ".txt", "has no text"),
        (b" \n\n\t\n", ".txt", "has no text"),
        (b"a cat.\n\ncaf\xe9.\n", ".txt", "is not UTF-8, but probably Windows"),
        (whole[: len(whole) - 30], ".xz", "is not a whole archive"),
        (gzip.compress(good)[:-30], ".gz", "is not a whole archive"),
    ]
    cases += [
        (b"the dog sat.\n\n" * 50, ".txt", "has two sentences, so no sentence has a next one"),
        (b"\n\n".join([good] * 2) + b"x" * 3001 + b"\n", ".txt", "has more than 3,000 characters"),
    ]
    if role == "train.txt":
        one_document = b"the dog sat.\nit was good.\n" * 50
        cases.append((one_document, ".txt", "is a single document"))
        cases.append((b"a dog.\na cat.\n\na dog.\n", ".txt", "fewer than one batch of 4"))
    for content, suffix, sentence in cases:
        file = place / f"bad{suffix}"
        file.write_bytes(content)
        words = words_of(place, runs / "run", "--steps", "3")
        words[words.index(str(place / role))] = str(file)
        assert sentence in refusal(*words)
        assert list(runs.iterdir()) == []
    (place / role).unlink()
    assert "does not exist" in refusal(*words_of(place, runs / "run", "--steps", "3"))
    assert list(runs.iterdir()) == []


def test_a_lone_held_out_document_will_do(texts: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.txt"
    write_documents(one, [[s for document in small_documents(20) for s in document]])
    words = words_of(texts, tmp_path / "run", "--steps", "2")
    words[words.index(str(texts / "valid.txt"))] = str(one)
    told = invoke(*words)
    assert "Done." in told.stdout
    assert "single document" in told.stderr


def test_a_vocabulary_larger_than_the_text_supports(texts: Path, tmp_path: Path) -> None:
    words = words_of(texts, tmp_path / "run", "--steps", "2", "--vocab-size", "9999")
    at = words.index("--tokenizer")
    sentence = refusal(*words[:at], *words[at + 2 :])
    assert "the corpus gave only" in sentence
    assert "min_frequency" not in sentence
    assert list(tmp_path.iterdir()) == []


def test_a_run_folder_in_use_is_refused_by_name(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lock, "_PATIENCE_SECONDS", 0.05)
    run, new = tmp_path / "run", tmp_path / "new"
    succeed(*words_of(texts, run, "--steps", "2"))

    def state() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    with other_process(run) as process:
        before = state()
        sentence = refusal("pretrain", "--out", run, "--resume")
        assert f"in use by process {process.pid} on " in sentence
        assert state() == before
    partial = tmp_path / ".new.partial"  # a run that is being prepared
    partial.mkdir()
    with other_process(partial) as process:
        before = state()
        sentence = refusal(*words_of(texts, new, "--steps", "2"))
        assert f"in use by process {process.pid} on " in sentence
        assert state() == before
    assert "Done." in succeed(*words_of(texts, new, "--steps", "2"))  # a kill frees it
    assert "Done." in succeed("pretrain", "--out", run, "--resume")
