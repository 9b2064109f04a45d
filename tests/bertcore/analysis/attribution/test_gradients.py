"""Attributions: a linear model by hand, captum on transformers' own BERT, and the axioms."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from bertcore.analysis.attribution.counterfactual import answer
from bertcore.analysis.attribution.gradients import (
    BASELINES,
    PARTS,
    can_differentiate,
    gradient_x_input,
    integrated_gradients,
    layer_conductance,
)
from bertcore.analysis.attribution.task_input import task_input
from bertcore.tasks import TaskInput
from bertcore.tasks.answers import ClassTarget, ScoreTarget, Target
from bertcore.tasks.model import TaskModel
from tests.support.rigged_models import linear_model, random_model

TEXT, PAIR = "the film was very good", "it had rained"


def prepared(task: str) -> tuple[TaskModel, TaskInput, Target]:
    model = random_model(task)
    source = task_input(model, TEXT, PAIR)
    return model, source, answer(model, source).target(source, word=3)


def embedded(model: TaskModel, source: TaskInput) -> dict[str, torch.Tensor]:
    tables, encoding = model.module.network.embeddings, source.encoding
    assert tables.token_type_embeddings.weight is not None
    return {
        "token": tables.word_embeddings.weight[encoding.input_ids].detach(),
        "segment": tables.token_type_embeddings.weight[encoding.segment_ids].detach(),
        "position": tables.position_embeddings.weight[: len(encoding)].detach(),
    }


@pytest.mark.parametrize("baseline", BASELINES)
def test_a_linear_model_by_hand(baseline: str) -> None:
    """Of w . mean(x) the gradient is w / T everywhere, so IG is w . (x - x0) / T."""
    model = linear_model()
    source = task_input(model, TEXT, PAIR)
    weight = model.module.head.classifier.weight[0].detach() / len(source.encoding)
    parts = embedded(model, source)
    tables = model.module.network.embeddings
    stand_in = {
        "mask": tables.word_embeddings.weight[model.tokenizer.mask_id],
        "pad": tables.word_embeddings.weight[model.tokenizer.pad_id],
        "zero": torch.zeros_like(tables.word_embeddings.weight[0]),
    }[baseline]
    added = torch.tensor(source.encoding.special_tokens_mask)[:, None]
    starts = {
        "token": torch.where(added, parts["token"], stand_in),
        "segment": tables.token_type_embeddings.weight[0],  # type: ignore[index]
        "position": tables.position_embeddings.weight[0],
    }
    found = integrated_gradients(model, source, ScoreTarget(), parts=PARTS, baseline=baseline)
    for name in PARTS:
        by_hand = ((parts[name] - starts[name]) @ weight).detach()
        np.testing.assert_allclose(found.parts[name], by_hand, atol=1e-5)
    assert found.delta == pytest.approx(0, abs=1e-5)
    assert found.parts["token"][0] == 0  # [CLS] stays
    assert found.parts["segment"][1] == 0  # begins as segment 0

    simple = gradient_x_input(model, source, ScoreTarget())
    for name in PARTS:
        np.testing.assert_allclose(simple.parts[name], parts[name] @ weight, atol=1e-5)


@pytest.mark.parametrize("task", ["classify", "pair", "regress", "tag", "qa"])
@pytest.mark.parametrize("parts", [PARTS[:1], PARTS])
def test_completeness(task: str, parts: tuple[str, ...]) -> None:
    model, source, target = prepared(task)
    found = integrated_gradients(model, source, target, parts=parts, steps=100)
    assert found.baseline is not None
    difference = found.value - found.baseline
    assert np.abs(found.total).max() > 0.02
    assert found.total.sum() == pytest.approx(difference, abs=2e-3)
    assert found.delta == pytest.approx(float(found.total.sum()) - difference, abs=1e-4)
    assert set(found.parts) == set(parts)


def test_few_steps_leave_a_delta_that_is_told() -> None:
    model, source, target = prepared("classify")
    coarse = integrated_gradients(model, source, target, steps=2, baseline="zero")
    fine = integrated_gradients(model, source, target, steps=100, baseline="zero")
    assert abs(fine.delta or 0) < abs(coarse.delta or 0)


def test_value_is_what_the_model_says() -> None:
    model, source, target = prepared("qa")
    ids = torch.tensor([source.encoding.input_ids])
    segments = torch.tensor([source.encoding.segment_ids])
    said = float(target.value(model.module(ids, segments)).detach())
    assert integrated_gradients(model, source, target).value == pytest.approx(said, abs=1e-5)
    assert gradient_x_input(model, source, target).value == pytest.approx(said, abs=1e-5)


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
    np.testing.assert_allclose(found.parts["token"], expected.detach(), atol=1e-5)

    expected = InputXGradient(forward).attribute(inputs).sum(-1)[0]
    found = gradient_x_input(model, source, target)
    np.testing.assert_allclose(found.parts["token"], expected.detach(), atol=1e-5)

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


def test_layer_norm_makes_the_three_gradients_times_inputs_cancel() -> None:
    """It does not see the length of its input, so the slope along the sum is 0."""
    model, source, target = prepared("classify")
    found = gradient_x_input(model, source, target)
    assert np.abs(found.parts["token"]).max() > 0.01
    np.testing.assert_allclose(found.total, 0, atol=1e-4)


def test_pieces_are_summed_to_words() -> None:
    model = random_model("classify")
    source = task_input(model, "the boughtest cat")
    assert [word.text for word in source.words] == ["[CLS]", "the", "boughtest", "cat", "[SEP]"]
    assert source.merge(np.arange(6.0)).tolist() == [0, 1, 2 + 3, 4, 5]
    assert source.text_words == [1, 2, 3]


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

    from bertcore.network.task_heads import TaskNetwork, initialize_head
    from bertcore.tasks import find_task

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
        ({"parts": ("tokens",)}, "expected some of token"),
        ({"parts": ()}, "expected some of token"),
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
