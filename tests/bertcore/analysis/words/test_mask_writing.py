"""Masks after a text, filled one by one: each step is BERT's own answer to what stood there."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bertcore import Bert
from bertcore.analysis.words.continuation import write_with_masks
from bertcore.network import ALL_HEADS
from tests.support.tiny import tiny_bert, tiny_config

TEXT = "The old man sat on the mat."


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def test_each_step_is_the_surest_answer(bert: Bert) -> None:
    found = write_with_masks(bert, TEXT, 4)
    assert sorted(step.position for step in found.steps) == list(found.places)
    filled: dict[int, str] = {}
    for step in found.steps:
        tokens = [*step.tokens]
        assert [tokens[place] for place in found.places] == [
            filled.get(place, "[MASK]") for place in found.places
        ]
        encoding = bert.tokenize(f"{TEXT} [MASK] [MASK] [MASK] [MASK]")
        ids = list(encoding.input_ids)
        for place, word in filled.items():
            ids[place] = bert.tokenizer.vocab.index(word)
        positions, p = bert.mask_probabilities(replace(encoding, input_ids=ids))
        p[:, bert.tokenizer.special_ids] = 0
        row = int(p.max(-1).values.argmax())
        assert positions[row] == step.position
        assert bert.tokenizer.vocab[int(p[row].argmax())] == step.word
        assert float(p[row].max()) == pytest.approx(step.probability, rel=1e-5)
        trace = bert.trace(TEXT, encoding=replace(encoding, input_ids=ids))
        own = trace.attentions[:, :, step.position].mean(1)
        np.testing.assert_allclose(step.weights, own, atol=1e-6)
        filled[step.position] = step.word
    assert found.joint == pytest.approx(math.prod(step.probability for step in found.steps))
    assert found.text.replace(" ", "") == "".join(
        filled[place].removeprefix("##") for place in found.places
    )


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        (TEXT, 0, "num_tokens is 0"),
        (TEXT, 21, "num_tokens is 21"),
        ("The [MASK] sat", 2, "the text already has"),
        ("mat " * 60, 9, "do not fit"),
    ],
)
def test_bad_input_is_a_sentence(bert: Bert, text: str, count: int, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        write_with_masks(bert, text, count)


def test_no_text_is_filled_too(bert: Bert) -> None:
    assert len(write_with_masks(bert, "", 2).steps) == 2


def test_a_checkpoint_without_the_head_is_refused() -> None:
    causal = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    for bert in (causal, tiny_bert(heads=ALL_HEADS - {"mlm"})):
        with pytest.raises(ValueError, match="mask"):
            write_with_masks(bert, TEXT, 2)
