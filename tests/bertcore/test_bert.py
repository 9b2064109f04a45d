"""Bert's methods against transformers, and their answers to wrong input."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
import transformers

import bertcore
from bertcore import Bert
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

TEXTS = [
    "Paris is the capital of [MASK].",
    "the [MASK] [MASK] sat on the mat",
    "[MASK]",
    "Was the film good? No, very [MASK]!",
]


@dataclass(frozen=True)
class Pair:
    """Our Bert and transformers' model and tokenizer, opened from what ours saved."""

    ours: Bert
    model: transformers.BertForPreTraining
    tokenizer: transformers.PreTrainedTokenizerBase


@pytest.fixture(scope="module", params=["uncased", "cased"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    ours = tiny_bert(cased=request.param == "cased", seed=5)
    folder = ours.save(tmp_path_factory.mktemp(request.param) / "checkpoint")
    model = transformers.BertForPreTraining.from_pretrained(folder, attn_implementation="eager")
    return Pair(ours, model.eval(), transformers.AutoTokenizer.from_pretrained(folder))


@pytest.mark.parity
@pytest.mark.parametrize("text", TEXTS)
def test_fill_mask_equals_transformers(pair: Pair, text: str) -> None:
    inputs = pair.tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        logits = pair.model(**inputs).prediction_logits[0]
    at = (inputs["input_ids"][0] == pair.tokenizer.mask_token_id).nonzero()[:, 0]
    wanted = logits[at].softmax(-1).topk(7)
    found = pair.ours.fill_mask(text, top_k=7)
    assert len(found) == len(at) >= 1
    for row, values, ids in zip(found, wanted.values, wanted.indices, strict=True):
        assert [token for token, _ in row] == pair.tokenizer.convert_ids_to_tokens(ids.tolist())
        torch.testing.assert_close(torch.tensor([p for _, p in row]), values, atol=1e-5, rtol=0)


@pytest.mark.parity
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("He went to the shop.", "He bought milk."),
        ("Paris", "!"),
        ("", "the river"),
        ("the " * 50, "a dog and a cat " * 30),
    ],
)
def test_next_sentence_equals_transformers(pair: Pair, a: str, b: str) -> None:
    inputs = pair.tokenizer(a, b, return_tensors="pt", truncation=True, max_length=64)
    with torch.no_grad():
        wanted = pair.model(**inputs).seq_relationship_logits[0].softmax(-1)
    found = pair.ours.next_sentence(a, b)
    assert abs(found.is_next - wanted[0].item()) < 1e-5
    assert abs(found.not_next - wanted[1].item()) < 1e-5
    assert abs(found.is_next + found.not_next - 1) < 1e-6


@pytest.mark.parity
@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
@pytest.mark.parametrize("layer", [0, 1, 2, -1, -2, -3])
def test_encode_equals_transformers(pair: Pair, layer: int, pooling: str) -> None:
    texts = ["the river", "", "Paris is the capital of France.", "the " * 100, "dogs"]
    inputs = pair.tokenizer(
        texts, return_tensors="pt", padding=True, truncation=True, max_length=64
    )
    with torch.no_grad():
        hidden = pair.model.bert(**inputs, output_hidden_states=True).hidden_states[layer]
    keep = inputs["attention_mask"].bool()[..., None]
    wanted = {
        "mean": (hidden * keep).sum(1) / keep.sum(1),
        "cls": hidden[:, 0],
        "max": hidden.masked_fill(~keep, -torch.inf).amax(1),
    }[pooling]
    found = pair.ours.encode(texts, layer=layer, pooling=pooling, batch_size=2)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)


@pytest.mark.parity
def test_the_trace_of_a_pair_equals_transformers(pair: Pair) -> None:
    a, b = "The river bank was steep.", "It had rained."
    inputs = pair.tokenizer(a, b, return_tensors="pt")
    trace = pair.ours.trace(a, b)
    assert trace.input_ids == inputs["input_ids"][0].tolist()
    assert trace.segment_ids == inputs["token_type_ids"][0].tolist()
    with torch.no_grad():
        out = pair.model.bert(**inputs, output_hidden_states=True, output_attentions=True)
    theirs = torch.cat(out.hidden_states)
    torch.testing.assert_close(trace.hidden_states, theirs, atol=1e-5, rtol=0)
    torch.testing.assert_close(trace.attentions, torch.cat(out.attentions), atol=1e-5, rtol=0)


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def test_encode_does_not_depend_on_the_batch(bert: Bert) -> None:
    texts = ["the river", "a dog", "Paris is the capital of France.", "milk"]
    together = bert.encode(texts, batch_size=4)
    for row, text in zip(together, texts, strict=True):
        torch.testing.assert_close(row, bert.encode([text])[0], atol=1e-6, rtol=0)


def test_encode_of_nothing_has_no_rows(bert: Bert) -> None:
    assert bert.encode([]).shape == (0, 32)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"texts": "one text"}, TypeError, "single string"),
        ({"texts": ["a"], "layer": 3}, ValueError, r"layer is 3.*0 to 2"),
        ({"texts": ["a"], "layer": -4}, ValueError, r"layer is -4"),
        ({"texts": ["a"], "pooling": "sum"}, ValueError, r"pooling is 'sum'.*mean, cls, max"),
        ({"texts": ["a"], "batch_size": 0}, ValueError, r"batch_size is 0"),
    ],
)
def test_encode_refuses_wrong_arguments(
    bert: Bert, arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        bert.encode(**arguments)


def test_fill_mask_needs_a_mask(bert: Bert) -> None:
    with pytest.raises(ValueError, match=r"no \[MASK\]"):
        bert.fill_mask("Paris is the capital of France.")


def test_a_mask_that_was_cut_off_is_said_to_be_missing(bert: Bert) -> None:
    with pytest.raises(ValueError, match=r"no \[MASK\]"):
        bert.fill_mask("the " * 600 + "[MASK]")


def test_fill_mask_gives_a_distribution(bert: Bert) -> None:
    (row,) = bert.fill_mask("[MASK]", top_k=10_000)
    assert len(row) == bert.tokenizer.vocab_size
    assert abs(sum(p for _, p in row) - 1) < 1e-5
    assert [p for _, p in row] == sorted((p for _, p in row), reverse=True)
    with pytest.raises(ValueError, match="top_k is 0"):
        bert.fill_mask("[MASK]", top_k=0)


def test_rows_above_the_vocabulary_are_never_predicted() -> None:
    tokenizer = tiny_tokenizer()
    network = tiny_network(tiny_config(vocab_size=tokenizer.vocab_size + 11))
    with torch.no_grad():
        assert network.mlm is not None
        network.mlm.decoder.bias[-11:] = 50.0
    (row,) = Bert(network, tokenizer).fill_mask("the [MASK]", top_k=1000)
    assert {token for token, _ in row} == {
        tokenizer.id_to_token(i) for i in range(tokenizer.vocab_size)
    }


def test_a_vocabulary_larger_than_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"149 pieces.*100 token embeddings"):
        Bert(tiny_network(tiny_config(vocab_size=100)), tiny_tokenizer())


def test_a_text_longer_than_the_position_table_is_cut_to_it() -> None:
    short = tiny_bert(tiny_config(max_position_embeddings=16))
    assert short.max_length == 16
    assert short.trace("the " * 600).num_tokens == 16
    assert short.encode(["the " * 600]).isfinite().all()


@pytest.mark.parametrize(
    ("heads", "call", "message"),
    [
        (set(), "fill_mask", "masked-word"),
        ({"mlm"}, "next_sentence", "next-sentence"),
        ({"pooler"}, "next_sentence", "next-sentence"),
    ],
)
def test_a_missing_head_is_named(heads: set[str], call: str, message: str) -> None:
    headless = tiny_bert(heads=frozenset(heads))
    with pytest.raises(ValueError, match=message):
        headless.fill_mask("[MASK]") if call == "fill_mask" else headless.next_sentence("a", "b")


def test_properties(bert: Bert, tmp_path: Path) -> None:
    assert bert.device.type == "cpu"
    assert bert.dtype == torch.float32
    assert bert.config.hidden_size == 32
    assert bert.report is None
    assert bertcore.load(bert.save(tmp_path / "x"), device="cpu").report is not None
