"""Open a checkpoint: find its files, check them before allocating memory, fill a network."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn

from bertcore.base.device import choose_device, choose_dtype
from bertcore.base.memory import fit_dtype
from bertcore.model.architecture.config import BertConfig
from bertcore.model.architecture.families import BERT, MODERNBERT, Family
from bertcore.model.architecture.objectives import OBJECTIVES
from bertcore.model.bert import Bert, with_parts
from bertcore.model.checkpoints.adapter import MergedWeights
from bertcore.model.checkpoints.files import CheckpointFolder, open_source
from bertcore.model.checkpoints.in_memory import ModelInMemory
from bertcore.model.checkpoints.oddities import find_oddities
from bertcore.model.checkpoints.plan import LoadPlan, plan_loading
from bertcore.model.checkpoints.report import (
    Finding,
    LoadReport,
    findings,
    in_order,
    number_findings,
    vocabulary_sentences,
)
from bertcore.model.checkpoints.save import OBJECTIVE
from bertcore.model.checkpoints.source import DEFAULT
from bertcore.model.checkpoints.task import read_task, why_no_answer
from bertcore.model.checkpoints.weights import OpenWeights, fingerprint_of
from bertcore.model.loading.family import Architecture, read_shape, which_family
from bertcore.model.loading.other import Opened, load_other
from bertcore.model.loading.sentence_modules import read_sentence_modules
from bertcore.model.model import Model
from bertcore.model.network import Network
from bertcore.model.others.families import OtherFamily
from bertcore.model.tokenizer import Tokenizer, open_tokenizer
from bertcore.model.tokenizer.files import read_max_length

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

NO_SENTENCE_ENCODER = (
    "No sentence encoder (it has no modules.json): bert.encode takes the mean over all tokens of "
    "the last layer."
)
_logger = logging.getLogger(__name__)


def load(
    source: str | Path | PreTrainedModel | ModelInMemory = DEFAULT,
    *,
    tokenizer: PreTrainedTokenizerBase | Tokenizer | None = None,
    device: str = "auto",
    dtype: str = "auto",
    allow_pickle: bool = False,
) -> Model:
    """Open a checkpoint, ready to use; its load report is `.report` of the result.

    Args:
        source: "default", a folder (or a parent of one folder with weights; for a sentence encoder,
            the one with modules.json; for a LoRA adapter, which is merged into its base, the one
            with adapter_config.json), or a hub id such as "bert-base-uncased". A folder of that
            name takes precedence over the hub. Or a model of `transformers` in memory, as after
            `trainer.train()`: its weights are shared where device and format allow, not copied.
        tokenizer: That of a model in memory.
        device: "auto", "cpu", "cuda", "cuda:1", "mps"; of a model in memory, "auto" is where it is.
        dtype: "auto" (that of a model in memory, else float32; bfloat16 if only that fits into
            memory, as stated in the report), "float32", "bfloat16", "float16".
        allow_pickle: Whether a pytorch_model.bin may be read (weights only) if there is no
            safetensors file.

    Raises:
        ValueError: If there is no checkpoint at `source`, or it is not a BERT.
        TypeError: If a model in memory is not one of `transformers`, or has no tokenizer.
        RuntimeError: If its files are damaged, incomplete or contradictory (all contradicting
            tensors are named), or if the weights do not fit into memory.
    """
    if not isinstance(source, str | Path | ModelInMemory):
        source = ModelInMemory(source, tokenizer)
    elif tokenizer is not None:
        raise ValueError(f"{str(source)!r} has its own tokenizer. Leave tokenizer out.")
    if isinstance(source, ModelInMemory):
        device = str(source.device) if device == "auto" else device
        dtype = source.dtype if dtype == "auto" else dtype
    chosen_device = choose_device(device)
    choose_dtype(dtype, chosen_device)  # reject a wrong name before anything is fetched
    files = open_source(source, allow_pickle=allow_pickle)
    name = str(source)
    with files.open() as weights:
        architecture = which_family(files.config, weights.stored, files.config_file)
        adapter = weights.sentence() if isinstance(weights, MergedWeights) else None
        is_other = isinstance(architecture.family, OtherFamily)
        opener = load_other if is_other else _load_bert
        opened = opener(architecture, files, weights, name=name, device=chosen_device, dtype=dtype)
    model = opened.model
    modules = read_sentence_modules(
        files.folder,
        hidden_size=model.config.hidden_size,
        lower_cases=model.tokenizer.do_lower_case,
        allow_pickle=allow_pickle,
    )
    lines = [NO_SENTENCE_ENCODER]
    if modules is not None:
        modules.after.to(chosen_device)
        lines = modules.sentences(model.max_length)
    model.sentence_modules = modules
    objective = files.config.get(OBJECTIVE)
    if isinstance(objective, str) and objective in OBJECTIVES:
        model.objective = objective
    model.in_memory = source if isinstance(source, ModelInMemory) else None
    model.report = _report(name, files, opened, architecture.note, adapter, lines)
    return model


def _load_bert(
    architecture: Architecture,
    files: CheckpointFolder,
    weights: OpenWeights,
    *,
    name: str,
    device: torch.device,
    dtype: str,
) -> Opened:
    """Open a checkpoint of the BERT family; arguments as for `load_other`."""
    tokenizer = open_tokenizer(files.tokenizer_folder, model_type=architecture.model_type)
    config = read_shape(files.config, architecture, files.config_file)
    plan = plan_loading(weights, config, files.folder)
    fit = fit_dtype(dtype, sum(p.numel() for p in plan.network.parameters()), device)
    network, not_finite = _fill(plan, weights, device, fit.dtype)
    fingerprint = _fingerprint(files, plan, weights)
    return Opened(
        Bert(network, tokenizer, name=name),
        plan.report,
        read_task(files.config, weights, config.family),
        not_finite,
        fingerprint,
        fit.note,
    )


def _report(
    source: str,
    files: CheckpointFolder,
    opened: Opened,
    note: str | None,
    adapter: str | None,
    lines: list[str],
) -> LoadReport:
    """Return the load report, from what each step of the loading found."""
    model, tensors, task = opened.model, opened.tensors, opened.task
    tokenizer, family, num_rows = model.tokenizer, model.config.family, model.config.vocab_size
    num_parameters = sum(p.numel() for p in model.module.parameters())
    size = (
        f"{len(tensors.matched)} tensors, {num_parameters:,} parameters, from {files.format} "
        f"(token table in {tensors.stored_dtype}, {files.num_bytes / 1e6:,.1f} MB) in "
        f"{files.folder}."
    )
    vocabulary = vocabulary_sentences(
        tokenizer.vocab_size + len(tokenizer.surplus),
        num_rows,
        num_rows - len({*tokenizer.ids.values()}),
        is_cased=not tokenizer.do_lower_case,
    )
    no_answer = why_no_answer(task, tensors.broken_heads)
    seen = [
        Finding("size", size, "remark" if " in " in files.format else "fact"),
        *findings("precision", _warned(opened.precision_note)),
        *findings("adapter", [adapter] if adapter else ()),
        *findings("family", [*_warned(note), *_family_sentence(family)]),
        *number_findings(not_finite=opened.not_finite),
        *findings("task", task.sentences(tensors.task_heads, no_answer)),
        *findings("vectors", lines),
        *findings("vocabulary", vocabulary),
        *findings("files", find_oddities(files, tokenizer, task, family.name)),
        *tensors.findings,
    ]
    of_tensors = {field.name: getattr(tensors, field.name) for field in fields(tensors)}
    return LoadReport(
        **of_tensors | {"findings": in_order(seen)},
        source=source,
        folder=files.folder,
        format=files.format,
        family=family.name,
        task=task,
        not_finite=opened.not_finite,
        num_parameters=num_parameters,
        fingerprint=opened.fingerprint,
    )


def _warned(note: str | None) -> list[str]:
    return [] if note is None else [f"Warning: {note}"]


def _family_sentence(family: Family) -> Iterator[str]:
    if isinstance(family, OtherFamily):
        yield f"Family: {family.name}, another architecture, run by transformers."
    elif family is MODERNBERT:
        yield "Family: ModernBERT, with its own layers."
    elif family is not BERT:
        yield f"Family: {family.name}, on BERT's encoder."


def load_bert(source: str | Path, *, device: str = "auto") -> Bert:
    """Open a checkpoint of the BERT family, whose weights can be trained and changed.

    ValueError if it is of another architecture; and as `load`.
    """
    return with_parts(load(source, device=device))


def read_size(source: str | Path, *, allow_pickle: bool = False) -> tuple[BertConfig, int]:
    """Return a checkpoint's shape and its longest input in tokens, without reading its weights.

    Only another architecture, whose limits a trial run shows, is opened for that. Arguments and
    errors as for `load`, for what config.json and the tokenizer's files say.
    """
    files = open_source(source, allow_pickle=allow_pickle)
    with files.open() as weights:
        architecture = which_family(files.config, weights.stored, files.config_file)
        if not isinstance(architecture.family, OtherFamily):
            config = read_shape(files.config, architecture, files.config_file)
        else:
            model = load(source, device="cpu", allow_pickle=allow_pickle)
            return model.config, model.max_length
    return config, min(config.max_length, read_max_length(files.tokenizer_folder))


@torch.no_grad()
def _fill(
    plan: LoadPlan, weights: OpenWeights, device: torch.device, dtype: torch.dtype
) -> tuple[Network, tuple[str, ...]]:
    """Copy each tensor to its parameter; return the network and the names of non-finite tensors."""
    network, not_finite = plan.network, []
    for ours, name in plan.table.items():
        parameter, is_finite = weights.copy(name, dtype, device)
        if not is_finite:
            not_finite.append(name)
        module, _, attribute = ours.rpartition(".")
        place = network.get_submodule(module)
        is_trained = getattr(place, attribute).requires_grad
        setattr(place, attribute, nn.Parameter(parameter, requires_grad=is_trained))
    if not_finite:
        _logger.warning("%d loaded tensors contain NaN or infinity", len(not_finite))
    return network, tuple(not_finite)


_fingerprints: dict[tuple[object, ...], str] = {}


def _fingerprint(files: CheckpointFolder, plan: LoadPlan, weights: OpenWeights) -> str:
    """Return the sha256 of the loaded weights as stored, cached while they are unchanged."""
    states = [(str(file), file.stat()) for file in files.paths]
    # Settings choose among the files' tensors, and an adapter's change them.
    settings = (tuple(plan.table.items()), repr(files.adapter))
    known = (*((n, s.st_size, s.st_mtime_ns, s.st_ino) for n, s in states), settings)
    if known not in _fingerprints or not files.paths:
        _fingerprints[known] = fingerprint_of(plan.table, weights)
    return _fingerprints[known]
