"""Attribution of other architectures by hooks: equal to captum and to their own input vectors."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients, LayerConductance, LayerIntegratedGradients
from torch import Tensor

import bertcore
from bertcore.analysis.attribution import (
    answer,
    gradient_x_input,
    integrated_gradients,
    layer_conductance,
    task_input,
)
from bertcore.analysis.attribution.gradients import BASELINES
from bertcore.training.tasks.model import TaskModel, open_task_model
from tests.support.exhaustive import spread
from tests.support.kit import mini
from tests.support.tiny_others import PAIR, TASK_SHAPES, TEXT, make_other_task

LABELS = ("bad", "good", "so-so")
STEPS = 8


def models(family: str, folder: Path) -> tuple[TaskModel, Any]:
    """Return a classifier of an architecture, opened by us and by transformers."""
    theirs = make_other_task(folder, "SequenceClassification", family, LABELS)
    return open_task_model(folder, device="cpu"), theirs


def inputs_of(model: TaskModel, source: Any) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the ids and the other inputs of transformers."""
    named = {}
    if model.module.network.config.type_vocab_size:
        named["token_type_ids"] = torch.tensor([source.encoding.segment_ids])
    return torch.tensor([source.encoding.input_ids]), named


def value_of(theirs: Any, label: int, named: dict[str, Tensor]) -> Any:
    """Return the function from ids to the log-odds of a label, for captum."""

    def value(ids: Tensor) -> Tensor:
        rows = {name: tensor.expand(len(ids), -1) for name, tensor in named.items()}
        logits = theirs(ids, attention_mask=torch.ones_like(ids), **rows).logits
        others = torch.cat([logits[:, :label], logits[:, label + 1 :]], dim=1)
        return logits[:, label] - others.logsumexp(-1)

    return value


@pytest.mark.parity
@pytest.mark.parametrize("family", TASK_SHAPES)
def test_integrated_gradients_are_captums_on_the_embedding_layer(
    family: str, tmp_path: Path
) -> None:
    """The path from [PAD] in the texts' tokens."""
    model, theirs = models(family, tmp_path)
    source = task_input(model, TEXT, PAIR)
    target = answer(model, source).target(source)
    found = integrated_gradients(model, source, target, baseline="pad", steps=STEPS)
    ids, named = inputs_of(model, source)
    added = torch.tensor([source.encoding.special_tokens_mask])
    start = torch.where(added, ids, model.tokenizer.pad_id)
    value = value_of(theirs, target.label, named)
    table = theirs.get_input_embeddings()
    if family == "mpnet":  # padding would move the positions: only its vectors are the baseline
        moved = theirs.mpnet.embeddings.forward
        places = torch.arange(2, 2 + ids.shape[1])[None]
        theirs.mpnet.embeddings.forward = lambda position_ids=None, **options: moved(
            position_ids=places, **options
        )
    if family == "xlnet":  # its tokens come first there, which captum takes for the batch

        def of_vectors(vectors: Tensor) -> Tensor:
            rows = {name: tensor.expand(len(vectors), -1) for name, tensor in named.items()}
            mask = torch.ones(vectors.shape[:2], dtype=torch.long)
            return target.value(theirs(inputs_embeds=vectors, attention_mask=mask, **rows).logits)

        ends = table(ids).detach(), table(start).detach()
        expected = IntegratedGradients(of_vectors).attribute(*ends, n_steps=STEPS)
    else:
        expected = LayerIntegratedGradients(value, table).attribute(ids, start, n_steps=STEPS)
    if family == "mpnet":
        del theirs.mpnet.embeddings.forward
    wanted = expected.sum(-1)[0].detach().numpy()
    np.testing.assert_allclose(found.tokens, wanted, atol=1e-4 * np.abs(wanted).max())
    assert found.value == pytest.approx(float(value(ids)[0].detach()), abs=1e-4)
    assert np.abs(wanted).max() > 1e-3


@pytest.mark.parity
@pytest.mark.parametrize("family", TASK_SHAPES)
def test_gradient_x_input_is_that_of_its_own_input_vectors(family: str, tmp_path: Path) -> None:
    model, theirs = models(family, tmp_path)
    source = task_input(model, TEXT, PAIR)
    target = answer(model, source).target(source)
    before = [len(part._forward_hooks) for part in model.module.modules()]  # of transformers itself
    found = gradient_x_input(model, source, target)
    assert [len(part._forward_hooks) for part in model.module.modules()] == before
    ids, named = inputs_of(model, source)
    vectors = theirs.get_input_embeddings()(ids).detach().requires_grad_()
    mask = torch.ones_like(ids)
    logits = theirs(inputs_embeds=vectors, attention_mask=mask, **named).logits
    target.value(logits).sum().backward()
    assert vectors.grad is not None
    wanted = (vectors.grad * vectors).sum(-1)[0].detach().numpy()
    np.testing.assert_allclose(found.tokens, wanted, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parity
@pytest.mark.parametrize("family", ["mobilebert", "eurobert"])
def test_conductance_is_captums_on_the_layers_themselves(family: str, tmp_path: Path) -> None:
    model, theirs = models(family, tmp_path)
    source = task_input(model, TEXT)
    target = answer(model, source).target(source)
    found = layer_conductance(model, source, target, baseline="zero", steps=STEPS)
    ids, named = inputs_of(model, source)
    vectors = theirs.get_input_embeddings()(ids).detach()
    added = torch.tensor(source.encoding.special_tokens_mask)[None, :, None]

    def value(embeds: Tensor) -> Tensor:
        rows = {name: tensor.expand(len(embeds), -1) for name, tensor in named.items()}
        mask = torch.ones(embeds.shape[:2], dtype=torch.long)
        return target.value(theirs(inputs_embeds=embeds, attention_mask=mask, **rows).logits)

    base = theirs.base_model
    layers = base.layers if family == "eurobert" else base.encoder.layer
    for index in range(2):
        expected = LayerConductance(value, layers[index]).attribute(
            vectors,
            torch.where(added, vectors, 0.0),
            n_steps=STEPS,
            method="riemann_trapezoid",
        )
        expected = expected[0] if isinstance(expected, tuple) else expected
        wanted = expected.sum(-1)[0].detach().numpy()
        np.testing.assert_allclose(found.layers[index], wanted, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("family", ["deberta-v2", "xlnet", "mpnet"])
def test_conductance_of_each_layer_converges_to_the_change(family: str, tmp_path: Path) -> None:
    model, _ = models(family, tmp_path)
    source = task_input(model, TEXT)
    target = answer(model, source).target(source)
    errors = []
    for steps in (30, 240):
        found = layer_conductance(model, source, target, baseline="pad", steps=steps)
        assert found.layers.shape == (3, len(source.encoding))
        change = found.value - found.baseline
        errors.append(np.abs(found.layers.sum(1) - change).max())
        np.testing.assert_allclose(found.deltas, found.layers.sum(1) - change, atol=1e-4)
    assert errors[1] < max(0.5 * errors[0], 0.01 * abs(change))


FAMILIES = ("Bert", "Roberta", "XLMRoberta", "Camembert", "MPNet", "DistilBert")
LONG = "[PAD] the food was [MASK] but our waiter " * 20


@pytest.mark.parametrize(("family", "baseline"), spread(FAMILIES, BASELINES))
def test_gradients_sum_to_the_change_at_the_longest_input(
    family: str, baseline: str, tmp_path: Path
) -> None:
    """transformers-interpret#123, captum#1269: positions of a baseline ran out of their table."""
    mini(tmp_path, f"{family}ForSequenceClassification", num_labels=3)
    model = open_task_model(tmp_path, device="cpu")
    source = task_input(model, LONG)
    assert len(source.encoding) == model.max_length
    target = answer(model, source).target(source)
    found = integrated_gradients(model, source, target, baseline=baseline, steps=100)
    assert found.baseline is not None
    change = found.value - found.baseline
    assert abs(found.delta or 0) < 0.01 * abs(change) + 1e-4
    assert found.tokens.sum() == pytest.approx(change, abs=0.01 * abs(change) + 1e-3)


def test_another_thread_never_meets_the_hooks(tmp_path: Path) -> None:
    """A trace of the same encoder waits until the hooks are gone."""
    make_other_task(tmp_path, "SequenceClassification", "deberta-v2", LABELS)
    bert = bertcore.load(tmp_path, device="cpu")
    model = open_task_model(tmp_path, bert=bert)
    wanted = bert.trace(TEXT).hidden_states
    source = task_input(model, TEXT)
    ids = torch.tensor([source.encoding.input_ids])
    segments = torch.zeros_like(ids)
    embedded = model.module.network.look_up(ids, segments)
    found: list[Tensor] = []
    thread = threading.Thread(target=lambda: found.append(bert.trace(TEXT).hidden_states))

    def after(index: int, state: Tensor) -> Tensor:
        if index == 0:
            thread.start()
            thread.join(timeout=0.2)
        assert not found
        return torch.zeros_like(state)

    with torch.no_grad():
        model.module.network.run_embedded(embedded, ids, segments, after=after)
    thread.join()
    assert torch.equal(found[0], wanted)
