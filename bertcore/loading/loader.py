"""Open a checkpoint: find its files, check them before allocating memory, fill a network."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bertcore.architecture.config import BertConfig
from bertcore.architecture.families import FAMILIES
from bertcore.base.device import choose_device, choose_dtype
from bertcore.base.memory import fit_dtype
from bertcore.bert import Bert, with_parts
from bertcore.checkpoints.adapter import MergedWeights
from bertcore.checkpoints.files import CheckpointFiles, find_files
from bertcore.checkpoints.fingerprint import fingerprint_of
from bertcore.checkpoints.folder import find_checkpoint
from bertcore.checkpoints.keys import count_layers, token_table
from bertcore.checkpoints.oddities import find_oddities, refuse_quantised
from bertcore.checkpoints.plan import LoadPlan, plan_loading
from bertcore.checkpoints.report import LoadReport
from bertcore.checkpoints.source import DEFAULT, resolve
from bertcore.checkpoints.task import fresh_heads, read_task
from bertcore.checkpoints.weights import OpenWeights
from bertcore.loading.family import read_shape, which_family
from bertcore.loading.other import Opening, load_other, read_other_config
from bertcore.model import Model
from bertcore.network import Network
from bertcore.others.config import read_config as shape_of_other
from bertcore.others.families import OTHERS
from bertcore.sentences.read import read_sentence_modules
from bertcore.tokenizer import Tokenizer
from bertcore.tokenizer import open_tokenizer as read_tokenizer
from bertcore.tokenizer.files import MALFORMED, malformed, read_max_length

NO_SENTENCE_ENCODER = (
    "No sentence encoder (it has no modules.json): bert.encode takes the mean over all tokens of "
    "the last layer."
)
_logger = logging.getLogger(__name__)


def load(
    source: str | Path = DEFAULT,
    *,
    device: str = "auto",
    dtype: str = "auto",
    allow_pickle: bool = False,
) -> Model:
    """Open a checkpoint, ready to use; its load report is `.report` of the result.

    Args:
        source: "default", a folder (or a parent of one folder with weights; for a sentence encoder,
            the one with modules.json; for a LoRA adapter, which is merged into its base, the one
            with adapter_config.json), or a hub id such as "bert-base-uncased". A folder of that
            name takes precedence over the hub.
        device: "auto", "cpu", "cuda", "cuda:1", "mps".
        dtype: "auto" (float32; bfloat16 if only that fits into memory, as stated in the report),
            "float32", "bfloat16", "float16".
        allow_pickle: Whether a pytorch_model.bin may be read (weights only) if there is no
            safetensors file.

    Raises:
        ValueError: If there is no checkpoint at `source`, or it is not a BERT.
        RuntimeError: If its files are damaged, incomplete or contradictory (all contradicting
            tensors are named), or if the weights do not fit into memory.
    """
    chosen_device = choose_device(device)
    choose_dtype(dtype, chosen_device)  # reject a wrong name before anything is fetched
    folder = find_checkpoint(resolve(source, allow_pickle=allow_pickle))
    files = find_files(folder, allow_pickle=allow_pickle)
    model, report = _load_encoder(str(source), files, chosen_device, dtype)
    modules = read_sentence_modules(
        folder,
        hidden_size=model.config.hidden_size,
        lower_cases=model.tokenizer.do_lower_case,
        allow_pickle=allow_pickle,
    )
    lines = [NO_SENTENCE_ENCODER]
    if modules is not None:
        modules.after.to(chosen_device)
        lines = modules.sentences(model.max_length)
    model.sentence_modules = modules
    model.report = replace(report, sentence_encoder=tuple(lines))
    return model


def _load_encoder(
    source: str, files: CheckpointFiles, device: torch.device, dtype: str
) -> tuple[Model, LoadReport]:
    """Return the model with its heads, and the report of its loading."""
    values = files.read_config()
    with files.open() as weights:
        merged = weights.sentence() if isinstance(weights, MergedWeights) else None
        refuse_quantised(values, weights, files.folder)
        model_type, note = which_family(values, weights.stored, files.config_file)
        if model_type not in FAMILIES:
            opening = Opening(source, files, note, merged)
            model, report = load_other(
                model_type, values, weights, opening, device=device, dtype=dtype
            )
            return model, replace(report, oddities=_oddities(values, files, model, report))
        tokenizer = open_tokenizer(files.tokenizer_folder)
        config, family_note = read_shape(values, weights.stored, files.config_file)
        plan = plan_loading(weights, config, files.folder)
        num_parameters = sum(p.numel() for p in plan.network.parameters())
        fit = fit_dtype(dtype, num_parameters, device)
        network, not_finite = _fill(plan, weights, device, fit.dtype)
        fingerprint = _fingerprint(files, plan, weights)
        # Map corrected names back to those in the file, which can be read.
        stored_heads = {plan.keys.stored.get(n, n): s for n, s in plan.task_heads.items()}
        fresh = fresh_heads(weights, stored_heads)
        stored_dtype = weights.stored[plan.keys.stored[token_table(config.family)]].dtype
    report = LoadReport(
        source=source,
        folder=files.folder,
        format=files.format,
        precision_note=fit.note,
        adapter=merged,
        family=config.family.name,
        family_note=family_note,
        family_heads=_by_use(config, config.family.heads),
        lacks=tuple(dict.fromkeys(config.family.absent.values())),  # one sentence may have two keys
        stored_dtype=stored_dtype,
        matched=plan.matched(weights),
        missing=plan.missing,
        unexpected=plan.unexpected,
        mis_shaped=plan.mis_shaped,
        mended_prefix=plan.keys.prefix,
        num_renamed=plan.keys.num_renamed,
        decoder=plan.decoder,
        heads=tuple(sorted(_by_use(config, plan.heads))),
        incomplete_heads=plan.incomplete_heads,
        task=read_task(values, plan.task_heads),
        task_heads=plan.task_heads,
        fresh_heads=fresh,
        not_finite=not_finite,
        num_layers=config.num_hidden_layers,
        num_stored_layers=_num_stored_layers(plan, config),
        num_parameters=num_parameters,
        num_bytes=files.num_bytes,
        vocab_size=tokenizer.vocab_size,
        num_rows=config.vocab_size,
        is_cased=not tokenizer.do_lower_case,
        fingerprint=fingerprint,
    )
    bert = Bert(network, tokenizer, name=source, report=report)
    return bert, replace(report, oddities=_oddities(values, files, bert, report))


def _oddities(
    values: dict[str, Any], files: CheckpointFiles, model: Model, report: LoadReport
) -> tuple[str, ...]:
    return find_oddities(
        values, files, model.tokenizer, report.task, report.family, report.stored_dtype
    )


def load_bert(source: str | Path, *, device: str = "auto") -> Bert:
    """Open a checkpoint of the BERT family, whose weights can be trained and changed.

    Raises:
        ValueError: If it is of another architecture; and as `load`.
    """
    return with_parts(load(source, device=device))


def open_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of a checkpoint folder.

    Raises:
        FileNotFoundError: If its files are missing.
        RuntimeError: If they are damaged.
    """
    try:
        return read_tokenizer(folder)
    except MALFORMED as error:
        raise malformed(folder, error) from error


def read_size(source: str | Path) -> tuple[BertConfig, int]:
    """Return a checkpoint's shape and its longest input in tokens, without reading its weights.

    Only an architecture whose limits a trial run shows (`generic`) is opened for that.

    Args:
        source: As for `load`.

    Raises:
        ValueError, RuntimeError: As `load`, for what config.json and the tokenizer's files say.
    """
    files = find_files(find_checkpoint(resolve(source)), allow_pickle=False)
    values = files.read_config()
    with files.open() as weights:
        model_type, _ = which_family(values, weights.stored, files.config_file)
        if model_type in FAMILIES:
            config, _ = read_shape(values, weights.stored, files.config_file)
        elif model_type in OTHERS:
            stated = read_other_config(model_type, values, weights, files.config_file)
            config = shape_of_other(stated, heads=frozenset())
        else:
            model = load(source, device="cpu")
            return model.config, model.max_length
    return config, min(config.max_length, read_max_length(files.tokenizer_folder))


@torch.no_grad()
def _fill(
    plan: LoadPlan, weights: OpenWeights, device: torch.device, dtype: torch.dtype
) -> tuple[Network, tuple[str, ...]]:
    """Copy each tensor to its parameter; return the network and the names of non-finite tensors.

    A copy, not a view of the mapped file: truncating that file later would kill the process.
    """
    network, not_finite = plan.network, []
    for ours, name in plan.table.items():
        source = weights.read(name)
        parameter = torch.empty(source.shape, dtype=dtype, device=device)
        parameter.copy_(source)
        # A sum is one fast pass; only if it is not finite (it may overflow) are the numbers
        # checked.
        if not parameter.sum(dtype=torch.float32).isfinite() and not parameter.isfinite().all():
            not_finite.append(name)
        module, _, attribute = ours.rpartition(".")
        place = network.get_submodule(module)
        is_trained = getattr(place, attribute).requires_grad
        setattr(place, attribute, nn.Parameter(parameter, requires_grad=is_trained))
    if not_finite:
        _logger.warning("%d loaded tensors contain NaN or infinity", len(not_finite))
    return network, tuple(not_finite)


def _by_use(config: BertConfig, heads: Iterable[str]) -> tuple[str, ...]:
    """Return heads as capabilities: with causal attention, the word head predicts next tokens."""
    return tuple("next" if config.is_decoder and head == "mlm" else head for head in heads)


def _num_stored_layers(plan: LoadPlan, config: BertConfig) -> int:
    if config.share_layers:
        return config.num_hidden_layers
    return count_layers(plan.keys.stored, config.family)


_fingerprints: dict[tuple[object, ...], str] = {}


def _fingerprint(files: CheckpointFiles, plan: LoadPlan, weights: OpenWeights) -> str:
    """Return the sha256 of the loaded weights as stored, cached while they are unchanged."""
    states = [(str(file), file.stat()) for file in files.paths]
    # Settings choose among the files' tensors, and an adapter's change them.
    settings = (tuple(plan.table.items()), repr(files.adapter))
    known = (*((n, s.st_size, s.st_mtime_ns, s.st_ino) for n, s in states), settings)
    if known not in _fingerprints:
        _fingerprints[known] = fingerprint_of(plan.table, weights)
    return _fingerprints[known]
