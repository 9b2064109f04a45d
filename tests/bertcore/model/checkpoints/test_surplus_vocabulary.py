"""A vocabulary with a few pieces more than the token table has rows, as after adding tokens to a
tokenizer without resizing the model: opened, reported, and only texts that need one are refused."""

import json
import re
from pathlib import Path

import pytest
import torch

from bertcore import Bert, Tokenizer, load
from bertcore.analysis.compare.weight_drift import weight_drift
from bertcore.analysis.health.checkpoint_doctor import examine
from bertcore.analysis.space.embeddings import nearest_words
from bertcore.analysis.words.candidates import score_candidates
from bertcore.analysis.words.epoch_masks import corrupt
from bertcore.analysis.words.lens import layer_predictions, word_trajectories
from bertcore.analysis.words.predictions import predict_masks
from bertcore.model.others.model import OtherModel
from bertcore.model.tokenizer import AddedToken, open_wordpiece
from bertcore.training.pretraining.starting_weights import check_start
from bertcore.training.tasks import open_task_model
from tests.support.finetuning_files import data_of, write_reviews
from tests.support.kit import edit
from tests.support.rigged_models import started
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer, tiny_vocabulary
from tests.support.tiny_others import make_other

ROWS = 149
ADDED = ("qqq", "zzz")
TEXT = "The river bank was steep."
NEEDS_ADDED = "The qqq was steep."


def tokenizer_with_added() -> Tokenizer:
    return Tokenizer(
        tiny_vocabulary(),
        model_max_length=64,
        added_tokens=[AddedToken(token, normalized=False, special=False) for token in ADDED],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bert = Bert(tiny_network(), tokenizer_with_added())
    return bert.save(tmp_path_factory.mktemp("surplus") / "tiny")


@pytest.fixture(scope="module")
def bert(folder: Path) -> Bert:
    return load(folder, device="cpu")


def test_the_report_says_it_and_saving_keeps_the_pieces(bert: Bert, tmp_path: Path) -> None:
    (line,) = [line for line in bert.report.sentences() if "151 pieces" in line]
    assert line.startswith("Warning")
    assert "149 rows" in line
    assert "2 pieces" in line
    assert examine(bert).sentences()
    again = load(bert.save(tmp_path / "again"), device="cpu")
    assert again.tokenizer.surplus == ADDED
    assert again.tokenizer.vocab == bert.tokenizer.vocab == tiny_vocabulary()
    assert again.tokenizer.fingerprint == tokenizer_with_added().fingerprint
    assert open_wordpiece(tmp_path / "again").vocab == [*tiny_vocabulary(), *ADDED]


def test_only_a_text_that_needs_a_missing_row_is_refused(bert: Bert) -> None:
    plain = Bert(bert.module, tiny_tokenizer())
    assert torch.equal(bert.trace(TEXT).hidden_states, plain.trace(TEXT).hidden_states)
    assert bert.fill_mask("the [MASK]", top_k=999) == plain.fill_mask("the [MASK]", top_k=999)
    message = r"piece 'qqq' \(id 149\).*ids 0 to 148.*resize_token_embeddings"
    for call in (bert.trace, bert.tokenize, bert.fill_mask, bert.tokenizer.encode_word):
        with pytest.raises(ValueError, match=message):
            call(NEEDS_ADDED)
    with pytest.raises(ValueError, match=message):
        bert.encode([TEXT, NEEDS_ADDED])
    # What is cut off needs no row.
    assert bert.tokenize("the " * 70 + "qqq").truncation is not None


def test_the_measures_know_the_pieces_with_rows_only(bert: Bert) -> None:
    lens = layer_predictions(bert, "the [MASK]", top_k=999)
    assert lens.words.shape[-1] == ROWS
    assert predict_masks(bert, "the [MASK]", top_k=999).words.shape == (1, ROWS)
    scored = score_candidates(bert, "the [MASK]", None, (), 2, ["river", "qqq"])
    assert scored[0].probability is not None
    assert "'qqq' (id 149)" in str(scored[1].problem)
    with pytest.raises(ValueError, match="'qqq' is not a single piece"):
        word_trajectories(bert, "the [MASK]", None, (), 2, ["qqq"])
    assert len(nearest_words(bert, bert.trace("the river"), top_k=999)) == ROWS - 1
    for seed in range(9):
        shown = corrupt(bert, "the river bank " * 15, seed=seed, masked_lm_prob=0.9).input_tokens
        assert not set(shown) & set(ADDED)
    drift = weight_drift(bert, Bert(bert.module, tiny_tokenizer()))
    assert not any(moved.relative for moved in (*drift.layers.values(), *drift.others.values()))
    with pytest.raises(ValueError, match=r"151 pieces.*149 rows.*resize_token_embeddings"):
        check_start(bert)


def test_fine_tuning_reads_texts_without_them(folder: Path, tmp_path: Path) -> None:
    labels = ("bad", "good")
    start = started(folder, labels=labels)
    model = open_task_model(start.save(tmp_path / "task"), device="cpu")
    assert model.tokenizer.surplus == ADDED
    path = write_reviews(tmp_path / "reviews.tsv", 8)
    data_of(path, model)
    path.write_text(path.read_text() + f"{NEEDS_ADDED}\tgood\n")
    with pytest.raises(ValueError, match="piece 'qqq'"):
        data_of(path, model)


def test_one_percent_of_a_large_table_may_be_missing_and_no_special_token() -> None:
    tokenizer = Tokenizer([*tiny_vocabulary(), *(f"piece{i}" for i in range(1851))])
    assert len(tokenizer.for_network(1981).surplus) == 19
    with pytest.raises(ValueError, match="2000 pieces but the network has 1980"):
        tokenizer.for_network(1980)
    assert tokenizer.for_network(2000) is tokenizer
    pieces = [piece for piece in tiny_vocabulary() if piece != "[MASK]"]
    network = tiny_network(tiny_config(vocab_size=ROWS - 1))
    with pytest.raises(ValueError, match=re.escape("[MASK] has the id 148")):
        Bert(network, Tokenizer([*pieces, "[MASK]"]))


def test_padding_without_a_row_is_another_id(tmp_path: Path) -> None:
    """GPT-2 with a padding token that was added for fine-tuning, the commonest case."""
    make_other("GPT2LMHeadModel", tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    size = len(content["model"]["vocab"])
    first = content["added_tokens"][0]
    token = {**first, "id": size, "content": "[PAD]", "special": True}
    edit(tmp_path, "tokenizer.json", added_tokens=[*content["added_tokens"], token])
    edit(tmp_path, "tokenizer_config.json", pad_token="[PAD]")
    model = load(tmp_path, device="cpu")
    assert isinstance(model, OtherModel)
    assert model.tokenizer.surplus == ("[PAD]",)
    vectors = model.encode(["a", "the river bank was steep"])
    torch.testing.assert_close(vectors[:1], model.encode(["a"]), atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="piece '\\[PAD\\]'"):
        model.tokenize("a [PAD]")
