"""Text encoders without a table here, opened with the information in `transformers` itself.

Its tables name the classes of a `model_type`; one run on six tokens shows what an opened network
returns. Each missing capability has a sentence, as for the architectures of `families.py`. Only
classes that are installed with `transformers` are used, never code of a checkpoint.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from bertcore.architecture.families import FAMILIES, Capability
from bertcore.others.config import OtherConfig
from bertcore.others.families import MASKED, OTHERS, Opener, OtherFamily, OtherHead, family
from bertcore.others.given import word_logits_of
from bertcore.others.network import OtherNetwork, States

SAME_NETWORK: Mapping[str, str] = {"camembert": "roberta"}
"""`model_type` -> that of the family with the same network under another name."""
_KINDS = {
    "sequence": "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
    "token": "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES",
    "span": "MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES",
    "choice": "MODEL_FOR_MULTIPLE_CHOICE_MAPPING_NAMES",
}
_OTHER_INPUTS = {
    "bbox": "the place of each word on a page",
    "pixel_values": "pictures",
    "image": "pictures",
    "visual_feats": "pictures",
    "input_features": "sound",
    "input_values": "sound",
    "xpath_tags_seq": "the tags of a web page",
}
_NUM_PROBED = 6
_CLOSE = 1e-4


def generic_family(model_type: str) -> OtherFamily | None:
    """Return a text encoder without a table here, or None (see `why_not`).

    Args:
        model_type: The `model_type` of config.json.
    """
    has_table = model_type in SAME_NETWORK or model_type in FAMILIES or model_type in OTHERS
    return None if has_table else described_family(model_type)


@lru_cache
def described_family(model_type: str) -> OtherFamily | None:
    """Return a text encoder as described by `transformers`, or None (see `why_not`).

    Also one of FAMILIES, for a checkpoint with a value that our network does not compute.
    """
    base = _base_class(model_type)
    if base is None or why_not(model_type) is not None:
        return None
    words = _names("MODEL_FOR_MASKED_LM_MAPPING_NAMES").get(model_type)
    openers = [] if words is None else [Opener(words, frozenset({"mlm"}))]
    openers.append(Opener(base.__name__))
    if "add_pooling_layer" in inspect.signature(base.__init__).parameters:
        openers.append(Opener(base.__name__, options={"add_pooling_layer": False}))
    heads = {
        kind: OtherHead(_names(table)[model_type], last="")
        for kind, table in _KINDS.items()
        if isinstance(_names(table).get(model_type), str)
    }
    return family(
        FAMILIES[model_type].name if model_type in FAMILIES else _name(model_type),
        openers=tuple(openers),
        words=MASKED,
        signs=(),
        task_heads=heads,
        is_generic=True,
        absent={},
    )


def why_not(model_type: str) -> str | None:
    """Return why a `model_type` that `transformers` knows cannot be opened, as a sentence.

    None: it may be a text encoder, or `transformers` does not know it.
    """
    base = _base_class(model_type)
    if base is None:
        return None
    name = _name(model_type)
    tables = (*_KINDS.values(), "MODEL_FOR_MASKED_LM_MAPPING_NAMES")
    if not any(model_type in _names(table) for table in tables):
        return (
            f"{name} is not a text encoder: transformers has no class of it that fills in words, "
            "or labels a text or its tokens."
        )
    is_decoder = model_type in _names("MODEL_FOR_CAUSAL_LM_MAPPING_NAMES")
    if is_decoder and model_type not in _names("MODEL_FOR_MASKED_LM_MAPPING_NAMES"):
        return (
            f"{name} is a decoder, in which a token attends only to those before it; only "
            "encoders are supported."
        )
    if model_type in _names("MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES"):
        return f"{name} has a decoder after its encoder; only encoders are supported."
    inputs = inspect.signature(base.forward).parameters
    for other, what in _OTHER_INPUTS.items():
        if other in inputs:
            return f"{name} reads {what} besides its tokens ({other}); only text is supported."
    return None


def family_of(model_type: str) -> OtherFamily | None:
    """Return the architecture of a `model_type` that `transformers` runs, or None."""
    return OTHERS.get(model_type) or generic_family(model_type)


def own_prefix(model_type: str) -> str:
    """Return the prefix of its encoder's tensors in a model with a head."""
    base = _base_class(model_type)
    return "" if base is None else f"{base.base_model_prefix}."


def settle(config: Any) -> None:
    """Choose how a network of this configuration attends, so that it returns its weights.

    ValueError if it has a decoder.
    """
    name = _name(config.model_type)
    if getattr(config, "is_encoder_decoder", False):
        raise ValueError(f"{name} has a decoder after its encoder; only encoders are supported")
    if getattr(config, "is_decoder", False):
        raise ValueError(
            f"is_decoder is true: a token of this {name} attends only to those before it; only "
            "encoders are supported"
        )
    if getattr(config, "attention_type", None) == "block_sparse":
        # BigBird itself attends to all of a text up to 704 tokens, and we read at most 512.
        config.attention_type = "original_full"


@torch.no_grad()
def probed(network: OtherNetwork) -> OtherConfig:
    """Return the shape of a network with the results of one run: what it lacks, and its layers.

    RuntimeError if it does not return hidden states and attention of all tokens, or is not an
    encoder.
    """
    config, name = network.config, network.other.name
    ids = torch.arange(_NUM_PROBED, device=network.token_table.device)[None]
    ids = ids % max(1, config.vocab_size - 5) + 4  # after the usual padding ids
    segments = torch.zeros_like(ids)
    states = _states(network, ids, segments)
    changed = ids.clone()
    changed[0, -1] = ids[0, 0]
    again = _states(network, changed, segments)
    if torch.equal(states.hidden_states[:, :, 0], again.hidden_states[:, :, 0]):
        raise RuntimeError(
            f"{name} is a decoder: the vector of a token does not depend on those after it. Only "
            "encoders are supported."
        )
    absent: dict[Capability, str] = dict(network.other.absent)
    tables = network.embedding_modules()
    places: list[Tensor] = []
    position = tables.get("position")
    if position is not None:
        handle = position.register_forward_pre_hook(
            lambda module, inputs: places.extend(inputs[:1]) if inputs else None
        )
        parts = network.look_up(ids, segments)
        handle.remove()
    else:
        parts = network.look_up(ids, segments)
    if parts.position is None:
        absent["positions"] = f"{name} adds no position vectors to its input."
    if parts.segment is None:
        absent["segments"] = f"{name} has no segment embeddings."
    norm, sentence = _norm(network, parts.sum, states.hidden_states[0])
    if sentence:
        absent["norm"] = f"{name} {sentence}"
    if "mlm" in network.heads:
        _check_words(network, ids, segments, states)
    offset = int(places[0].flatten()[0]) if places else 0
    other = replace(
        network.other,
        absent=absent,
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
    """Make sure that the masked-word head reads only the last hidden states.

    RuntimeError if it does not.
    """
    reason = (
        f"the masked-word head of {network.other.name} reads more than the last hidden states, "
        "which is not supported"
    )
    try:
        ours = word_logits_of(network.model, states.hidden_states[-1])
        theirs = network.run(network.model, **network.inputs(ids, segments, None)).logits
    except Exception as error:  # its code may raise anything
        raise RuntimeError(f"{reason} ({' '.join(str(error).split())[:200]}).") from error
    if not _is_close(ours, theirs):
        raise RuntimeError(f"{reason}.")


def _states(network: OtherNetwork, ids: Tensor, segments: Tensor) -> States:
    """Return hidden states and attention; RuntimeError if it does not return them."""
    name, length = network.other.name, ids.shape[1]
    inputs = network.inputs(ids, segments, None)
    try:
        out = network.run(network.base, **inputs, output_hidden_states=True, output_attentions=True)
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
    if len(hidden) != depth + 1 or any(tuple(one.shape) != shape for one in hidden):
        shapes = [list(one.shape[1:]) for one in hidden]
        raise RuntimeError(
            f"{name} returns hidden states {shapes} for {length} tokens; expected {depth + 1} of "
            f"{list(shape[1:])}, one after each layer. It is not supported."
        )
    is_whole = len(weights) == depth and all(
        one is not None and one.dim() == 4 and one.shape[2:] == (length, length) for one in weights
    )
    if not is_whole or not _is_close(torch.stack(weights).sum(-1), torch.ones(())):
        raise RuntimeError(
            f"{name} does not return an attention weight from each token to each other in every "
            "layer, which the pages show; it mixes tokens in another way. It is not supported."
        )
    return States(torch.stack(hidden), torch.stack(weights))


def _reads_padding(network: OtherNetwork, ids: Tensor, segments: Tensor, states: States) -> bool:
    """Return whether padding after a text changes its vectors (a convolution reads it)."""
    pad = torch.full_like(ids[:, :2], network.config.pad_token_id)
    kept = torch.cat([torch.ones_like(ids), torch.zeros_like(pad)], 1).bool()
    zeros = torch.zeros_like(pad)
    padded = network(torch.cat([ids, pad], 1), torch.cat([segments, zeros], 1), kept)
    return not _is_close(padded[:, : ids.shape[1]], states.hidden_states[-1])


def _norm(network: OtherNetwork, total: Tensor, first: Tensor) -> tuple[str, str]:
    """Return the path of the LayerNorm after the embeddings, or "" and a sentence."""
    for path, module in network.base.named_modules():
        is_norm = isinstance(module, nn.LayerNorm) and module.normalized_shape == total.shape[-1:]
        if is_norm and path.count(".") <= 1:
            normalised = module(total)
            if total.shape != first.shape:
                if path.startswith("embeddings."):
                    return path, ""
            elif _is_close(normalised, first):
                return path, ""
    if total.shape == first.shape and _is_close(total, first):
        return "", "has no LayerNorm after its embeddings: its layers normalise inside."
    if total.shape != first.shape:
        raise RuntimeError(
            f"the input of {network.other.name} is not the sum of its tables, in a way that is not "
            "supported."
        )
    return "", (
        "makes its first hidden state from the sum of its embeddings with more than a LayerNorm, "
        "which transformers does not expose."
    )


def _layers(network: OtherNetwork, ids: Tensor, segments: Tensor, states: States) -> str:
    """Return the path of the list of layers; "" if their calls cannot be followed."""
    depth = network.config.num_hidden_layers
    for path, modules in _lists(network.base, depth):
        try:
            inner = _outputs(network, modules, ids, segments)
        except (AttributeError, TypeError, IndexError):  # they do not return a tensor
            continue
        # A LayerNorm may follow the last one.
        between = states.hidden_states[1:-1]
        if len(inner) == depth and all(map(_is_close, inner[:-1], between)):
            return path
    return ""


def _outputs(
    network: OtherNetwork, modules: Iterable[nn.Module], ids: Tensor, segments: Tensor
) -> list[Tensor]:
    """Return the outputs of modules in one run, in the order of their calls."""
    seen: list[Tensor] = []
    with network.hooked(dict.fromkeys(modules, seen.append)):
        network(ids, segments)
    return seen


def _lists(base: Any, depth: int) -> Iterator[tuple[str, nn.ModuleList]]:
    for path, module in base.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) == depth:
            yield path, module


def _is_close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one.float(), other.to(one.device).float(), atol=_CLOSE, rtol=_CLOSE)


def _names(table: str) -> Mapping[str, Any]:
    from transformers.models.auto import modeling_auto

    names: Mapping[str, Any] = getattr(modeling_auto, table)
    return names


def _base_class(model_type: str) -> Any:
    """Return the class of the bare network; None if `transformers` has none of that type."""
    import transformers

    name = _names("MODEL_MAPPING_NAMES").get(model_type)
    if not isinstance(name, str):
        name = name[0] if name else None
    return None if name is None else getattr(transformers, name, None)


def _name(model_type: str) -> str:
    base = _base_class(model_type)
    return model_type if base is None else base.__name__.removesuffix("Model")
