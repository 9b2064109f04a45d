"""The trace: every named activation of one input, with shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from bertcore.model.network import AttentionBuffers, Network, additive_mask, attention_explicit

if TYPE_CHECKING:
    from bertcore.model.architecture.config import BertConfig
    from bertcore.model.interventions import Interventions
    from bertcore.model.tokenizer import Truncation


@dataclass(frozen=True, slots=True)
class TracedEmbeddings:
    """The input of the encoder, taken apart; each [T, E]. E is D in BERT."""

    token: Tensor
    segment: Tensor | None
    """None if the family has no segments (DistilBERT)."""
    position: Tensor | None
    """None if the architecture adds no positions (T5, XLNet)."""
    sum: Tensor
    """token + segment + position."""
    output: Tensor
    """LayerNorm of the sum: equals hidden_states[0], unless a matrix from E to D follows (ALBERT,
    ELECTRA)."""


@dataclass(frozen=True, slots=True)
class Activations:
    """What the network computes for one input of T tokens."""

    embeddings: TracedEmbeddings
    hidden_states: Tensor
    """[L+1, T, D]; index 0 is the embeddings' output."""
    attentions: Tensor
    """[L, H, T, T]; row = query token, column = key token; rows sum to 1."""
    queries: Tensor | None
    """[L, H, T, K]; like keys and values, a view of [L, T, D], the order of computation. None for
    other architectures, which do not expose them."""
    keys: Tensor | None
    """[L, H, T, K]"""
    values: Tensor | None
    """[L, H, T, K]"""
    word_states: Tensor | None = None
    """Input of the masked-word head, [T, D], if that is not the last hidden state."""


_WIDTH = 90
"""Most characters of the tokens that are printed."""


@dataclass(frozen=True, slots=True, repr=False)
class Trace:
    """One text or pair, its tokens, and every named activation (on the CPU, detached)."""

    text_a: str
    text_b: str | None
    tokens: list[str]
    input_ids: list[int]
    segment_ids: list[int]
    position_ids: list[int]
    offsets: list[tuple[int, int]]
    """Character span of each token in its own text; (0, 0) for added special tokens."""
    text_ids: list[int]
    """0: text A, 1: text B, -1: an added special token."""
    word_ids: list[int]
    """Index of the word to which a token belongs, over both texts; -1 for special tokens."""
    truncation: Truncation | None
    """What was cut to fit, or None."""
    activations: Activations
    checkpoint: str = "in memory"
    """Name of the model: "default", a folder, a hub id."""

    @property
    def embeddings(self) -> TracedEmbeddings:
        """The three embeddings, their sum and its LayerNorm, each [T, E]."""
        return self.activations.embeddings

    @property
    def hidden_states(self) -> Tensor:
        """[L+1, T, D]; index 0 is the embeddings' output."""
        return self.activations.hidden_states

    @property
    def attentions(self) -> Tensor:
        """[L, H, T, T]; rows (query tokens) sum to 1."""
        return self.activations.attentions

    @property
    def queries(self) -> Tensor:
        """[L, H, T, K]. Raises ValueError for an architecture that does not hand them out."""
        return _there(self.activations.queries, "queries")

    @property
    def keys(self) -> Tensor:
        """[L, H, T, K]. Raises ValueError for an architecture that does not hand them out."""
        return _there(self.activations.keys, "keys")

    @property
    def values(self) -> Tensor:
        """[L, H, T, K]. Raises ValueError for an architecture that does not hand them out."""
        return _there(self.activations.values, "values")

    def word_text(self, start: int, end: int) -> str:
        """Return the tokens from `start` to before `end` as written in their text.

        For an added special token, which is in no text, this is its name.
        """
        text_id = self.text_ids[start]
        text = self.text_b if text_id == 1 else self.text_a
        first, last = self.offsets[start][0], self.offsets[end - 1][1]
        if text_id < 0 or text is None or last <= first:
            return self.tokens[start]
        return text[first:last]

    @property
    def word_states(self) -> Tensor:
        """[T, D]: what the masked-word head reads, BERT's last hidden state."""
        states = self.activations.word_states
        return self.hidden_states[-1] if states is None else states

    @property
    def num_tokens(self) -> int:
        """T."""
        return len(self.tokens)

    def __repr__(self) -> str:
        """Return three lines: the tokens, the shapes, the checkpoint."""
        tokens = " ".join(self.tokens)
        if len(tokens) > _WIDTH:
            tokens = f"{tokens[: _WIDTH - 2]} …"
        states, weights = list(self.hidden_states.shape), list(self.attentions.shape)
        return f"Trace: {tokens}\nhidden_states {states}, attentions {weights}\n{self.checkpoint}"


def _there(activation: Tensor | None, what: str) -> Tensor:
    if activation is None:
        raise ValueError(
            f"this architecture is read through transformers, which does not expose its {what}. "
            "Open a checkpoint of the BERT family."
        )
    return activation


def trace_bytes(config: BertConfig, num_tokens: int, dtype: torch.dtype) -> int:
    """Return the most memory that `trace_network` takes for T tokens, its result included.

    Measured with BERT and ModernBERT, 1,000 to 4,000 tokens, float32: it is 0.8 to 1 times this.
    """
    num_layers, num_heads = config.num_hidden_layers, config.num_attention_heads
    width, wide = config.hidden_size, config.intermediate_size
    # The weights of all layers; then the scores of one, and the masks of windows.
    squares = dtype.itemsize * num_layers * num_heads + 4 * (num_heads + 4)
    rows = dtype.itemsize * ((4 * num_layers + 12) * width + 4 * wide)
    return num_tokens * (num_tokens * squares + rows)


def trace_network(
    network: Network,
    input_ids: Tensor,
    segment_ids: Tensor,
    position_ids: Tensor,
    attention_mask: Tensor | None = None,
    interventions: Interventions | None = None,
) -> Activations:
    """Run the network on one input and keep every activation; arguments as `trace_rows`, [T]."""
    rows = input_ids[None], segment_ids[None], position_ids[None]
    return trace_rows(network, *rows, attention_mask, interventions)[0]


@torch.no_grad()  # not inference_mode: its tensors could not be used in later gradients
def trace_rows(
    network: Network,
    input_ids: Tensor,
    segment_ids: Tensor,
    position_ids: Tensor,
    attention_mask: Tensor | None = None,
    interventions: Interventions | None = None,
) -> list[Activations]:
    """Run the network on inputs of one length; return every activation of each, on the CPU.

    The same parts in the same order as `Network.forward`; a test checks that both are equal.

    Args:
        input_ids, segment_ids, position_ids: int64, [B, T].
        attention_mask: True = attend, [T] or [T, T], or None.
        interventions: Changes to the run; their mask, if any, is used instead of `attention_mask`.
            The attention of a head that is off or of a skipped layer is computed, but has no
            effect.
    """
    config, (num_rows, num_tokens) = network.config, input_ids.shape
    num_layers, num_heads = config.num_hidden_layers, config.num_attention_heads
    parts = network.embeddings.look_up(input_ids, segment_ids, position_ids)
    summed = parts.sum
    if interventions is not None and interventions.mask is not None:
        attention_mask = interventions.mask
    normalized = network.embeddings.normalize(summed)
    hidden = hidden_in = network.embeddings.project(normalized)
    mask = None if attention_mask is None else additive_mask(attention_mask[None], hidden.dtype)

    # One buffer for all layers, written in place, saves a second copy of the result.
    hidden_states = hidden.new_empty(num_layers + 1, num_rows, num_tokens, config.hidden_size)
    attentions = hidden.new_empty(num_layers, num_rows, num_heads, num_tokens, num_tokens)
    projected = hidden.new_empty(3, num_layers, num_rows, num_tokens, config.hidden_size)
    by_head = network.layers[0].attention.heads(projected)  # [3, L, B, H, T, K]
    scores = torch.empty_like(attentions[0])
    context_buffer = network.layers[0].attention.heads(torch.empty_like(hidden))
    hidden_states[0] = hidden
    for index, layer in enumerate(network.layers):
        block = layer.attention
        for row in range(num_rows):
            block.project_into(hidden[row], *projected[:, index, row])
        q, k, v = by_head[:, index]
        buffers = AttentionBuffers(scores, attentions[index], context_buffer)
        of_layer = block.masked(mask, num_tokens)
        context, _ = attention_explicit(q, k, v, of_layer, buffers)
        if interventions is not None and interventions.gates is not None:
            context *= interventions.gates[index]
        if interventions is None or index not in interventions.skipped:
            hidden = layer.feed_forward(block.combine(context, hidden))
        hidden_states[index + 1] = hidden

    traced = []
    for row in range(num_rows):
        states = hidden_states[:, row].contiguous().cpu()
        own = network.layers[0].attention.heads(projected[:, :, row].contiguous())
        queries, keys, values = own.cpu()  # [3, L, H, T, K]
        traced.append(
            Activations(
                embeddings=TracedEmbeddings(
                    token=parts.token[row].cpu(),
                    segment=None if parts.segment is None else parts.segment[row].cpu(),
                    position=None if parts.position is None else parts.position[row].cpu(),
                    sum=summed[row].cpu(),
                    output=states[0] if normalized is hidden_in else normalized[row].cpu(),
                ),
                hidden_states=states,
                attentions=attentions[:, row].contiguous().cpu(),
                queries=queries,
                keys=keys,
                values=values,
            )
        )
    return traced
