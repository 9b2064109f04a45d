"""Gradient attribution on BERT's three embeddings.

The methods differentiate with respect to vectors, not ids: token, segment and position embeddings
are separate inputs, which are summed and run through the network with the task head.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bertcore.analysis.shared.inputs import require_finite_logits
from bertcore.network.embeddings import EmbeddingParts
from bertcore.others.network import OtherNetwork
from bertcore.tasks import TaskInput
from bertcore.tasks.answers import Target
from bertcore.tasks.model import TaskModel

PARTS = ("token", "segment", "position")
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

    parts: dict[str, NDArray[np.float32]]
    """Attribution by embedding (PARTS), [T], summed over the vector's dimensions."""
    value: float
    """The target's value for the input."""
    baseline: float | None
    """The target's value for the baseline; None for a method without one."""
    delta: float | None
    """Convergence delta: the sum of all attributions minus (value - baseline). 0 would be exact."""

    @property
    def total(self) -> NDArray[np.float32]:
        """All parts together, [T]."""
        total: NDArray[np.float32] = np.sum(list(self.parts.values()), axis=0, dtype=np.float32)
        return total


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
    parts: Sequence[str] = PARTS[:1],
    baseline: str = BASELINES[0],
    steps: int = STEPS,
) -> Attribution:
    """Return the gradients integrated along the path from a baseline to the input.

    Args:
        parts: Embeddings that follow the path, from PARTS; the others stay those of the input.
        baseline: Baseline of the token embeddings, one of BASELINES; [CLS] and [SEP] stay. Segment
            and position embeddings start as those of id 0 at every token.
        steps: Points of the path, by Gauss-Legendre quadrature, at least 2.

    ValueError if an argument is out of range, or gradients do not reach the embeddings.

    Source: Sundararajan, Taly and Yan 2017; the same as captum's; baselines as in its tutorial on
        BERT, and [MASK].
    """
    embedded, start = _ends(model, source, parts, baseline, steps)
    run = _Run(model, source, target, embedded, parts)
    ends, starts = run.chosen(embedded), run.chosen(start)
    nodes, shares = np.polynomial.legendre.leggauss(steps)
    points, weights = (torch.from_numpy(each / 2).to(ends[0]) for each in (nodes + 1, shares))
    means = [torch.zeros_like(end) for end in ends]
    for at in range(0, steps, run.at_once):
        here = slice(at, at + run.at_once)
        gradients, _ = run.gradients(starts, ends, points[here])
        for mean, gradient in zip(means, gradients, strict=True):
            mean += (weights[here, None, None] * gradient).sum(0)
    attributions = [m * (b - a) for m, a, b in zip(means, starts, ends, strict=True)]
    summed = _summed(run.names, attributions)
    value, first = run.value(embedded), run.value(start)
    total = float(sum(part.sum(dtype=np.float64) for part in summed.values()))
    return Attribution(summed, value, first, total - (value - first))


def gradient_x_input(model: TaskModel, source: TaskInput, target: Target) -> Attribution:
    """Return the gradient by embedding, times the embedding: the first-order effect of each.

    ValueError if gradients do not reach the embeddings.

    Source: Shrikumar et al. 2016.
    """
    embedded = _look_up(model, source)
    run = _Run(model, source, target, embedded, PARTS)
    inputs = run.chosen(embedded)
    gradients, _ = run.gradients(inputs, inputs, torch.ones(1).to(inputs[0]))
    attributions = [part * gradient for part, gradient in zip(inputs, gradients, strict=True)]
    return Attribution(_summed(run.names, attributions), run.value(embedded), None, None)


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

    Args:
        baseline: Of BASELINES; only token embeddings follow the path.
        steps: Points of the path, at least 2.

    ValueError as `integrated_gradients`; or if layers cannot be followed.

    Source: Dhamdhere, Sundararajan and Yan 2019; Shrikumar, Su and Kundaje 2018: the gradient at
        each point times the layer's change up to the next one, as in captum.
    """
    if not can_follow_layers(model):
        raise ValueError(
            f"{model.module.network.config.family.name} does not call its layers one by one in "
            "transformers, so gradients cannot be traced through them. Explain the embeddings."
        )
    embedded, start = _ends(model, source, PARTS[:1], baseline, steps)
    run = _Run(model, source, target, embedded, PARTS[:1])
    ends, starts = run.chosen(embedded), run.chosen(start)
    points = torch.linspace(0, 1, steps + 1).to(ends[0])
    sums = [torch.zeros(1) for _ in range(run.num_layers)]
    size = max(2, run.at_once)
    for at in range(0, steps, size - 1):  # the next batch begins with the last point of this one
        _, layers = run.gradients(starts, ends, points[at : at + size])
        for index, (state, gradient) in enumerate(layers):
            sums[index] = (
                sums[index] + (gradient[:-1] * state.diff(dim=0)).float().sum((0, -1)).cpu()
            )
        on_fraction(min(1.0, (at + size - 1) / steps))
    value, first = run.value(embedded), run.value(start)
    conductance = torch.stack(sums).numpy()
    deltas = conductance.sum(1, dtype=np.float64) - (value - first)
    return Conductance(conductance, value, first, deltas.astype(np.float32))


class _Run:
    """The network from embeddings to a target's value; other embeddings are fixed."""

    def __init__(
        self,
        model: TaskModel,
        source: TaskInput,
        target: Target,
        embedded: EmbeddingParts,
        parts: Sequence[str],
    ) -> None:
        self._model, self._target, self._fixed = model, target, embedded
        self._tokens = _tokens(model, source)
        self.names = [name for name in PARTS if name in parts and _part(embedded, name) is not None]
        self.num_layers = model.module.network.config.num_hidden_layers

    @property
    def at_once(self) -> int:
        """Points of the path that run together."""
        return max(1, _TOKENS_AT_ONCE // self._tokens.ids.numel())

    def chosen(self, embedded: EmbeddingParts) -> tuple[Tensor, ...]:
        """Return the embeddings that follow the path, each [1, R T, E]."""
        parts = (_part(embedded, name) for name in self.names)
        return tuple(part for part in parts if part is not None)

    def value(self, embedded: EmbeddingParts) -> float:
        """Return the target's value of some embeddings."""
        with torch.no_grad():
            return float(self._values(self.chosen(embedded))[0])

    def gradients(
        self, starts: Sequence[Tensor], ends: Sequence[Tensor], points: Tensor
    ) -> tuple[tuple[Tensor, ...], list[tuple[Tensor, Tensor]]]:
        """Return the target's gradients at P points between two ends, 0 to 1.

        Returns:
            Those by each embedding, [P, R T, E], and for each layer its states and those by them,
            [P, R T, D]; no layers for a network whose layers cannot be followed.
        """
        inputs = [
            (start + points[:, None, None] * (end - start)).requires_grad_()
            for start, end in zip(starts, ends, strict=True)
        ]
        states: list[Tensor] = []
        with torch.enable_grad():
            values = self._values(inputs, states)
            found = torch.autograd.grad(values.sum(), [*inputs, *states])
        layers = [
            (state.detach(), by) for state, by in zip(states, found[len(inputs) :], strict=True)
        ]
        return found[: len(inputs)], layers

    def _values(self, varied: Sequence[Tensor], states: list[Tensor] | None = None) -> Tensor:
        """Return the target's values, [B], of embeddings [B, R T, E] in the order of `names`.

        Args:
            states: The output of each layer is appended to it, [B, R T, D].
        """
        num_inputs, (num_rows, length) = len(varied[0]), self._tokens.ids.shape
        tokens = self._tokens.repeated(num_inputs)

        def by_row(part: Tensor | None) -> Tensor | None:
            """Return [B R, T, E]; embeddings that do not follow the path are of one input."""
            if part is None:
                return None
            return part.expand(num_inputs, -1, -1).reshape(num_inputs * num_rows, length, -1)

        def followed(_: int, state: Tensor) -> Tensor:
            if states is None:
                return state
            states.append(state.reshape(num_inputs, num_rows * length, -1))
            return states[-1].reshape(state.shape)

        by_name = dict(zip(self.names, varied, strict=True))
        parts = (by_row(by_name.get(name, _part(self._fixed, name))) for name in PARTS)
        module = self._model.module
        logits = module.from_embeddings(EmbeddingParts(*parts), *tokens, after=followed).float()  # type: ignore[arg-type]
        if self._model.task.reads_choices:
            logits = logits.reshape(num_inputs, num_rows)
        require_finite_logits([logits.detach()])
        return self._target.value(logits)


class _Tokens(NamedTuple):
    """The R rows of an input, padded to the longest, each [R, T]."""

    ids: Tensor
    segments: Tensor
    attention_mask: Tensor | None
    """True at tokens; None if nothing is padded."""

    def repeated(self, number: int) -> "_Tokens":
        """Return the rows several times, [number R, T]."""
        return _Tokens(*(None if part is None else part.repeat(number, 1) for part in self))  # type: ignore[arg-type]


def _part(embedded: EmbeddingParts, name: str) -> Tensor | None:
    part: Tensor | None = getattr(embedded, name)
    return part


def _look_up(model: TaskModel, source: TaskInput) -> EmbeddingParts:
    """Return the three embeddings of the input, each [1, R T, E], detached.

    ValueError if gradients would not reach them.
    """
    if not can_differentiate(model):
        raise ValueError(
            "this tagger reads its encoder without gradients (feature-based), so they do not "
            "reach the embeddings. Explain it with occlusion."
        )
    tokens = _tokens(model, source)
    with torch.no_grad():
        embedded = model.module.look_up(tokens.ids, tokens.segments)

    def in_one_row(part: Tensor) -> Tensor:
        return part.detach().expand(*tokens.ids.shape, -1).flatten(0, 1)[None].clone()

    return EmbeddingParts(*(None if part is None else in_one_row(part) for part in embedded))  # type: ignore[arg-type]


def _tokens(model: TaskModel, source: TaskInput) -> _Tokens:
    """Return the rows of an input on the model's device."""
    rows, device = source.rows, model.module.device
    pad = model.tokenizer.pad_id

    def padded(lists: Sequence[Sequence[int]], value: int) -> Tensor:
        tensors = [torch.tensor(values) for values in lists]
        return nn.utils.rnn.pad_sequence(tensors, True, value).to(device)

    attention_mask = padded([[1] * len(row) for row in rows], 0).bool()
    return _Tokens(
        padded([row.input_ids for row in rows], pad),
        padded([row.segment_ids for row in rows], 0),
        None if bool(attention_mask.all()) else attention_mask,
    )


def _from_text(source: TaskInput) -> list[bool]:
    """Return which tokens are of a text, [R T]: neither added nor padding."""
    length = max(map(len, source.rows))
    masks = ([not added for added in row.special_tokens_mask] for row in source.rows)
    return [is_text for mask in masks for is_text in (*mask, *[False] * (length - len(mask)))]


def _ends(
    model: TaskModel, source: TaskInput, parts: Sequence[str], baseline: str, steps: int
) -> tuple[EmbeddingParts, EmbeddingParts]:
    """Return the embeddings of the input and those where the path begins."""
    unknown = [name for name in parts if name not in PARTS]
    if unknown or not parts:
        raise ValueError(f"parts are {list(parts)}; expected some of {', '.join(PARTS)}.")
    if baseline not in BASELINES:
        raise ValueError(f"baseline is {baseline!r}; expected one of {', '.join(BASELINES)}.")
    if steps < 2:
        raise ValueError(f"steps is {steps}; expected at least 2.")
    embedded = _look_up(model, source)
    tokenizer, first = model.tokenizer, model.module.first_rows()
    from_text = torch.tensor(_from_text(source), device=embedded.token.device)[None, :, None]
    with torch.no_grad():
        place = torch.zeros_like(embedded.token)
        if baseline != "zero":
            stand_in = tokenizer.mask_id if baseline == "mask" else tokenizer.pad_id
            place = model.module.network.token_table[stand_in].expand_as(embedded.token)
        token = torch.where(from_text, place, embedded.token)
        segment, position = (
            None if part is None or row is None else row.expand_as(part)
            for part, row in zip(embedded[1:], first[1:], strict=True)
        )
    return embedded, EmbeddingParts(token, segment, position)


def _summed(names: Sequence[str], attributions: Sequence[Tensor]) -> dict[str, NDArray[np.float32]]:
    """Return attributions [1, R T, E] summed over E, by name, [R T]."""
    return {
        name: part.detach().float().sum(-1)[0].cpu().numpy()
        for name, part in zip(names, attributions, strict=True)
    }
