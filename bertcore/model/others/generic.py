"""What the code of an architecture in `transformers` returns, seen in one run on six tokens.

Each missing capability gets a sentence. Only classes that are installed with `transformers` are
used, never code of a checkpoint.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from bertcore.model.architecture.families import Capability
from bertcore.model.network.embeddings import EmbeddingParts
from bertcore.model.others.config import OtherConfig
from bertcore.model.others.families import MASKED
from bertcore.model.others.network import OtherNetwork, States, word_logits_in

_NUM_PROBED = 6
_CLOSE, _CLOSE_IN_HALF = 1e-4, 0.05


@torch.no_grad()
def probed(network: OtherNetwork) -> OtherConfig:
    """Return the shape of a network with the results of one run: what it lacks, and its layers.

    RuntimeError if it does not return hidden states and attention of all tokens. ValueError if it
    is not an encoder, but should be.
    """
    config, family, name = network.config, network.other, network.other.name
    ids = torch.arange(_NUM_PROBED, device=network.token_table.device)[None]
    ids = ids % max(1, config.vocab_size - 5) + 4  # after the usual padding ids
    segments = torch.zeros_like(ids)
    with _Softmaxes() as softmaxes:
        states = _states(network, ids, segments)
    note, returns_scores = _attention_note(name, states.attentions, softmaxes.inputs)
    changed = ids.clone()
    changed[0, -1] = ids[0, 0]
    again = _states(network, changed, segments)
    if not family.is_causal and torch.equal(
        states.hidden_states[:, :, 0], again.hidden_states[:, :, 0]
    ):
        raise ValueError(
            f"{name} is a decoder: the vector of a token does not depend on those after it. Only "
            "encoders are supported."
        )
    absent: dict[Capability, str] = dict(family.absent)
    places: list[Tensor] = []
    position = network.embedding_modules().get("position")
    # The first input of its table; BART's counts by itself.
    if position is not None and not hasattr(position, "offset"):
        handle = position.register_forward_pre_hook(lambda _, inputs: places.extend(inputs[:1]))
        network(ids, segments)
        handle.remove()
    parts = network.input_parts(ids, segments)
    if parts.position is None:
        absent["positions"] = (
            f"{name} adds no position vectors to its input: where tokens stand enters in its "
            "attention alone (relative or rotary positions)."
        )
    if parts.segment is None:
        absent.setdefault("segments", f"{name} has no segment embeddings.")
    norm = _norm(network, parts, states.hidden_states[0])
    if not norm:
        absent["norm"] = (
            f"{name} has no LayerNorm after its embeddings that alone makes the first hidden state."
        )
    if family.words == MASKED and "mlm" in network.heads:
        _check_words(network, ids, segments, states)
    offset = int(places[0].flatten()[0]) if places else 0
    other = replace(
        family,
        absent=absent,
        attention_note=note,
        returns_scores=returns_scores,
        layers=_layers(network, ids, segments, states),
        norm=norm,
        position_offset=offset,
        reads_padding=_reads_padding(network, ids, segments, states),
    )
    return replace(
        config,
        other=other,
        position_offset=offset,
        num_hidden_layers=len(states.attentions),
        num_attention_heads=states.attentions.shape[2],
    )


def _check_words(network: OtherNetwork, ids: Tensor, segments: Tensor, states: States) -> None:
    """Make sure that the masked-word head reads only the last hidden states; else RuntimeError."""
    reason = (
        f"the masked-word head of {network.other.name} reads more than the last hidden states, "
        "which is not supported"
    )
    try:
        ours = network.word_logits(states.hidden_states[-1])
        theirs = word_logits_in(network.run(network.model, **network.inputs(ids, segments, None)))
    except Exception as error:  # its code may raise anything
        raise RuntimeError(f"{reason} ({' '.join(str(error).split())[:200]}).") from error
    if not _is_close(ours, theirs):
        raise RuntimeError(f"{reason}.")


def _states(network: OtherNetwork, ids: Tensor, segments: Tensor) -> States:
    """Return hidden states and attention; RuntimeError if it does not return them."""
    name, length = network.other.name, ids.shape[1]
    inputs = network.inputs(ids, segments, None) | {"output_hidden_states": True}
    try:
        out = network.run(network.encoder(), **inputs, output_attentions=True)
    except Exception as error:  # its code may raise anything
        reason = " ".join(str(error).split())[:200]
        raise RuntimeError(
            f"{name} cannot compute hidden states and attention from token ids alone in "
            f"transformers ({reason}). It is not supported."
        ) from error
    hidden, weights = out.hidden_states or (), out.attentions or ()
    shape = (1, length, network.config.hidden_size)
    # An ALBERT layer may be several, run one after the other.
    depth = len(weights) or network.config.num_hidden_layers
    if [tuple(state.shape) for state in hidden] != [shape] * (depth + 1):
        raise RuntimeError(
            f"{name} returns hidden states {[list(one.shape[1:]) for one in hidden]} for {length} "
            f"tokens; expected {depth + 1} of {list(shape[1:])}, one after each layer. It is not "
            "supported."
        )
    is_whole = len(weights) == depth and all(
        one is not None and one.dim() == 4 and one.shape[2:] == (length, length) for one in weights
    )
    if not is_whole:
        raise RuntimeError(
            f"{name} does not return an attention weight from each token to each other in every "
            "layer, which the pages show; it mixes tokens in another way. It is not supported."
        )
    return States(torch.stack(hidden), torch.stack(weights))


class _Softmaxes(TorchFunctionMode):
    """Keeps the input of each softmax that runs meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Tensor] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func in (F.softmax, torch.softmax, Tensor.softmax) and args:
            self.inputs.append(args[0])
        return func(*args, **(kwargs or {}))


def _attention_note(name: str, weights: Tensor, scores: list[Tensor]) -> tuple[str, bool]:
    """Return what is odd about attention, [L, 1, H, T, T], and whether it is scores instead.

    RuntimeError if a number is no weight, nor one of `scores`, the inputs of softmax in the run.
    """
    sums = weights.sum(-1)
    if _is_close(sums, torch.where(sums.isnan(), sums, 1.0)):
        return "", False
    off = (sums.float() - 1).abs().nan_to_num().flatten(1)
    layer = int(off.amax(1).argmax())
    worst = float(sums[layer].flatten()[off[layer].argmax()])
    told = f"in layer {layer} one row sums to {worst:.3g}, not 1"
    if weights.min() >= 0 and weights.max() <= 1:
        return f"The attention that {name} returns is not whole: {told}.", False
    alike = [one for one in scores if one.shape == weights.shape[1:]]
    if all(any(_is_close(one, layer) for one in alike) for layer in weights):
        shown = "The pictures show their softmax, the weights that its code computes from them."
        return f"{name} returns scores as attention in transformers: {told}. {shown}", True
    raise RuntimeError(
        f"{name} returns as attention what is neither weights nor scores: {told}. It is not "
        "supported."
    )


def _reads_padding(network: OtherNetwork, ids: Tensor, segments: Tensor, states: States) -> bool:
    """Return whether padding after a text changes its vectors (a convolution reads it)."""
    pad = torch.full_like(ids[:, :2], network.config.pad_token_id)
    zeros = torch.zeros_like(pad)
    mask = torch.cat([torch.ones_like(ids), zeros], 1).bool()
    padded = network(torch.cat([ids, pad], 1), torch.cat([segments, zeros], 1), mask)
    return not _is_close(padded[:, : ids.shape[1]], states.hidden_states[-1])


def _norm(network: OtherNetwork, parts: EmbeddingParts, first: Tensor) -> str:
    """Return the path of the LayerNorm from the sum of the embeddings to the first state, or ""."""
    is_same_width = parts.sum.shape == first.shape
    path: str
    for path, module in network.base.named_modules():
        is_norm = type(module).__name__.endswith("LayerNorm") and path.count(".") <= 1
        if not is_norm or module.weight.shape != parts.sum.shape[-1:]:
            continue
        # Where a matrix follows, the first hidden state has another width.
        if _is_close(module(parts.sum), first) if is_same_width else path.startswith("embeddings."):
            return path
    if not is_same_width:
        raise RuntimeError(
            f"the input of {network.other.name} is not the sum of its tables, in a way that is not "
            "supported."
        )
    return ""


def _layers(network: OtherNetwork, ids: Tensor, segments: Tensor, states: States) -> str:
    """Return the path of the list of layers; "" if their calls cannot be followed."""
    depth = network.config.num_hidden_layers
    path: str
    for path, module in network.base.named_modules():
        if not isinstance(module, nn.ModuleList) or len(module) != depth:
            continue
        inner: list[Tensor] = []
        try:
            with network.hooked(dict.fromkeys(network.layer_modules(path), inner.append)):
                network(ids, segments)
        except (AttributeError, TypeError, IndexError):  # they do not return a tensor
            continue
        # A LayerNorm may follow the last one.
        between = states.hidden_states[1:-1]
        if len(inner) == depth and all(map(_is_close, inner[:-1], between)):
            return path
    return ""


def _is_close(one: Tensor, other: Tensor) -> bool:
    close = _CLOSE if one.dtype == torch.float32 else _CLOSE_IN_HALF
    other = other.to(one.device).float()
    return torch.allclose(one.float(), other, atol=close, rtol=close, equal_nan=True)
