"""A trace holds what the network computes, with the promised shapes."""

from pathlib import Path

import pytest
import torch
import transformers

from bertcore import Bert, Changes, Model, Trace, load
from bertcore.network import additive_mask, attention_scores
from bertcore.trace import trace_network
from tests.support.tiny import tiny_bert, tiny_config, tiny_network
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

A, B = "The river bank was steep.", "It had rained."


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


@pytest.fixture(scope="module")
def trace(bert: Bert) -> Trace:
    return bert.trace(A, B)


def test_shapes(trace: Trace) -> None:
    num_tokens = trace.num_tokens
    assert len(trace.tokens) == len(trace.input_ids) == len(trace.offsets) == num_tokens
    assert trace.hidden_states.shape == (3, num_tokens, 32)
    assert trace.attentions.shape == (2, 4, num_tokens, num_tokens)
    for x in (trace.queries, trace.keys, trace.values):
        assert x.shape == (2, 4, num_tokens, 8)
    for x in (trace.embeddings.token, trace.embeddings.segment, trace.embeddings.position):
        assert x.shape == (num_tokens, 32)


def test_the_last_hidden_state_is_that_of_the_fused_forward(bert: Bert, trace: Trace) -> None:
    ids, segments = torch.tensor([trace.input_ids]), torch.tensor([trace.segment_ids])
    torch.testing.assert_close(
        trace.hidden_states[-1], bert.module(ids, segments)[0], atol=1e-6, rtol=0
    )


def test_attention_follows_from_queries_and_keys(trace: Trace) -> None:
    weights = torch.softmax(attention_scores(trace.queries, trace.keys), dim=-1)
    torch.testing.assert_close(trace.attentions, weights, atol=1e-6, rtol=0)
    torch.testing.assert_close(trace.attentions.sum(-1), torch.ones(2, 4, trace.num_tokens))


def test_embeddings_sum_and_norm(bert: Bert, trace: Trace) -> None:
    e = trace.embeddings
    torch.testing.assert_close(e.sum, e.token + e.segment + e.position)
    assert torch.equal(e.output, trace.hidden_states[0])
    with torch.no_grad():
        torch.testing.assert_close(bert.module.embeddings.normalize(e.sum), e.output)


def test_each_layer_follows_from_the_one_before(bert: Bert, trace: Trace) -> None:
    for index, layer in enumerate(bert.module.layers):
        context = (trace.attentions[index] @ trace.values[index])[None]
        with torch.no_grad():
            before = trace.hidden_states[index][None]
            after = layer.feed_forward(layer.attention.combine(context, before))[0]
        torch.testing.assert_close(after, trace.hidden_states[index + 1], atol=1e-6, rtol=0)


def test_tokens_segments_and_texts(trace: Trace) -> None:
    first = trace.tokens.index("[SEP]")
    assert trace.tokens[0] == "[CLS]"
    assert trace.tokens[-1] == "[SEP]"
    assert trace.segment_ids == [0] * (first + 1) + [1] * (trace.num_tokens - first - 1)
    assert trace.position_ids == list(range(trace.num_tokens))
    for token, (start, end), text_id in zip(
        trace.tokens, trace.offsets, trace.text_ids, strict=True
    ):
        if text_id < 0:
            assert token in ("[CLS]", "[SEP]")
        else:
            assert (A, B)[text_id][start:end].lower() == token.removeprefix("##")


def test_a_trace_under_a_padding_mask_equals_the_unpadded_one() -> None:
    network = tiny_network()
    ids, zeros, positions = torch.tensor([2, 9, 17, 30, 3]), torch.zeros(9).long(), torch.arange(9)
    alone = trace_network(network, ids, zeros[:5], positions[:5])
    padded = trace_network(
        network, torch.cat([ids, torch.zeros(4).long()]), zeros, positions, positions < 5
    )
    torch.testing.assert_close(padded.hidden_states[:, :5], alone.hidden_states, atol=1e-6, rtol=0)
    torch.testing.assert_close(padded.attentions[:, :, :5, :5], alone.attentions, atol=1e-6, rtol=0)
    assert (padded.attentions[..., 5:] == 0).all()


def test_a_mask_of_pairs_of_tokens_is_kept(bert: Bert, trace: Trace) -> None:
    num_tokens = trace.num_tokens
    causal = torch.ones(num_tokens, num_tokens, dtype=torch.bool).tril()
    ids = torch.tensor(trace.input_ids)
    traced = trace_network(
        bert.module, ids, torch.zeros_like(ids), torch.arange(num_tokens), causal
    )
    assert (traced.attentions[:, :, ~causal] == 0).all()
    assert additive_mask(causal[None], torch.float32).shape == (1, 1, num_tokens, num_tokens)


def test_tracing_keeps_no_gradients_and_leaves_the_weights(bert: Bert) -> None:
    before = {name: p.clone() for name, p in bert.module.named_parameters()}
    trace = bert.trace("it had rained .")
    assert not trace.hidden_states.requires_grad
    assert all(torch.equal(before[name], p) for name, p in bert.module.named_parameters())


def test_segment_and_position_ids_may_be_chosen(bert: Bert, trace: Trace) -> None:
    n = trace.num_tokens
    same = bert.trace(A, B, segment_ids=trace.segment_ids, position_ids=trace.position_ids)
    assert torch.equal(same.hidden_states, trace.hidden_states)
    flat = bert.trace(A, B, segment_ids=[0] * n)
    assert flat.segment_ids == [0] * n
    assert torch.equal(flat.embeddings.token, trace.embeddings.token)
    assert not torch.equal(flat.embeddings.segment, trace.embeddings.segment)
    backwards = bert.trace(A, B, position_ids=list(reversed(range(n))))
    assert torch.equal(backwards.embeddings.position, trace.embeddings.position.flip(0))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ({"segment_ids": [0, 1]}, r"segment_ids has 2 entries but the input has 5 tokens"),
        ({"segment_ids": [0, 0, 2, 0, 0]}, r"segment_ids contains 2.*0 to 1"),
        ({"position_ids": [0, 1, 2, 3, 64]}, r"position_ids contains 64.*0 to 63"),
        ({"position_ids": [-1, 1, 2, 3, 4]}, r"position_ids contains -1"),
    ],
)
def test_wrong_ids_are_refused(bert: Bert, ids: dict[str, list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bert.trace("the river bank", **ids)


@pytest.mark.parametrize("text", ["", " ", "\u200b", "!", "a" * 300, "the " * 600, "🙂 ñ 水"])
def test_any_text_gives_a_finite_trace(bert: Bert, text: str) -> None:
    trace = bert.trace(text)
    assert 2 <= trace.num_tokens <= 64
    assert trace.hidden_states.isfinite().all()
    assert trace.attentions.shape[-1] == trace.num_tokens


def test_a_text_of_600_tokens_is_cut_and_says_so(bert: Bert) -> None:
    trace = bert.trace("the " * 600)
    assert trace.num_tokens == 64
    assert trace.truncation is not None
    assert trace.truncation.num_tokens_before == 602
    assert bert.trace("the").truncation is None


def test_one_layer_and_one_head() -> None:
    config = tiny_config(num_hidden_layers=1, num_attention_heads=1)
    trace = tiny_bert(config).trace("the")
    assert trace.attentions.shape == (1, 1, 3, 3)
    assert trace.queries.shape == (1, 1, 3, 32)


def test_bfloat16_traces_in_bfloat16_close_to_float32(bert: Bert, trace: Trace) -> None:
    half = Bert(tiny_network().bfloat16(), bert.tokenizer).trace(A, B)
    assert half.hidden_states.dtype == half.attentions.dtype == torch.bfloat16
    assert (half.hidden_states.float() - trace.hidden_states).abs().mean() < 0.05


def test_what_a_trace_holds_can_go_on_into_gradients(bert: Bert, trace: Trace) -> None:
    logits = bert.module.mlm_logits(trace.hidden_states[-1])
    (gradient,) = torch.autograd.grad(logits.sum(), [bert.module.mlm.dense.bias])
    assert gradient.abs().sum() > 0


@pytest.mark.gpu
def test_a_trace_on_a_gpu_equals_that_on_the_cpu(bert: Bert, trace: Trace) -> None:
    moved = Bert(tiny_network().cuda(), bert.tokenizer).trace(A, B)
    assert moved.hidden_states.device.type == "cpu"
    torch.testing.assert_close(moved.hidden_states, trace.hidden_states, atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    "family", ["tiny", "RobertaForMaskedLM", "ModernBertForMaskedLM", "XLNetModel"]
)
def test_the_traces_of_a_list_are_those_of_its_texts(family: str, tmp_path: Path) -> None:
    model: Model = tiny_bert()
    if family != "tiny":
        (make_other if family == "XLNetModel" else make)(family, tmp_path)
        model = load(tmp_path, device="cpu")
    firsts = ["the cat sat", "the river bank was steep", "the dog sat", "it had rained all day"]
    seconds = [None, "it had rained", "on the mat", None]
    traces = model.trace(firsts, seconds)
    assert [trace.text_a for trace in traces] == firsts
    for together, text, pair in zip(traces, firsts, seconds, strict=True):
        alone = model.trace(text, pair)
        assert (together.tokens, together.segment_ids) == (alone.tokens, alone.segment_ids)
        assert together.position_ids == alone.position_ids
        for name in ("hidden_states", "attentions"):
            torch.testing.assert_close(getattr(together, name), getattr(alone, name))
        if "parts" in model.capabilities:
            torch.testing.assert_close(together.keys, alone.keys)
            torch.testing.assert_close(together.embeddings.sum, alone.embeddings.sum)
    assert model.trace([]) == []


def test_what_belongs_to_one_text_is_refused_for_a_list(bert: Bert) -> None:
    with pytest.raises(TypeError, match="belong to one text; got 2 texts"):
        bert.trace(["a", "b"], changes=Changes(heads_off=frozenset({(0, 0)})))  # type: ignore


def test_a_trace_prints_its_tokens_shapes_and_checkpoint(bert: Bert, trace: Trace) -> None:
    first, second, third = repr(trace).splitlines()
    assert first == f"Trace: {' '.join(trace.tokens)}"
    n = trace.num_tokens
    assert second == f"hidden_states [3, {n}, 32], attentions [2, 4, {n}, {n}]"
    assert third == "tiny"
    assert max(map(len, repr(bert.trace("the cat sat on the mat " * 9)).splitlines())) < 100


@pytest.mark.parity
@pytest.mark.parametrize("family", ["BertForMaskedLM", "RobertaForMaskedLM", "AlbertForMaskedLM"])
def test_filled_words_are_those_of_the_pipeline(family: str, tmp_path: Path) -> None:
    tiny_bert().save(tmp_path) if family == "BertForMaskedLM" else make(family, tmp_path)
    theirs = transformers.pipeline("fill-mask", model=str(tmp_path), device="cpu")
    bert = load(tmp_path, device="cpu")
    text = f"the {bert.tokenizer.mask_token} sat on the mat"
    expected = {found["token_str"]: found["score"] for found in theirs(text, top_k=30)}
    assert dict(bert.fill_mask(text, top_k=30)[0]) == pytest.approx(expected, abs=1e-5)
    assert family != "RobertaForMaskedLM" or any(word.startswith(" ") for word in expected)
