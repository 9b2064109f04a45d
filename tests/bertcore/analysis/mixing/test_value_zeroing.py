"""Value zeroing against transformers with a zeroed value, and what must always hold."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

TEXT, PAIR = "The river bank was steep.", "It had rained."


@pytest.mark.parity
def test_distances_are_those_of_a_layer_of_transformers_with_a_value_of_zero(
    bert: Bert, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    reference = transformers.BertForPreTraining.from_pretrained(
        bert.save(tmp_path / "t"), attn_implementation="eager"
    )
    reference = reference.eval().double()  # so that 1 - cos is exact enough to compare with
    trace = bert.trace(TEXT, PAIR)
    found = value_zeroing(bert, trace)
    assert found.shape == (2, trace.num_tokens, trace.num_tokens)
    zeroed = 0

    def zero(module: object, inputs: object, output: torch.Tensor) -> torch.Tensor:
        output = output.clone()
        output[:, zeroed] = 0
        return output

    ids, segments = torch.tensor([trace.input_ids]), torch.tensor([trace.segment_ids])
    with torch.inference_mode():
        states = reference.bert(
            input_ids=ids, token_type_ids=segments, output_hidden_states=True
        ).hidden_states
        for index, layer in enumerate(reference.bert.encoder.layer):
            handle = layer.attention.self.value.register_forward_hook(zero)
            for zeroed in range(trace.num_tokens):
                out = layer(states[index])
                out = out[0] if isinstance(out, tuple) else out
                cosine = torch.cosine_similarity(out[0], states[index + 1][0], dim=-1)
                np.testing.assert_allclose(
                    found[index, :, zeroed], 1 - cosine, rtol=1e-3, atol=1e-9
                )
            handle.remove()


def test_batches_do_not_change_the_numbers(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = bert.trace(TEXT, PAIR)
    shares: list[float] = []
    whole = value_zeroing(bert, trace, progress=shares.append)
    assert shares == [0.5, 1]
    monkeypatch.setattr("bertcore.analysis.mixing.value_zeroing.TOKENS_PER_BATCH", 1)
    torch.testing.assert_close(value_zeroing(bert, trace), whole, rtol=1e-3, atol=1e-9)
    shares.clear()
    last = value_zeroing(bert, trace, layers=[1], progress=shares.append)
    torch.testing.assert_close(last[0], whole[1], rtol=1e-3, atol=1e-9)
    some = value_zeroing(bert, trace, layers=[1, 0], tokens=[5, 2])
    torch.testing.assert_close(some, whole[[1, 0]][:, [5, 2]], rtol=1e-3, atol=1e-9)
    assert len(shares) == trace.num_tokens
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_tokens_that_no_head_attends_to_are_exactly_zero() -> None:
    bert = Bert(tiny_network(tiny_config(is_decoder=True), heads=frozenset()), tiny_tokenizer())
    found = value_zeroing(bert, bert.trace(TEXT, PAIR))
    assert torch.equal(found, found.tril())
    assert (found.diagonal(0, 1, 2) > 0).all()


def test_wrong_layers_and_nan_are_refused(bert: Bert) -> None:
    with pytest.raises(IndexError):
        value_zeroing(bert, bert.trace(TEXT), layers=[2])
    broken = tiny_bert()
    with torch.no_grad():
        broken.module.layers[0].attention.key.bias[0] = torch.nan
    with pytest.raises(ValueError, match="attention weights of layer 0 contain NaN"):
        value_zeroing(broken, broken.trace(TEXT))
    broken = tiny_bert()
    with torch.no_grad():
        broken.module.layers[1].feed_forward.output.bias[0] = torch.nan
    with pytest.raises(ValueError, match="hidden states of layer 1"):
        value_zeroing(broken, broken.trace(TEXT))
