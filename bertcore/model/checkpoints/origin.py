"""What the files of a folder say of its weights, asked before tensors are compared.

A folder's tensors may be packed, turned, another program's or its own code's; then what stands in
config.json, the metadata of safetensors or modules.json is the reason, and not the first name that
is missing.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bertcore.model.checkpoints.folder import FOREIGN
from bertcore.model.checkpoints.weights import OpenWeights

_COUNTERS = ("_ids", "num_batches_tracked")
"""Ends of names of whole numbers beside weights."""


def own_code(values: Mapping[str, Any]) -> str | None:
    """Return a class of its own code that config.json names, or None."""
    named = values.get("auto_map")
    names = [str(name) for name in named.values()] if isinstance(named, dict) else []
    return names[0][:80] if names else None


def likely_reason(values: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return why tensors may not be those of config.json, as sentences; "" if nothing says so."""
    names = list(names)
    parts = [
        a for pattern, a in FOREIGN["tensors"].items() if any(re.search(pattern, n) for n in names)
    ]
    code, settings = own_code(values), _quantisation(values)
    if settings:
        parts.append(f"config.json says that they were quantised{_by(settings, None)}.")
    if values.get("pruned_heads"):
        parts.append(
            "config.json says that heads were cut off (pruned_heads), which transformers 5 does "
            "not read either. Open the checkpoint that they were cut off from."
        )
    if code is not None:
        parts.append(
            f"config.json names its own code ({code}), which is never run: they are the weights of "
            "the network in it. Open them with that code, or choose a checkpoint without."
        )
    return " ".join(parts)


def refuse_foreign(values: Mapping[str, Any], weights: OpenWeights, folder: Path) -> None:
    """Reject weights that only another program reads, before any of them is compared.

    ValueError if TensorFlow or Flax wrote them, they are packed into fewer bits, empty, or hold an
    adapter of peft.
    """
    names = list(weights.stored)
    program = FOREIGN["programs"].get(weights.made_by)
    if program and names and not any(name.endswith(".weight") for name in names):
        raise ValueError(
            f"the weights in {folder} were written by {program['name']} (format "
            f"{weights.made_by!r} in the metadata, tensors such as {names[0][:100]}): "
            f"{program['advice']}"
        )
    if any(".lora_A." in name for name in names):
        raise ValueError(
            f"the weights in {folder} are those of a model with an adapter of peft inside. Merge "
            "it where it was trained: model.merge_and_unload().save_pretrained(FOLDER)."
        )
    matrices = [tensor for name, tensor in weights.stored.items() if name.endswith(".weight")]
    empty = sum(0 in tensor.shape for tensor in matrices)
    if empty > len(matrices) / 2:
        raise ValueError(
            f"{empty} of {len(matrices)} matrices in {folder} have no numbers: DeepSpeed (ZeRO-3) "
            "kept them elsewhere. Merge its parts where it was trained: python zero_to_fp32.py . "
            "merged --safe_serialization."
        )
    _refuse_packed(values, weights, folder)


def _refuse_packed(values: Mapping[str, Any], weights: OpenWeights, folder: Path) -> None:
    settings = _quantisation(values)
    packed = {
        tensor.dtype
        for name, tensor in weights.stored.items()
        if not tensor.is_float
        and (
            tensor.dtype.startswith(("F8", "F4", "torch.qint", "torch.quint"))
            or "float8" in tensor.dtype
            or (bool(settings) and not name.endswith(_COUNTERS))
        )
    }
    by = [
        by
        for end, by in FOREIGN["packed"].items()
        if any(re.search(end, name) for name in weights.stored)
    ]
    if packed or by:
        kinds = f" ({', '.join(sorted(packed))[:100]})" if packed else ""
        raise ValueError(
            f"the weights in {folder} are quantised{_by(settings, by[0] if by else None)}{kinds}: "
            "only the program that packed them reads them. Open the checkpoint that they were made "
            "from, in float32, float16 or bfloat16."
        )


def _quantisation(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of a quantisation in config.json; MLX has a name of its own for them."""
    settings = values.get("quantization_config") or values.get("quantization")
    return settings if isinstance(settings, dict) else {}


def _by(settings: Mapping[str, Any], sign: str | None) -> str:
    method = settings.get("quant_method") or sign
    return f" by {str(method)[:40]}" if method else ""
