"""Whole words in training: every hidden word is whole, in any vocabulary."""

from pathlib import Path

import pytest

from bertcore.model.tokenizer import Tokenizer, open_tokenizer, train_vocabulary
from bertcore.training.pretraining import DataConfig, pack_corpus
from bertcore.training.pretraining.objectives.epochs import Batches
from tests.support.command_line import make_texts, metrics, refusal, succeed, words_of
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny_families import make

CONFIG = DataConfig.for_length(64, objective="wwm", batch_size=8, mask_shares="0/100/0")


def wordpieces() -> Tokenizer:
    """Return a vocabulary so small that many words have several pieces."""
    texts = [sentence for document in small_documents() for sentence in document]
    return Tokenizer(train_vocabulary(texts, vocab_size=60))


@pytest.mark.parametrize("kind", ["wordpiece", "byte-level"])
def test_hidden_words_are_whole(tmp_path: Path, kind: str) -> None:
    tokenizer = wordpieces()
    if kind == "byte-level":  # a space is the mark of a word's beginning
        make("RobertaForMaskedLM", tmp_path)
        tokenizer = open_tokenizer(tmp_path)
    corpus = pack_corpus(small_documents(), tokenizer)
    starts = set(corpus.sentence_starts.tolist())
    batches = Batches(corpus, tokenizer, CONFIG, seed=1)
    num_hidden = num_long = 0
    for step in range(6):
        batch = batches.batch(step)
        rows = batches._instances_at(step)
        for row in range(8):
            ids = batch.input_ids[row].tolist()  # all are kept
            hidden = set(batch.positions[row][batch.weights[row] == 1].tolist())
            words: list[list[int]] = []
            place = int(rows.spans[row][0])
            for at, token in enumerate(ids):
                if token in tokenizer.special_ids:
                    words.append([])
                    continue
                piece = tokenizer.id_to_token(token)
                begins = not piece.startswith("##") if kind == "wordpiece" else piece[0] == "Ġ"
                if begins or place in starts or not words[-1]:
                    words.append([])
                words[-1].append(at)
                place += 1
            for word in filter(None, words):
                assert len(hidden & set(word)) in (0, len(word))
                num_long += len(word) > 1 and word[0] in hidden
            num_hidden += len(hidden)
    assert num_long > 50
    # Words that do not fit leave a few pieces of the number free.
    assert 0.8 < num_hidden / (6 * 8 * 10) <= 1


LONG = "goodgoodgoodgood"
"""More pieces than are hidden of a row of 24."""


@pytest.mark.parametrize(
    ("objective", "text", "what"),
    [("wwm", LONG, "no word of it fits into 0.15"), ("plm", "good", "two tokens")],
)
@pytest.mark.parametrize("role", ["train", "valid"])
def test_a_text_of_which_nothing_can_be_hidden_is_refused(
    tmp_path: Path, objective: str, text: str, what: str, role: str
) -> None:
    texts = make_texts(tmp_path)
    (texts / f"{role}.txt").write_text(f"{text}\n")
    run = tmp_path / "run"
    sentence = refusal(
        *words_of(texts, run, "--steps", "2", "--objective", objective, "--batch-size", "1")
    )
    assert f"'{objective}'" in sentence
    assert {"train": "training text", "valid": "held-out text"}[role] in sentence
    assert what in sentence
    assert not run.exists()


def test_a_batch_of_which_nothing_can_be_hidden_is_no_divergence(tmp_path: Path) -> None:
    texts = make_texts(tmp_path)
    write_documents(texts / "train.txt", [[LONG] * 20, *small_documents(3)])
    steps = ["--steps", "16", "--objective", "wwm", "--batch-size", "1"]
    run = tmp_path / "run"
    assert "Done." in succeed(*words_of(texts, run, *steps, "--dtype", "float32"))
    assert metrics(run)[-1]["step"] == 16
