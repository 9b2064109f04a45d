"""Two texts under one mask: which states agree, at which layer, and what is predicted there."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.compare.before_after import check_finite, cosine_change
from bertcore.analysis.compare.minimal_pair import align
from bertcore.analysis.shared.inputs import word_log_probabilities
from bertcore.interventions.what_if import Changes
from bertcore.model import Model
from bertcore.trace import Trace


@dataclass(frozen=True, slots=True)
class LayerAgreement:
    """How far the states of two texts agree after one layer."""

    layer: int
    """0: the embeddings."""
    mask: float
    """Cosine of the states at the [MASK]; NaN without one."""
    shared: float
    """Mean cosine of the states of the tokens that both texts have, without the [MASK]."""
    lowest: float
    """The lowest of these cosines."""
    differing: float
    """Mean cosine at the places where the tokens differ; NaN if all of them have a gap."""
    largest: float
    """The largest difference of a number in the shared states, the [MASK]'s among them."""
    word_first: str
    """The most probable piece at the [MASK], read from this layer; "" without one or a head."""
    p_first: float
    """Its probability; NaN if there is none."""
    word_second: str
    p_second: float
    divergence: float
    """Jensen-Shannon divergence of both predictions, bits: 0 to 1; NaN if there are none."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The layers, and which tokens were compared."""

    layers: tuple[LayerAgreement, ...]
    """[L+1]"""
    mask: tuple[int, int] | None
    """Positions of the first [MASK] that both have."""
    num_shared: int
    """Tokens that both texts have at the same place of the alignment, without the [MASK]."""
    hidden: tuple[tuple[int, ...], tuple[int, ...]]
    """Positions that no other token could attend to, in each text."""

    @property
    def has_words(self) -> bool:
        """Whether there are predictions."""
        return bool(self.layers[0].word_first)


@torch.no_grad()
def agreement(
    bert: Model, first: Trace, second: Trace, *, hides_differing: bool = False
) -> Agreement:
    """Compare the states of two texts layer by layer.

    Args:
        bert: The model of both traces.
        first, second: Two texts that differ before or after the same [MASK], or without one.
        hides_differing: Run both again with an attention mask in which no other token attends to
            the tokens that differ. Equal tokens at equal positions then agree exactly.

    ValueError if the texts share no token, a run holds NaN, or the checkpoint takes no attention
    mask and one is asked for.

    Source: the exercise of Bamman's course Info 159/259 (Berkeley), homework 3, on attention masks.
    """
    columns = align(first, second)
    both = [(i, j) for i, j in columns if i is not None and j is not None]
    same = [(i, j) for i, j in both if first.input_ids[i] == second.input_ids[j]]
    differing = [(i, j) for i, j in both if first.input_ids[i] != second.input_ids[j]]
    mask_id = bert.tokenizer.mask_id
    masks = [(i, j) for i, j in same if first.input_ids[i] == mask_id]
    mask = masks[0] if masks else None
    shared = [pair for pair in same if pair != mask]
    if not same:
        raise ValueError("the two texts share no token. Write two that differ in a few words.")
    hidden: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    if hides_differing:
        kept = [{pair[side] for pair in same} for side in range(2)]
        hidden = (
            tuple(i for i in range(first.num_tokens) if i not in kept[0]),
            tuple(j for j in range(second.num_tokens) if j not in kept[1]),
        )
        first, second = (
            _without(bert, trace, places)
            for trace, places in zip((first, second), hidden, strict=True)
        )
    for trace in (first, second):
        check_finite(trace)
    at_mask = _cosines(first, second, masks[:1])
    at_shared, at_differing = (_cosines(first, second, some) for some in (shared, differing))
    largest = _gap(first, second, same)
    words = _predictions(bert, first, second, mask)
    layers = [
        LayerAgreement(
            layer,
            _mean(at_mask[layer]),
            _mean(at_shared[layer]),
            float(at_shared[layer].min(initial=1)) if shared else float("nan"),
            _mean(at_differing[layer]),
            float(largest[layer]),
            *words[layer],
        )
        for layer in range(len(first.hidden_states))
    ]
    return Agreement(tuple(layers), mask, len(shared), hidden)


def _without(bert: Model, trace: Trace, hidden: tuple[int, ...]) -> Trace:
    """Run a text again so that no other token attends to some of its tokens."""
    last = trace.num_tokens - 1
    blocked = [
        (low, high, place, place)
        for place in hidden
        for low, high in ((0, place - 1), (place + 1, last))
        if low <= high
    ]
    if not blocked:
        return trace
    changes = replace(Changes(), pattern="drawn", blocked=tuple(blocked))
    return bert.trace(trace.text_a, trace.text_b, changes=changes)


def _cosines(first: Trace, second: Trace, pairs: list[tuple[int, int]]) -> NDArray[np.float32]:
    """Return the cosine of the states of pairs of positions, [L+1, N]."""
    one, two = _states(first, second, pairs)
    cosines: NDArray[np.float32] = (1 - cosine_change(one, two)).numpy()
    return cosines


def _gap(first: Trace, second: Trace, pairs: list[tuple[int, int]]) -> NDArray[np.float32]:
    """Return the largest difference of a number of the states, [L+1]."""
    one, two = _states(first, second, pairs)
    gap: NDArray[np.float32] = (one.float() - two.float()).abs().amax((1, 2)).numpy()
    return gap


def _states(first: Trace, second: Trace, pairs: list[tuple[int, int]]) -> tuple[Tensor, Tensor]:
    return (
        first.hidden_states[:, [i for i, _ in pairs]],
        second.hidden_states[:, [j for _, j in pairs]],
    )


def _predictions(
    bert: Model, first: Trace, second: Trace, mask: tuple[int, int] | None
) -> list[tuple[str, float, str, float, float]]:
    """Return the best word of each text, its probability, and the divergence, for each layer."""
    nan = float("nan")
    if mask is None or not {"mlm", "lens"} <= bert.capabilities:
        return [("", nan, "", nan, nan)] * len(first.hidden_states)
    size = bert.tokenizer.vocab_size  # rows beyond it (a padded table) have no name
    sides = []
    for trace, place in zip((first, second), mask, strict=True):
        states = bert.module.read_early(trace.hidden_states[:, place].to(bert.device))
        log_p = torch.cat(list(word_log_probabilities(bert, states)))[:, :size].cpu().double()
        sides.append(log_p.exp())
    best = [side.max(-1) for side in sides]
    words = [[bert.tokenizer.id_to_token(i) for i in b.indices.tolist()] for b in best]
    values = [b.values.tolist() for b in best]
    middle = (sides[0] + sides[1]) / 2
    entropies = [torch.special.entr(p).sum(-1) for p in (*sides, middle)]
    bits = (entropies[2] - (entropies[0] + entropies[1]) / 2) / np.log(2)
    divergence = bits.clamp(0, 1).tolist()
    return list(zip(words[0], values[0], words[1], values[1], divergence, strict=True))


def _mean(values: NDArray[np.float32]) -> float:
    return float(values.mean()) if values.size else float("nan")
