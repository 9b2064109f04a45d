"""A trace holds what the network computes, with the promised shapes."""

from pathlib import Path

import pytest
import torch
import transformers

from bertcore import Bert, Model, Trace, load
from bertcore.model.trace import trace_network
from tests.support.tiny import tiny_bert, tiny_network
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

A, B = "The river bank was steep.", "It had rained."


def test_embeddings_sum_and_norm(bert: Bert, trace: Trace) -> None:
    e = trace.embeddings
    torch.testing.assert_close(e.sum, e.token + e.segment + e.position)
    assert torch.equal(e.output, trace.hidden_states[0])
    with torch.no_grad():
        torch.testing.assert_close(bert.module.embeddings.normalize(e.sum), e.output)
    assert not trace.hidden_states.requires_grad
    logits = bert.module.mlm_logits(trace.hidden_states[-1])  # but it can go on into gradients
    (gradient,) = torch.autograd.grad(logits.sum(), [bert.module.mlm.dense.bias])
    assert gradient.abs().sum() > 0
    first, second, third = repr(trace).splitlines()
    n = trace.num_tokens
    assert first == f"Trace: {' '.join(trace.tokens)}"
    assert second == f"hidden_states [3, {n}, 32], attentions [2, 4, {n}, {n}]"
    assert third == "tiny"
    assert max(map(len, repr(bert.trace("the cat sat on the mat " * 9)).splitlines())) < 100


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


def test_padding_and_a_mask_of_pairs_of_tokens_are_kept() -> None:
    network = tiny_network()
    ids, zeros, positions = torch.tensor([2, 9, 17, 30, 3]), torch.zeros(9).long(), torch.arange(9)
    alone = trace_network(network, ids, zeros[:5], positions[:5])
    padded = trace_network(
        network, torch.cat([ids, torch.zeros(4).long()]), zeros, positions, positions < 5
    )
    torch.testing.assert_close(padded.hidden_states[:, :5], alone.hidden_states, atol=1e-6, rtol=0)
    torch.testing.assert_close(padded.attentions[:, :, :5, :5], alone.attentions, atol=1e-6, rtol=0)
    assert (padded.attentions[..., 5:] == 0).all()
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    traced = trace_network(network, ids, zeros[:5], positions[:5], causal)
    assert (traced.attentions[:, :, ~causal] == 0).all()


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


def test_bfloat16_traces_in_bfloat16_close_to_float32(bert: Bert, trace: Trace) -> None:
    half = Bert(tiny_network().bfloat16(), bert.tokenizer).trace(A, B)
    assert half.hidden_states.dtype == half.attentions.dtype == torch.bfloat16
    assert (half.hidden_states.float() - trace.hidden_states).abs().mean() < 0.05


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
