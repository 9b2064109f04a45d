"""Match the tensors of a file with the network that config.json describes, before reading them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch

from bertcore.checkpoints.keys import (
    DECODER_BIAS,
    DECODER_WEIGHT,
    POSITION_IDS,
    TOKEN_TABLE,
    MendedKeys,
    count_layers,
    head_keys,
    key_table,
    mend_keys,
)
from bertcore.checkpoints.report import Shape, list_up_to
from bertcore.checkpoints.weights import OpenWeights
from bertcore.config import BertConfig
from bertcore.network import ALL_HEADS, Network

_BIAS = "cls.predictions.bias"


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """Which stored tensor goes where, decided from names and shapes alone."""

    network: Network
    """Without weights (on the meta device)."""
    keys: MendedKeys
    table: dict[str, str]
    """Our parameter name -> name in the file."""
    heads: frozenset[str]
    incomplete_heads: tuple[str, ...]
    decoder: str
    missing: dict[str, Shape]
    mis_shaped: dict[str, tuple[Shape, Shape]]
    unexpected: dict[str, Shape]
    task_heads: dict[str, Shape]

    def matched(self, weights: OpenWeights) -> dict[str, Shape]:
        """Return name in the file -> shape of all tensors that are loaded."""
        return {name: weights.stored[name].shape for name in self.table.values()}


def plan_loading(weights: OpenWeights, config: BertConfig, folder: Path) -> LoadPlan:
    """Match the stored tensors with the network that config.json describes; read none of them
    but the decoder, to see whether it is tied.

    Heads that are incomplete or of another shape are left out.

    Raises:
        RuntimeError: If tensors of the encoder are missing or of another shape, or any has a
            number format that is no float; the message names them.
    """
    keys = mend_keys(weights.stored)
    stored = keys.stored
    # Before a network of that many layers is even described:
    num_stored = count_layers(stored)
    if config.num_hidden_layers > num_stored > 0:
        raise RuntimeError(
            f"{folder}: config.json asks for {config.num_hidden_layers} layers but the weights "
            f"have {num_stored}. Use the config.json that belongs to them."
        )
    if num_stored == 0:
        some = ", ".join(sorted(weights.stored)[:3])
        raise RuntimeError(
            f"{folder} holds no BERT encoder: no tensor is called encoder.layer.0. ... "
            f"It has {len(weights.stored)} tensors{': ' + some if some else ''}. "
            "Choose a BERT checkpoint."
        )
    if _BIAS not in stored and DECODER_BIAS in stored:
        stored[_BIAS] = stored[DECODER_BIAS]
    full = _describe(config, folder)
    all_keys = key_table(config.num_hidden_layers)
    shapes = {theirs: full[ours] for ours, theirs in all_keys.items()}
    mis_shaped = {
        stored[key]: (weights.stored[stored[key]].shape, shapes[key])
        for head in ALL_HEADS
        for key in head_keys(head).values()
        if key in stored and weights.stored[stored[key]].shape != shapes[key]
    }
    started = {h for h in ALL_HEADS if any(k in stored for k in head_keys(h).values())}
    complete = {
        head
        for head in started
        if all(k in stored and stored[k] not in mis_shaped for k in head_keys(head).values())
    }
    decoder = _decoder(weights, stored) if "mlm" in complete else "absent"
    heads = complete - ({"mlm"} if decoder == "untied" else set())
    if "pooler" not in heads:
        heads -= {"nsp"}  # it reads the pooler
    table = key_table(config.num_hidden_layers, heads)
    _check(weights, stored, table.values(), shapes, folder)
    missing = {theirs: shape for theirs, shape in shapes.items() if theirs not in stored}
    used = {*all_keys.values(), DECODER_BIAS, DECODER_WEIGHT, POSITION_IDS}
    others = {key: weights.stored[name].shape for key, name in stored.items() if key not in used}
    others |= {name: weights.stored[name].shape for name in keys.doubled}
    tasks = {k: v for k, v in others.items() if not k.startswith(("bert.", "cls."))}
    with torch.device("meta"):
        network = Network(config, frozenset(heads))
    return LoadPlan(
        network=network,
        keys=keys,
        table={ours: stored[theirs] for ours, theirs in table.items()},
        heads=frozenset(heads),
        incomplete_heads=tuple(sorted(started - complete)),
        decoder=decoder,
        missing=missing,
        mis_shaped=mis_shaped,
        unexpected={k: v for k, v in others.items() if k not in tasks},
        task_heads=tasks,
    )


def _describe(config: BertConfig, folder: Path) -> dict[str, Shape]:
    try:
        with torch.device("meta"):
            return {n: tuple(p.shape) for n, p in Network(config).named_parameters()}
    except (RuntimeError, TypeError, OverflowError) as error:  # sizes over 64 bits
        raise RuntimeError(
            f"{folder / 'config.json'} describes a network of impossible size "
            f"(hidden_size {config.hidden_size}, vocab_size {config.vocab_size}). "
            "Use the config.json that belongs to the weights."
        ) from error


def _check(
    weights: OpenWeights,
    stored: dict[str, str],
    needed: Iterable[str],
    shapes: dict[str, Shape],
    folder: Path,
) -> None:
    """Raise one error that names all tensors that are missing, mis-shaped or no floats."""
    lacking, wrong = [], []
    for key in needed:
        if key not in stored:
            lacking.append(f"{key} {list(shapes[key])}")
            continue
        found = weights.stored[stored[key]]
        if found.shape != shapes[key]:
            wrong.append(f"{stored[key]} is {list(found.shape)}, expected {list(shapes[key])}")
        elif not found.is_float:
            wrong.append(f"{stored[key]} holds {found.dtype}, expected F32, F16 or BF16")
    parts = []
    if lacking:
        parts.append(f"{len(lacking)} tensors are missing: {list_up_to(lacking)}")
    if wrong:
        parts.append(f"{len(wrong)} tensors do not fit: {list_up_to(wrong)}")
    if parts:
        raise RuntimeError(
            f"the weights in {folder} do not fit its config.json: {'. '.join(parts)}. "
            "Use the config.json and the weights that belong together."
        )


def _decoder(weights: OpenWeights, stored: dict[str, str]) -> str:
    """Return "tied" or "untied": whether a stored decoder equals the token table."""
    if DECODER_WEIGHT not in stored or TOKEN_TABLE not in stored:
        return "tied"
    decoder, table = stored[DECODER_WEIGHT], stored[TOKEN_TABLE]
    if weights.stored[decoder].shape != weights.stored[table].shape:
        return "untied"
    same = torch.equal(weights.read(decoder), weights.read(table))
    return "tied" if same else "untied"
