"""Kinds of sink against transformers with a value of zero, and heads whose kind is known."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore.analysis.heads import sinks as module
from bertcore.analysis.heads.sinks import SINKS, Sink, find_sinks, sink_tokens
from bertcore.analysis.heads.texts import bundled_sentences
from bertcore.data.texts import Sentence
from tests.support.tiny import bert_with_sink, tiny_bert

TEXTS = tuple(
    Sentence(f"The river {word} was steep .")
    for word in ("bank", "rain", "night", "house", "dog", "cat")
)
PAIR = Sentence("The river bank was steep.", "It had rained.")


def test_the_kinds_of_tokens() -> None:
    trace = tiny_bert().trace(PAIR.text, PAIR.text_pair)
    for target, token in zip(SINKS, ("[CLS]", "[SEP]", "."), strict=True):
        found = sink_tokens(trace)[target]
        assert found.tolist() == [each == token for each in trace.tokens]


@pytest.mark.parity
def test_numbers_are_those_of_transformers_with_the_values_of_one_head_at_zero(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    monkeypatch.setattr(module, "MOSTLY", 0.0)
    bert = tiny_bert()
    reference = transformers.BertForPreTraining.from_pretrained(
        bert.save(tmp_path / "t"), attn_implementation="eager"
    )
    encoder = reference.eval().double().bert
    fractions: list[float] = []
    found = find_sinks(bert, [PAIR], on_fraction=fractions.append)
    assert fractions == [1.0]
    num_heads = bert.config.num_attention_heads
    assert len(found) == bert.config.num_hidden_layers * num_heads * len(SINKS)
    trace = bert.trace(PAIR.text, PAIR.text_pair)
    width = bert.config.head_size
    ids, segments = torch.tensor([trace.input_ids]), torch.tensor([trace.segment_ids])
    with torch.inference_mode():
        out = encoder(
            input_ids=ids,
            token_type_ids=segments,
            output_hidden_states=True,
            output_attentions=True,
        )
    for sink in found:
        layer = encoder.encoder.layer[sink.layer]
        is_sink = sink_tokens(trace)[sink.target]
        rows = slice(sink.head * width, (sink.head + 1) * width)
        state = out.hidden_states[sink.layer]
        everywhere = torch.ones_like(is_sink)
        heads = [slice(h * width, (h + 1) * width) for h in range(num_heads)]

        def change(zeroed: torch.Tensor, rows: slice = rows) -> float:
            def zero(module: object, inputs: object, output: torch.Tensor) -> torch.Tensor:
                output = output.clone()
                output[:, zeroed, rows] = 0
                return output

            handle = layer.attention.self.value.register_forward_hook(zero)  # noqa: B023
            with torch.inference_mode():
                after = layer(state)  # noqa: B023
            handle.remove()
            after = after[0] if isinstance(after, tuple) else after
            usual = out.hidden_states[sink.layer + 1]  # noqa: B023
            return float((1 - torch.cosine_similarity(after, usual, dim=-1)).mean())

        with torch.inference_mode():
            values = layer.attention.self.value(state)[0, :, rows]
            passed = values @ layer.attention.output.dense.weight[:, rows].T
            weights = out.attentions[sink.layer][0, sink.head]
            singular = torch.linalg.svdvals(weights @ passed).square()
        expected = {
            "attention": weights[:, is_sink].sum(1).mean(),
            "value_norm": passed[is_sink].norm(dim=-1).mean()
            / passed[~is_sink].norm(dim=-1).mean(),
            "change": change(is_sink),
            "change_head": np.mean([change(everywhere, each) for each in heads]),
            "rank_one": singular[0] / singular.sum(),
            "constancy": 1.0,  # of one text
        }
        for name, value in expected.items():
            got = getattr(sink, name)
            np.testing.assert_allclose(got, float(value), rtol=2e-3, atol=1e-8, err_msg=name)
        assert sink.num_texts == 1
        assert sink.word == "unclear"


@pytest.mark.parametrize("word", ["idle", "constant"])
def test_a_head_without_a_value_is_idle_and_one_with_a_bias_alone_is_constant(word: str) -> None:
    (sink,) = [
        s for s in find_sinks(bert_with_sink(word), TEXTS) if (s.head, s.target) == (1, "to_first")
    ]
    assert sink.num_texts == len(TEXTS)
    assert sink.attention > 0.7
    assert sink.word == word
    if word == "idle":
        assert sink.value_norm < 1e-5
        assert sink.share < 1e-5
    else:
        np.testing.assert_allclose([sink.constancy, sink.value_norm, sink.rank_one], 1, rtol=1e-5)
        assert sink.share > 0.5


@pytest.mark.parametrize(
    ("share", "norm", "constancy", "num_texts", "word"),
    [
        (0.25, 0.4, 1.0, 5, "idle"),
        (0.25, 0.41, 1.0, 5, "unclear"),
        (0.26, 0.1, 0.89, 5, "spreads"),
        (0.26, 0.1, 0.90, 5, "constant"),
        (0.25, 0.1, 1.0, 4, "unclear"),
        (float("nan"), 0.1, 1.0, 5, "unclear"),
    ],
)
def test_words_at_their_thresholds(
    share: float, norm: float, constancy: float, num_texts: int, word: str
) -> None:
    sink = Sink(0, 0, "to_first", 0.6, num_texts, norm, share, 1.0, 0.5, constancy)
    assert sink.word == word


def test_texts_without_the_token_do_not_count_and_many_are_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOSTLY", 0.0)
    monkeypatch.setattr(module, "MAX_TEXTS", 3)
    texts = [Sentence("The river ."), Sentence("It rained"), Sentence("")] + [PAIR] * 9
    found = find_sinks(tiny_bert(), texts)
    counts = {sink.target: sink.num_texts for sink in found}
    assert counts == {"to_first": 3, "to_separator": 3, "to_punctuation": 1}


def test_weights_that_are_no_numbers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOSTLY", 0.0)
    for layer, what in ((0, "attention weights"), (1, "hidden states")):
        bert = tiny_bert()
        with torch.no_grad():
            bert.module.layers[layer].attention.output.bias[0] = torch.nan
        with pytest.raises(ValueError, match=f"{what}.*NaN"):
            find_sinks(bert, TEXTS[:1])


def test_the_shipped_sentences_are_read_if_there_are_none() -> None:
    bert = bert_with_sink("idle")
    assert find_sinks(bert) == find_sinks(bert, bundled_sentences().sentences)
    with pytest.raises(ValueError, match="there is no sentence"):
        find_sinks(bert, [" "])
