"""Hooks that change a forward pass: applied by `trace_network`, made by `what_if`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from bertcore.network.attention import AttentionFunction, attention_explicit, attention_fused


class Cell(NamedTuple):
    """One attention weight set by hand."""

    layer: int
    head: int
    source: int
    """The query token (row)."""
    target: int
    """The key token (column)."""
    weight: float
    """0 to 1; the rest of the row is rescaled, so that it sums to 1 again."""


@dataclass(frozen=True, slots=True)
class Interventions:
    """Changes prepared for one network and one input of T tokens, on the network's device."""

    mask: Tensor | None
    """True = attend, [T, T]; None: all attend to all."""
    gates: Tensor | None
    """Factor of each head's context, [L, H, 1, 1], 0 or 1; None: all on."""
    skipped: frozenset[int]
    """Layers that pass their input on unchanged."""
    cells: Mapping[int, tuple[Cell, ...]]
    """The weights set by hand in each layer that has some."""

    def edit(self, layer: int) -> Callable[[Tensor], None] | None:
        """Return the in-place editor of a layer's weights [B, H, T, T]; None if there is none."""
        cells = self.cells.get(layer)
        return None if cells is None else partial(set_cells, cells)

    def attention_of(self, layer: int) -> AttentionFunction:
        """Return a layer's attention function under the changes; the mask comes with each call."""
        edit = self.edit(layer)

        def attend(
            queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float
        ) -> Tensor:
            if edit is None:
                context = attention_fused(queries, keys, values, mask, dropout)
            else:
                context, _ = attention_explicit(queries, keys, values, mask, None, edit)
            return context if self.gates is None else context * self.gates[layer]

        return attend


def set_cells(cells: Sequence[Cell], weights: Tensor) -> None:
    """Set attention weights by hand, in place; the rest of the row is rescaled to sum to 1.

    Args:
        cells: Cells of one layer; several in a row are set together.
        weights: [B, H, T, T]; rows sum to 1.

    ValueError if the weights set in a row sum to more than 1, or to less while the other tokens
    have no attention to scale up.
    """
    rows = dict.fromkeys((cell.head, cell.source) for cell in cells)
    for head, source in rows:
        fixed = {c.target: c.weight for c in cells if (c.head, c.source) == (head, source)}
        left = 1.0 - sum(fixed.values())
        if left < -1e-6:
            raise ValueError(
                f"the weights set by hand for token {source} in head {head} sum to "
                f"{1 - left:.3g}; a row of attention sums to 1. Lower one of them."
            )
        row = weights[:, head, source]  # [B, T], a view
        targets = list(fixed)
        row[:, targets] = 0
        others = row.sum(-1, keepdim=True)
        if left > 1e-6 and bool((others <= 0).any()):
            raise ValueError(
                f"token {source} attends to nothing else in head {head}, so its remaining "
                f"attention of {left:.3g} has nowhere to go. Set the weight of another token, too."
            )
        if left > 1e-6:
            row *= left / others
        else:
            row.zero_()
        row[:, targets] = torch.tensor(
            [fixed[target] for target in targets], dtype=row.dtype, device=row.device
        )
