"""Open a checkpoint of another architecture with `transformers`, after a check of its tensors.

BertScope reads the weights, from safetensors (or a pickle after consent), and passes them on; no
code of a checkpoint is run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from bertcore.architecture.families import Capability
from bertcore.base.memory import fit_dtype
from bertcore.checkpoints.files import CheckpointFiles
from bertcore.checkpoints.fingerprint import fingerprint_of
from bertcore.checkpoints.report import LoadReport, Shape, list_up_to
from bertcore.checkpoints.task import fresh_heads, read_task
from bertcore.checkpoints.weights import OpenWeights
from bertcore.others.config import read_config, transformers_config
from bertcore.others.converted import converted
from bertcore.others.families import OTHERS, SPANS, Opener, OtherFamily
from bertcore.others.generic import family_of, has_wordpiece, probed, settle
from bertcore.others.model import OtherModel
from bertcore.others.network import OtherNetwork
from bertcore.tokenizer import Tokenizer, open_other_tokenizer
from bertcore.tokenizer.files import MALFORMED, malformed

_RTD = "mask_predictions."
"""Part of the names of DeBERTa-v3's replaced-token head in its authors' code."""
_WRAPPERS = ("module.", "_orig_mod.", "model.module.")
"""Prefixes of data-parallel wrappers and compilers."""
_TASK_HEADS = (
    *("classifier", "classification_head", "qa_outputs", "qa_classifier"),
    *("score.", "logits_proj"),
)
_BEFORE_HEADS = ("sequence_summary.", "pooler.dense.", "dense.")
"""Layers between the encoder and the last layer of a task head, unused without one."""
_REPORTED: tuple[Capability, ...] = ("parts", "segments", "positions", "nsp", "mlm")
"""The missing capabilities that the load report states."""


class Opening(NamedTuple):
    """Facts for the report that are known before the tensors are read."""

    source: str
    files: CheckpointFiles
    family_note: str | None
    adapter: str | None


@dataclass(frozen=True, slots=True)
class _Match:
    """The stored tensors matched to a class of `transformers`."""

    opener: Opener
    table: dict[str, str]
    """The class's name -> name in the file."""
    missing: dict[str, Shape]
    mis_shaped: dict[str, tuple[Shape, Shape]]
    """Name in the file -> (found, expected)."""
    ties: dict[str, str]
    """Names that are copies of others."""

    @property
    def fits(self) -> bool:
        """Whether nothing is missing or of another shape."""
        return not self.missing and not self.mis_shaped


def load_other(
    model_type: str,
    values: Mapping[str, Any],
    weights: OpenWeights,
    opening: Opening,
    *,
    device: torch.device,
    dtype: str,
) -> tuple[OtherModel, LoadReport]:
    """Open a checkpoint of another architecture; return it with the report of its loading.

    Args:
        model_type: An architecture that `family_of` knows.
        values: The content of config.json.
        weights: The opened weight files.
        opening: For the report.
        device, dtype: For the weights; "auto" is float32, or bfloat16 if only that fits.

    Raises:
        FileNotFoundError: If the tokenizer's files are missing.
        ValueError: If the architecture cannot run in `dtype`.
        RuntimeError: If config.json is impossible, or tensors are missing or of another shape.
    """
    file, family = opening.files.config_file, family_of(model_type)
    assert family is not None  # `which_family` returns no other
    if family.only_float32 and dtype not in ("auto", "float32"):
        raise ValueError(
            f"{family.name} runs only in float32 in transformers, but {dtype} was requested. "
            "Choose float32."
        )
    if family.is_generic:
        try:
            weights = converted(weights, model_type)
        except ValueError as error:
            raise RuntimeError(f"{family.name} is not supported here: {error}.") from error
        _check_tokenizer(opening.files.tokenizer_folder, model_type, family)
    folder = opening.files.tokenizer_folder
    try:
        tokenizer = open_other_tokenizer(folder, family.tokens)
    except MALFORMED as error:
        raise malformed(folder, error) from error
    config = read_other_config(model_type, values, weights, file)
    matches = list(_matches(family.openers, config, weights, file))
    match = _choose(matches, weights, opening.files.folder)
    shape = read_config(config, heads=match.opener.heads, family=family)
    try:
        fitted = tokenizer.for_table(shape.vocab_size)
    except ValueError as error:
        raise RuntimeError(f"{opening.files.folder}: {error}") from error
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
        has_unread_rtd=any(_RTD in name for name in weights.stored),
    ).eval()
    if family.is_generic:
        network.config = probed(network)
        network.other = network.config.other
    report = _report(
        opening,
        values,
        weights,
        match,
        preferred=matches[0],
        family=family,
        network=network,
        tokenizer=tokenizer,
        not_finite=not_finite,
    )
    report = replace(report, precision_note=fit.note)
    return OtherModel(network, fitted, name=opening.source, report=report), report


def read_other_config(
    model_type: str, values: Mapping[str, Any], weights: OpenWeights, file: Path
) -> Any:
    """Return config.json as the configuration class of `transformers`.

    Raises:
        RuntimeError: If its values are impossible.
    """
    is_legacy = not any("lm_predictions.lm_head." in name for name in weights.stored)
    if model_type.startswith("deberta") and not is_legacy:
        values = {**values, "legacy": False}  # the head of DeBERTa-v3's own files
    try:
        config = transformers_config(model_type, values)
        if model_type not in OTHERS:
            settle(config)
        return config
    except ValueError as error:
        raise RuntimeError(f"{file}: {error}. Use the one that belongs to the weights.") from error


def _check_tokenizer(folder: Path, model_type: str, family: OtherFamily) -> None:
    """Reject a vocabulary without its rules if it may split text in another way than BERT's."""
    has_rules = (folder / "tokenizer.json").is_file()
    if not has_rules and (folder / "vocab.txt").is_file() and not has_wordpiece(model_type):
        raise RuntimeError(
            f"{folder} contains only vocab.txt, which does not define how {family.name} splits a "
            "text. Save its fast tokenizer there (tokenizer.json)."
        )


def _report(
    opening: Opening,
    values: Mapping[str, Any],
    weights: OpenWeights,
    match: _Match,
    *,
    preferred: _Match,
    family: OtherFamily,
    network: OtherNetwork,
    tokenizer: Tokenizer,
    not_finite: tuple[str, ...],
) -> LoadReport:
    """Return the load report.

    Args:
        opening, values, weights: As for `load_other`.
        match: The match of the class that was opened.
        preferred: The match of the family's first class; its missing tensors are reported.
        family, network, tokenizer: Those of the checkpoint.
        not_finite: Names of the tensors that contain NaN or infinity.
    """
    used = set(match.table.values())
    others = {
        name: tensor.shape
        for name, tensor in weights.stored.items()
        if name not in used and not _is_buffer(name)
    }
    tasks = {name: shape for name, shape in others.items() if _is_task_head(name)}
    if tasks:
        before = {n: shape for n, shape in others.items() if _is_task_head(n, _BEFORE_HEADS)}
        tasks |= before
    return LoadReport(
        source=opening.source,
        folder=opening.files.folder,
        format=opening.files.format,
        adapter=opening.adapter,
        family=family.name,
        family_note=opening.family_note,
        family_heads=tuple(sorted(frozenset().union(*(o.heads for o in family.openers)))),
        is_other=True,
        task_classes=tuple(head.class_name for head in family.task_heads.values()),
        lacks=tuple(network.other.absent[key] for key in _REPORTED if key in network.other.absent),
        stored_dtype=weights.stored[next(iter(match.table.values()))].dtype,
        matched={name: weights.stored[name].shape for name in match.table.values()},
        missing=preferred.missing if preferred is not match else {},
        unexpected={name: shape for name, shape in others.items() if name not in tasks},
        mis_shaped=preferred.mis_shaped if preferred is not match else {},
        mended_prefix=_wrapper(match.table),
        num_renamed=sum(name.endswith((".gamma", ".beta")) for name in used),
        decoder=_decoder(network.model),
        heads=tuple(sorted(match.opener.heads)),
        incomplete_heads=(),
        task=read_task(values, tasks),
        task_heads=tasks,
        fresh_heads=fresh_heads(weights, tasks),
        not_finite=not_finite,
        num_layers=network.config.num_hidden_layers,
        num_stored_layers=network.config.num_hidden_layers,
        num_parameters=sum(p.numel() for p in network.model.parameters()),
        num_bytes=opening.files.num_bytes,
        vocab_size=tokenizer.vocab_size,
        num_rows=network.config.vocab_size,
        is_cased=not tokenizer.do_lower_case,
        fingerprint=fingerprint_of(match.table, weights),
    )


def _matches(
    openers: Iterable[Opener], config: Any, weights: OpenWeights, file: Path
) -> Iterator[_Match]:
    """Yield the match of the stored tensors with each class; allocates nothing."""
    import transformers

    for opener in openers:
        model_class = getattr(transformers, opener.class_name)
        try:
            with torch.device("meta"):
                model = model_class(config, **opener.options)
            state = model.state_dict()
        except Exception as error:  # an impossible shape may raise anything
            reason = " ".join(str(error).split())[:200]
            raise RuntimeError(
                f"{file} describes a network that transformers cannot build ({reason}). "
                "Use the one that belongs to the weights."
            ) from error
        buffers = {name for name, _ in model.named_buffers()}
        ties = dict(model.all_tied_weights_keys)
        yield _match(opener, state, buffers, ties, model.base_model_prefix, weights)


def _match(
    opener: Opener,
    state: Mapping[str, Tensor],
    buffers: set[str],
    ties: dict[str, str],
    prefix: str,
    weights: OpenWeights,
) -> _Match:
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    table: dict[str, str] = {}
    for name in sorted(weights.stored):
        key = next((form for form in _forms(name, prefix) if form in shapes), None)
        if key is not None and key not in table:
            table[key] = name
    groups = _groups(ties)
    for group in groups:  # a table may be stored under any of its names
        stored = [key for key in sorted(group) if key in table]
        for key in group if stored else ():
            table.setdefault(key, table[stored[0]])
    stored_shapes = {key: weights.stored[name].shape for key, name in table.items()}
    wrong = {k: (stored_shapes[k], shapes[k]) for k in table if stored_shapes[k] != shapes[k]}
    return _Match(
        opener=opener,
        table=table,
        missing={k: s for k, s in shapes.items() if k not in table and k not in buffers},
        mis_shaped={table[key]: pair for key, pair in wrong.items()},
        ties=ties,
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
    """Return, of the matches that fit, the one with the most heads.

    A checkpoint with a task head is opened without the word head, which no longer fits it.

    Raises:
        RuntimeError: If none fits; the message names all tensors that do not.
    """
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
    parts = []
    if lacking:
        parts.append(f"{len(lacking)} tensors are missing: {list_up_to(lacking)}")
    if wrong:
        parts.append(f"{len(wrong)} tensors do not fit: {list_up_to(wrong)}")
    raise RuntimeError(
        f"the weights in {folder} do not fit its config.json: {'. '.join(parts)}. Use the "
        "config.json and the weights that belong together."
    )


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
    from transformers.utils import logging

    state: dict[str, Tensor] = {}
    not_finite = []
    for key, name in match.table.items():
        # A copy, not a view of the mapped file: truncating that file would kill the process.
        tensor = torch.empty(weights.stored[name].shape, dtype=dtype)
        tensor.copy_(weights.read(name))
        if not tensor.sum(dtype=torch.float32).isfinite() and not tensor.isfinite().all():
            not_finite.append(name)
        state[key] = tensor
    model_class = getattr(transformers, match.opener.class_name)
    shows_bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        model = model_class.from_pretrained(
            None, config=config, state_dict=state, dtype=dtype, **match.opener.options
        )
    finally:
        logging.set_verbosity(level)
        if shows_bars:
            logging.enable_progress_bar()
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
    found = {}
    for name in names:
        plain = name
        for wrapper in _WRAPPERS:
            plain = plain.removeprefix(wrapper)
        if not plain.startswith(f"{prefix}.") or plain.startswith(f"{prefix}.pooler."):
            found[plain] = name
    return found


def _is_task_head(name: str, starts: tuple[str, ...] = _TASK_HEADS) -> bool:
    bare = name
    for wrapper in _WRAPPERS:
        bare = bare.removeprefix(wrapper)
    return bare.startswith(starts)


def _is_buffer(name: str) -> bool:
    """Return whether a stored tensor is skipped: position ids, GPT-2's mask, DeBERTa-v3's RTD."""
    known = (".attn.bias", ".attn.masked_bias", "position_ids", _RTD)
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
    names = list(table.values())
    for wrapper in _WRAPPERS:
        if sum(name.startswith(wrapper) for name in names) > len(names) / 2:
            return wrapper
    return None
