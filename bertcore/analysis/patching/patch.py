"""Activation patching: put activations of one version's run into the other's, place by place.

Both versions are run, and a difference of two logits on which they disagree is recorded. Then one
run is repeated with one activation taken from the other run, and everything after it is recomputed.
Its share is how far that moves the difference from one run's value to the other's:

    share = (patched - base) / (source - base)

0: nothing changes; 1: the patched run answers like the source. It may be below 0 or above 1, and
the shares of several places do not sum to 1. Denoising puts the first version into the run of the
second and shows where the first version's information is sufficient; noising puts the second into
the run of the first and shows where it is necessary. The two differ if several places carry the
same information: noising one of them loses little, denoising one of them restores everything.

Source: Vig et al. 2020 (causal mediation); Meng et al. 2022 (causal tracing); the terms and the
    two directions: Heimersheim and Nanda 2024, "How to use and interpret activation patching". Path
    patching: Goldowsky-Dill et al. 2023; Wang et al. 2022, appendix B.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.patching.answers import Answer
from bertcore.analysis.patching.pair import PatchPair
from bertcore.analysis.patching.runs import Groups, HookedRuns, LayerRun, Runs
from bertcore.model import Model
from bertcore.network import attention_fused

Direction = Literal["denoising", "noising"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
"""denoising: activations of the first version in the run of the second; noising: the reverse."""
Part = Literal["state", "head", "attention", "feed_forward"]
PARTS: tuple[Part, ...] = get_args(Part)
"""The patched activation: the hidden state at a token (the residual stream); a head's context, at
all tokens; the output of attention or the feed-forward block at a token, before it is added."""
SMALLEST_DIFFERENCE = 1e-3
"""Minimum gap between the versions' logit differences: less cannot be divided into shares."""

OnFraction = Callable[[float], None]
"""Called with the fraction of the work done, 0 to 1."""


class Place(NamedTuple):
    """A part of a layer, at every token."""

    part: Literal["head", "attention", "feed_forward", "answer"]
    """"answer" is what is read in the end, only for a receiver."""
    layer: int = -1
    head: int = -1

    def __str__(self) -> str:
        """Return its name.

        >>> str(Place("head", 2, 5)), str(Place("feed_forward", 3))
        ('head 2.5', 'feed-forward 3')
        """
        if self.part == "answer":
            return "the answer"
        if self.part == "head":
            return f"head {self.layer}.{self.head}"
        return f"{self.part.replace('_', '-')} {self.layer}"


@dataclass(frozen=True, slots=True)
class Patched:
    """The answers of the patched runs."""

    part: Part
    direction: Direction
    first: float
    """The difference of the two logits in the first version."""
    second: float
    """The same in the second version."""
    values: NDArray[np.float32]
    """The same in each patched run: "state" [L+1, N], 0 the embeddings; "head" [L, H]; else
    [L, N]; N places or groups of places."""

    @property
    def shares(self) -> NDArray[np.float32]:
        """How far each patched run moved from its base (0) to its source (1)."""
        base, source = _base_and_source(self.first, self.second, self.direction)
        shares: NDArray[np.float32] = (self.values - base) / (source - base)
        return shares


def _base_and_source(first: float, second: float, direction: Direction) -> tuple[float, float]:
    return (second, first) if direction == "denoising" else (first, second)


@torch.no_grad()
def patch(
    model: Model,
    pair: PatchPair,
    answer: Answer,
    part: Part = "state",
    direction: Direction = "denoising",
    *,
    groups: Groups | None = None,
    on_fraction: OnFraction = lambda fraction: None,
) -> Patched:
    """Patch every place in turn.

    Args:
        direction: Which run is patched.
        groups: Groups of columns that are patched together, one run each; None: each column alone.
            Not for "head", which is patched at all columns.
        on_fraction: Called with the fraction done; may raise to stop.

    ValueError if both versions give the same difference, numbers are NaN or infinite, or the
    architecture does not expose that part; the message states why.
    """
    _check(part, PARTS, "part")
    if part != "state":
        model.require("parts")
    runs = _runs(model, pair, answer, direction)
    if groups is None:
        groups = [[column] for column in range(len(pair.columns))]
    width = model.config.num_attention_heads if part == "head" else len(groups)
    rows = []
    for number, row in enumerate(_rows(runs, part, groups)):
        parts = []
        for values in row:
            parts.append(values)
            done = sum(map(len, parts)) / width
            on_fraction(_work_done(runs.depth, part, number, done))
        rows.append(torch.cat(parts))
    first, second = _ends(runs, direction)
    return Patched(part, direction, first, second, torch.stack(rows).float().numpy())


def _rows(runs: Runs | HookedRuns, part: Part, groups: Groups) -> Iterator[Iterator[Tensor]]:
    """Yield the chunks of each row of values."""
    if part == "state":
        yield from (runs.state_row(state, groups) for state in range(runs.depth + 1))
        return
    assert isinstance(runs, Runs)  # `require` rejected the others
    for layer in range(runs.depth):
        if part == "head":
            yield runs.head_row(layer)
        elif part == "attention":
            yield runs.attention_row(layer, groups)
        else:
            yield runs.feed_forward_row(layer, groups)


def _work_done(depth: int, part: Part, row: int, of_row: float) -> float:
    """Return the fraction of the work done; a row costs the layers that run after it."""
    costs = [depth - layer for layer in range(depth + (part == "state"))]
    return (sum(costs[:row]) + of_row * costs[row]) / sum(costs)


def _runs(model: Model, pair: PatchPair, answer: Answer, direction: Direction) -> Runs | HookedRuns:
    """Return the base and the source run of a direction."""
    _check(direction, DIRECTIONS, "direction")
    sides = (1, 0) if direction == "denoising" else (0, 1)
    encodings = (pair.first, pair.second)
    pairs = [(column[sides[0]], column[sides[1]]) for column in pair.columns]
    places: tuple[int | None, int | None] = answer.places or (None, None)
    arguments = (
        model,
        encodings[sides[0]],
        encodings[sides[1]],
        pairs,
        places[sides[0]],
        answer.read,
        places[sides[1]],
    )
    runs: Runs | HookedRuns
    runs = Runs(*arguments) if "parts" in model.capabilities else HookedRuns(*arguments)
    ends = np.array([runs.base_value, runs.source_value])
    if not np.isfinite(ends).all():
        raise ValueError(
            "the answer is NaN or infinite: the weights are damaged. Copy the checkpoint again."
        )
    if abs(ends[0] - ends[1]) < SMALLEST_DIFFERENCE:
        what = f"{answer.name!r}" if answer.other is None else f"{answer.name!r} − {answer.other!r}"
        raise ValueError(
            f"both versions give {what} the same logit difference ({ends[0]:+.3f}), so there is "
            "nothing to restore. Choose other words, or versions that differ more."
        )
    return runs


def _ends(runs: Runs | HookedRuns, direction: Direction) -> tuple[float, float]:
    """Return the answers of the first and of the second version."""
    if direction == "noising":
        return runs.base_value, runs.source_value
    return runs.source_value, runs.base_value


def _check(value: str, options: tuple[str, ...], name: str) -> None:
    if value not in options:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(options)}.")


@dataclass(frozen=True, slots=True)
class PathPatched:
    """The effect of a sender's patched activation through one receiver."""

    sender: Place
    receiver: Place
    direction: Direction
    first: float
    second: float
    value: float
    """The difference of the two logits in the patched run."""

    @property
    def share(self) -> float:
        """How far the patched run moved from its base (0) to its source (1)."""
        base, source = _base_and_source(self.first, self.second, self.direction)
        return (self.value - base) / (source - base)


@torch.no_grad()
def patch_path(
    model: Model,
    pair: PatchPair,
    answer: Answer,
    sender: Place,
    receiver: Place,
    direction: Direction = "denoising",
) -> PathPatched:
    """Patch the direct path from one part to a later one.

    The sender's activation of the source run is put in at every place. On the way to the receiver,
    all heads and feed-forward blocks write what they wrote in the base run: only the residual
    stream and its LayerNorms carry the change. The receiver computes its output from this changed
    input; that output alone is put into a base run, and everything after it is recomputed.

    Args:
        model: A checkpoint with parts.
        pair, answer, direction: As for `patch`.
        sender: A head, or the output of a layer's attention or feed-forward block.
        receiver: A later part, or "answer": the quantity read from the last state.

    ValueError as for `patch`, or if a part does not exist or the receiver does not come after the
    sender.
    """
    model.require("parts")
    depth, num_heads = model.config.num_hidden_layers, model.config.num_attention_heads
    for place in (sender, receiver):
        is_there = place.part == "answer" or 0 <= place.layer < depth
        if not is_there or (place.part == "head" and not 0 <= place.head < num_heads):
            raise ValueError(
                f"there is no {place}; this checkpoint has layers 0 to {depth - 1} and heads 0 to "
                f"{num_heads - 1}."
            )
    if _order(sender, depth) >= _order(receiver, depth):
        raise ValueError(
            f"{receiver} does not come after {sender}, so nothing can flow there. Choose a "
            "receiver in a later layer, or the feed-forward block of the same layer."
        )
    runs = _runs(model, pair, answer, direction)
    assert isinstance(runs, Runs)
    value = _path_value(runs, sender, receiver)
    return PathPatched(sender, receiver, direction, *_ends(runs, direction), value)


def _order(place: Place, depth: int) -> int:
    """Return a part's order of computation: a layer's attention, then its feed-forward block."""
    if place.part == "answer":
        return 2 * depth
    return 2 * place.layer + (place.part == "feed_forward")


def _path_value(runs: Runs, sender: Place, receiver: Place) -> float:
    """Return the answer with one path patched."""
    base, layer = runs.base, runs.network.layers[sender.layer]
    run, source = base.layers[sender.layer], runs.source.layers[sender.layer]
    hidden = base.states[sender.layer]
    if sender.part == "feed_forward":
        arrives = layer.feed_forward.add(runs.put(run.fed, source.fed), run.middle)
    else:
        written = _written(runs, sender, run, source)
        middle = layer.attention.add(written, hidden)
        if receiver.layer == sender.layer:  # the feed-forward block of the same layer
            return _received(runs, receiver, middle)
        arrives = layer.feed_forward.add(run.fed, middle)
    last = runs.depth if receiver.part == "answer" else receiver.layer
    for index in range(sender.layer + 1, last):
        held, block = base.layers[index], runs.network.layers[index]
        middle = block.attention.add(held.attended, arrives)
        arrives = block.feed_forward.add(held.fed, middle)
    if receiver.part == "answer":
        return runs.value_after(runs.depth, arrives[None])
    if receiver.part == "feed_forward":
        held = base.layers[receiver.layer]
        middle = runs.network.layers[receiver.layer].attention.add(held.attended, arrives)
        return _received(runs, receiver, middle)
    return _received(runs, receiver, arrives)


def _written(runs: Runs, sender: Place, run: LayerRun, source: LayerRun) -> Tensor:
    """Return attention's output with the sender's activation of the source, [T, D]."""
    if sender.part == "attention":
        return runs.put(run.attended, source.attended)
    context = run.context.clone()
    context[sender.head] = runs.put(run.context, source.context)[sender.head]
    return runs.network.layers[sender.layer].attention.write(context)


def _received(runs: Runs, receiver: Place, arrives: Tensor) -> float:
    """Return the answer if the receiver reads this, [T, D], and later parts read its new output."""
    layer, run = runs.network.layers[receiver.layer], runs.base.layers[receiver.layer]
    if receiver.part == "feed_forward":
        hidden = layer.feed_forward.add(layer.feed_forward.write(arrives), run.middle)
        return runs.value_after(receiver.layer + 1, hidden[None])
    block = layer.attention
    queries, keys, values = block.project(arrives[None])
    mask = block.masked(None, len(arrives))
    new = attention_fused(queries, keys, values, mask)[0]
    context = new
    if receiver.part == "head":
        context = run.context.clone()
        context[receiver.head] = new[receiver.head]
    middle = block.combine(context, runs.base.states[receiver.layer])
    return runs.value_after(receiver.layer + 1, layer.feed_forward(middle)[None])
