"""A layer taken apart: equal to what the modules of transformers compute, and to the trace."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import transformers
from torch import Tensor, nn

from bertcore import Bert, Changes, load
from bertcore.analysis import layer_parts
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make

TEXTS = "The river bank was steep. It had rained all day.", "The dog sat."
CLOSE = {"atol": 1e-5, "rtol": 0.0}


class Places(NamedTuple):
    """Names of modules in transformers, with the layer's number in braces."""

    attention_output: str
    """A linear layer: it reads the heads side by side."""
    attention_norm: str
    """Before the feed-forward network; in ModernBERT what that reads."""
    inner: str
    outer: str
    """A linear layer: it reads the activations."""
    last: str
    """Whose output is the layer's."""


BERT = Places(
    "encoder.layer.{}.attention.output.dense",
    "encoder.layer.{}.attention.output",
    "encoder.layer.{}.intermediate.dense",
    "encoder.layer.{}.output.dense",
    "encoder.layer.{}.output",
)
PLACES = {
    "BertForPreTraining": BERT,
    "ElectraForMaskedLM": BERT,
    "RobertaForMaskedLM": BERT,
    "DistilBertForMaskedLM": Places(
        "transformer.layer.{}.attention.out_lin",
        "transformer.layer.{}.sa_layer_norm",
        "transformer.layer.{}.ffn.lin1",
        "transformer.layer.{}.ffn.lin2",
        "transformer.layer.{}.output_layer_norm",
    ),
    "AlbertForMaskedLM": Places(
        "encoder.albert_layer_groups.0.albert_layers.0.attention.dense",
        "encoder.albert_layer_groups.0.albert_layers.0.attention.LayerNorm",
        "encoder.albert_layer_groups.0.albert_layers.0.ffn",
        "encoder.albert_layer_groups.0.albert_layers.0.ffn_output",
        "encoder.albert_layer_groups.0.albert_layers.0.full_layer_layer_norm",
    ),
    "ModernBertForMaskedLM": Places(
        "layers.{}.attn.Wo",
        "layers.{}.mlp_norm",
        "layers.{}.mlp.Wi",
        "layers.{}.mlp.Wo",
        "layers.{}",
    ),
}


class Recorded:
    """Inputs and outputs of modules, in the order of their calls."""

    def __init__(self, model: nn.Module, names: set[str]) -> None:
        self.inputs: dict[str, list[Tensor]] = {name: [] for name in names}
        self.outputs: dict[str, list[Tensor]] = {name: [] for name in names}
        modules = dict(model.named_modules())
        for name in names:
            modules[name].register_forward_hook(self._hook(name))

    def _hook(self, name: str) -> Any:
        def record(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
            self.inputs[name].append(inputs[0])
            self.outputs[name].append(output[0] if isinstance(output, tuple) else output)

        return record


def rows(recorded: dict[str, list[Tensor]], name: str, layer: int) -> Tensor:
    """Return what a module had in a layer, [T, ...]; a shared one was called once a layer."""
    found = recorded[name.format(layer)]
    tensor = found[layer if len(found) > 1 else 0]
    return tensor[0] if tensor.dim() == 3 else tensor


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made: dict[str, tuple[Bert, nn.Module]] = {}

    def opened(name: str) -> tuple[Bert, nn.Module]:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            if name == "BertForPreTraining":
                tiny_bert().save(folder)
                model = transformers.BertForPreTraining.from_pretrained(folder).eval()
            else:
                model = make(name, folder)
            made[name] = (load(folder, device="cpu"), model)  # type: ignore[assignment]
        return made[name]

    return opened


@pytest.mark.parity
@pytest.mark.parametrize("name", PLACES)
def test_every_step_equals_the_modules_of_transformers(name: str, checkpoint: Any) -> None:
    bert, model = checkpoint(name)
    base = getattr(model, model.base_model_prefix, model)
    places, num_layers = PLACES[name], bert.config.num_hidden_layers
    names = {place.format(layer) for place in places for layer in range(num_layers)}
    recorded = Recorded(base, names)
    texts = TEXTS if bert.config.type_vocab_size > 1 else TEXTS[:1]
    trace = bert.trace(*texts)
    inputs = {"input_ids": torch.tensor([trace.input_ids])}
    if bert.config.type_vocab_size:
        inputs["token_type_ids"] = torch.tensor([trace.segment_ids])
    with torch.no_grad():
        base(**inputs)
    for layer in range(num_layers):
        parts = layer_parts(bert, trace, layer)
        joined = parts.context.transpose(0, 1).flatten(1)

        def equal(ours: Tensor, theirs: Tensor) -> None:
            torch.testing.assert_close(ours, theirs.view_as(ours), **CLOSE)

        equal(joined, rows(recorded.inputs, places.attention_output, layer))
        equal(parts.attention_output, rows(recorded.outputs, places.attention_output, layer))
        equal(parts.feed_forward_input, rows(recorded.outputs, places.attention_norm, layer))
        inner = rows(recorded.outputs, places.inner, layer)
        if parts.gates is not None:
            inner, gates = inner.chunk(2, dim=-1)
            equal(parts.gates, gates)
        equal(parts.pre_activations, inner)
        equal(parts.activations, rows(recorded.inputs, places.outer, layer))
        equal(parts.feed_forward_output, rows(recorded.outputs, places.outer, layer))
        if layer + 1 < num_layers or parts.gates is None:
            equal(parts.output, rows(recorded.outputs, places.last, layer))


@pytest.mark.parametrize("name", PLACES)
def test_the_steps_follow_from_each_other_and_end_in_the_trace(name: str, checkpoint: Any) -> None:
    bert, _ = checkpoint(name)
    trace = bert.trace(TEXTS[0])
    for layer in range(bert.config.num_hidden_layers):
        parts = layer_parts(bert, trace, layer)
        bias = bert.module.layers[layer].attention.output.bias
        written = parts.head_outputs.sum(0) + (0 if bias is None else bias.detach())
        torch.testing.assert_close(parts.attention_output, written, **CLOSE)
        torch.testing.assert_close(parts.attention_sum, parts.hidden + written, **CLOSE)
        summed = parts.attention_state + parts.feed_forward_output
        torch.testing.assert_close(parts.feed_forward_sum, summed, **CLOSE)
        torch.testing.assert_close(parts.output, trace.hidden_states[layer + 1], **CLOSE)
        kept = parts.scores.masked_fill(parts.weights == 0, -torch.inf)  # outside of a window
        torch.testing.assert_close(torch.softmax(kept, -1), parts.weights, **CLOSE)


def test_what_cannot_be_taken_apart_is_refused(tmp_path: Path) -> None:
    bert = tiny_bert()
    trace = bert.trace(TEXTS[0])
    with pytest.raises(ValueError, match="another checkpoint"):
        layer_parts(bert, trace, -1)
    with pytest.raises(ValueError, match="another"):
        layer_parts(tiny_bert(seed=1), trace, 0)
    off = bert.trace(TEXTS[0], changes=Changes(heads_off=frozenset({(0, 1), (0, 2), (0, 0)})))
    with pytest.raises(ValueError, match="changed"):
        layer_parts(bert, off, 0)
    with torch.no_grad():
        bert.module.layers[0].feed_forward.output.weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match="NaN"):
        layer_parts(bert, bert.trace(TEXTS[0]), 0)
