"""Attention flow: how much fits through the network of attention from a token to an input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertcore.analysis.maps import require_finite, row_shares
from bertcore.analysis.rollout import one_map_a_layer

MOST_TOKENS = 128
"""Longest input: each pair of tokens costs a flow through L x T x T edges, so the cost of all
grows with T to the fourth. On one core 32 tokens took 0.4 s, 64 tokens 5.5 s (12 layers)."""
SCALE = 2**30
"""Capacities are counted in this part of 1: scipy's algorithm takes int32."""


@dataclass(frozen=True, slots=True)
class AttentionFlow:
    """Maximum flows to the input."""

    values: Tensor
    """float32 [R, T]: from each asked token (row) to each input token; 0 to 1."""
    error: float
    """No value is further than this from the flow with exact capacities (float32 aside)."""


def attention_flow(
    attentions: Tensor,
    *,
    head: int | None = None,
    tokens: Sequence[int] | None = None,
    residual: float = 0.5,
    progress: Callable[[float], None] = lambda share: None,
) -> AttentionFlow:
    """Return the attention flow from the last layer's tokens to the input's.

    The graph has a node for each token at the input and after each layer, and an edge from token i
    after layer l to token j before it, of capacity residual I + (1 - residual) A_l at (i, j).

    Args:
        attentions: [L, H, T, T], rows sum to 1. For the flow from layer l give `[: l + 1]`.
        head: The head of each layer to follow; None for the mean of all.
        tokens: The rows to compute; None for all T.
        residual: As for rollout.
        progress: Told the share of the rows that are done, 0 to 1.

    Raises:
        ValueError: If weights are NaN or infinite, there is no such head or token, or there are
            more than MOST_TOKENS tokens.

    Source: Abnar and Zuidema 2020, section 3, with one source and one sink for each value as there;
        scipy.sparse.csgraph.maximum_flow (Dinic).
    """
    return maximum_flows(
        one_map_a_layer(attentions, head), tokens=tokens, residual=residual, progress=progress
    )


def maximum_flows(
    layers: Tensor,
    *,
    tokens: Sequence[int] | None = None,
    residual: float = 0.0,
    progress: Callable[[float], None] = lambda share: None,
) -> AttentionFlow:
    """Return the maximum flows through maps [L, T, T], whose rows are made to sum to 1.

    See `attention_flow`, whose core this is.
    """
    from scipy.sparse.csgraph import maximum_flow

    num_layers, num_tokens = layers.shape[:2]
    rows = list(range(num_tokens)) if tokens is None else list(tokens)
    _check(num_tokens, rows)
    require_finite(layers, "weights")
    mixed = residual * torch.eye(num_tokens) + (1 - residual) * row_shares(layers.float())
    graph = _graph(mixed.double().numpy())
    values = torch.empty(len(rows), num_tokens)
    for done, row in enumerate(rows):
        top = num_layers * num_tokens + row
        for column in range(num_tokens):
            values[done, column] = maximum_flow(graph, top, column).flow_value / SCALE
        progress((done + 1) / len(rows))
    # A flow is the capacity of a cut, and no cut has more edges than the graph; rounding moves
    # each of them by half a unit at most.
    return AttentionFlow(values=values, error=0.5 * num_layers * num_tokens**2 / SCALE)


def _graph(mixed: np.ndarray) -> Any:
    """Return capacities as a sparse matrix: node l T + i is token i after l layers."""
    from scipy.sparse import csr_array

    num_layers, num_tokens = mixed.shape[:2]
    num_nodes = (num_layers + 1) * num_tokens
    node = np.arange(num_nodes, dtype=np.int32).reshape(-1, num_tokens)
    shape = (num_layers, num_tokens, num_tokens)
    start = np.broadcast_to(node[1:, :, None], shape).ravel()  # after a layer: the token i
    end = np.broadcast_to(node[:-1, None, :], shape).ravel()  # before it: the token j
    capacities = np.rint(mixed.ravel() * SCALE).astype(np.int32)
    return csr_array((capacities, (start, end)), shape=(num_nodes, num_nodes))


def _check(num_tokens: int, rows: Sequence[int]) -> None:
    if num_tokens > MOST_TOKENS:
        raise ValueError(
            f"attention flow is computed for at most {MOST_TOKENS} tokens; this input has "
            f"{num_tokens}, and the cost grows with the fourth power. Use a shorter text, or "
            "attention rollout."
        )
    wrong = [row for row in rows if not 0 <= row < num_tokens]
    if wrong:
        raise ValueError(f"there is no token {wrong[0]}; expected 0 to {num_tokens - 1}.")
