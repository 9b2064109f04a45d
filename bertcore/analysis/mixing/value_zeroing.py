"""Value zeroing: the change of a token's vector when another token's value is set to zero."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from bertcore.analysis.shared.inputs import require_finite
from bertcore.model.bert import with_parts
from bertcore.model.likelihood import TOKENS_PER_BATCH
from bertcore.model.model import Model
from bertcore.model.network.encoder import Layer
from bertcore.model.trace import Trace


@torch.no_grad()
def value_zeroing(
    bert: Model,
    trace: Trace,
    *,
    layers: Sequence[int] | None = None,
    tokens: Sequence[int] | None = None,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Tensor:
    """Return the cosine distances of value zeroing, float32 [layers, tokens, T].

    All layers and tokens, if none are given. For each layer and token j: the layer runs on its
    usual input with the value vectors of j set to zero in all heads and the weights unchanged; row
    i, column j is 1 - cos(y_i, y_i with j zeroed), 0 to 2. Feed-forward, residual connections and
    LayerNorms are thus included. `normalize_rows` turns the result into the paper's scores, and
    `rollout` turns those into its rolled-out scores.

    The weights are unchanged, so only the attention block's sum changes, and each row depends only
    on its own token: T vectors go through a layer for each row, at most TOKENS_PER_BATCH at a time.

    ValueError if weights are NaN or infinite.

    Source: Mohebbi et al. 2023, "Quantifying Context Mixing in Transformers", section 3. The
        distance is computed as half the squared difference of the unit vectors, the same number
        without the cancellation that 1 - cos suffers for small changes.
    """
    network = with_parts(bert).module
    every = range(len(network.layers))
    depths = every if layers is None else [every[layer] for layer in layers]
    rows = range(trace.num_tokens) if tokens is None else tokens
    require_finite(trace.attentions, "attention weights")
    distances = torch.empty(len(depths), len(rows), trace.num_tokens)
    for place, depth in enumerate(depths):

        def report(fraction: float, before: int = place) -> None:
            progress((before + fraction) / len(depths))

        _zero_each(network.layers[depth], trace, depth, rows, distances[place], report)
    require_finite(distances, "hidden states")
    return distances


def _zero_each(
    layer: Layer,
    trace: Trace,
    depth: int,
    rows: Sequence[int],
    out: Tensor,
    progress: Callable[[float], None],
) -> None:
    """Write the distances of one layer into out [rows, T]."""
    device = layer.attention.output.weight.device
    weights, values = trace.attentions[depth].to(device), trace.values[depth].to(device)
    hidden = trace.hidden_states[depth].to(device)
    usual = F.normalize(trace.hidden_states[depth + 1].to(device).float(), dim=-1)
    count = max(1, TOKENS_PER_BATCH // trace.num_tokens)
    for start in range(0, len(rows), count):
        batch = list(rows[start : start + count])
        # What token i has from each j in each head, [b, H, T, K], and its sum over j
        received = weights[:, batch].transpose(0, 1)[..., None] * values
        context = received.sum(2, keepdim=True)
        # [b, T, D]: along T, token i's vector with the value of one j after the other zeroed
        changed = layer.attention.combine(context - received, hidden[batch, None])
        turned = F.normalize(layer.feed_forward(changed).float(), dim=-1) - usual[batch, None]
        # Exactly 0 where no head attends (a causal mask, a window), not rounding error.
        is_read = weights[:, batch].any(0)  # [b, T]
        out[start : start + len(batch)] = (0.5 * turned.square().sum(-1) * is_read).cpu()
        progress(min(start + count, len(rows)) / len(rows))
