"""The numbers of the tokens page."""

import numpy as np
import pytest
import torch

import bertcore
from bertcore.analysis.health.parameters import count_parameters, tensor_rows
from bertcore.analysis.space import embeddings as numbers
from bertcore.analysis.space.position_table import position_similarity
from tests.support.nasty_text import NASTY
from tests.support.tiny import tiny_bert

TEXT, PAIR = "The river bank was steep.", "It had rained."


def test_norms_are_those_of_numpy(trace):
    found = numbers.sum_numbers(trace)
    token = trace.embeddings.token.numpy()
    assert np.allclose(found.norms["token"], np.linalg.norm(token, axis=1), atol=1e-5)


def test_layer_norm_numbers_describe_the_formula(bert, trace):
    found = numbers.norm_numbers(trace, 3)
    module = bert.module.embeddings
    summed = trace.embeddings.sum
    mean = torch.from_numpy(found.before.mean)[:, None]
    std = torch.from_numpy(found.before.std)[:, None]
    # Undoing and redoing LayerNorm from our mean and deviation gives its output.
    again = (summed - mean) / std * module.norm.weight + module.norm.bias
    assert torch.allclose(again, trace.embeddings.output, atol=1e-4)
    norms = trace.embeddings.output.norm(dim=-1).numpy()
    assert np.allclose(found.after.norm, norms, atol=1e-4)


def test_leave_one_out_equals_a_network_whose_table_is_zero(bert, trace):
    result = numbers.leave_one_out(bert, bert.trace(TEXT, PAIR))
    assert result.left_out == ("segment", "position")
    for cosines, table in zip(
        result.cosines,
        (
            bert.module.embeddings.token_type_embeddings.weight,
            bert.module.embeddings.position_embeddings.weight,
        ),
        strict=True,
    ):
        kept = table.detach().clone()
        with torch.no_grad():
            table.zero_()
        without = bert.trace(TEXT, PAIR).hidden_states
        with torch.no_grad():
            table.copy_(kept)
        cosine = torch.cosine_similarity(without, trace.hidden_states, dim=-1)
        assert np.allclose(cosines, cosine.numpy(), atol=1e-5)


def test_position_similarity_is_a_cosine_matrix(bert):
    cosines = position_similarity(bert, 8).cosines
    table = bert.module.embeddings.position_embeddings.weight[:8].detach().numpy()
    expected = float(table[1] @ table[5] / np.linalg.norm(table[1]) / np.linalg.norm(table[5]))
    assert cosines.shape == (8, 8)
    assert np.allclose(np.diag(cosines), 1, atol=1e-5)
    assert cosines[1, 5] == pytest.approx(expected, abs=1e-5)
    assert position_similarity(bert, 10_000).cosines.shape == (64, 64)


def test_nearest_words_finds_a_planted_twin():
    bert = tiny_bert()
    river, bank = (bert.tokenizer.token_to_id(word) for word in ("river", "bank"))
    with torch.no_grad():
        bert.module.embeddings.word_embeddings.weight[bank] = (
            2 * bert.module.embeddings.word_embeddings.weight[river]
        )
    found = numbers.nearest_words(bert, bert.trace("the river"), position=2, top_k=3)
    assert (found[0].token, found[0].piece) == ("river", "bank")
    assert found[0].cosine == pytest.approx(1, abs=1e-5)
    assert len(found) == 3
    assert sorted(found, key=lambda near: -near.cosine) == [*found]
    assert all(near.piece != "river" for near in found)
    every = numbers.nearest_words(bert, bert.trace("the river"), position=2, top_k=10**6)
    assert len(every) == bert.tokenizer.vocab_size - 1


@pytest.mark.parametrize("position", [-1, 4])
def test_nearest_words_refuses_what_is_not_there(bert, position):
    with pytest.raises(ValueError, match="position is"):
        numbers.nearest_words(bert, bert.trace("the river"), position=position)


def test_every_token_finds_its_word(bert):
    text = "Zebras  rained, [MASK] \u200bPARIS!"
    trace = bert.trace(text)
    words = numbers.explain_words(bert, text)
    for token, span, text_id in zip(trace.tokens, trace.offsets, trace.text_ids, strict=True):
        if text_id == 0:
            assert token in [piece.token for piece in numbers.word_at(words, span).pieces]
    with pytest.raises(ValueError, match="no word"):
        numbers.word_at(words, (900, 901))


@pytest.mark.parametrize("text", NASTY)
def test_every_token_of_nasty_text_finds_its_word(bert, text):
    trace = bert.trace(text, text)
    for text_id in (0, 1):
        words = numbers.explain_words(bert, numbers.kept_text(trace, text_id, text))
        for index, span in enumerate(trace.offsets):
            if trace.text_ids[index] == text_id:
                pieces = numbers.word_at(words, span).pieces
                assert trace.input_ids[index] in [piece.id for piece in pieces]


def test_token_columns_are_those_of_the_trace(trace):
    columns = numbers.token_columns(trace)
    assert {len(column) for column in columns.values()} == {trace.num_tokens}
    row = columns["token"].index("river")
    assert trace.text_a[columns["start"][row] : columns["end"][row]] == "river"


@pytest.mark.parametrize("word", ["steep ", "zebras ", "zebras,rained! ", "和平"])
def test_kept_text_of_a_long_text_ends_with_a_whole_word(bert, word):
    text = word * 5000
    trace = bert.trace(text)
    kept = numbers.kept_text(trace, 0, text)
    assert len(kept) < 2000
    assert text.startswith(kept)
    words = numbers.explain_words(bert, kept)
    full = numbers.explain_words(bert, text[:4000])
    for span, text_id in zip(trace.offsets, trace.text_ids, strict=True):
        if text_id == 0:
            assert numbers.word_at(words, span).pieces == numbers.word_at(full, span).pieces


def test_kept_text_is_the_text_when_nothing_was_cut(trace):
    assert numbers.kept_text(trace, 0, TEXT) == TEXT
    assert numbers.kept_text(trace, 1, PAIR) == PAIR


def test_parameter_counts_add_up_to_the_config(bert):
    counts = count_parameters(bert)
    assert sum(counts.values()) == bert.config.num_parameters
    assert counts["token table"] == bert.config.vocab_size * bert.config.hidden_size


def test_tensor_rows_tell_what_is_missing_first(tmp_path):
    folder = tiny_bert(heads=frozenset({"pooler"})).save(tmp_path / "headless")
    report = bertcore.load(folder).report
    rows = tensor_rows(report)
    assert len(rows) == len(report.matched) + len(report.missing)
    assert rows[0][2] == "missing"
    assert ("bert.pooler.dense.weight", "32 x 32", "loaded") in rows
