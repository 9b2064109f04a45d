"""Attention as it is looked at: all heads, a layer, a map of a head or a mean, a head's steps.

The functions take a trace, or the weights of any other model as `given_attention` reads them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from bertcore.analysis.heads.measures import HeadMeasures, measure_heads
from bertcore.analysis.mixing.neurons import HeadNeurons, allowed_keys, head_neurons
from bertcore.analysis.mixing.norm_weighted import summed_norms, weighted_norms
from bertcore.analysis.mixing.rollout import attention_rollout, normalize_rows
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from bertcore.model.model import Model
from bertcore.model.trace import Trace

if TYPE_CHECKING:
    from bertcore.model.others.model import DecoderTrace

THUMBNAIL_SIZE = 48  # most cells on a side of a thumbnail
MOST_ZEROED = 512
"""Tokens up to which each value is zeroed: the work grows with the square of their number."""


@dataclass(frozen=True, slots=True)
class InputTokens:
    """The T tokens of an input, and the W words that they belong to."""

    tokens: list[str]
    text_ids: list[int]
    """0: text A, 1: text B, -1: an added special token."""
    segment_ids: list[int]
    starts: list[int]
    """First token of each word, ascending from 0; an added special token counts as a word."""
    words: list[str]
    """As written in the text; an added special token has its own name."""
    note: str = ""
    """What is odd about the weights that were given with them, a sentence."""

    @property
    def is_pair(self) -> bool:
        """Whether there is a text B."""
        return 1 in self.text_ids


def input_tokens(trace: Trace) -> InputTokens:
    """Return the tokens and the words of a trace."""
    starts = [
        place
        for place, word in enumerate(trace.word_ids)
        if place == 0 or word < 0 or word != trace.word_ids[place - 1]
    ]
    words = [trace.word_text(*ends) for ends in pairwise([*starts, trace.num_tokens])]
    tokens, text_ids = list(trace.tokens), list(trace.text_ids)
    return InputTokens(tokens, text_ids, list(trace.segment_ids), starts, words)


@dataclass(frozen=True, slots=True)
class Attention:
    """Attention weights of one input, and its tokens."""

    attentions: Tensor
    """[L, H, T, T]; row = query token, column = key token; rows sum to 1."""
    input: InputTokens


def given_attention(
    attentions: ArrayLike | Sequence[ArrayLike],
    tokens: Sequence[str],
    *,
    text_ids: Sequence[int] | None = None,
    segment_ids: Sequence[int] | None = None,
) -> Attention:
    """Return the attention of any model, as arrays, for the functions that take a trace.

    Args:
        attentions: [L, H, T, T], of NumPy or PyTorch; or L of [H, T, T] or [1, H, T, T], as
            transformers returns them. Numbers from 0 to 1; NaN is shown as such. Rows that do not
            sum to 1 are shown as they are, with a note.
        tokens: T; a piece that begins with ## belongs to the word before.
        text_ids: 0: text A, 1: text B, -1: an added special token. If not given, tokens in square
            or pointed brackets ([CLS], <s>) are special, and the others of their segment's text.
        segment_ids: T of 0 and 1; 0 if not given.

    ValueError if the shapes or numbers are none of these.
    """
    weights = _stacked(attentions)
    names, size = list(tokens), len(tokens)
    if weights.ndim != 4 or size == 0 or weights.shape[2:] != (size, size) or not weights.numel():
        raise ValueError(
            f"attentions have the shape {list(weights.shape)}, and there are {size} tokens; "
            "expected [layers, heads, tokens, tokens] of one input. Give one of a batch alone, "
            "without padding."
        )
    if bool(((weights < 0) | (weights > 1.001)).any()):
        raise ValueError(
            f"attentions are from {weights.min():.3g} to {weights.max():.3g}; expected weights "
            "from 0 to 1. Give them as they are after the softmax."
        )
    if isinstance(tokens, str) or not all(isinstance(name, str) for name in names):
        raise ValueError("tokens are not a list of strings; expected one for each token, no ids.")
    segments = [0] * size if segment_ids is None else list(segment_ids)
    is_special = [name[:1] + name[-1:] in ("[]", "<>") and len(name) > 2 for name in names]
    guessed = [
        -1 if is_special[place] else int(segments[place:][:1] == [1]) for place in range(size)
    ]
    texts = guessed if text_ids is None else list(text_ids)
    for name, ids, known in (("text_ids", texts, {-1, 0, 1}), ("segment_ids", segments, {0, 1})):
        if len(ids) != size or not {*ids} <= known:
            raise ValueError(
                f"{name} are {len(ids)}, of {', '.join(map(str, {*ids}))}; expected {size} of "
                f"{', '.join(map(str, sorted(known)))}, one for each token."
            )
    starts = [
        place
        for place, name in enumerate(names)
        if place == 0 or texts[place] < 0 or texts[place - 1] < 0 or not name.startswith("##")
    ]
    words = [
        names[start] + "".join(name.removeprefix("##") for name in names[start + 1 : end])
        for start, end in pairwise([*starts, size])
    ]
    sums, note = weights.sum(-1), ""
    if num_odd := int(((sums - 1).abs() > 0.01).sum()):
        note = (
            f"{num_odd:,} of {sums.numel():,} rows do not sum to 1 (they are from {sums.min():.3g} "
            f"to {sums.max():.3g}), as with dropout, padding or a cut text."
        )
    return Attention(weights.clamp(max=1), InputTokens(names, texts, segments, starts, words, note))


def _stacked(attentions: Any) -> Tensor:
    """Return weights as one tensor on the CPU; ValueError if they are no numbers of one shape."""
    try:
        if isinstance(attentions, list | tuple):
            layers = [torch.as_tensor(layer).detach().cpu() for layer in attentions]
            attentions = [
                layer[0] if layer.ndim == 4 and len(layer) == 1 else layer for layer in layers
            ]
            attentions = torch.stack(attentions)
        weights = torch.as_tensor(attentions).detach().cpu()
        if weights.is_complex():
            raise ValueError("they are complex numbers")
        return weights.float()
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError(
            f"attentions cannot be read ({error}); expected an array [layers, heads, tokens, "
            "tokens], or one for each layer. Load the model with attn_implementation='eager'."
        ) from error


def _read(trace: Trace | Attention) -> Attention:
    if isinstance(trace, Attention):
        return trace
    return Attention(trace.attentions, input_tokens(trace))


# ---- all heads ----


@dataclass(frozen=True, slots=True)
class AttentionOverview:
    """All heads of all layers at a glance."""

    thumbnails: Tensor
    """Attention made small, [L, H, S, S] with S = min(T, THUMBNAIL_SIZE)."""
    num_missing: NDArray[np.int64]
    """How many weights of each head are not numbers, [L, H]."""
    measures: HeadMeasures
    """Each [L, H]."""
    num_tokens: int
    """T."""
    note: str = ""
    """As of the input."""


def attention_overview(trace: Trace | Attention) -> AttentionOverview:
    """Return all heads as small pictures, and what each attends to.

    A head is measured as causal if no token attends to a later one in any head.
    """
    read = _read(trace)
    weights, tokens = read.attentions, read.input
    is_causal = not any(bool((layer.triu(1) > 0).any()) for layer in weights)
    measures = measure_heads(weights, tokens.text_ids, tokens.tokens, is_causal=is_causal)
    return AttentionOverview(
        thumbnails(weights), count_missing(weights), measures, len(tokens.tokens), tokens.note
    )


def thumbnails(attentions: Tensor, size: int = THUMBNAIL_SIZE) -> Tensor:
    """Return attention [L, H, T, T] made small, [L, H, S, S] with S = min(T, size).

    A cell is the largest weight of its block: a mean would lose the narrow diagonals that make
    heads worth seeing. A NaN weight makes its cell NaN.
    """
    if attentions.shape[-1] <= size:
        return attentions
    pool = torch.nn.functional.adaptive_max_pool2d
    return torch.stack([pool(layer.detach().float(), size) for layer in attentions])


def count_missing(attentions: Tensor) -> NDArray[np.int64]:
    """Return how many weights [L, H, T, T] of each head are not numbers, [L, H]."""
    # One layer at a time: at 512 tokens the flags of all layers would be 38 MB.
    counts = [layer.isnan().sum((-2, -1)).cpu().numpy() for layer in attentions]
    stacked: NDArray[np.int64] = np.stack(counts)
    return stacked


# ---- a layer ----


@dataclass(frozen=True, slots=True)
class LayerAttention:
    """The attention of all layers, one of which is looked at."""

    attentions: Tensor
    """[L, H, T, T]"""
    input: InputTokens
    layer: int
    heads: tuple[int, ...]
    """Those looked at; none for all."""

    @property
    def weights(self) -> Tensor:
        """[H, T, T], of the layer."""
        return self.attentions[self.layer]


def layer_attention(
    trace: Trace | Attention, layer: int = 0, heads: Sequence[int] = ()
) -> LayerAttention:
    """Return the attention of a layer, `weights` [H, T, T]; no heads for all.

    ValueError if there is no such layer or head.
    """
    read = _read(trace)
    check_heads(read.attentions, [layer], heads)
    return LayerAttention(read.attentions, read.input, layer, tuple(heads))


def check_heads(attentions: Tensor, layers: Sequence[int], heads: Sequence[int]) -> None:
    """Make sure that weights [L, H, T, T] have these layers and heads; ValueError if not."""
    for layer in layers:
        check_index("layer", layer, len(attentions), "this checkpoint has layers")
    for head in heads:
        check_index("head", head, attentions.shape[1], "a layer of this checkpoint has heads")


def check_index(name: str, index: int, number: int, has: str) -> None:
    """Check that `index` is from 0 to `number` - 1; ValueError if it does not."""
    if not 0 <= index < number:
        raise ValueError(f"{name} is {index}, but {has} 0 to {number - 1}.")


# ---- a map ----


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionMap:
    """Where tokens take information from, by one head or the mean of several."""

    values: NDArray[np.float32]
    """[T, T]; row = the attending token. May contain NaN."""
    title: str
    unit: str = "weight"
    verb: str = "attends to"
    """What the row's token does, before the column's."""
    input: InputTokens
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    """Of each of these layers; none for all."""
    num_layers: int
    num_heads: int
    num_missing: NDArray[np.int64]
    """How many weights of each of these layers and heads are not numbers."""


def attention_map(
    trace: Trace | Attention, layers: Sequence[int] = (0,), heads: Sequence[int] = ()
) -> AttentionMap:
    """Return the weights of one head, or the mean of several, as `values` [T, T].

    `heads` are of each of the layers, all if none are given; each counts equally.

    ValueError if there is no such layer or head, or no layer is given.
    """
    read = _read(trace)
    if not layers:
        raise ValueError("no layer is given. Give one, such as layers=[0], or several.")
    check_heads(read.attentions, layers, heads)
    num_layers, num_heads = read.attentions.shape[:2]
    averaged = list(heads) or list(range(num_heads))
    total = torch.zeros(read.attentions.shape[-2:])
    for layer in layers:
        for head in averaged:
            total += read.attentions[layer, head]
    values = (total / (len(layers) * len(averaged))).numpy()
    title = f"{_layer_words(layers, num_layers)}, {_head_words(heads, num_heads)}"
    return _mapped(read, values, title, layers, heads)


def _layer_words(layers: Sequence[int], num_layers: int) -> str:
    if len(layers) == 1:
        return f"Layer {layers[0]}"
    if len(layers) == num_layers:
        return f"All {num_layers} layers"
    return f"Layers {', '.join(map(str, layers))}"


def _head_words(heads: Sequence[int], num_heads: int) -> str:
    if len(heads) == 1:
        return f"head {heads[0]}"
    if not heads or len(heads) == num_heads:
        return f"mean of all {num_heads} heads"
    return f"mean of heads {', '.join(map(str, heads))}"


def norm_map(bert: Model, trace: Trace, layer: int = 0, head: int | None = None) -> AttentionMap:
    """Return the norms of what tokens pass on in a layer, each row divided by its sum.

    Of all heads together if none is given. The errors and the source are those of `weighted_norms`.
    """
    check_heads(trace.attentions, [layer], [] if head is None else [head])
    values = (
        summed_norms(bert, trace)[layer]
        if head is None
        else weighted_norms(bert, trace)[layer, head]
    )
    return _measured(trace, values, "Norms", "receives from", layer, head)


def zeroing_map(
    bert: Model,
    trace: Trace,
    layer: int = 0,
    *,
    progress: Callable[[float], None] = lambda fraction: None,
) -> AttentionMap:
    """Return the value zeroing of a layer, each row divided by its sum.

    ValueError if the text has more than MOST_ZEROED tokens, and as for `value_zeroing`.
    """
    check_heads(trace.attentions, [layer], [])
    if trace.num_tokens > MOST_ZEROED:
        raise ValueError(
            f"value zeroing is computed for at most {MOST_ZEROED} tokens; this text has "
            f"{trace.num_tokens}. Use a shorter text, or the norms."
        )
    values = value_zeroing(bert, trace, layers=[layer], progress=progress)[0]
    return _measured(trace, values, "Value zeroing", "changes without", layer, None)


def rollout_map(trace: Trace | Attention, layer: int = 0, head: int | None = None) -> AttentionMap:
    """Return the rollout from a layer down to the text; rows sum to 1.

    Of one head of every layer, or the mean of all. The errors and the source are those of
    `attention_rollout`.
    """
    read = _read(trace)
    check_heads(read.attentions, [layer], [] if head is None else [head])
    values = attention_rollout(read.attentions[: layer + 1], head=head)[-1]
    return _measured(read, values, "Rollout", "has from", layer, head)


def _measured(
    trace: Trace | Attention, values: Tensor, name: str, verb: str, layer: int, head: int | None
) -> AttentionMap:
    title = f"{name}, layer {layer}, {'all heads' if head is None else f'head {head}'}"
    rows, heads = normalize_rows(values).numpy(), [] if head is None else [head]
    return _mapped(_read(trace), rows, title, [layer], heads, "fraction of the row", verb)


def _mapped(
    read: Attention,
    values: NDArray[np.float32],
    title: str,
    layers: Sequence[int],
    heads: Sequence[int],
    *words: str,
) -> AttentionMap:
    num_layers, num_heads = read.attentions.shape[:2]
    counts = count_missing(read.attentions[list(layers)])
    named = dict(zip(("unit", "verb"), words, strict=False))
    return AttentionMap(
        values=values,
        title=title,
        input=read.input,
        layers=tuple(layers),
        heads=tuple(heads),
        num_layers=num_layers,
        num_heads=num_heads,
        num_missing=counts[:, list(heads) or slice(None)],
        **named,
    )


# ---- a head ----


@dataclass(frozen=True, slots=True)
class HeadSteps:
    """How one head computes its weights, and its place."""

    neurons: HeadNeurons
    weights: Tensor
    """Those that the network used, whatever its precision, float32 [T, T]."""
    input: InputTokens
    layer: int
    head: int
    num_layers: int
    num_heads: int


def head_steps(bert: Model, trace: Trace, layer: int = 0, head: int = 0) -> HeadSteps:
    """Return how a head's weights are computed, with the mask of the checkpoint's layer.

    ValueError if there is no such layer or head, or the layers of the checkpoint cannot be read.
    """
    check_heads(trace.attentions, [layer], [head])
    return traced_steps(trace, layer, head, allowed_keys(bert, layer, trace.num_tokens))


def traced_steps(trace: Trace, layer: int, head: int, allowed: Tensor | None) -> HeadSteps:
    """Return the same with a given mask, as of `head_neurons`."""
    weights = trace.attentions[layer, head].float()
    neurons, shape = head_neurons(trace, layer, head, allowed), trace.attentions.shape[:2]
    return HeadSteps(neurons, weights, input_tokens(trace), layer, head, *shape)


@dataclass(frozen=True, slots=True)
class AllNeurons:
    """Queries, keys and weights of all heads, one of which is looked at."""

    attentions: Tensor
    """[L, H, T, T]"""
    queries: Tensor
    """[L, H, T, K], like the keys."""
    keys: Tensor
    input: InputTokens
    layer: int
    head: int


def all_neurons(trace: Trace, layer: int = 0, head: int = 0) -> AllNeurons:
    """Return queries, keys and weights of all heads.

    ValueError if there is no such layer or head, or the trace has no queries and keys.
    """
    check_heads(trace.attentions, [layer], [head])
    of = trace.attentions, trace.queries, trace.keys
    return AllNeurons(*of, input_tokens(trace), layer, head)


def decoder_trace(bert: Model, text_a: str, text_b: str | None = None) -> "DecoderTrace":
    """Return what the decoder of T5 or BART reads, attends to and writes for a text or pair.

    ValueError if the checkpoint has no decoder.
    """
    from bertcore.model.others.model import OtherModel

    bert.require("decoder")
    assert isinstance(bert, OtherModel)  # ours have none
    return bert.decoder(text_a, text_b)
