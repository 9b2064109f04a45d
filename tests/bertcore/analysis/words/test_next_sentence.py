"""The next-sentence laboratory, against transformers and against sums written out."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import binomtest

from bertcore import Bert
from bertcore.analysis import (
    attention_mass,
    next_sentence_matrix,
    pair_answer,
    pair_rates,
    pair_variants,
)
from bertcore.analysis.words.next_sentence import GROUPS, SEGMENTS
from bertcore.model.network import ALL_HEADS
from tests.support.tiny import tiny_bert, tiny_config

A, B, C = "The river bank was steep.", "It had rained.", "He went to the shop and bought milk"


@pytest.mark.parity
def test_each_variant_equals_transformers_on_ids_built_here(bert: Bert, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    folder = bert.save(tmp_path / "t")
    model = transformers.BertForNextSentencePrediction.from_pretrained(folder).eval()
    one, cls, sep = bert.tokenizer.encode_ids, bert.tokenizer.cls_id, bert.tokenizer.sep_id
    a, b, c = (one([text])[0] for text in (A, B, C))

    def is_next(ids: list[int], segments: list[int]) -> float:
        with torch.inference_mode():
            logits = model(
                input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([segments])
            ).logits
        return float(logits.softmax(-1)[0, 0])

    def pair(x: list[int], y: list[int]) -> tuple[list[int], list[int]]:
        return [cls, *x, sep, *y, sep], [0] * (len(x) + 2) + [1] * (len(y) + 1)

    ids, segments = pair(a, b)
    expected = {
        "as written": is_next(ids, segments),
        "order swapped": is_next(*pair(b, a)),
        "all segment ids 0": is_next(ids, [0] * len(ids)),
        "segment ids exchanged": is_next(ids, [1] * (len(a) + 2) + [0] * (len(b) + 1)),
        "no [SEP] between": is_next([cls, *a, *b, sep], [0] * (len(a) + 1) + [1] * (len(b) + 1)),
        "another B": is_next(*pair(a, c)),
    }
    variants = pair_variants(bert, bert.trace(A, B), (C,))
    assert {v.name: v.is_next for v in variants} == pytest.approx(expected, abs=1e-5)
    texts = {v.name: (v.text_a, v.text_b) for v in variants}
    assert texts["order swapped"] == (B, A)
    assert texts["another B"] == (A, C)
    assert texts["as written"] == texts["no [SEP] between"] == (A, B)


def test_segment_ids_give_the_variant_of_their_name(bert: Bert) -> None:
    variants = {v.name: v.is_next for v in pair_variants(bert, bert.trace(A, B))}
    found = {
        name: pair_answer(bert, bert.trace(A, B), way).is_next for way, name in SEGMENTS.items()
    }
    assert found == pytest.approx({name: variants[name] for name in SEGMENTS.values()}, abs=1e-6)


def test_the_matrix_holds_each_ordered_pair(bert: Bert) -> None:
    sentences = [A, B, C, "it"]
    matrix = next_sentence_matrix(bert, sentences).values
    assert matrix.shape == (4, 4)
    for i in range(4):
        for j in range(4):
            if i == j:
                assert np.isnan(matrix[i, j])
            else:
                expected = bert.next_sentence(sentences[i], sentences[j]).is_next
                assert matrix[i, j] == pytest.approx(expected, abs=1e-5)


def test_attention_mass_equals_the_sum_written_out(bert: Bert) -> None:
    trace = bert.trace(A, B)
    groups = {
        "A": [i for i, t in enumerate(trace.text_ids) if t == 0],
        "B": [i for i, t in enumerate(trace.text_ids) if t == 1],
        "special": [i for i, token in enumerate(trace.tokens) if token in ("[CLS]", "[SEP]")],
    }
    found = attention_mass(trace)
    for source in GROUPS:
        for target in GROUPS:
            for layer in range(2):
                for head in range(4):
                    weights = trace.attentions[layer, head].tolist()
                    total = sum(weights[i][j] for i in groups[source] for j in groups[target])
                    mean = total / len(groups[source])
                    assert found.between(source, target)[layer, head] == pytest.approx(
                        mean, abs=1e-6
                    )
    np.testing.assert_allclose(found.mass.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(
        found.fraction, [len(groups[g]) / trace.num_tokens for g in GROUPS], atol=1e-7
    )


@pytest.mark.parametrize(("a", "b", "name"), [(A, None, "B"), (A, "", "B"), ("", B, "A")])
def test_attention_between_needs_two_texts(bert: Bert, a: str, b: str | None, name: str) -> None:
    with pytest.raises(ValueError, match=f"text {name} has no token"):
        attention_mass(bert.trace(a, b))


@pytest.mark.parametrize(
    ("sentences", "sentence"),
    [([], "0 sentences"), ([A], "1 sentence given"), ([A, " ", B], "sentence 2 is blank")],
)
def test_a_matrix_needs_two_sentences(bert: Bert, sentences: list[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        next_sentence_matrix(bert, sentences)


def test_without_a_second_segment_no_segment_ids_are_changed() -> None:
    single = tiny_bert(tiny_config(type_vocab_size=1))
    variants = {v.name: v.is_next for v in pair_variants(single, single.trace(A, B), (C,))}
    assert list(variants) == ["as written", "order swapped", "no [SEP] between", "another B"]
    assert variants["as written"] == pytest.approx(single.next_sentence(A, B).is_next, abs=1e-6)
    assert variants["another B"] == pytest.approx(single.next_sentence(A, C).is_next, abs=1e-6)


def test_rates_over_pairs_count_the_answers_of_each(bert: Bert) -> None:
    pairs = [(A, B), (B, C), (C, A), (A, C), (B, A)]
    done: list[float] = []
    rates = pair_rates(bert, pairs, on_fraction=done.append)
    asked = {
        "as written": pairs,
        "order swapped": [(b, a) for a, b in pairs],
        "B repeats A": [(a, a) for a, _ in pairs],
        "B of another pair": list(zip((A, B, C, A, B), (A, C, A, B, C), strict=True)),
    }
    assert [rate.change for rate in rates] == list(asked)
    for rate, changed in zip(rates, asked.values(), strict=True):
        answers = [bert.next_sentence(a, b).is_next for a, b in changed]
        num = sum(p > 0.5 for p in answers)
        assert rate.num_pairs == 5
        assert rate.follows == num / 5
        assert rate.mean == pytest.approx(np.mean(answers), abs=1e-6)
        interval = binomtest(num, 5).proportion_ci(method="wilson")
        assert (rate.low, rate.high) == pytest.approx((interval.low, interval.high))
    assert done[-1] == 1
    assert [rate.change for rate in pair_rates(bert, pairs[:1])] == list(asked)[:3]
    with pytest.raises(ValueError, match="no pair of sentences"):
        pair_rates(bert, [])
    with pytest.raises(ValueError, match="next-sentence"):
        pair_rates(tiny_bert(heads=ALL_HEADS - {"nsp"}), pairs)
