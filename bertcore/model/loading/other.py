"""Open a checkpoint of another architecture with `transformers`, after a check of its tensors.

BertScope reads the weights, from safetensors (or a pickle after consent), and passes them on; no
code of a checkpoint is run.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from bertcore.base.memory import fit_dtype
from bertcore.base.quiet import quiet_transformers
from bertcore.model.architecture.families import FAMILIES, Capability
from bertcore.model.checkpoints.files import CheckpointFolder
from bertcore.model.checkpoints.plan import misfit
from bertcore.model.checkpoints.report import (
    Shape,
    TaskFacts,
    TensorReport,
    findings,
    head_findings,
    list_up_to,
    name_sentences,
)
from bertcore.model.checkpoints.task import facts_of, head_numbers, without_unread
from bertcore.model.checkpoints.weights import OpenWeights, fingerprint_of
from bertcore.model.loading.family import Architecture
from bertcore.model.model import Model
from bertcore.model.others.config import read_config, settle, transformers_config
from bertcore.model.others.families import SPANS, Opener, OtherFamily
from bertcore.model.others.generic import probed
from bertcore.model.others.model import OtherModel
from bertcore.model.others.network import OtherNetwork
from bertcore.model.tokenizer import open_tokenizer

_WRAPPERS = ("module.", "_orig_mod.", "model.module.")
"""Prefixes of data-parallel wrappers and compilers."""
_TASK_HEADS = (
    *("classifier", "classification_head", "qa_outputs", "qa_classifier"),
    *("score.", "logits_proj"),
)
_REPORTED: tuple[Capability, ...] = ("parts", "segments", "positions", "nsp", "mlm")
"""What another architecture may lack that the load report states."""
_BEFORE_HEADS = ("sequence_summary.", "pooler.dense.", "dense.")
"""Layers between the encoder and the last layer of a task head, unused without one."""


class Opened(NamedTuple):
    """A model, and the facts on its weights."""

    model: Model
    tensors: TensorReport
    task: TaskFacts
    not_finite: tuple[str, ...]
    """Names of tensors that contain NaN or infinity."""
    fingerprint: str
    precision_note: str | None
    """A sentence if the number format differs from the requested one."""


@dataclass(frozen=True, slots=True)
class _Match:
    """The stored tensors matched to a class of `transformers`."""

    opener: Opener
    table: dict[str, str]
    """The class's name -> name in the file."""
    missing: dict[str, Shape]
    mis_shaped: dict[str, tuple[Shape, Shape]]
    """Name in the file -> (found, expected)."""

    @property
    def fits(self) -> bool:
        """Whether nothing is missing or of another shape."""
        return not self.missing and not self.mis_shaped


def load_other(
    architecture: Architecture,
    files: CheckpointFolder,
    weights: OpenWeights,
    *,
    name: str,
    device: torch.device,
    dtype: str,
) -> Opened:
    """Open a checkpoint of another architecture, which `transformers` runs.

    `dtype` "auto" is float32, or bfloat16 if only that fits. FileNotFoundError if the tokenizer's
    files are missing; ValueError if the architecture cannot run in `dtype`; RuntimeError if
    config.json is impossible, or tensors are missing or of another shape.
    """
    model_type, family = architecture.model_type, architecture.family
    assert isinstance(family, OtherFamily)
    if family.only_float32 and dtype not in ("auto", "float32"):
        raise ValueError(
            f"{family.name} runs only in float32 in transformers, but {dtype} was requested. "
            "Choose float32."
        )
    try:
        weights = converted(weights, model_type)
    except ValueError as error:
        raise RuntimeError(f"{family.name} is not supported here: {error}.") from error
    tokens = None if model_type in FAMILIES else family.tokens
    tokenizer = open_tokenizer(files.tokenizer_folder, model_type=model_type, tokens=tokens)
    config = read_other_config(architecture, files, weights)
    matches = list(_matches(family.openers, config, weights, files.config_file))
    match = _choose(matches, weights, files.folder)
    shape = read_config(config, heads=match.opener.heads, family=family)
    try:
        fitted = tokenizer.for_network(shape.vocab_size, shape.type_vocab_size)
    except ValueError as error:
        raise RuntimeError(f"{files.folder}: {error}") from error
    stored = {name: weights.stored[name].shape for name in match.table.values()}
    num_parameters = sum(math.prod(shape) for shape in stored.values())
    fit = fit_dtype("float32" if family.only_float32 else dtype, num_parameters, device)
    model, not_finite = _fill(match, config, weights, device, fit.dtype)
    network = OtherNetwork(
        model,
        shape,
        match.opener.heads,
        mask_id=fitted.mask_id,
        sentinels=_sentinels(fitted.vocab) if family.words == SPANS else (),
    ).eval()
    network.config = probed(network)
    tensors = _tensor_report(weights, match, preferred=matches[0], network=network)
    return Opened(
        OtherModel(network, fitted, name=name),
        tensors,
        read_other_task(files.config, weights, family, config),
        not_finite,
        fingerprint_of(match.table, weights),
        fit.note,
    )


def read_other_config(
    architecture: Architecture, files: CheckpointFolder, weights: OpenWeights
) -> Any:
    """Return config.json as the configuration class of `transformers`.

    RuntimeError if its values are impossible.
    """
    is_legacy = not any("lm_predictions.lm_head." in name for name in weights.stored)
    values, model_type = files.config, architecture.model_type
    assert isinstance(architecture.family, OtherFamily)
    if model_type.startswith("deberta") and not is_legacy:
        values = {**values, "legacy": False}  # the head of DeBERTa-v3's own files
    try:
        config = transformers_config(model_type, values)
        settle(config, architecture.family)
        return config
    except ValueError as error:
        advice = "" if str(error).endswith(".") else ". Use the one that belongs to the weights."
        raise RuntimeError(f"{files.config_file}: {error}{advice}") from error


def read_other_task(
    values: Mapping[str, Any], weights: OpenWeights, family: OtherFamily, config: Any
) -> TaskFacts:
    """Return the task of a checkpoint of another architecture, and whether its head can be applied.

    The weights are under the names of the classes; `config` is of `transformers`.
    """
    outside = head_names(weights.stored, family)
    beside = {
        bare: weights.stored[name].shape
        for bare, name in outside.items()
        if _is_task_head(bare) and not _is_buffer(name)
    }
    facts = facts_of(values, weights, beside, family)
    if facts.kind is None:
        return facts
    known = {name for name in outside if _is_buffer(name) or ".pooler." in f".{name}"}
    named = _shapes_of(Opener(family.task_class(facts.kind)), config)[1]
    known |= _shapes_of(Opener(family.openers[0].class_name), config)[1].keys() | named.keys()
    lost = [n for n in head_names(named, family) if n not in outside and not _is_buffer(n)]
    if lost:
        reason = f"The file lacks {list_up_to(lost)}, which the head of its class has."
        return replace(facts, kind=None, note=None, refusal=reason)
    unread = {n: weights.stored[s].shape for n, s in outside.items() if n not in known}
    return without_unread(facts, unread)


def _tensor_report(
    weights: OpenWeights, match: _Match, *, preferred: _Match, network: OtherNetwork
) -> TensorReport:
    """Return the facts on the tensors; what is missing is of the family's first class."""
    used = set(match.table.values())
    others = {
        name: tensor.shape
        for name, tensor in weights.stored.items()
        if name not in used and not _is_buffer(name)
    }
    tasks = {name: shape for name, shape in others.items() if _is_task_head(name)}
    if tasks:
        tasks |= {n: shape for n, shape in others.items() if _is_task_head(n, _BEFORE_HEADS)}
    family, heads, decoder = network.other, tuple(sorted(network.heads)), _decoder(network.model)
    unexpected = {name: shape for name, shape in others.items() if name not in tasks}
    mis_shaped = preferred.mis_shaped if preferred is not match else {}
    of_family = sorted(frozenset().union(*(opener.heads for opener in family.openers)))
    lacks = [family.absent[key] for key in _REPORTED if key in family.absent]
    numbers, broken = head_numbers(weights, tasks)
    note = family.attention_note
    names = name_sentences(
        family.name,
        unexpected,
        prefix=_wrapper(match.table),
        num_renamed=sum(name.endswith((".gamma", ".beta")) for name in used),
        tied_head="word head" if decoder == "tied" else "",
    )
    return TensorReport(
        stored_dtype=weights.stored[next(iter(match.table.values()))].dtype,
        matched={name: weights.stored[name].shape for name in match.table.values()},
        missing=preferred.missing if preferred is not match else {},
        unexpected=unexpected,
        mis_shaped=mis_shaped,
        decoder=decoder,
        heads=heads,
        task_heads=tasks,
        broken_heads=broken,
        findings=[
            *numbers,
            *findings("numbers", [f"Warning: {note}"] if note else []),
            *head_findings(heads, of_family, lacks, mis_shaped=mis_shaped),
            *findings("names", names),
        ],
    )


def _matches(
    openers: Iterable[Opener], config: Any, weights: OpenWeights, file: Path
) -> Iterator[_Match]:
    """Yield the match of the stored tensors with each class; allocates nothing."""
    for opener in openers:
        try:
            model, shapes = _shapes_of(opener, config)
        except Exception as error:  # an impossible shape may raise anything
            reason = " ".join(str(error).split())[:200]
            raise RuntimeError(
                f"{file} describes a network that transformers cannot build ({reason}). "
                "Use the one that belongs to the weights."
            ) from error
        yield _match(opener, model, shapes, weights)


def _shapes_of(opener: Opener, config: Any) -> tuple[Any, dict[str, Shape]]:
    """Return a class without weights, and the shapes of its tensors by name."""
    import transformers

    with torch.device("meta"):
        model = getattr(transformers, opener.class_name)(config, **opener.options)
        return model, {name: tuple(t.shape) for name, t in model.state_dict().items()}


def _match(opener: Opener, model: Any, shapes: dict[str, Shape], weights: OpenWeights) -> _Match:
    table: dict[str, str] = {}
    for name in sorted(weights.stored):
        key = next((form for form in _forms(name, model.base_model_prefix) if form in shapes), None)
        if key is not None and key not in table:
            table[key] = name
    # A table may be stored under any of its names.
    for group in _groups(model.all_tied_weights_keys):
        keys = sorted(group)  # in one order, as fingerprints follow the table's
        stored = next((table[key] for key in keys if key in table), None)
        if stored is not None:
            table |= {key: stored for key in keys if key not in table}
    buffers = {name for name, _ in model.named_buffers()}
    of_file = {key: weights.stored[name].shape for key, name in table.items()}
    return _Match(
        opener=opener,
        table=table,
        missing={k: s for k, s in shapes.items() if k not in table and k not in buffers},
        mis_shaped={table[k]: (of_file[k], shapes[k]) for k in table if of_file[k] != shapes[k]},
    )


def _forms(name: str, prefix: str) -> Iterator[str]:
    """Yield the names that a stored tensor may have in a class of `transformers`."""
    for wrapper in ("", *_WRAPPERS):
        if not name.startswith(wrapper):
            continue
        plain = name.removeprefix(wrapper)
        if plain.endswith(("LayerNorm.gamma", "LayerNorm.beta")):
            plain = plain.replace("Norm.gamma", "Norm.weight").replace("Norm.beta", "Norm.bias")
        yield plain
        yield f"{prefix}.{plain}"
        if plain.startswith(f"{prefix}."):
            yield plain.removeprefix(f"{prefix}.")


def _groups(ties: Mapping[str, str]) -> list[set[str]]:
    groups: dict[str, set[str]] = {}
    for copy, source in ties.items():
        groups.setdefault(source, {source}).add(copy)
    return list(groups.values())


def _choose(matches: list[_Match], weights: OpenWeights, folder: Path) -> _Match:
    """Return the fitting match with the most heads; no word head beside a task head."""
    trained = any(_is_task_head(name) for name in weights.stored)
    for match in matches:
        if match.fits and not (trained and match.opener.heads):
            return _checked(match, weights, folder)
    bare = min(matches, key=lambda match: len(match.missing) + len(match.mis_shaped))
    lacking = [f"{key} {list(shape)}" for key, shape in bare.missing.items()]
    wrong = [
        f"{name} is {list(stored)}, expected {list(expected)}"
        for name, (stored, expected) in bare.mis_shaped.items()
    ]
    raise misfit(weights, folder, lacking, wrong)


def _checked(match: _Match, weights: OpenWeights, folder: Path) -> _Match:
    wrong = [
        f"{name} is {weights.stored[name].dtype}"
        for name in match.table.values()
        if not weights.stored[name].is_float
    ]
    if wrong:
        raise RuntimeError(
            f"the weights in {folder} cannot be read: {list_up_to(wrong)}; expected F32, F16 or "
            "BF16."
        )
    return match


@torch.no_grad()
def _fill(
    match: _Match, config: Any, weights: OpenWeights, device: torch.device, dtype: torch.dtype
) -> tuple[Any, tuple[str, ...]]:
    """Return the model with its weights, and the names of tensors that are not finite."""
    import transformers

    state: dict[str, Tensor] = {}
    not_finite = []
    for key, name in match.table.items():
        state[key], is_finite = weights.copy(name, dtype)
        if not is_finite:
            not_finite.append(name)
    model_class = getattr(transformers, match.opener.class_name)
    with quiet_transformers():
        model = model_class.from_pretrained(
            None, config=config, state_dict=state, dtype=dtype, **match.opener.options
        )
    if weights.is_shared:
        for name, parameter in model.named_parameters():
            parameter.data = state.get(name, parameter.data)
    return model.eval().to(device), tuple(dict.fromkeys(not_finite))


def _sentinels(vocab: list[str]) -> list[int]:
    """Return the ids of <extra_id_0>, <extra_id_1>, ..., up to the last one."""
    ids = {token: number for number, token in enumerate(vocab)}
    sentinels: list[int] = []
    while f"<extra_id_{len(sentinels)}>" in ids:
        sentinels.append(ids[f"<extra_id_{len(sentinels)}>"])
    return sentinels


def head_names(names: Iterable[str], family: OtherFamily) -> dict[str, str]:
    """Return the stored tensors that may belong to a task head: name without a wrapper -> stored.

    All tensors outside the encoder, and the encoder's pooler, which some heads read.
    """
    import transformers

    prefix = getattr(transformers, family.openers[-1].class_name).base_model_prefix
    by_bare_name = {_bare(name): name for name in names}
    return {
        bare: name
        for bare, name in by_bare_name.items()
        if not bare.startswith(f"{prefix}.") or bare.startswith(f"{prefix}.pooler.")
    }


def _is_task_head(name: str, starts: tuple[str, ...] = _TASK_HEADS) -> bool:
    return _bare(name).startswith(starts)


def _bare(name: str) -> str:
    """Return a name without the prefixes of wrappers."""
    for wrapper in _WRAPPERS:
        name = name.removeprefix(wrapper)
    return name


def _is_buffer(name: str) -> bool:
    """Return whether a stored tensor is skipped: position ids, GPT-2's mask."""
    known = (".attn.bias", ".attn.masked_bias", "position_ids")
    return any(part in f".{name}" for part in known)


def _decoder(model: Any) -> str:
    """Return the kind of decoder: "tied", "untied" or "absent"."""
    out = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    weight = getattr(out, "weight", None)
    if weight is None:
        return "absent"
    return "tied" if weight is model.get_input_embeddings().weight else "untied"


def _wrapper(table: Mapping[str, str]) -> str | None:
    """Return the prefix that was removed from most names."""
    counts = {start: sum(name.startswith(start) for name in table.values()) for start in _WRAPPERS}
    return next((start for start, count in counts.items() if count > len(table) / 2), None)


class ConvertedWeights(OpenWeights):
    """The tensors of a file under the names of its class in `transformers`.

    ValueError if the architecture needs more than renaming and equal parts.
    """

    def __init__(self, weights: OpenWeights, conversions: Sequence[Any]) -> None:
        from transformers.core_model_loading import Chunk, WeightConverter, rename_source_key

        converters = [one for one in conversions if isinstance(one, WeightConverter)]
        renamings = [one for one in conversions if not isinstance(one, WeightConverter)]
        self._weights = weights
        self._sources: dict[str, tuple[str, int, int]] = {}
        """Name -> name in the file, index of the part, and number of parts."""
        super().__init__({})
        for name, tensor in weights.stored.items():
            first, pattern = rename_source_key(name, renamings, converters)
            names = [first]
            if pattern is not None:
                converter = next(one for one in converters if pattern in one.source_patterns)
                steps = [(type(step), getattr(step, "dim", 0)) for step in converter.operations]
                rows = tensor.shape[:1]
                names = [
                    first.replace(converter.target_patterns[0], target)
                    for target in converter.target_patterns
                ]
                if steps != [(Chunk, 0)] or not rows or rows[0] % len(names):
                    raise ValueError(f"{name} needs more than renaming and equal parts")
            for part, new in enumerate(names):
                self._sources[new] = (name, part, len(names))
                shape = tensor.shape
                if len(names) > 1:
                    shape = (shape[0] // len(names), *shape[1:])
                self.stored[new] = replace(tensor, shape=shape)
        self.doubt, self.is_shared = weights.doubt, weights.is_shared

    def read(self, name: str) -> Tensor:
        source, part, number = self._sources[name]
        tensor = self._weights.read(source)
        return tensor if number == 1 else tensor.chunk(number)[part]


def converted(weights: OpenWeights, model_type: str) -> OpenWeights:
    """Return the tensors under the names of the class of `transformers`.

    ValueError as `ConvertedWeights`.
    """
    from transformers.conversion_mapping import get_checkpoint_conversion_mapping

    conversions = get_checkpoint_conversion_mapping(model_type)
    return weights if not conversions else ConvertedWeights(weights, conversions)
