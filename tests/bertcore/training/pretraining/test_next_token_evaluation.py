"""Next-token scores on held-out text: transformers' loss on the same rows, and what is counted."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from bertcore import Bert, Model, load
from bertcore.training.pretraining import causal_rows, evaluate_next_tokens
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_others import make_other

DOCUMENTS = [
    ["The river bank was steep.", "It had rained all day; nobody bought milk."],
    ["He went to the river.", "She sat on the mat [SEP] and slept <|endoftext|>."],
    ["the river " * 40],
]


def causal_bert() -> Bert:
    return Bert(
        tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"})), tiny_tokenizer()
    )


def rows_of(bert: Model, **changes: Any) -> list[Any]:
    options = {"max_seq_length": 16, "seed": 0, "num_rows": 10**6, **changes}
    return causal_rows(DOCUMENTS, bert, **options)


def their_loss(folder: Path, rows: list[Any], special: set[int]) -> float:
    """Return the mean loss of transformers' model over the tokens that are not special."""
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    total, number = 0.0, 0
    for row in rows:
        ids = torch.tensor([row.input_ids])
        labels = torch.tensor([[-100 if id in special else id for id in row.input_ids]])
        count = int((labels[0, 1:] != -100).sum())
        with torch.inference_mode():
            total += float(model(input_ids=ids, labels=labels).loss) * count
        number += count
    return total / number


@pytest.mark.parity
@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_loss_equals_transformers(tmp_path: Path, family: str) -> None:
    bert: Model = causal_bert()
    if family == "gpt2":
        make_other("GPT2LMHeadModel", tmp_path)
        bert = load(tmp_path, device="cpu")
    else:
        bert.save(tmp_path)
    rows, tokenizer = rows_of(bert), bert.tokenizer
    found = evaluate_next_tokens(bert, rows)
    # [UNK] is of the text, but GPT-2's <|endoftext|> is unknown words' and begins a text.
    special = set(tokenizer.special_ids) - ({tokenizer.unk_id} if family == "bert" else set())
    expected = their_loss(tmp_path, rows, special)
    assert found.loss == pytest.approx(expected, abs=1e-5)
    assert found.perplexity == pytest.approx(math.exp(expected), rel=1e-4)
    assert found.num_tokens == sum(id not in special for row in rows for id in row.input_ids)
    if family == "bert":
        return
    # Every character of the text, a line break between paragraphs.
    text = sum(len("\n".join(document).replace("<|endoftext|>", "")) for document in DOCUMENTS)
    assert found.num_characters == text
    bits = found.loss * found.num_tokens / math.log(2)
    assert found.bits_per_character == pytest.approx(bits / text)


def test_rows_hold_the_text_once_and_no_typed_special_token() -> None:
    bert = causal_bert()
    tokenizer, rows = bert.tokenizer, rows_of(causal_bert())
    assert all(row.input_ids[0] == tokenizer.cls_id for row in rows)
    assert max(len(row.input_ids) for row in rows) == 15  # [SEP] ends a row in training
    ids = sorted(id for row in rows for id in row.input_ids[1:] if id != tokenizer.sep_id)
    texts = [text for document in DOCUMENTS for text in document]
    typed = [id for part in tokenizer.encode_ids(texts) for id in part]
    assert ids == sorted(tokenizer.unk_id if id == tokenizer.sep_id else id for id in typed)
    separators = sum(row.input_ids.count(tokenizer.sep_id) for row in rows)
    assert separators == len(DOCUMENTS) - 1
    assert rows_of(bert, num_rows=2) == rows[:2]
    assert rows_of(bert, seed=1) != rows


def test_an_unknown_word_is_never_right() -> None:
    bert = causal_bert()
    with torch.no_grad():  # always guesses [UNK]
        bias = bert.module.masked_word_head().decoder.bias
        bias[bert.tokenizer.unk_id] += 1e4
    rows = causal_rows([["我 爱 the river"]], bert, max_seq_length=16, seed=0, num_rows=9)
    found = evaluate_next_tokens(bert, rows)
    assert found.num_unknown == 2
    assert found.top1 == 0


def test_what_cannot_be_scored_is_a_sentence(tmp_path: Path) -> None:
    bert = causal_bert()
    for length in (2, bert.max_length + 1):
        with pytest.raises(ValueError, match=f"takes 3 to {bert.max_length}"):
            rows_of(bert, max_seq_length=length)
    with pytest.raises(ValueError, match="no token"):
        causal_rows([["\u200b"]], bert, max_seq_length=16, seed=0, num_rows=1)
    with pytest.raises(ValueError, match="no row"):
        evaluate_next_tokens(bert, [])
    with pytest.raises(ValueError, match="does not predict the next token"):
        evaluate_next_tokens(tiny_bert(), rows_of(bert))
