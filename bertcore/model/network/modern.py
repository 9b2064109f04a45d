"""The layer of ModernBERT: norms before the blocks, rotary positions, windows, a gate."""

import functools

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.model.architecture.config import ModernBertConfig
from bertcore.model.network.attention import AttentionBlock, tokens_at
from bertcore.model.network.empty import empty_linear, layer_norm
from bertcore.model.network.feed_forward import activate


def rotation_angles(num_tokens: int, width: int, theta: float) -> Tensor:
    """Return the angle by which each pair of numbers is rotated at each position, [T, K / 2].

    Pair i of a head K wide rotates by theta^(-2 i / K) per position: the first by one radian, the
    last hardly at all.

    Source: Su et al. 2021 (RoFormer), section 3.2.2.
    """
    steps = theta ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
    return torch.arange(num_tokens, dtype=torch.float32)[:, None] * steps


def rotate(vectors: Tensor, angles: Tensor) -> Tensor:
    """Return queries or keys [..., T, K] with number i and number i + K / 2 rotated by an angle.

    The angles, [T, K / 2], are from `rotation_angles`. The product of a query and a key then
    depends on the positions only through their distance.
    """
    cosines, sines = angles.cos(), angles.sin()
    first, second = vectors.float().chunk(2, dim=-1)
    turned = [first * cosines - second * sines, second * cosines + first * sines]
    return torch.cat(turned, dim=-1).to(vectors.dtype)


@functools.lru_cache(maxsize=16)
def _angles(num_tokens: int, width: int, theta: float, device: torch.device) -> Tensor:
    return rotation_angles(num_tokens, width, theta).to(device)


def window_mask(num_tokens: int, reach: int) -> Tensor:
    """Return True for tokens at most `reach` apart, [T, T]."""
    places = torch.arange(num_tokens)
    return (places[:, None] - places).abs() <= reach


class ModernAttention(AttentionBlock):
    """Self-attention with the norm before it and rotary positions.

    hidden + projection(context), with queries, keys and values from LayerNorm(hidden); the first
    layer has no LayerNorm, since there is one after the embeddings.

    Source: Warner et al. 2024, section 2.1.
    """

    def __init__(self, config: ModernBertConfig, layer: int) -> None:
        super().__init__()
        d, bias = config.hidden_size, config.attention_bias
        self.norm = layer_norm(config, d) if layer else None
        self.qkv = empty_linear(d, 3 * d, bias=bias)
        self.output = empty_linear(d, d, bias=bias)
        self.num_heads, self.head_size = config.num_attention_heads, config.head_size
        self.attention_dropout = self.hidden_dropout = config.attention_probs_dropout_prob
        self.theta, self.reach = config.rope_theta(layer), config.window(layer)

    def normalized(self, hidden: Tensor) -> Tensor:
        """Return the projections' input, [..., T, D], from hidden [..., T, D]."""
        if self.norm is None:
            return hidden
        out: Tensor = self.norm(hidden)
        return out

    def turned(self, vectors: Tensor) -> Tensor:
        """Return queries or keys [..., H, T, K] rotated by their positions."""
        angles = _angles(vectors.shape[-2], self.head_size, self.theta, vectors.device)
        return rotate(vectors, angles)

    def project(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return rotated queries and keys, and values, each [B, H, T, K], of hidden [B, T, D]."""
        queries, keys, values = self.qkv(self.normalized(hidden)).chunk(3, dim=-1)
        heads = (self.heads(part) for part in (queries, keys, values))
        queries, keys, values = heads
        return self.turned(queries), self.turned(keys), values

    def project_at(self, hidden: Tensor, places: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        queries, keys, values = self.project(hidden)
        return tokens_at(queries, places), keys, values

    def project_into(self, hidden: Tensor, queries: Tensor, keys: Tensor, values: Tensor) -> None:
        for out, part in zip((queries, keys, values), self.project(hidden[None]), strict=True):
            out.copy_(part[0].transpose(-3, -2).flatten(-2))

    def allowed(self, num_tokens: int) -> Tensor | None:
        if self.reach is None or num_tokens <= self.reach + 1:
            return None
        return window_mask(num_tokens, self.reach).to(self.output.weight.device)

    @property
    def output_norm(self) -> None:
        return None


class GatedFeedForward(nn.Module):
    """hidden + W2 (act(inner) x gate), where inner and gate are the halves of W1 LayerNorm(hidden).

    The last layer ends with the network's final LayerNorm, so its output is what heads read.

    Source: Shazeer 2020 (GeGLU); Warner et al. 2024, section 2.1.
    """

    def __init__(self, config: ModernBertConfig, final_norm: nn.LayerNorm | None) -> None:
        super().__init__()
        d, f, bias = config.hidden_size, config.intermediate_size, config.mlp_bias
        self.norm = layer_norm(config, d)
        self.intermediate = empty_linear(d, 2 * f, bias=bias)
        self.output = empty_linear(f, d, bias=bias)
        self.dropout, self.activation = config.hidden_dropout_prob, config.hidden_act
        # In a list, because it is a parameter of the network, which names it once.
        self._final_norm = [final_norm]

    @property
    def final_norm(self) -> nn.LayerNorm | None:
        """The network's LayerNorm after its last layer; None in the other layers."""
        return self._final_norm[0]

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the block's output, [B, T, D], of hidden [B, T, D]."""
        return self.add(self.write(hidden), hidden)

    def write(self, hidden: Tensor) -> Tensor:
        """Return the block's contribution, [B, T, D], from hidden [B, T, D]."""
        out: Tensor = self.output(F.dropout(self.neurons(hidden), self.dropout, self.training))
        return out

    def neurons(self, hidden: Tensor) -> Tensor:
        """Return the activations of the neurons, with their gates, [B, T, F]."""
        inner, gate = self.intermediate(self.norm(hidden)).chunk(2, dim=-1)  # [B, T, F] each
        gated: Tensor = activate(inner, self.activation) * gate
        return gated

    def add(self, written: Tensor, hidden: Tensor) -> Tensor:
        """Add the block's contribution to its input (and normalise after the last layer)."""
        summed = written + hidden
        return summed if self.final_norm is None else self.final_norm(summed)
