"""Direct attribution of a class: how much each part of the network contributes to its logit.

As for a word (`bertcore.analysis.words.logit_attribution`): the state that the head reads is a sum
of what embeddings, heads and neurons wrote, and its logit is linear in it once two things are fixed
at their values in this run: the divisor of each LayerNorm, and the factor f(z) / z by which the
activation function before the last layer scales each of its numbers z; for the pooler that is
tanh(z) / z. The same limits of interpretation apply.
"""

import torch
from torch import Tensor, nn

from bertcore.analysis.mixing.layer_parts import linear
from bertcore.analysis.words.logit_attribution import (
    HeldRun,
    LogitAttribution,
    Norm,
    Readout,
    held,
    held_ratios,
)
from bertcore.bert import with_parts
from bertcore.model import Model
from bertcore.network.feed_forward import activate
from bertcore.network.task_reader import TaskReader
from bertcore.trace import Trace

_AT_ZERO = {"tanh": 1.0, "relu": 0.5, "gelu": 0.5, "gelu_new": 0.5}


@torch.no_grad()
def class_attribution(
    bert: Model,
    reader: TaskReader,
    trace: Trace,
    label: str | None = None,
    against: str | None = None,
    *,
    position: int | None = None,
) -> LogitAttribution:
    """Return how much each part of the network contributes to a class's logit.

    Args:
        reader: Its head (`read_task_head`).
        trace: A trace of any text or pair, without changes to heads, layers or attention.
        label: One of the head's labels; None for the class with the highest logit, or the score.
        against: Another label: the shares are then those of the difference of the two logits.
        position: The token whose tag is followed; None for a head that labels texts.

    ValueError if the layers of the architecture cannot be read, the head reads more than one state
    or marks an answer, there is no such label, numbers are NaN or infinite, or the trace is of
    another checkpoint or a changed run.
    """
    with_parts(bert)
    place = _place(reader, trace, position)
    number = None if label is None else _number(reader, label)
    other = None if against is None else _number(reader, against)
    if number is not None and number == other:
        raise ValueError(
            f"class {label!r} is given twice: the difference to itself is 0. Choose two classes."
        )
    run = HeldRun(bert, trace, place)
    state = run.state
    ways: list[tuple[nn.Linear, Tensor, Norm | None]] = []
    for dense, name, norm in _layers(run, reader):
        inner = linear(state, dense)
        outer = activate(inner, name)
        state = outer
        held_norm = None
        if norm is not None:
            held_norm = held(norm, outer)
            state = held_norm.forward(outer) + held_norm.bias
        ways.append((dense, held_ratios(inner, outer, _AT_ZERO[name]), held_norm))
    last = reader.head.classifier
    if number is None:
        number = int(linear(state, last).argmax())
    direction, own = _row(last, number)
    if other is not None:
        direction, own = direction - _row(last, other)[0], own - _row(last, other)[1]
    final = 0.0
    for dense, ratios, held_norm in reversed(ways):
        if held_norm is not None:
            final += float(direction @ held_norm.bias)
            direction = held_norm.backward(direction)
        direction = direction * ratios
        if dense.bias is not None:
            final += float(direction @ dense.bias.detach().to(direction))
        direction = dense.weight.detach().to(direction).T @ direction
    name = reader.labels[number] if reader.labels else "score"
    return run.attribution(Readout(direction, final, own), number, name, against)


def why_no_shares(reader: TaskReader) -> str | None:
    """Return why a head's logits have no shares at one token; None if they have."""
    if reader.kind == "span":
        return (
            "this head marks the start and the end of an answer among all tokens, so no class has "
            "a logit whose shares could be shown."
        )
    if reader.head.form.reads == "mean":
        return (
            "this head reads the mean of all tokens, so its logit does not come from one token "
            "and has no shares to show."
        )
    return None


def _place(reader: TaskReader, trace: Trace, position: int | None) -> int:
    """Return the token that the head reads."""
    reason = why_no_shares(reader)
    if reason is not None:
        raise ValueError(reason)
    reads = reader.head.form.reads
    if reads == "all":
        if position is None:
            raise ValueError("this head tags each token. Give the position of one token.")
        return position
    if position is not None:
        raise ValueError("this head labels a whole text. Leave the position out.")
    return trace.num_tokens - 1 if reads == "last" else 0


def _layers(run: HeldRun, reader: TaskReader) -> list[tuple[nn.Linear, str, nn.LayerNorm | None]]:
    """Return the layers between the last hidden state and the last layer of the head."""
    head = reader.head
    layers: list[tuple[nn.Linear, str, nn.LayerNorm | None]] = []
    if head.form.reads == "pooler":
        assert run.network.pooler is not None  # the reader was opened with it
        layers.append((run.network.pooler.dense, "tanh", None))
    if head.dense is not None:
        layers.append((head.dense, head.activation, head.norm))
    return layers


def _row(classifier: nn.Linear, number: int) -> tuple[Tensor, float]:
    """Return a class's row of the last layer, float64 [D], and its bias."""
    row = classifier.weight[number].detach().to("cpu", torch.float64)
    return row, float(classifier.bias[number])


def _number(reader: TaskReader, label: str) -> int:
    if label not in reader.labels:
        listed = ", ".join(map(repr, reader.labels[:20])) or "none: it gives a score"
        raise ValueError(f"there is no class {label[:40]!r}; the head's are {listed}.")
    return reader.labels.index(label)
