"""Shares of a class: they sum to its logit, and each is what its part wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import bertcore
from bertcore import Model
from bertcore.analysis.attribution.class_shares import class_attribution, why_no_shares
from bertcore.network.task_reader import TaskReader
from bertcore.tasks.checkpoint_head import read_task_head
from tests.support.tiny_tasks import SHAPES, make_task

LABELS = ("bad", "good", "so-so")
TEXT = "The river bank was steep. It had rained all day."


def opened(folder: Path, model_type: str, **options: Any) -> tuple[Model, TaskReader, Any]:
    theirs = make_task(folder, model_type=model_type, labels=LABELS, **options)
    model = bertcore.load(folder, device="cpu")
    reader = read_task_head(model)
    assert reader is not None
    return model, reader, theirs


def their_logits(theirs: Any, trace: Any) -> torch.Tensor:
    inputs = {"input_ids": torch.tensor([trace.input_ids])}
    if theirs.config.model_type in ("bert", "electra", "albert"):
        inputs["token_type_ids"] = torch.tensor([trace.segment_ids])
    with torch.no_grad():
        logits: torch.Tensor = theirs(**inputs).logits[0]
    return logits


@pytest.mark.parametrize("model_type", SHAPES)
def test_the_shares_sum_to_the_logit_of_transformers(model_type: str, tmp_path: Path) -> None:
    model, reader, theirs = opened(tmp_path, model_type)
    trace = model.trace(TEXT)
    if why_no_shares(reader):
        with pytest.raises(ValueError, match="mean of all tokens"):
            class_attribution(model, reader, trace)
        return
    logits = their_logits(theirs, trace)
    for number, label in enumerate(LABELS):
        found = class_attribution(model, reader, trace, label)
        assert found.logit == pytest.approx(float(logits[number]), abs=1e-4)
        assert found.logit == pytest.approx(sum(part.logit for part in found.parts))
        heads = [found.heads(layer) for layer in range(model.config.num_hidden_layers)]
        torch.testing.assert_close(found.sources.sum(-1), torch.tensor(heads, dtype=torch.float64))
        fed = [found.total("feed_forward", layer=layer) for layer in range(len(heads))]
        torch.testing.assert_close(found.neurons.sum(-1), torch.tensor(fed, dtype=torch.float64))
    best = class_attribution(model, reader, trace)
    assert best.word == LABELS[int(logits.argmax())]
    difference = class_attribution(model, reader, trace, "good", "bad")
    assert difference.logit == pytest.approx(float(logits[1] - logits[0]), abs=1e-4)


def test_the_shares_sum_behind_the_tanh_gelu_of_a_modernbert(tmp_path: Path) -> None:
    model, reader, theirs = opened(
        tmp_path, "modernbert", classifier_activation="gelu_new", classifier_pooling="cls"
    )
    trace = model.trace(TEXT)
    found = class_attribution(model, reader, trace, "good")
    assert found.logit == pytest.approx(float(their_logits(theirs, trace)[1]), abs=1e-4)
    assert found.logit == pytest.approx(sum(part.logit for part in found.parts))


@pytest.mark.parametrize("model_type", ["bert", "distilbert", "roberta"])
def test_tags_of_a_token(model_type: str, tmp_path: Path) -> None:
    model, reader, theirs = opened(tmp_path, model_type, task="TokenClassification")
    trace = model.trace(TEXT)
    logits = their_logits(theirs, trace)
    found = class_attribution(model, reader, trace, "good", position=3)
    assert found.logit == pytest.approx(float(logits[3, 1]), abs=1e-4)
    with pytest.raises(ValueError, match="position of one"):
        class_attribution(model, reader, trace, "good")


def test_a_share_is_what_the_held_head_makes_of_a_part(tmp_path: Path) -> None:
    """Carry one head's output through norms, pooler and classifier, with all factors held."""
    model, reader, _ = opened(tmp_path, "bert")
    trace = model.trace(TEXT)
    found = class_attribution(model, reader, trace, "good")
    network: Any = model.module
    last = network.layers[-1]
    double = {name: p.detach().double() for name, p in last.named_parameters()}
    head, width = 2, model.config.head_size
    part = slice(head * width, (head + 1) * width)
    context = (trace.attentions[-1, head, 0] @ trace.values[-1, head]).double()
    written = double["attention.output.weight"][:, part] @ context
    hidden = trace.hidden_states[-2, 0].double()
    joined = (trace.attentions[-1, :, 0, None] @ trace.values[-1]).flatten().double()
    summed = hidden + double["attention.output.weight"] @ joined + double["attention.output.bias"]

    def carried(vector: torch.Tensor, total: torch.Tensor, norm: Any) -> torch.Tensor:
        scale = norm.weight.detach().double() / (total.var(correction=0) + norm.eps).sqrt()
        return (vector - vector.mean()) * scale

    middle = torch.nn.functional.layer_norm(
        summed, summed.shape, double["attention.norm.weight"], double["attention.norm.bias"], 1e-12
    )
    written = carried(written, summed, last.attention.norm)
    inner = double["feed_forward.intermediate.weight"] @ middle
    inner = torch.nn.functional.gelu(inner + double["feed_forward.intermediate.bias"])
    fed = double["feed_forward.output.weight"] @ inner + double["feed_forward.output.bias"]
    written = carried(written, middle + fed, last.feed_forward.norm)
    dense = network.pooler.dense
    z = dense.weight.detach().double() @ trace.hidden_states[-1, 0].double()
    z = z + dense.bias.detach().double()
    pooled = (dense.weight.detach().double() @ written) * (torch.tanh(z) / z)
    expected = reader.head.classifier.weight[1].detach().double() @ pooled
    assert found.heads(model.config.num_hidden_layers - 1)[head] == pytest.approx(
        float(expected), abs=1e-5
    )


def test_what_has_no_shares_is_told(tmp_path: Path) -> None:
    model, reader, _ = opened(tmp_path, "bert")
    trace = model.trace(TEXT)
    with pytest.raises(ValueError, match="no class 'ugly'"):
        class_attribution(model, reader, trace, "ugly")
    with pytest.raises(ValueError, match="given twice"):
        class_attribution(model, reader, trace, "good", "good")
    with pytest.raises(ValueError, match="Leave the position out"):
        class_attribution(model, reader, trace, position=1)
    spans = tmp_path / "spans"
    make_task(spans, task="QuestionAnswering", labels=("start", "end"))
    model = bertcore.load(spans, device="cpu")
    reader = read_task_head(model)  # type: ignore[assignment]
    assert reader is not None
    with pytest.raises(ValueError, match="start and the end"):
        class_attribution(model, reader, model.trace(TEXT))
