"""Bert's methods against transformers, and their answers to wrong input."""

from dataclasses import dataclass

import pytest
import torch
import transformers

from bertcore import Bert
from bertcore.model.architecture.families import CAPABILITIES, HEADS
from bertcore.model.bert import with_parts
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


def test_rows_above_the_vocabulary_are_never_predicted() -> None:
    tokenizer = tiny_tokenizer()
    network = tiny_network(tiny_config(vocab_size=tokenizer.vocab_size + 11))
    with torch.no_grad():
        network.mlm.decoder.bias[-11:] = 50.0
    bert = Bert(network, tokenizer)
    (row,) = bert.fill_mask("the [MASK]", top_k=1000)
    assert sorted(token for token, _ in row) == sorted(tokenizer.vocab)
    with pytest.raises(ValueError, match="top_k is 0"):
        bert.fill_mask("[MASK]", top_k=0)


def test_a_text_longer_than_the_position_table_is_cut_to_it() -> None:
    short = tiny_bert(tiny_config(max_position_embeddings=16))
    assert short.max_length == 16
    assert short.trace("the " * 600).num_tokens == 16
    assert short.encode(["the " * 600]).isfinite().all()


def test_a_whole_bert_has_all_but_the_heads_of_others() -> None:
    bert = tiny_bert()
    assert set(CAPABILITIES) - bert.capabilities == {"replaced", "sop", "next", "decoder"}
    assert with_parts(bert) is bert
    for capability in bert.capabilities:
        bert.require(capability)


@pytest.mark.parametrize("head", ["pooler", "mlm", "nsp"])
def test_an_absent_head_is_a_sentence_that_says_what_to_open(head: str) -> None:
    heads = {"pooler", "mlm", "nsp"} - {head}
    if head == "pooler":
        heads -= {"nsp"}  # it reads the pooler
    bert = Bert(tiny_network(heads=frozenset(heads)), tiny_tokenizer())
    assert bert.capabilities & set(HEADS) == heads
    with pytest.raises(ValueError, match=r"this checkpoint has no .* Open a pretrained"):
        bert.require(head)  # type: ignore[arg-type]
    assert bert.absent.keys().isdisjoint(bert.capabilities)
