"""Attention rollout and flow: how much of each input reaches a token through the layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bertcore.analysis.mixing.maps import normalize_rows
from bertcore.analysis.shared.inputs import require_finite


def attention_rollout(
    attentions: Tensor, *, head: int | None = None, residual: float = 0.5
) -> Tensor:
    """Return the attention rollout from every layer down to the input, float32 [L, T, T].

    Each layer's map is residual I + (1 - residual) A, and layer l's rollout is
    A_l A_(l-1) ... A_0: rows are the tokens at the output of layer l, columns the input's.

    Args:
        attentions: [L, H, T, T]; row = query token; rows sum to 1.
        head: The head of each layer to follow; None for the mean of all.
        residual: Fraction of a token's vector that comes from itself through the residual
            connection.

    ValueError if weights are NaN or infinite, or there is no such head.

    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
    """
    return rollout(one_map_a_layer(attentions, head), residual=residual)


def rollout(layers: Tensor, *, residual: float = 0.0) -> Tensor:
    """Return the products M_l ... M_1 M_0 of maps [L, T, T], for every layer l, float32 [L, T, T].

    Args:
        layers: Numbers >= 0; their rows are normalised to sum to 1.
        residual: Fraction of the identity to mix into each, 0 up to below 1. 0 for maps that
            already include the residual connection, such as value zeroing.

    ValueError if `residual` is out of range.
    """
    if not 0 <= residual < 1:
        raise ValueError(f"residual is {residual}; expected a fraction from 0 up to below 1.")
    identity = torch.eye(layers.shape[-1])
    products: list[Tensor] = []
    for layer in layers.float():
        mixed = residual * identity + (1 - residual) * normalize_rows(layer)
        # The later layer is on the left: its row i sums over the earlier layer's rows.
        products.append(mixed @ products[-1] if products else mixed)
    return torch.stack(products)


def one_map_a_layer(attentions: Tensor, head: int | None) -> Tensor:
    """Return one head of each layer, or the mean of all (None), float32 [L, T, T].

    ValueError if weights are NaN or infinite, or there is no such head.
    """
    require_finite(attentions, "attention weights")
    num_heads = attentions.shape[1]
    if head is None:
        # One layer at a time: a float32 copy of 144 heads at 512 tokens would be 151 MB.
        return torch.stack([layer.float().mean(0) for layer in attentions])
    if not 0 <= head < num_heads:
        raise ValueError(f"head is {head}; expected 0 to {num_heads - 1}, or None for the mean.")
    return attentions[:, head].float()


MOST_WORK = 5_000_000_000
"""Limit on edges times flows, about five minutes of one core; see `flow_work`."""
SCALE = 2**30
"""Capacities are scaled by this to integers: scipy's algorithm takes int32."""


@dataclass(frozen=True, slots=True)
class AttentionFlow:
    """Maximum flows to the input."""

    values: Tensor
    """float32 [R, T]: from each requested token (row) to each input token; 0 to 1."""
    error: float
    """Bound on the difference from the flow with exact capacities (float32 aside)."""


def attention_flow(
    attentions: Tensor,
    *,
    head: int | None = None,
    tokens: Sequence[int] | None = None,
    residual: float = 0.5,
    progress: Callable[[float], None] = lambda fraction: None,
) -> AttentionFlow:
    """Return the attention flow from the last layer's tokens to the input tokens.

    The graph has a node for each token at the input and after each layer, and an edge from token i
    after layer l to token j before it, of capacity residual I + (1 - residual) A_l at (i, j).

    Args:
        attentions: [L, H, T, T], rows sum to 1. For the flow from layer l pass `[: l + 1]`.
        head: The head of each layer to follow; None for the mean of all.
        tokens: The rows to compute; None for all T.
        residual: As for rollout.

    ValueError if weights are NaN or infinite, there is no such head or token, or the work exceeds
    MOST_WORK.

    Source: Abnar and Zuidema 2020, section 3, with one source and one sink for each value, as
        there; scipy.sparse.csgraph.maximum_flow (Dinic).
    """
    return maximum_flows(
        one_map_a_layer(attentions, head), tokens=tokens, residual=residual, progress=progress
    )


def maximum_flows(
    layers: Tensor,
    *,
    tokens: Sequence[int] | None = None,
    residual: float = 0.0,
    progress: Callable[[float], None] = lambda fraction: None,
) -> AttentionFlow:
    """Return the maximum flows through maps [L, T, T], whose rows are made to sum to 1.

    See `attention_flow`, whose core this is.
    """
    num_layers, num_tokens = layers.shape[:2]
    rows = list(range(num_tokens)) if tokens is None else list(tokens)
    _check(num_layers, num_tokens, rows)
    require_finite(layers, "weights")
    mixed = residual * torch.eye(num_tokens) + (1 - residual) * normalize_rows(layers.float())
    values = torch.empty(len(rows), num_tokens)
    network = _Network(mixed) if num_layers > 2 else None
    for done, row in enumerate(rows):
        if network is not None:
            for column in range(num_tokens):
                values[done, column] = network.flow(row, column)
        elif num_layers == 2:  # each way has a token in the middle of its own
            values[done] = torch.minimum(mixed[1, row][:, None], mixed[0]).sum(0)
        else:
            values[done] = mixed[0, row]
        progress((done + 1) / len(rows))
    # A flow is the capacity of a cut, and no cut has more edges than the graph; rounding moves
    # each of them by half a unit at most.
    return AttentionFlow(values=values, error=0.5 * num_layers * num_tokens**2 / SCALE)


def flow_work(num_layers: int, num_tokens: int, num_rows: int) -> int:
    """Return the work of `attention_flow`: the number of edges of all graphs together.

    A flow has one row of the top layer, one column of the bottom layer, and all layers in between;
    about 1.5 million edges take a tenth of a second on one core.
    """
    return num_rows * num_tokens**3 * max(0, num_layers - 2)


class _Network:
    """The graph of one flow; its middle part is built only once.

    Only one token's row of the top layer matters (the source), and one token's column of the bottom
    layer (the sink). The other nodes there are left out, since nothing can flow through them.

    Args:
        mixed: Capacities, [L, T, T], L > 2.
    """

    def __init__(self, mixed: Tensor) -> None:
        from scipy.sparse import csr_array

        num_layers, num_tokens = mixed.shape[:2]
        capacities = np.rint(mixed.double().numpy() * SCALE).astype(np.int32)
        self._top, self._bottom = capacities[-1], capacities[0]
        self._num_tokens = num_tokens
        # Node 0 is the source; then the tokens after layer 0, after layer 1, ...; last the sink.
        self._sink = 1 + (num_layers - 1) * num_tokens
        above = np.arange(self._sink - num_tokens, self._sink)  # the source leads here
        below = np.arange(1, self._sink - num_tokens).reshape(-1, 1, num_tokens)
        ends = [above, np.full(num_tokens, self._sink)]
        ends.append(np.broadcast_to(below, (num_layers - 2, num_tokens, num_tokens)).ravel())
        sizes = [num_tokens, *[1] * num_tokens, *[num_tokens] * (len(below) * num_tokens), 0]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        # The first two parts change with the token and the input.
        changing = np.zeros(2 * num_tokens, dtype=np.int32)
        data = np.concatenate([changing, capacities[1:-1].ravel()])
        shape = (self._sink + 1, self._sink + 1)
        self._graph = csr_array((data, np.concatenate(ends).astype(np.int32), start), shape=shape)

    def flow(self, row: int, column: int) -> float:
        """Return the maximum flow from a token after the top layer to an input."""
        from scipy.sparse.csgraph import maximum_flow

        count = self._num_tokens
        self._graph.data[:count] = self._top[row]
        self._graph.data[count : 2 * count] = self._bottom[:, column]
        return float(maximum_flow(self._graph, 0, self._sink).flow_value) / SCALE


def _check(num_layers: int, num_tokens: int, rows: Sequence[int]) -> None:
    wrong = [row for row in rows if not 0 <= row < num_tokens]
    if wrong:
        raise ValueError(f"there is no token {wrong[0]}; expected 0 to {num_tokens - 1}.")
    if flow_work(num_layers, num_tokens, len(rows)) > MOST_WORK:
        raise ValueError(
            f"attention flow through {num_layers} layers to {len(rows)} of {num_tokens} tokens "
            "would take more than a few minutes: the work grows with the fourth power of the "
            "length. Ask for fewer tokens or an earlier layer, use a shorter text, or attention "
            "rollout."
        )
