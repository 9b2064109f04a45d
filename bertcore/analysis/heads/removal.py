"""Heads switched off one after the other: the masked-word loss along three orders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import text_positions
from bertcore.bert import Bert, with_parts
from bertcore.data.texts_file import Sentence
from bertcore.interventions.hooks import Interventions
from bertcore.likelihood.hidden_tokens import Row, padded_batches
from bertcore.model import Model

MAX_TEXTS = 100
"""Texts that are measured, the first so many."""
HIDDEN_EVERY = 6
"""One of so many tokens is hidden, about the 15% of BERT's training."""
POINTS = 10
"""Steps of a curve, from all heads to none; fewer if there are fewer heads."""
SEEDS = 5
"""Random orders."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadRemoval:
    """The masked-word loss with more and more heads off; P points."""

    importance: NDArray[np.float64]
    """Of each head, [L, H]; see `remove_heads`."""
    order: tuple[tuple[int, int], ...]
    """(layer, head), the least important first."""
    counts: NDArray[np.int64]
    """Heads that are off, [P]: 0 to all."""
    least_first: NDArray[np.float64]
    """Mean -ln p of the hidden tokens, in nats, [P]."""
    most_first: NDArray[np.float64]
    """The same with the most important heads off first, [P]."""
    random: NDArray[np.float64]
    """The same for random orders, [SEEDS, P]."""
    num_texts: int
    num_hidden: int
    """Hidden tokens, of all texts."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """Texts of similar length with hidden tokens, on the device."""

    ids: Tensor
    segments: Tensor
    mask: Tensor | None
    rows: Tensor
    """Text of each hidden token in the batch, [N]."""
    places: Tensor
    """Its position, [N]."""
    targets: Tensor
    """Its id, [N]."""


def remove_heads(
    bert: Model,
    sentences: Sequence[Sentence],
    *,
    seed: int = 0,
    on_fraction: Callable[[float], None] | None = None,
) -> HeadRemoval:
    """Switch heads off along their importance, and measure the masked-word loss on the way.

    In each text one token of HIDDEN_EVERY is hidden, at the same places in all runs. The importance
    of a head is the mean over texts of |dL/dg|, of the text's loss L and the factor g of the head's
    context, 1 in the network as it is; each layer's are divided by their norm.

    Args:
        sentences: At least one; the first MAX_TEXTS are measured.
        seed: Of the random orders.
        on_fraction: Called with the fraction done; an exception in it ends the work.

    ValueError if there is no sentence with a token, no masked-word head, the network's parts cannot
    be read, or the loss is NaN.

    Source: Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 4: the gradient
        is theirs, and the norm by layer. They rank on one set and score on another; here it is the
        same one, so the least important heads look a little too harmless.
    """
    bert = with_parts(bert)
    bert.require("mlm")
    texts = sentences[:MAX_TEXTS]
    batches = _hidden(bert, texts)
    num_hidden = sum(len(batch.targets) for batch in batches)
    if not num_hidden:
        raise ValueError("there is no token to hide. Give at least one sentence with a word.")
    importance = _importance(bert, batches)  # a mean over texts, up to the norm of its layer
    num_layers, num_heads = importance.shape
    ranked = np.argsort(importance, axis=None, kind="stable")
    whole = len(ranked)
    counts = np.unique(np.linspace(0, whole, min(POINTS, whole) + 1).round().astype(np.int64))
    draw = np.random.default_rng(seed)
    orders = [ranked, ranked[::-1], *(draw.permutation(whole) for _ in range(SEEDS))]
    losses = np.zeros((len(orders), len(counts)))
    for number, order in enumerate(orders):
        for point, count in enumerate(counts.tolist()):
            if number and count in (0, whole):  # the same in every order
                losses[number, point] = losses[0, point]
                continue
            gates = torch.ones(whole)
            gates[order[:count].copy()] = 0
            losses[number, point] = _loss(bert, batches, gates.view(num_layers, num_heads, 1, 1))
            if on_fraction is not None:
                on_fraction((number * len(counts) + point + 1) / losses.size)
    return HeadRemoval(
        importance=importance,
        order=tuple((int(head) // num_heads, int(head) % num_heads) for head in ranked),
        counts=counts,
        least_first=losses[0],
        most_first=losses[1],
        random=losses[2:],
        num_texts=len(texts),
        num_hidden=num_hidden,
    )


def _hidden(bert: Bert, texts: Sequence[Sentence]) -> list[_Batch]:
    """Hide every HIDDEN_EVERYth token of each text, beginning at another one in each."""
    rows, hidden = [], []
    for number, text in enumerate(texts):
        encoding = bert.tokenize(text.text, text.text_pair)
        positions = text_positions(encoding)
        places = positions[number % min(HIDDEN_EVERY, max(1, len(positions))) :: HIDDEN_EVERY]
        hidden.append([(place, encoding.input_ids[place]) for place in places])
        masked = list(encoding.input_ids)
        for place in places:
            masked[place] = bert.tokenizer.mask_id
        rows.append(Row(masked, list(encoding.segment_ids)))
    batches = []
    for chosen, ids, segments, mask in padded_batches(bert, rows):
        found = [(row, *each) for row, i in enumerate(chosen) for each in hidden[i]]
        parts = torch.tensor(found, dtype=torch.int64, device=ids.device).view(-1, 3)
        batches.append(_Batch(ids, segments, mask, *parts.unbind(1)))
    return batches


def _losses(bert: Bert, batch: _Batch, gates: Tensor) -> Tensor:
    """Return -ln p of each hidden token of a batch, [N]; `gates` as in `Interventions`."""
    changed = Interventions(mask=None, gates=gates, skipped=frozenset(), cells={})
    state, mask = bert.module.embed(batch.ids, batch.segments, batch.mask)
    state = bert.module.run_layers(state, mask, attention_of=changed.attention_of)
    logits = bert.module.mlm_logits(state[batch.rows, batch.places])
    return F.cross_entropy(logits.float(), batch.targets, reduction="none")


@torch.no_grad()
def _loss(bert: Bert, batches: Sequence[_Batch], gates: Tensor) -> float:
    gates = gates.to(bert.device, bert.dtype)
    loss = torch.cat([_losses(bert, batch, gates) for batch in batches]).mean().item()
    if not np.isfinite(loss):
        raise ValueError(
            "the masked-word loss is NaN or infinite. The checkpoint's weights are damaged, or its "
            "number format overflows: open it in float32, or choose another checkpoint."
        )
    return loss


@torch.enable_grad()
def _importance(bert: Bert, batches: Sequence[_Batch]) -> NDArray[np.float64]:
    """Return the importance of each head, [L, H]."""
    num_layers, num_heads = bert.config.num_hidden_layers, bert.config.num_attention_heads
    total = torch.zeros(num_layers, num_heads, dtype=torch.float64)
    for batch in batches:
        shape = num_layers, len(batch.ids), num_heads, 1, 1
        gates = torch.ones(shape, device=bert.device, dtype=bert.dtype, requires_grad=True)
        losses = _losses(bert, batch, gates)
        counts = torch.bincount(batch.rows, minlength=len(batch.ids)).clamp_min(1)
        (slope,) = torch.autograd.grad((losses / counts[batch.rows]).sum(), gates)
        total += slope.abs().sum(1)[..., 0, 0].double().cpu()
    norms = total.norm(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float64).tiny)
    found: NDArray[np.float64] = (total / norms).numpy()
    return found
