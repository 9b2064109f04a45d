"""Direct logit attribution: how much each part of the network contributes to a word's logit.

The state of a token is a sum: the embeddings, what each head wrote, what each feed-forward block
wrote, and biases. A logit is not a linear function of it, but becomes one once two things are fixed
at their values in this run: the standard deviation by which each LayerNorm divides, and the factor
GELU(z) / z = Phi(z) by which the masked-word head's activation scales each of its numbers z (for
ReLU: 0 or 1). Then each part has its own share of the logit, and the shares sum to it.

Limits. Fixing the factors is a choice: without a part they would have been different, so a share is
not the change in the logit without the part (`bertcore.model.interventions` runs that). The
attribution is direct: what a head wrote to this token counts for the head; what later layers did
because of it counts for them. And LayerNorm's division shrinks what early layers of BERT wrote.

Source: the decomposition: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits";
    the name, and the fixed LayerNorm: nostalgebraist 2020 and TransformerLens. For post-norm, as in
    Kobayashi et al. 2021, section 3. Fixing the factor of the head's GELU is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bertcore.analysis.mixing.layer_parts import (
    linear,
    normalized,
    output_norm,
    parts_of_rows,
    require_same_run,
)
from bertcore.analysis.shared.inputs import require_finite, usual_position
from bertcore.analysis.words.head_steps import require_token
from bertcore.model.bert import with_parts
from bertcore.model.model import Model
from bertcore.model.network import Layer, Network
from bertcore.model.network.feed_forward import activate
from bertcore.model.trace import Trace

PartKind = Literal[
    "token",
    "segment",
    "position",
    "embedding_bias",
    "head",
    "attention_bias",
    "feed_forward",
    "feed_forward_bias",
    "final_bias",
    "decoder_bias",
]
"""The origin of a share. "embedding_bias": the bias of the embeddings' LayerNorm, and of the matrix
after it. "attention_bias": of the output projection and the LayerNorm after it. "feed_forward": the
neurons; "feed_forward_bias": their bias, and that of the LayerNorm after them. "final_bias": of the
masked-word head's linear layer and LayerNorm, and of a final LayerNorm (ModernBERT).
"decoder_bias": the word's own."""


class PartContribution(NamedTuple):
    """A part of the network and its share."""

    kind: PartKind
    layer: int | None
    """None before the first layer and after the last."""
    head: int | None
    logit: float
    """Its share of the logit."""


@dataclass(frozen=True, slots=True)
class LogitAttribution:
    """The shares of a word's logit at one token; natural units, float64."""

    tokens: tuple[str, ...]
    """Of the input, [T]."""
    position: int
    word_id: int
    word: str
    against: str | None
    """The other word, if the shares are of the difference of two logits; else None."""
    logit: float
    """The sum of the parts: the word's logit, or its difference from that of the other word."""
    parts: tuple[PartContribution, ...]
    """In the order of computation."""
    sources: Tensor
    """Share of each head from each token, [L, H, T]; sums to the heads' shares."""
    neurons: Tensor
    """Share of each neuron, [L, F]; sums to the shares of "feed_forward"."""

    @property
    def of_tokens(self) -> Tensor:
        """Share of all heads from each token, [T]."""
        return self.sources.sum((0, 1))

    def total(self, *kinds: PartKind, layer: int | None = None) -> float:
        """Return the sum of the shares of some kinds, in all layers or in one."""
        return sum(
            part.logit
            for part in self.parts
            if part.kind in kinds and (layer is None or part.layer == layer)
        )

    def heads(self, layer: int) -> list[float]:
        """Return the shares of a layer's heads."""
        return [part.logit for part in self.parts if part.kind == "head" and part.layer == layer]

    @property
    def stairs(self) -> list["Stair"]:
        """The shares of the embeddings, each layer's two blocks, and the biases, in order."""
        stairs = [Stair("embeddings", self.total("token", "segment", "position"))]
        for layer in range(len(self.sources)):
            stairs += [
                Stair(f"layer {layer}: attention", self.total("head", layer=layer)),
                Stair(f"layer {layer}: feed-forward", self.total("feed_forward", layer=layer)),
            ]
        own = "its own bias" if self.against is None else "their own biases"
        shared = self.total("embedding_bias", "attention_bias", "feed_forward_bias", "final_bias")
        return [
            *stairs,
            Stair("biases of the network", shared),
            Stair(own, self.total("decoder_bias")),
        ]

    @property
    def part_names(self) -> list[str]:
        """What the columns of `by_part` are, [H+3]."""
        heads = (f"head {head}" for head in range(self.sources.shape[1]))
        return [*heads, "neurons", "biases", "sum"]

    @property
    def by_part(self) -> NDArray[np.float64]:
        """The shares of each layer's heads, neurons and biases, and their sum, [L, H+3]."""
        rows = []
        for layer in range(len(self.sources)):
            neurons = self.total("feed_forward", layer=layer)
            biases = self.total("attention_bias", "feed_forward_bias", layer=layer)
            parts = [*self.heads(layer), neurons, biases]
            rows.append([*parts, sum(parts)])
        return np.array(rows)


class Stair(NamedTuple):
    """Parts of the network in one, and their share of the logit."""

    part: str
    share: float


class PushedWords(NamedTuple):
    """The words whose logits a neuron raised most at one token."""

    neuron: int
    words: tuple[str, ...]
    logits: tuple[float, ...]
    """How much it raised each, beyond its mean over the vocabulary."""


@torch.no_grad()
def logit_attribution(
    bert: Model,
    trace: Trace,
    position: int | None = None,
    word: str | None = None,
    against: str | None = None,
) -> LogitAttribution:
    """Return how much each part of the network contributes to a word's logit at a token.

    Args:
        position: The token at which the word is predicted; None for the first [MASK], or else the
            last word of the text.
        word: One piece of the vocabulary; None for the most probable.
        against: Another piece: the shares are then those of the difference of the two logits, in
            which anything that raises all words alike cancels out.

    ValueError if there is no such token or piece, the checkpoint has no masked-word head, the
    layers of the architecture cannot be read, numbers are NaN or infinite, or the trace is of
    another checkpoint or a changed run.
    """
    position = usual_position(bert, trace) if position is None else position
    run = _Run(bert, trace, position)
    word_id = run.best_word() if word is None else word_id_of(bert, word)
    parts, sources, neurons = run.shares(
        word_id, None if against is None else word_id_of(bert, against)
    )
    return LogitAttribution(
        tokens=tuple(trace.tokens),
        position=position,
        word_id=word_id,
        word=bert.tokenizer.id_to_token(word_id),
        against=against,
        logit=sum(part.logit for part in parts),
        parts=tuple(parts),
        sources=torch.stack(sources),
        neurons=torch.stack(neurons),
    )


@torch.no_grad()
def pushed_words(
    bert: Model, trace: Trace, position: int, layer: int, neurons: Sequence[int], top_k: int = 3
) -> tuple[PushedWords, ...]:
    """Return the words towards which neurons pushed a token's prediction most.

    A neuron's output, carried to the decoder with the same factors fixed as in `logit_attribution`
    and compared with every word. In a small model a single neuron has no meaning of its own: the
    words it points at often show no pattern, though its output matters.

    ValueError as for `logit_attribution`.

    Source: Geva et al. 2022, "Transformer Feed-Forward Layers Build Predictions by Promoting
        Concepts in the Vocabulary Space", section 3, carried through the head.
    """
    run = _Run(bert, trace, position)
    layer = range(len(run.activations))[layer]
    if not neurons:
        return ()
    raised = run.raised(layer, list(neurons))[:, : bert.tokenizer.vocab_size]
    best = raised.topk(min(top_k, raised.shape[1]))
    rows = zip(neurons, best.indices.tolist(), best.values.tolist(), strict=True)
    return tuple(
        PushedWords(neuron, tuple(map(bert.tokenizer.id_to_token, ids)), tuple(logits))
        for neuron, ids, logits in rows
    )


def word_id_of(bert: Model, word: str) -> int:
    """Return the id of one piece of the vocabulary; ValueError if the word is not one."""
    word_id = bert.tokenizer.token_to_id(word)
    if word_id is None:
        raise ValueError(
            f"{word!r} is not a single piece of this vocabulary, so it has no logit. Choose a "
            "word that is one piece."
        )
    return word_id


class Norm(NamedTuple):
    """A LayerNorm with its standard deviation fixed: linear except for its bias."""

    factors: Tensor
    """gain / deviation, [D]."""
    bias: Tensor
    """[D]"""

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the parts of the sum after the norm, [..., D], without the bias."""
        return (vectors - vectors.mean(-1, keepdim=True)) * self.factors

    def backward(self, direction: Tensor) -> Tensor:
        """Return the direction in the sum whose product is that of `direction` in the output."""
        scaled = direction * self.factors
        return scaled - scaled.mean(-1, keepdim=True)


def held(norm: nn.LayerNorm, summed: Tensor) -> Norm:
    """Return a LayerNorm as it acts on a sum [D]."""
    deviation = (summed.var(-1, correction=0) + norm.eps).sqrt()
    gain = norm.weight.detach().to(summed)
    bias = torch.zeros_like(gain) if norm.bias is None else norm.bias.detach().to(summed)
    return Norm(gain / deviation, bias)


class _Run:
    """The run at one token and the masked-word head on it in float64, with the fixed factors."""

    def __init__(self, bert: Model, trace: Trace, position: int) -> None:
        bert.require("mlm")
        self.network: Network = with_parts(bert).module
        require_token(trace, position)
        require_finite(trace.hidden_states, "hidden states")
        self.trace, self.position, self.num_words = trace, position, bert.tokenizer.vocab_size
        self.norms: list[tuple[Norm | None, Norm | None]] = []
        """Of each layer: after attention, after feed-forward."""
        self.weighted_values: list[Tensor] = []
        """The weighted values of each head from each token, [H, T, K], for each layer."""
        self.activations: list[Tensor] = []
        """[F] of each layer."""
        embeddings = self.network.embeddings
        summed = trace.embeddings.sum[position].double()
        self.embedding_norm = held(embeddings.norm, summed)
        state = normalized(summed, embeddings.norm)
        if embeddings.projection is not None:
            state = linear(state, embeddings.projection)
        for index, layer in enumerate(self.network.layers):
            state = self._run_layer(index, layer, state)
        require_same_run(state, trace.hidden_states[-1, position])
        self.head = head = self.network.masked_word_head()
        dense = linear(state, head.dense)
        activation = activate(dense, head.activation)
        # The factor by which the activation scales each number; 1/2 is GELU's limit at 0.
        self.ratios = torch.where(dense == 0, 0.5, activation / dense)
        self.head_norm = held(head.norm, activation)
        self.read = normalized(activation, head.norm)

    def _run_layer(self, index: int, layer: Layer, state: Tensor) -> Tensor:
        rows = slice(self.position, self.position + 1)
        parts = parts_of_rows(layer, self.trace, index, state[None], rows)
        first, second = layer.attention.output_norm, output_norm(layer)
        self.norms.append(
            (
                None if first is None else held(first, parts.attention_sum[0]),
                None if second is None else held(second, parts.feed_forward_sum[0]),
            )
        )
        self.weighted_values.append(parts.weights[:, 0, :, None] * parts.values)
        self.activations.append(parts.activations[0])
        return parts.output[0]

    def best_word(self) -> int:
        """Return the id of the most probable piece that has a name."""
        logits = self._products(self.read) + self.head.word_bias.detach().float().cpu()
        return int(logits[: self.num_words].argmax())

    def _products(self, vectors: Tensor) -> Tensor:
        """Return the products of vectors [..., E] with every word, float32 [..., V]."""
        # float32: the table of a large vocabulary would take 200 MB more in float64.
        return vectors.float() @ self.network.decoder_table.detach().float().cpu().T

    def raised(self, layer: int, neurons: list[int]) -> Tensor:
        """Return how much neurons raised each logit, minus the mean, [len(neurons), V]."""
        matrix = self.network.layers[layer].feed_forward.output.weight
        columns = matrix[:, neurons].detach().to("cpu", torch.float64).T  # [n, D]
        written = columns * self.activations[layer][neurons, None]
        for index in range(layer, len(self.norms)):
            after_attention, after_feed_forward = self.norms[index]
            if index > layer and after_attention is not None:
                written = after_attention.forward(written)
            if after_feed_forward is not None:
                written = after_feed_forward.forward(written)
        weight = self.head.dense.weight.detach().to(written)
        logits = self._products(self.head_norm.forward((written @ weight.T) * self.ratios))
        return logits - logits.mean(-1, keepdim=True)

    def shares(
        self, word_id: int, other_id: int | None
    ) -> tuple[list[PartContribution], list[Tensor], list[Tensor]]:
        """Return parts, sources and neurons of LogitAttribution for a word, or a difference."""
        table, biases = self.network.decoder_table.detach(), self.head.word_bias.detach()
        direction, own_bias = table[word_id].to("cpu", torch.float64), float(biases[word_id])
        if other_id is not None:
            direction = direction - table[other_id].to("cpu", torch.float64)
            own_bias -= float(biases[other_id])
        parts = [PartContribution("decoder_bias", None, None, own_bias)]
        final = direction @ self.head_norm.bias
        direction = self.head_norm.backward(direction) * self.ratios
        final = final + _share_of(self.head.dense.bias, direction)
        direction = self.head.dense.weight.detach().to(direction).T @ direction
        after_last = self.norms[-1][1]
        if after_last is not None and self.network.final_norm is not None:
            final = final + direction @ after_last.bias
            direction = after_last.backward(direction)
        parts.append(PartContribution("final_bias", None, None, float(final)))
        sources: list[Tensor] = []
        neurons: list[Tensor] = []
        for index in reversed(range(len(self.norms))):
            direction = self._back_through(index, direction, parts, sources, neurons)
        self._back_to_embeddings(direction, parts)
        return parts[::-1], sources[::-1], neurons[::-1]

    def _back_through(
        self,
        index: int,
        direction: Tensor,
        parts: list[PartContribution],
        sources: list[Tensor],
        neurons: list[Tensor],
    ) -> Tensor:
        """Add the shares of a layer, its last part first; return the direction before it."""
        layer = self.network.layers[index]
        after_attention, after_feed_forward = self.norms[index]
        bias = direction.new_zeros(())
        # A final LayerNorm (ModernBERT) is already handled: it is the network's, not a layer's.
        if after_feed_forward is not None and self.network.final_norm is None:
            bias = direction @ after_feed_forward.bias
            direction = after_feed_forward.backward(direction)
        output = layer.feed_forward.output
        neurons.append(
            (output.weight.detach().to(direction).T @ direction) * self.activations[index]
        )
        bias = bias + _share_of(output.bias, direction)
        parts.append(PartContribution("feed_forward_bias", index, None, float(bias)))
        parts.append(PartContribution("feed_forward", index, None, float(neurons[-1].sum())))
        bias = direction.new_zeros(())
        if after_attention is not None:
            bias = direction @ after_attention.bias
            direction = after_attention.backward(direction)
        output = layer.attention.output
        bias = bias + _share_of(output.bias, direction)
        parts.append(PartContribution("attention_bias", index, None, float(bias)))
        back = output.weight.detach().to(direction).T @ direction  # [D] of the joined heads
        fetched = self.weighted_values[index]  # [H, T, K]
        sources.append(torch.einsum("htk,hk->ht", fetched, back.view(len(fetched), -1)))
        shares = sources[-1].sum(-1).tolist()
        parts += [
            PartContribution("head", index, head, shares[head])
            for head in reversed(range(len(shares)))
        ]
        return direction

    def _back_to_embeddings(self, direction: Tensor, parts: list[PartContribution]) -> None:
        """Add the shares of the embeddings, the last first."""
        embeddings, traced = self.network.embeddings, self.trace.embeddings
        bias = direction.new_zeros(())
        if embeddings.projection is not None:
            bias = _share_of(embeddings.projection.bias, direction)
            direction = embeddings.projection.weight.detach().to(direction).T @ direction
        bias = bias + direction @ self.embedding_norm.bias
        direction = self.embedding_norm.backward(direction)
        parts.append(PartContribution("embedding_bias", None, None, float(bias)))
        looked_up: list[tuple[PartKind, Tensor | None]] = [
            ("position", traced.position),
            ("segment", traced.segment),
            ("token", traced.token),
        ]
        for kind, vectors in looked_up:
            if vectors is not None:
                share = direction @ vectors[self.position].to(direction)
                parts.append(PartContribution(kind, None, None, float(share)))


def _share_of(bias: Tensor | None, direction: Tensor) -> Tensor:
    return direction.new_zeros(()) if bias is None else direction @ bias.detach().to(direction)
