"""Gradient attribution on BERT's token embeddings.

The methods differentiate with respect to vectors, not ids: the token embeddings of the input are
varied, segment and position embeddings stay, and their sum runs through the network with the task
head.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.attribution.task_input import padded
from bertcore.analysis.shared.inputs import require_finite_logits
from bertcore.model.network.embeddings import EmbeddingParts
from bertcore.model.network.protocol import Encoder
from bertcore.model.others.network import OtherNetwork
from bertcore.model.tokenizer import Encoding, Tokenizer
from bertcore.training.tasks import TaskInput
from bertcore.training.tasks.answers import Target
from bertcore.training.tasks.model import TaskModel

BASELINES = ("mask", "pad", "zero")
"""Replacements of the texts' tokens at the start of the path: [MASK], [PAD], or zeros."""
STEPS = 50
CONDUCTANCE_STEPS = 20
_TOKENS_AT_ONCE = 4096
"""Padded tokens of a batch of steps; their activations are kept for the gradient."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The contribution of each of T tokens to a target's value.

    With several choices, T counts the tokens of all rows, each padded to the longest, one row after
    the other; `TaskInput.merge` sums them by word.
    """

    tokens: NDArray[np.float32]
    """Attribution of each token's embedding, summed over its dimensions, [T]."""
    value: float
    """The target's value for the input."""
    baseline: float | None
    """The target's value for the baseline; None for a method without one."""
    delta: float | None
    """Convergence delta: the sum of all attributions minus (value - baseline). 0 would be exact."""


@dataclass(frozen=True, slots=True)
class Conductance:
    """The contribution to a target through each token's vector in each layer."""

    layers: NDArray[np.float32]
    """Attribution of the output of each layer, [L, T], summed over the vector's dimensions; T as in
    Attribution."""
    value: float
    baseline: float
    deltas: NDArray[np.float32]
    """Convergence delta of each layer, [L]."""


def can_differentiate(model: TaskModel) -> bool:
    """Return whether gradients reach the embeddings; they do not in a feature-based tagger."""
    return model.module.lstm is None


def can_follow_layers(model: TaskModel) -> bool:
    """Return whether the output of each layer can be traced."""
    network = model.module.network
    return not isinstance(network, OtherNetwork) or bool(network.other.layers)


def integrated_gradients(
    model: TaskModel,
    source: TaskInput,
    target: Target,
    *,
    baseline: str = BASELINES[0],
    steps: int = STEPS,
) -> Attribution:
    """Return the gradients integrated along the path from a baseline to the input.

    Args:
        baseline: Where the texts' token embeddings begin, one of BASELINES; [CLS] and [SEP] stay.
        steps: Points of the path, by Gauss-Legendre quadrature, at least 2.

    ValueError if an argument is out of range, or gradients do not reach the embeddings.

    Source: Sundararajan, Taly and Yan 2017; the same as captum's; baselines as in its tutorial on
        BERT, and [MASK].
    """
    return _of_task(model, source, target).integrated(baseline, steps)


def gradient_x_input(model: TaskModel, source: TaskInput, target: Target) -> Attribution:
    """Return gradient times input of the token embeddings: the change of the target to first order.

    ValueError if gradients do not reach the embeddings.

    Source: Shrikumar et al. 2016.
    """
    run = _of_task(model, source, target)
    gradients, _ = run.gradients(run.end, torch.ones(1).to(run.end))
    return Attribution(_summed(gradients * run.end), run.value(run.end), None, None)


def layer_conductance(
    model: TaskModel,
    source: TaskInput,
    target: Target,
    *,
    baseline: str = BASELINES[0],
    steps: int = CONDUCTANCE_STEPS,
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> Conductance:
    """Return how much of the integrated gradients flows through each token of each layer.

    ValueError as `integrated_gradients`; or if layers cannot be followed.

    Source: Dhamdhere, Sundararajan and Yan 2019; Shrikumar, Su and Kundaje 2018: the gradient at
        each point times the layer's change up to the next one, as in captum.
    """
    if not can_follow_layers(model):
        raise ValueError(
            f"{model.module.network.config.family.name} does not call its layers one by one in "
            "transformers, so gradients cannot be traced through them. Explain the embeddings."
        )
    run = _of_task(model, source, target)
    start = run.start(baseline, steps)
    points = torch.linspace(0, 1, steps + 1).to(start)
    sums = [torch.zeros(1) for _ in range(model.module.network.config.num_hidden_layers)]
    size = max(2, run.at_once)
    for at in range(0, steps, size - 1):  # the next batch begins with the last point of this one
        _, layers = run.gradients(start, points[at : at + size])
        for index, (state, gradient) in enumerate(layers):
            part = (gradient[:-1] * state.diff(dim=0)).float().sum((0, -1)).cpu()
            sums[index] = sums[index] + part
        on_fraction(min(1.0, (at + size - 1) / steps))
    value, first = run.value(run.end), run.value(start)
    conductance = torch.stack(sums).numpy()
    deltas = conductance.sum(1, dtype=np.float64) - (value - first)
    return Conductance(conductance, value, first, deltas.astype(np.float32))


def _of_task(model: TaskModel, source: TaskInput, target: Target) -> "EmbeddedRun":
    """Return the run of an input, whose value is that of a target."""
    if not can_differentiate(model):
        raise ValueError(
            "this tagger reads its encoder without gradients (feature-based), so they do not "
            "reach the embeddings. Explain it with occlusion."
        )
    num_rows = len(source.rows)

    def value(hidden: Tensor, mask: Tensor | None) -> Tensor:
        logits = model.module.logits_of(hidden, mask).float()
        if model.task.reads_choices:
            logits = logits.reshape(-1, num_rows)
        require_finite_logits([logits.detach()])
        return target.value(logits)

    return EmbeddedRun(model.module.network, model.tokenizer, source.rows, value)


class EmbeddedRun:
    """A network from the token embeddings of an input of R rows to one value.

    `value` is of last hidden states, [B R, T, D], and True at tokens, [B R, T], or None: [B].
    """

    def __init__(
        self,
        network: Encoder,
        tokenizer: Tokenizer,
        rows: Sequence[Encoding],
        value: Callable[[Tensor, Tensor | None], Tensor],
    ) -> None:
        self._network, self._tokenizer, self._rows, self._value = network, tokenizer, rows, value
        attention_mask = self._padded([[1] * len(row) for row in rows], 0).bool()
        self._ids = self._padded([row.input_ids for row in rows], tokenizer.pad_id)
        self._segments = self._padded([row.segment_ids for row in rows], 0)
        self._mask = None if bool(attention_mask.all()) else attention_mask
        with torch.no_grad():
            token, *fixed = network.look_up(self._ids, self._segments)
        self.end = token.detach().expand(*self._ids.shape, -1).flatten(0, 1)[None].clone()
        """Token embeddings of the input, [1, R T, E]."""
        self._fixed = [
            None if part is None else part.detach().expand(*self._ids.shape, -1) for part in fixed
        ]

    def _padded(self, lists: Sequence[Sequence[int]], value: int) -> Tensor:
        return padded(lists, value).to(self._network.token_table.device)

    def start(self, baseline: str, steps: int) -> Tensor:
        """Return the token embeddings where the path begins, [1, R T, E]."""
        if baseline not in BASELINES:
            raise ValueError(f"baseline is {baseline!r}; expected one of {', '.join(BASELINES)}.")
        if steps < 2:
            raise ValueError(f"steps is {steps}; expected at least 2.")
        added = self._padded([row.special_tokens_mask for row in self._rows], 1)
        if baseline == "zero":
            place = torch.zeros_like(self.end)
        else:
            tokenizer = self._tokenizer
            stand_in = tokenizer.mask_id if baseline == "mask" else tokenizer.pad_id
            place = self._network.token_table[stand_in].detach()
        return torch.where(added.bool().flatten()[None, :, None], self.end, place)

    def integrated(self, baseline: str, steps: int) -> Attribution:
        """Return the gradients integrated from a baseline; see `integrated_gradients`."""
        start = self.start(baseline, steps)
        nodes, shares = np.polynomial.legendre.leggauss(steps)
        points, weights = (torch.from_numpy(each / 2).to(start) for each in (nodes + 1, shares))
        mean = torch.zeros_like(start)
        for at in range(0, steps, self.at_once):
            here = slice(at, at + self.at_once)
            gradients, _ = self.gradients(start, points[here])
            mean += (weights[here, None, None] * gradients).sum(0)
        tokens = _summed(mean * (self.end - start))
        value, first = self.value(self.end), self.value(start)
        delta = float(tokens.sum(dtype=np.float64)) - (value - first)
        return Attribution(tokens, value, first, delta)

    @property
    def at_once(self) -> int:
        """Points of the path that run together."""
        return max(1, _TOKENS_AT_ONCE // self._ids.numel())

    def value(self, tokens: Tensor) -> float:
        """Return the target's value of token embeddings."""
        with torch.no_grad():
            return float(self._values(tokens, [])[0])

    def gradients(
        self, start: Tensor, points: Tensor
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """Return the target's gradients at P points between a start and the input, 0 to 1.

        By the token embeddings, [P, R T, E]; and each layer's states with those, [P, R T, D].
        """
        tokens = (start + points[:, None, None] * (self.end - start)).requires_grad_()
        states: list[Tensor] = []
        with torch.enable_grad():
            values = self._values(tokens, states)
            by_tokens, *by_states = torch.autograd.grad(values.sum(), [tokens, *states])
        layers = zip((state.detach() for state in states), by_states, strict=True)
        return by_tokens, list(layers)

    def _values(self, tokens: Tensor, states: list[Tensor]) -> Tensor:
        """Return the target's values, [B], of embeddings [B, R T, E]; add each layer's states."""
        count, (num_rows, length) = len(tokens), self._ids.shape

        def followed(_: int, state: Tensor) -> Tensor:
            states.append(state.reshape(count, num_rows * length, -1))
            return states[-1].reshape(state.shape)

        ids, segments = self._ids.repeat(count, 1), self._segments.repeat(count, 1)
        mask = None if self._mask is None else self._mask.repeat(count, 1)
        fixed = (None if part is None else part.repeat(count, 1, 1) for part in self._fixed)
        embedded = EmbeddingParts(tokens.reshape(count * num_rows, length, -1), *fixed)
        return self._value(
            self._network.run_embedded(embedded, ids, segments, mask, after=followed), mask
        )


def _summed(attribution: Tensor) -> NDArray[np.float32]:
    """Return [1, R T, E] summed over E, [R T]."""
    summed: NDArray[np.float32] = attribution.detach().float().sum(-1)[0].cpu().numpy()
    return summed
