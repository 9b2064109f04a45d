"""Distance between the weights of two checkpoints, part by part."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from bertcore.analysis.words.training_example import (
    StepEffect,
    TrainingExample,
    network_after,
    one_step,
    training_example,
)
from bertcore.model.architecture.objectives import MASKED_LM_PROB
from bertcore.model.model import Model
from bertcore.model.network import Encoder
from bertcore.model.objectives.row import ACTIONS, Actions

LAYER_KINDS = {
    "attention.query": "query",
    "attention.key": "key",
    "attention.value": "value",
    "attention.qkv": "query, key, value",
    "attention.output": "attention output",
    "attention.norm": "attention LayerNorm",
    "feed_forward.intermediate": "feed-forward in",
    "feed_forward.output": "feed-forward out",
    "feed_forward.norm": "feed-forward LayerNorm",
}
"""The parts of a layer in the order of the network, and their names; each has a matrix and a bias,
a LayerNorm a scale and a bias."""
OTHER_KINDS = {
    "embeddings.word_embeddings": "token table",
    "embeddings.position_embeddings": "position table",
    "embeddings.token_type_embeddings": "segment table",
    "embeddings.norm": "embedding LayerNorm",
    "embeddings.projection": "embedding projection",
    "final_norm": "final LayerNorm",
    "pooler": "pooler",
    "mlm": "masked-word head",
    "nsp": "next-sentence head",
    "sop": "sentence-order head",
    "replaced": "replaced-token head",
}
"""The parts outside the layers, and their names."""
_BY_PIECE = frozenset({"embeddings.word_embeddings.weight", "mlm.decoder.bias"})
"""Tensors with a row for each piece of the vocabulary."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The distance of one tensor, or of several taken as one vector, from the first to the
    second."""

    relative: float
    """|B - A| / |A| in the Frobenius norm; 0: the same, 1: as far as A is long; infinite if A is
    all zeros and B is not; NaN if a weight is NaN."""
    cosine: float
    """Cosine of the angle between both as vectors: 1: only the length differs; NaN if one is all
    zeros and the other is not, or a weight is NaN."""
    norm_first: float
    """|A|"""
    norm_second: float
    """|B|"""
    num_weights: int
    """Number of weights compared."""
    num_changed: int
    """Number of them that differ."""


@dataclass(frozen=True, slots=True)
class WeightDrift:
    """All tensors of two checkpoints, those of a part as one vector."""

    layers: Mapping[tuple[int, str], Drift]
    """By (layer, part) in the order of the network: those that both have in the same shape."""
    others: Mapping[str, Drift]
    """By part, outside the layers."""
    only_first: tuple[str, ...]
    """Tensors missing from the second checkpoint."""
    only_second: tuple[str, ...]
    """Tensors missing from the first checkpoint."""
    mis_shaped: tuple[str, ...]
    """Tensors of different shapes, which are not compared."""
    not_finite: tuple[str, ...]
    """Tensors with NaN or infinity on one side."""


def weight_drift(first: Model, second: Model) -> WeightDrift:
    """Compare the weights of two checkpoints; layers are matched by number.

    Where the vocabularies differ, the token table and the decoder's bias are compared over the
    pieces that both have. A fine-tuned classifier's own layer is not compared.

    Source: ours; the relative Frobenius distance and the cosine are as in Radiya-Dixit and Wang
        2020, "How fine can fine-tuning be?", section 3, who use L1 and angle.
    """
    return _drift(first.module, second.module, _shared_rows(first, second))


def step_drift(bert: Model, example: TrainingExample) -> WeightDrift:
    """Return how far one step on an example moves the weights; ValueError as `network_after`."""
    return _drift(bert.module, network_after(bert, example), None)


@dataclass(frozen=True, slots=True)
class TrainedOnce:
    """One optimizer step on one training example."""

    example: TrainingExample
    effect: StepEffect
    drift: WeightDrift

    @property
    def answers(self) -> list["AnswerInStep"]:
        """The right answers before the step, and after it; that about the pair is the last."""
        example, effect = self.example, self.effect
        names = [f"{guess.token} ({guess.position})" for guess in example.guesses]
        before = [guess.probability for guess in example.guesses]
        after = [*effect.probabilities]
        if example.pair_probabilities is not None and effect.pair_probability is not None:
            names.append("B is random" if example.is_random else "B follows A")
            before.append(example.pair_probabilities[int(example.is_random)])
            after.append(effect.pair_probability)
        return [
            AnswerInStep(name, when, p)
            for when, probabilities in (("before", before), ("after", after))
            for name, p in zip(names, probabilities, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class AnswerInStep:
    """A right answer to a training example, and its probability."""

    answer: str
    """The token with its position, or whether B follows A."""
    when: str
    """"before" or "after" the step."""
    p: float


def train_once(
    bert: Model,
    text: str,
    others: Sequence[str] = (),
    *,
    seed: int = 0,
    masked_lm_prob: float = MASKED_LM_PROB,
    actions: Actions = ACTIONS,
) -> TrainedOnce:
    """Return what one step on a training example changes; the network of `bert` stays.

    Arguments as of `training_example`. ValueError as `training_example` and `network_after`.
    """
    options: dict[str, Any] = {"masked_lm_prob": masked_lm_prob, "actions": actions}
    example = training_example(bert, text, others, seed=seed, **options)
    return TrainedOnce(example, one_step(bert, example), step_drift(bert, example))


@torch.no_grad()
def _drift(
    first: Encoder, second: Encoder, rows: tuple[list[int], list[int]] | None
) -> WeightDrift:
    ours, theirs = (dict(module.named_parameters()) for module in (first, second))
    groups: dict[tuple[int | None, str], Tensor] = {}
    mis_shaped: list[str] = []
    not_finite: list[str] = []
    for name in (name for name in ours if name in theirs):
        a, b = ours[name].cpu(), theirs[name].cpu()
        if name in _BY_PIECE and rows is not None:
            a, b = a[rows[0]], b[rows[1]]
        if a.shape != b.shape:
            mis_shaped.append(name)
            continue
        sums, part = _sums(a, b), part_of(name)
        if not sums[:2].isfinite().all():
            not_finite.append(name)
        groups[part] = groups[part] + sums if part in groups else sums
    # A bias of equal shape says little about a part whose matrix differs in shape.
    broken = {part_of(name) for name in mis_shaped}
    drifts = {key: _drift_of(sums) for key, sums in groups.items() if key not in broken}
    return WeightDrift(
        layers={(layer, part): d for (layer, part), d in drifts.items() if layer is not None},
        others={part: d for (layer, part), d in drifts.items() if layer is None},
        only_first=tuple(name for name in ours if name not in theirs),
        only_second=tuple(name for name in theirs if name not in ours),
        mis_shaped=tuple(mis_shaped),
        not_finite=tuple(not_finite),
    )


def relative_change(drifts: Iterable[Drift]) -> float:
    """Return the relative change of several parts taken as one vector; NaN if one has NaN."""
    parts = list(drifts)
    change = math.hypot(*(part.relative * part.norm_first for part in parts))
    length = math.hypot(*(part.norm_first for part in parts))
    return change / length if length else math.nan


def _sums(first: Tensor, second: Tensor) -> Tensor:
    """Return the sums of a drift, which add up over tensors: |A|^2, |B|^2, |B - A|^2, A . B, the
    number of weights, and of those that differ.
    """
    a, b = first.detach().double().flatten(), second.detach().double().flatten()
    c = b - a
    counts = a.new_tensor([len(a), c.count_nonzero()])
    return torch.cat([torch.stack([a @ a, b @ b, c @ c, a @ b]), counts])


def _drift_of(sums: Tensor) -> Drift:
    first, second, change = sums[:3].sqrt().tolist()
    product, count, changed = sums[3:].tolist()
    rest = first, second, int(count), int(changed)
    if change == 0:
        return Drift(0.0, 1.0, *rest)
    if not (math.isfinite(first) and math.isfinite(second)):
        return Drift(math.nan, math.nan, *rest)
    # Rounding may slightly exceed 1.
    both = first * second
    cosine = max(-1.0, min(1.0, product / both)) if both else math.nan
    return Drift(change / first if first else math.inf, cosine, *rest)


def part_of(name: str) -> tuple[int | None, str]:
    """Return the layer, if any, and the part of the network to which a tensor belongs.

    Tensors of an architecture that is not ours are "other parts".

    >>> part_of("layers.3.feed_forward.output.bias")
    (3, 'feed-forward out')
    >>> part_of("mlm.norm.weight")
    (None, 'masked-word head')
    """
    match = re.fullmatch(r"layers\.(\d+)\.(.+)\.(?:weight|bias)", name)
    if match:
        return int(match[1]), LAYER_KINDS[match[2]]
    parts = (part for start, part in OTHER_KINDS.items() if name.startswith(start))
    return None, next(parts, "other parts")


def _shared_rows(first: Model, second: Model) -> tuple[list[int], list[int]] | None:
    """Return the rows of the pieces in both vocabularies; None where they are the same."""
    ours, theirs = vocabulary(first), vocabulary(second)
    if ours == theirs:
        return None
    ids = {piece: i for i, piece in enumerate(theirs)}
    pairs = [(i, ids[piece]) for i, piece in enumerate(ours) if piece in ids]
    return [i for i, _ in pairs], [j for _, j in pairs]


def vocabulary(bert: Model) -> list[str]:
    """Return the pieces of a checkpoint's vocabulary in the order of their ids."""
    tokenizer = bert.tokenizer
    return [tokenizer.id_to_token(i) for i in range(tokenizer.vocab_size)]
