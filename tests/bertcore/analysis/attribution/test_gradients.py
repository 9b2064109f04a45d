"""Attributions: a linear model by hand, captum on transformers' own BERT, and the axioms."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from bertcore.analysis.attribution import (
    BASELINES,
    answer,
    can_differentiate,
    gradient_x_input,
    integrated_gradients,
    layer_conductance,
    task_input,
)
from bertcore.training.tasks import TaskInput, TaskModel
from bertcore.training.tasks.answers import ClassTarget, ScoreTarget, Target
from tests.support.rigged_models import linear_model, random_model

TEXT, PAIR = "the film was very good", "it had rained"


def prepared(task: str) -> tuple[TaskModel, TaskInput, Target]:
    model = random_model(task)
    source = task_input(model, TEXT, PAIR)
    return model, source, answer(model, source).target(source, word=3)


@pytest.mark.parametrize("baseline", BASELINES)
def test_a_linear_model_by_hand(baseline: str) -> None:
    """Of w . mean(x) the gradient is w / T everywhere, so IG is w . (x - x0) / T."""
    model = linear_model()
    source = task_input(model, TEXT, PAIR)
    weight = model.module.head.classifier.weight[0].detach() / len(source.encoding)
    table = model.module.network.token_table.detach()
    tokens = table[source.encoding.input_ids]
    stand_in = {
        "mask": table[model.tokenizer.mask_id],
        "pad": table[model.tokenizer.pad_id],
        "zero": torch.zeros_like(table[0]),
    }[baseline]
    added = torch.tensor(source.encoding.special_tokens_mask)[:, None]
    start = torch.where(added, tokens, stand_in)
    found = integrated_gradients(model, source, ScoreTarget(), baseline=baseline)
    np.testing.assert_allclose(found.tokens, (tokens - start) @ weight, atol=1e-5)
    assert found.delta == pytest.approx(0, abs=1e-5)
    assert found.tokens[0] == 0  # [CLS] stays
    simple = gradient_x_input(model, source, ScoreTarget())
    np.testing.assert_allclose(simple.tokens, tokens @ weight, atol=1e-5)


@pytest.mark.parametrize("task", ["classify", "pair", "regress", "tag", "qa"])
def test_completeness(task: str) -> None:
    model, source, target = prepared(task)
    found = integrated_gradients(model, source, target, steps=100)
    assert found.baseline is not None
    difference = found.value - found.baseline
    assert found.tokens.sum() == pytest.approx(difference, abs=2e-3)
    assert found.delta == pytest.approx(float(found.tokens.sum()) - difference, abs=1e-4)
    ids = torch.tensor([source.encoding.input_ids])
    logits = model.module(ids, torch.tensor([source.encoding.segment_ids])).detach()
    assert found.value == pytest.approx(float(target.value(logits)), abs=1e-5)


@pytest.mark.parity
def test_captum_on_transformers_own_bert(tmp_path: Path) -> None:
    from captum.attr import InputXGradient, IntegratedGradients, LayerConductance

    model, source, _ = prepared("classify")
    target = ClassTarget(1)
    theirs = transformers.BertForSequenceClassification.from_pretrained(model.save(tmp_path / "m"))
    theirs.eval()
    ids = torch.tensor([source.encoding.input_ids])
    segments = torch.tensor([source.encoding.segment_ids])

    def forward(embeds: torch.Tensor) -> torch.Tensor:
        many = segments.expand(len(embeds), -1)
        return target.value(theirs(inputs_embeds=embeds, token_type_ids=many).logits)

    table = theirs.bert.embeddings.word_embeddings
    inputs = table(ids).detach().requires_grad_()
    masked = ids.clone()
    masked[0, [not added for added in source.encoding.special_tokens_mask]] = 4  # [MASK]
    assert model.tokenizer.mask_id == 4
    start = table(masked).detach()

    expected = IntegratedGradients(forward).attribute(inputs, start, n_steps=30).sum(-1)[0]
    found = integrated_gradients(model, source, target, steps=30)
    np.testing.assert_allclose(found.tokens, expected.detach(), atol=1e-5)

    expected = InputXGradient(forward).attribute(inputs).sum(-1)[0]
    found = gradient_x_input(model, source, target)
    np.testing.assert_allclose(found.tokens, expected.detach(), atol=1e-5)

    conductance = layer_conductance(model, source, target, steps=12)
    for index, layer in enumerate(theirs.bert.encoder.layer):
        expected, delta = LayerConductance(forward, layer).attribute(
            inputs,
            start,
            n_steps=12,
            method="riemann_trapezoid",
            return_convergence_delta=True,
        )
        expected = expected[0] if isinstance(expected, tuple) else expected
        np.testing.assert_allclose(
            conductance.layers[index], expected.sum(-1)[0].detach(), atol=1e-4
        )
        assert conductance.deltas[index] == pytest.approx(float(delta[0]), abs=1e-4)


def test_conductance_of_each_layer_sums_to_the_change() -> None:
    model, source, target = prepared("tag")
    shares: list[float] = []
    found = layer_conductance(model, source, target, steps=200, on_fraction=shares.append)
    assert found.layers.shape == (2, len(source.encoding))
    np.testing.assert_allclose(found.layers.sum(1), found.value - found.baseline, atol=0.05)
    np.testing.assert_allclose(
        found.deltas, found.layers.sum(1) - (found.value - found.baseline), atol=1e-3
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_model_is_left_as_it_was() -> None:
    model, source, target = prepared("classify")
    before = {name: value.clone() for name, value in model.module.state_dict().items()}
    integrated_gradients(model, source, target)
    layer_conductance(model, source, target)
    for name, value in model.module.state_dict().items():
        assert torch.equal(value, before[name])
    assert all(parameter.grad is None for parameter in model.module.parameters())
    assert all(not module._forward_hooks for module in model.module.modules())


def test_a_feature_based_tagger_has_no_gradients() -> None:
    from dataclasses import replace

    from bertcore.model.network.task_heads import TaskNetwork, initialize_head
    from bertcore.training.tasks import find_task

    model = random_model("tag")
    module = TaskNetwork(model.module.network, "features", 3)
    initialize_head(module, torch.Generator().manual_seed(0))
    tag = find_task("tag", features="concat-last-four")
    model = replace(model, task=tag, module=module.eval())
    assert not can_differentiate(model)
    source = task_input(model, TEXT)
    with pytest.raises(ValueError, match="with occlusion"):
        integrated_gradients(model, source, answer(model, source).target(source))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"baseline": "noise"}, "expected one of mask"),
        ({"steps": 1}, "at least 2"),
    ],
)
def test_wrong_arguments_are_told(wrong: dict[str, object], message: str) -> None:
    model, source, target = prepared("classify")
    with pytest.raises(ValueError, match=message):
        integrated_gradients(model, source, target, **wrong)  # type: ignore[arg-type]


def test_nan_is_told() -> None:
    model, source, target = prepared("classify")
    model.module.head.classifier.weight.data[0, 0] = float("nan")
    with pytest.raises(ValueError, match="NaN or infinity"):
        gradient_x_input(model, source, target)
    with pytest.raises(ValueError, match="NaN or infinity"):
        answer(model, source)
